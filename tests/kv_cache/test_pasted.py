"""What people paste: configs, and what is none."""

import json

import pytest

from attnviz import kv_cache as kv
from attnviz.errors import AttnvizError

LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "hidden_size": 64,
}


def test_a_config_json_is_read():
    spec = kv.from_json(json.dumps({**LLAMA, "head_dim": 32}))
    assert spec.layers == (kv.Full(2, 32),) * 2
    assert (spec.model_type, spec.n_heads) == ("llama", 8)


def test_a_pasted_config_can_be_allocated():
    assert kv.allocate(kv.from_json(json.dumps({**LLAMA, "vocab_size": 9})), 5).equal


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("model_type: llama", r"This is not JSON \(line 1\)"),
        ("", "This is not JSON"),
        ("[" * 100_000, "This is not JSON"),
        ("[1, 2]", "holds named fields, not a list"),
        ("{}", "has no model_type"),
        ('{"model_type": "marvin"}', "The architecture 'marvin' is not known here"),
        ('{"model_type": "llama"}', "needs num_hidden_layers .* and this one has none"),
        (json.dumps({**LLAMA, "num_key_value_heads": 3}), "3 KV heads .* do not share 8"),
        (json.dumps({**LLAMA, "num_hidden_layers": "many"}), "must be a whole number, not 'many'"),
        (json.dumps({**LLAMA, "num_hidden_layers": -1}), "must be at least 1, not -1"),
        (json.dumps({**LLAMA, "layer_types": ["full_attention"]}), "must name 2 layers, not 1"),
        (" " * 200_001, "at most 200,000 characters here"),
    ],
)
def test_what_is_no_config_gets_a_sentence(text: str, sentence: str):
    with pytest.raises(AttnvizError, match=sentence):
        kv.from_json(text)

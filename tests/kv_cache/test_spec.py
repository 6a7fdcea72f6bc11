"""Specs by hand, and what they refuse."""

import pytest

from attnviz import kv_cache as kv
from attnviz.errors import AttnvizError


def test_layers_mappings_and_pairs():
    by_hand = kv.CacheSpec.from_layers(
        [
            {"kind": "sliding", "n_kv_heads": 4, "head_dim": 8, "window": 16},
            {"kind": "linear", "state_shape": [2, 8, 8]},
            (kv.Full(4, 8), {"kind": "cross", "n_kv_heads": 4, "head_dim": 8}),
        ]
    )
    assert by_hand.layers == (
        kv.Sliding(4, 8, window=16),
        kv.Linear((2, 8, 8)),
        kv.Full(4, 8),
        kv.Cross(4, 8),
    )
    assert by_hand.indices == (0, 1, 2, 2)
    assert by_hand.has_encoder


@pytest.mark.parametrize(
    ("layers", "sentence"),
    [
        ([], "at least one layer"),
        (["full"], "a layer or a mapping with its kind, not str"),
        ([{"n_kv_heads": 8}], "kind must be one of full, .*, not None"),
        ([{"kind": "mla"}], "kind must be one of full, .*, not 'mla'"),
        ([{"kind": "full", "n_kv_heads": 8}], "full layer could not be made: .*'head_dim'"),
        ([{"kind": "none", "window": 4}], "none layer could not be made: .*'window'"),
    ],
)
def test_what_is_not_a_layer(layers: list, sentence: str):
    with pytest.raises(AttnvizError, match=sentence):
        kv.CacheSpec.from_layers(layers)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: kv.Full(0, 128), "n_kv_heads of a full layer must be at least 1, not 0"),
        (lambda: kv.Full(8, 128, -1), "v_head_dim of a full layer"),
        (lambda: kv.Sliding(8, 128, window=0), "window of a sliding layer must be at least 1"),
        (lambda: kv.Latent(512, -1), "qk_rope_head_dim of a latent layer must be at least 0"),
        (lambda: kv.Linear(()), "state_shape of a linear layer must be a tuple"),
        (lambda: kv.Linear((4, 0)), "each size in state_shape"),
    ],
)
def test_impossible_dimensions(make, sentence: str):
    with pytest.raises(AttnvizError, match=sentence):
        make()

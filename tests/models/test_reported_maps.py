"""What people report of maps that a model hands back: none, too few, or something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from torch import nn
from transformers.modeling_outputs import BaseModelOutput

import attnviz as av
from attnviz.errors import ModelError
from attnviz.figures import capture as figures
from attnviz.models import load_model
from attnviz.models.interface import running
from tests.models.shrink import shrink
from tests.models.test_own_code import Mute
from tests.models.tiny import TEXT, build, eager, llama, tokenizer


@pytest.mark.parametrize("asked", [{"output_attentions": True}, {}])
def test_attentions_asked_of_a_fused_backend_change_nothing(asked: dict[str, bool]) -> None:
    """SDPA hands back an empty tuple; the capture's maps do not depend on what was asked for."""
    model = llama()
    ids = torch.tensor([[1, 2, 3, 4, 5, 6]])
    with torch.no_grad():
        returned = model.model(ids, use_cache=False, **asked).attentions
    assert not returned  # () or None: nothing to draw
    text = "the cat sat on mat and"
    capture = av.capture(model, text)
    with running(model.model, "eager"):
        inputs = torch.tensor([capture.token_ids])
        maps = model.model(inputs, output_attentions=True, use_cache=False).attentions
    assert len(maps) == len(capture.captured) == 3
    for layer in range(3):
        for head in range(4):
            own = capture.weights(layer, head)
            np.testing.assert_allclose(own, maps[layer][0, head], rtol=0, atol=1e-5)
        assert np.triu(capture.weights(layer, 0), 1).sum() == 0  # no token looks ahead


def test_half_precision_is_widened_before_it_is_drawn() -> None:
    """bfloat16 cannot become numpy, and its rows sum to 0.998."""
    model = llama()
    model.model.to(torch.bfloat16)
    weights = av.capture(model, TEXT).weights(1, 2)
    assert weights.dtype == np.float32
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("implementation", ["eager", "sdpa", None])
def test_a_config_that_asks_for_attentions_loads_and_captures(
    tmp_path: Path, implementation: str | None
) -> None:
    """Elsewhere: `output_attentions is not supported when attn_implementation set to sdpa`."""
    model = llama()
    model.model.save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    asking = {"output_attentions": True, "attn_implementation": implementation}
    (tmp_path / "config.json").write_text(json.dumps(config | asking))
    loaded = load_model(str(tmp_path), device="cpu")
    capture = av.capture(loaded, TEXT)
    np.testing.assert_array_equal(capture.weights(2, 3), av.capture(llama(), TEXT).weights(2, 3))


def test_a_flash_backend_is_left_where_it_was() -> None:
    """Flash attention never has a map; its kernel is not on this machine, and is not called."""
    model = build(hf.GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=64))
    expected = eager(model, (1, 2, 3, 4, 5, 6)).attentions[1][0].numpy()
    model.model.config._attn_implementation_internal = "flash_attention_2"
    capture = av.capture(model, inputs={"input_ids": torch.tensor([[1, 2, 3, 4, 5, 6]])})
    for head in range(4):
        np.testing.assert_allclose(capture.weights(1, head), expected[head], rtol=0, atol=1e-5)
    assert model.model.config._attn_implementation_internal == "flash_attention_2"
    assert "plain sdpa run" in capture.check.sentence


def test_one_head_of_2048_tokens_is_eager_s_and_its_error_is_told() -> None:
    model = llama(max_position_embeddings=2048, num_hidden_layers=1)
    ids = torch.randint(1, 60, (1, 2048), generator=torch.Generator().manual_seed(0))
    capture = av.capture(model, inputs={"input_ids": ids}, check=True)
    expected = eager(model, tuple(ids[0].tolist())).attentions[0][0, 2].numpy()
    np.testing.assert_allclose(capture.weights(0, 2), expected, rtol=0, atol=1e-5)
    assert capture.check.output_error is not None
    assert f"differ from each layer's output by at most {capture.check.output_error:.0e}" in (
        capture.check.sentence
    )
    assert capture.check.logits_error is not None


def test_a_hybrid_s_fourth_layer_is_layer_3() -> None:
    """The library hands back one map of Qwen3-Next's four layers, without saying whose it is."""
    config = shrink("qwen3_next", num_hidden_layers=4, layer_types=["linear_attention"] * 3
                    + ["full_attention"])  # fmt: skip
    capture = av.capture(build(config), TEXT)
    assert [layer.index for layer in capture.captured] == [3]
    assert [layer.index for layer in capture.layers if layer.effective] == [0, 1, 2]
    assert capture.weights(0, 0).min() < 0, "its effective map, signed"
    assert figures.layers(capture) == (3,)


class Returning(Mute):
    """A model whose own code hands back this under the name attentions."""

    handed: Any = None

    def forward(self, input_ids: Any, output_attentions: bool = False, **_: Any) -> Any:
        out = BaseModelOutput(last_hidden_state=self.embed(input_ids))
        out["attentions"] = self.handed
        return out


SHARES = torch.full((1, 2, 3, 3), 1 / 3)


@pytest.mark.parametrize(
    ("handed", "words"),
    [
        (None, "does not expose its attention"),
        ((), "does not expose its attention"),
        ((None, None), "does not expose its attention"),
        ((torch.randn(1, 3, 8),), r"attentions of shape \(1, 3, 8\) that are not queries by keys"),
        ((torch.randn(1, 2, 3, 3),), "that are not queries by keys"),  # signed: scores or debug
        ((SHARES * 2,), "that are not queries by keys"),  # rows of 2
        ((SHARES * torch.nan,), "that are not queries by keys"),
    ],
    ids=["None", "empty", "Nones", "states", "signed", "rows", "nan"],
)
def test_whatever_is_no_map_is_never_drawn_as_one(handed: Any, words: str) -> None:
    module = Returning(hf.BertConfig(num_hidden_layers=3))
    module.handed = handed
    model = av.from_transformers(module, tokenizer())
    with pytest.raises(ModelError, match=words) as told:
        av.capture(model, "the cat sat")
    assert model.title in str(told.value)


def test_fewer_maps_than_layers_are_not_taken_for_all() -> None:
    module = Returning(hf.BertConfig(num_hidden_layers=3))
    module.handed = (SHARES, None, SHARES)
    capture = av.capture(av.from_transformers(module, tokenizer()), "the cat sat")
    assert [layer.index for layer in capture.captured] == [0, 2]


class Eye(nn.Module):
    """As timm writes it: the fused function, and a dropout that a hook waits for in vain."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.attn_drop = nn.Linear(8, 24), nn.Dropout(0.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
        out = nn.functional.scaled_dot_product_attention(q, k, v)
        return out.transpose(1, 2).flatten(2)


class Fused(Mute):
    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.attn = Eye()

    def forward(self, input_ids: Any, output_attentions: bool = False, **_: Any) -> Any:
        return BaseModelOutput(last_hidden_state=self.attn(self.embed(input_ids)))


def test_a_fused_call_inside_a_block_is_heard() -> None:
    torch.manual_seed(0)
    module = Fused(hf.BertConfig(num_hidden_layers=1)).eval()
    ids = torch.tensor([[1, 5, 2, 7]])
    capture = av.capture(av.from_transformers(module, tokenizer()), inputs={"input_ids": ids})
    with torch.no_grad():
        q, k, _ = module.attn.qkv(module.embed(ids)).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
        expected = (q @ k.mT / 2).softmax(-1)[0].numpy()
    for head in range(2):
        np.testing.assert_allclose(capture.weights(0, head), expected[head], rtol=0, atol=1e-6)

"""What people report of other tools, padding, windows and repeats, each on its smallest input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pytest
import torch
import transformers as hf
from torch import nn
from transformers.modeling_outputs import BaseModelOutput

import attnviz as av
from attnviz.errors import AttnvizError, ModelError
from attnviz.figures import capture as figures
from attnviz.figures.conventions import conventions
from attnviz.figures.masks import keys_seen_chart
from attnviz.figures.steps import steps_figure
from attnviz.models import load_model
from attnviz.models.interface import running
from attnviz.variants.scores import alibi, alibi_slopes
from tests.models.shrink import shrink
from tests.models.test_own_code import Mute
from tests.models.tiny import COMMON, TEXT, build, eager, llama, tokenizer
from tests.test_layers import modules_of


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_tokenizer_that_pads_to_512_adds_nothing_to_the_maps(side: str) -> None:
    """8 real tokens padded to 512 make other tools crawl, and NaN of left padding."""
    model = llama()
    plain = av.capture(model, TEXT)
    model.tokenizer.pad_token = "[UNK]"
    model.tokenizer.padding_side = side
    model.tokenizer.backend_tokenizer.enable_padding(length=512, direction=side)
    padded = av.capture(model, TEXT)
    assert padded.token_ids == plain.token_ids
    np.testing.assert_array_equal(padded.weights(2, 3), plain.weights(2, 3))


def test_the_window_is_the_configs_own() -> None:
    """Mistral with sliding_window=4 on 10 tokens: the last row sees positions 6 to 9."""
    config = hf.MistralConfig(**COMMON, num_key_value_heads=2, sliding_window=4)
    capture = av.capture(build(config), " ".join(TEXT.split()[:10]))
    assert capture.n_tokens == 10
    for head in range(4):
        assert np.flatnonzero(capture.weights(1, head)[-1]).tolist() == [6, 7, 8, 9]
    assert np.flatnonzero(~capture.blocked(1)[-1]).tolist() == [6, 7, 8, 9]


def test_repeated_words_keep_their_rows_and_columns() -> None:
    """`the cat the dog` is drawn 3 x 3 by tools that take tokens for names."""
    capture = av.capture(llama(), "the cat the dog")
    assert [token.strip("·") for token in capture.tokens] == ["the", "cat", "the", "dog"]
    assert capture.weights(0, 0).shape == (4, 4)
    assert capture.overview().shape[-2:] == (4, 4)


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


def test_pads_are_keys_that_nobody_sees_not_queries_that_see_nothing() -> None:
    """[[5, 7, 0, 0]]: columns 2 and 3 are hidden, whatever their scores, rows 0 and 1 are not."""
    mask = av.masks.padding([2])
    for seed in range(5):
        x = av.random_inputs(4, 8, seed=seed)
        weights = av.run("scaled_dot_product", x, mask=mask).weights[0, 0]
        assert (weights[:, 2:] == 0).all()
        torch.testing.assert_close(weights.sum(-1), torch.ones(4))
        assert torch.isneginf(
            av.run("scaled_dot_product", x, mask=mask)["masked"].tensor[..., 2:]
        ).all()
    ids = {
        "input_ids": torch.tensor([[5, 7, 0, 0]]),
        "attention_mask": torch.tensor([[1, 1, 0, 0]]),
    }
    model = build(hf.BertConfig(**COMMON), "encoder")
    capture = av.capture(model, inputs=ids)
    own = eager_padded(model, ids)[1][0, 3, :2].numpy()
    assert not own[:, 2:].any()
    np.testing.assert_allclose(capture.weights(1, 3), own[:, :2], rtol=0, atol=1e-5)


def eager_padded(model: Any, inputs: dict[str, torch.Tensor]) -> Any:
    with torch.no_grad(), running(model.model, "eager"):
        return model.model(**inputs, output_attentions=True).attentions


def test_masks_use_no_mask_code_of_the_library() -> None:
    """Its private mask functions change; other mask pages broke with them."""
    folder = Path(av.masks.__file__).parent
    for path in sorted(folder.glob("*.py")):
        assert "transformers" not in {module.split(".")[0] for module in modules_of(path)}, (
            f"{path.name} imports transformers"
        )


def test_a_bias_and_a_window_are_both_there_and_told_apart() -> None:
    """ALiBi under a sliding window: hidden cells are marked, a cell of score 0 is a number."""
    x = av.random_inputs(8, 16, seed=1)
    window = av.masks.causal() & av.masks.sliding_window(3)
    trace = av.run("multi_head", x, mask=window, bias="alibi", n_heads=4)
    allowed = window.allowed(8, 8)[0, 0]
    biased = trace["scaled"].tensor + alibi(alibi_slopes(4), 8, 8)
    expected = biased.masked_fill(~allowed, -torch.inf).softmax(-1)
    torch.testing.assert_close(trace.weights, expected.float())
    figure = steps_figure(trace, head=0)
    panels = {panel.id: panel for panel in figure.panels}
    np.testing.assert_array_equal(panels["masked"].blocked, ~allowed.numpy())
    assert np.isnan(panels["masked"].values[~allowed.numpy()]).all()
    assert panels["biased"].blocked is None
    assert np.isfinite(panels["biased"].values).all()


def test_an_encoder_s_map_has_no_triangle() -> None:
    model = build(hf.BertConfig(**COMMON), "encoder")
    capture = av.capture(model, "the cat sat on")
    assert not capture.blocked(1).any()
    assert (capture.weights(1, 2) > 0).all()
    assert figures.capture_figure(capture, 1, 2).panels[0].blocked is None


def test_eight_query_heads_on_two_of_keys() -> None:
    """Head 5 is a query head, of key-value head 1; the maps are eight, the keys two."""
    config = hf.LlamaConfig(vocab_size=100, hidden_size=32, intermediate_size=64,
                            num_hidden_layers=3, num_attention_heads=8,
                            num_key_value_heads=2)  # fmt: skip
    model = build(config)
    ids = (3, 14, 15, 92, 65, 35)
    capture = av.capture(model, inputs={"input_ids": torch.tensor([ids])})
    layer = capture.captured[2]
    assert (layer.n_heads, layer.n_kv_heads) == (8, 2)
    np.testing.assert_allclose(
        capture.weights(2, 5), eager(model, ids).attentions[2][0, 5], rtol=0, atol=1e-5
    )
    assert capture.records[2].keys.shape[0] == 2
    with pytest.raises(AttnvizError, match="heads 0 to 7; head 8"):
        capture.weights(2, 8)
    assert figures.capture_figure(capture, 2, 5).grid.kv_heads == 2  # type: ignore[union-attr]


def test_charts_take_tokens_for_names_and_stay_below_altair_s_limit() -> None:
    """Numbers stay words, `<s>` stays text; at 71 tokens 71 x 71 rows would be refused."""
    words = ["2024", "7", "100", "3", "<s>", "<b>x</b>", "a.b[c]", "the", "the"]
    tokens = [words[place % len(words)] for place in range(71)]
    x = av.Inputs(torch.randn(1, 71, 8), tokens)
    trace = av.run("scaled_dot_product", x, mask=av.masks.causal())
    charts = [keys_seen_chart(trace)]
    charts += [each.chart for each in conventions(trace) if each.chart is not None]
    for chart in charts:
        alt.Chart.from_dict(chart).to_dict()  # MaxRowsError above 5,000
        assert all(len(rows) <= 5000 for rows in chart["datasets"].values())
    rows = charts[0]["datasets"]["queries"]
    assert [row["query"] for row in rows] == [f"{n} {word}" for n, word in enumerate(tokens)]
    assert charts[0]["encoding"]["x"]["type"] in ("nominal", "ordinal", "quantitative")


def test_no_chart_library_reads_tokens_as_html() -> None:
    """Plotly takes `<b>` in a label for bold and drops `<s>`; nothing here draws with it."""
    root = Path(av.__file__).parents[1]
    for path in [*root.glob("attnviz/**/*.py"), *root.glob("pages/*.py")]:
        assert not {"plotly", "bokeh"} & {m.split(".")[0] for m in modules_of(path)}, path

"""What people report of other tools, padding, windows and repeats, each on its smallest input."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pytest
import torch
import transformers as hf

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.figures import capture as figures
from attnviz.figures.conventions import conventions
from attnviz.figures.masks import keys_seen_chart
from attnviz.figures.steps import steps_figure
from attnviz.models.interface import running
from attnviz.variants.scores import alibi, alibi_slopes
from tests.models.field_reports_index import CACHE, MAPS, PADDING, ROWS, SCALE, SHAPES, TOKENS
from tests.models.tiny import COMMON, TEXT, build, eager, llama
from tests.test_layers import ROOT, modules_of

COUNTS = [15, 9, 10, 12, 11, 3]
"""Field reports of each part, as they were collected."""


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


@pytest.mark.parametrize("seen", ROWS)
def test_each_report_has_its_tests(seen: str) -> None:
    """The functions themselves are looked up: a name in a list is no test."""
    assert ROWS[seen]
    for node in ROWS[seen]:
        file, _, name = node.partition("::")
        assert (ROOT / "tests" / file).is_file(), file
        module = importlib.import_module("tests." + file.removesuffix(".py").replace("/", "."))
        assert name.startswith("test_"), node
        assert inspect.isfunction(inspect.unwrap(getattr(module, name))), node


def test_every_report_is_in_the_index() -> None:
    assert [len(part) for part in (MAPS, PADDING, SHAPES, TOKENS, SCALE, CACHE)] == COUNTS
    assert len(ROWS) == sum(COUNTS), "no row twice"

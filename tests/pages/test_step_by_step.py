"""Step by step: what a link asks for is computed, told and reproducible; errors are sentences."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import attnviz as av
from attnviz.ui.page import CAUTIONS

PAGE = Path(__file__).parents[2] / "pages" / "step_by_step.py"

pytestmark = pytest.mark.models  # the tokenizer is SmolLM2's


def open_page(**query: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=60)
    for word, value in query.items():
        app.query_params[word] = value
    app.session_state["more"] = True  # what is folded is open
    app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.text])


def header(app: AppTest) -> dict[str, Any]:
    """The description of the figure that was sent to the browser."""
    sent = app.get("bidi_component")[0].proto.bytes
    length = struct.unpack("<I", sent[:4])[0]
    return json.loads(sent[4 : 4 + length])


def subtitles(app: AppTest) -> dict[str, str]:
    return {panel["id"]: panel["subtitle"] for panel in header(app)["panels"]}


def test_opens_with_one_question_every_matrix_and_its_cautions() -> None:
    app = open_page()
    assert [title.value for title in app.title] == ["What does one attention head compute?"]
    assert list(subtitles(app)) == [
        *("inputs", "query", "key", "value", "scores", "scaled", "masked", "weights", "output"),
        *("W_q", "W_k", "W_v"),
    ]
    assert subtitles(app)["weights"] == "6 × 6 (T × T)"
    assert CAUTIONS["random_weights"] in texts(app)
    assert CAUTIONS["not_explanation"] in texts(app)


def test_a_cell_is_told_with_its_numbers() -> None:
    app = open_page(panel="output", row="5", col="3")
    assert "in component 3, each times its weight for query 5 (·mat), summed." in texts(app)
    trace = av.run("scaled_dot_product", av.text_inputs("The cat sat on the mat", 8), head_dim=8)
    from attnviz.variants.arithmetic import explain

    assert f"${explain(trace, 'output', (0, 5, 3)).latex}$" in texts(app)


def test_a_weight_matrix_is_told_to_be_one() -> None:
    assert "drawn at random, fixed by the seed" in texts(open_page(panel="W_k", row="0", col="0"))


def test_a_cell_that_is_not_there_is_none() -> None:
    app = open_page(panel="weights", row="60", col="1")
    assert "Click any cell" in texts(app)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"scale": "false"}, "scale 1,"),
        ({"temperature": "0.1", "scale": "false"}, "scale 10,"),
        ({"d": "16", "dk": "4"}, "d_model 16, head_dim 4"),
        ({"mask": "causal"}, "mask causal,"),
        ({"mask": "window", "window": "3"}, "mask causal and sliding window 3,"),
        ({"mask": "prefix", "prefix": "4"}, "mask causal or prefix 4,"),
        ({"mask": "padding", "padding": "2"}, "mask padding to 4,"),
        ({"positions": "rotary"}, "positions rotary"),
        ({"positions": "sinusoidal"}, "positions sinusoidal"),
        ({"seed": "7"}, "seed 7,"),
    ],
)
def test_a_link_chooses_the_run(query: dict[str, str], words: str) -> None:
    assert words in texts(open_page(**query))


def test_cross_attention_of_unequal_lengths() -> None:
    app = open_page(cross="true", text="a b c", text2="the cat sat on the mat")
    assert subtitles(app)["weights"] == "3 × 6 (T_q × T_k)"
    assert subtitles(app)["context"] == "6 × 8 (T_k × d_model)"
    app = open_page(cross="true", input="random", length="5", length2="2")
    assert subtitles(app)["weights"] == "5 × 2 (T_q × T_k)"


def test_hostile_values_in_a_link_fall_back() -> None:
    app = open_page(
        d="1000000000", dk="-3", mask="../../x", seed="1e9", temperature="0", row="9" * 9
    )
    assert "d_model 8, head_dim 8" in texts(app)
    assert "mask none, positions none, seed 0" in texts(app)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"text": ""}, "The text is empty; type at least one character."),
        ({"text": "word " * 65}, "at most 64 are taken here"),
        ({"cross": "true", "text2": ""}, "The text is empty"),
        ({"positions": "rotary", "dk": "1"}, "head_dim must be even; received 1"),
        ({"positions": "sinusoidal", "d": "1"}, "d_model must be even; received 1"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(query: dict[str, str], sentence: str) -> None:
    app = open_page(**query)
    assert sentence in texts(app)
    if "text" in query:
        assert app.text_area(key="text").value == query["text"]  # what was typed stays


def test_a_hundred_thousand_characters_are_refused_and_kept() -> None:
    app = open_page()
    long = "x" * 100_000
    app.text_area(key="text").set_value(long).run()
    assert not app.exception
    assert "The text has 100,000 characters and at most 50,000 are read" in texts(app)
    assert app.text_area(key="text").value == long


@pytest.mark.parametrize(
    "text", ["a", "🤗", "<s><b>x</b></s> $5 and $6", "the cat the dog the cat"]
)
def test_odd_texts(text: str) -> None:
    app = open_page(text=text)
    packed = header(app)
    labels = packed["lists"][packed["axes"][0]["labels"]]
    assert len(labels) == int(subtitles(app)["inputs"].split(" × ")[0])
    assert text not in "\n".join(element.value for element in app.markdown) or text == "a"


def test_a_query_that_sees_no_key_is_zero_not_nan() -> None:
    app = open_page(
        cross="true", text2="a", mask="window", window="1", panel="weights", row="3", col="0"
    )
    assert "hidden, as all keys are from this query: weight 0" in texts(app)


def test_scaling_tab_measures_this_run() -> None:
    on, off = (open_page(dk="64", tab="scaling", scale=word) for word in ("true", "false"))
    variance = [float(app.metric[0].value) for app in (on, off)]
    assert variance[1] == pytest.approx(64 * variance[0], rel=0.01)
    largest = [float(app.metric[1].value) for app in (on, off)]
    assert largest[1] > largest[0]
    assert len(on.get("vega_lite_chart")) == 4
    assert "not divided" in texts(off)


@pytest.mark.parametrize("query", [{"text": "a"}, {"input": "random", "length": "3"}])
def test_with_every_key_hidden_no_number_is_made_up(query: dict[str, str]) -> None:
    app = open_page(mask="padding", padding="64", tab="scaling", **query)
    assert not app.metric
    assert "Every key is hidden, so there is nothing to measure." in texts(app)
    assert len(app.get("vega_lite_chart")) == 4


@pytest.mark.parametrize("text", ["a", "a b", "The cat sat on the mat"])
def test_the_address_holds_a_cell_only_when_one_was_chosen(text: str) -> None:
    app = open_page(text=text)
    assert "channel by channel, summed" in texts(app)
    assert not {"panel", "row", "col", "layer", "head"} & app.query_params.keys()
    chosen = open_page(text=text, panel="weights", row="0", col="0")
    assert chosen.query_params.keys() >= {"panel", "row", "col"}


def test_soft_dictionary_tab() -> None:
    app = open_page(tab="dictionary")
    assert "“dog” is not among the keys; “cat” fits it best." in texts(app)
    assert float(app.metric[0].value) == pytest.approx(3.337, abs=0.001)
    cold = open_page(tab="dictionary", word="spider", heat="0.001")
    assert [metric.value for metric in cold.metric] == ["8.000", "8"]
    assert "“spider” is one of the keys" in texts(cold)
    assert "The word to look up is empty" in texts(open_page(tab="dictionary", word=" "))


def test_formula_tab_has_live_shapes() -> None:
    app = open_page(tab="formulas", text="a b", d="4", dk="2")
    assert "| Queries Q: 2 × 2 (T × d_k) | $Q = X W^Q$ | What each token asks for. |" in texts(app)
    assert "- Embeddings: one vector drawn from N(0, 1) for each token, seed 0." in texts(app)


def test_lesson_tab_names_its_sources() -> None:
    assert "https://arxiv.org/abs/1706.03762" in texts(open_page(tab="sources"))


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"mask": "window", "scale": "false", "temperature": "0.5", "seed": "3"},
        {"cross": "true", "embedding": "model", "positions": "rotary", "d": "16", "mask": "causal"},
        {"input": "random", "cross": "true", "length": "5", "positions": "sinusoidal"},
        {"text": "quote ' and \" and \\", "mask": "prefix"},
    ],
)
def test_the_code_makes_the_same_numbers(query: dict[str, str]) -> None:
    app = open_page(tab="code", **query)
    snippet, source = (block.value for block in app.code)
    names: dict[str, Any] = {}
    exec(snippet, names)
    told = header(app)
    sent = app.get("bidi_component")[0].proto.bytes
    weights = names["trace"].weights[0, 0].float().numpy().tobytes()
    assert weights in sent
    assert told["panels"]
    for function in ("def compute(", "def attend(", "def softmax("):
        assert function in source

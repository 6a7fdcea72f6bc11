"""The Interventions page: sweeps, removes, ranks, and says what is wrong in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.interventions import HideEdge, HideToken, Knockout, Patch, Scale, intervene
from attnviz.models import LoadedModel
from attnviz.ui.page import CAUTIONS

PAGE = Path(__file__).parents[2] / "pages" / "interventions.py"
TEXT = "Mr and Mrs Dursley left. Mr and Mrs Durs"

pytestmark = pytest.mark.models


def open_page(**query: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=300)
    for word, value in ({"text": TEXT} | query).items():
        app.query_params[word] = value
    app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.text])


def test_the_sweep_finds_heads_that_lower_the_repeated_name() -> None:
    app = open_page()
    told = texts(app)
    assert "Next token 'ley'" in told
    assert "the lowest of 270 removals" in told
    assert CAUTIONS["removed"] in told
    assert len(app.get("arrow_vega_lite_chart") or app.get("vega_lite_chart")) == 3


@pytest.mark.parametrize("tab", ["cell", "patterns", "attribution", "numbers", "lesson", "code"])
def test_every_part_opens(tab: str) -> None:
    app = open_page(tab=tab)
    if tab == "patterns":
        probe = app.dataframe[0].value
        best = probe.iloc[0]
        assert best["induction"] > 0.8  # SmolLM2 has induction heads
        assert CAUTIONS["head_role"] in texts(app)
    if tab == "cell":
        weights = app.dataframe[0].value["weight"]
        assert len(weights) == 270
        assert weights.is_monotonic_decreasing
    if tab == "code":
        code = app.code[0].value
        compile(code, "code", "exec")
        assert "Knockout(layer=" in code
        app = open_page(tab=tab, heads="", scale="17.3 x 2", hide="2")
        assert "HideToken, Scale, intervene" in app.code[0].value
        assert "Scale(layer=17, head=3, factor=2.0, group=None),\n" in app.code[0].value


def test_all_kinds_of_changes_stand_in_one_list_and_hold_at_once(smollm2: LoadedModel) -> None:
    other = TEXT.replace("left", "slept")
    app = open_page(
        heads="17.3, 18.6", hide="2", by="mean", scale="5.2 x 2", edges="9>0 in 3.1",
        patch="16.0", other=other,
    )  # fmt: skip
    told = texts(app)
    edits = [
        Knockout(17, 3, "mean"),
        Knockout(18, 6, "mean"),
        Scale(5, 2, 2.0),
        Patch(16, 0, other),
        HideToken(2),
        HideEdge(9, 0, 3, 1),
    ]
    assert "\n".join(f"{place}. {edit}" for place, edit in enumerate(edits, 1)) in told
    found = intervene(smollm2, TEXT, edits)
    before, after = found.loss()
    assert f"{before:.4f} nats a token as it is, {after:.4f} changed" in told
    shown = app.dataframe[0].value
    wanted = found.next_tokens(8)
    assert list(shown["token_id"]) == list(wanted["token_id"])
    assert shown["after"].to_list() == pytest.approx(wanted["after"].to_list(), rel=1e-4)
    assert shown["rank_after"].to_list() == wanted["rank_after"].to_list()


def test_an_encoder_is_swept_by_how_far_its_states_move(minilm: LoadedModel) -> None:
    app = open_page(model="minilm-l6", heads="4.7")
    told = texts(app)
    assert "the most of 72 removals" in told
    moved = intervene(minilm, TEXT, [Knockout(4, 7)]).moved()
    assert f"moved by {float(moved.mean()):.1%} of their length on average" in told
    assert [one.value for one in app.text_input] == ["4.7", ""]  # no next token to follow


def test_an_encoder_decoder_is_followed_in_what_it_has_written() -> None:
    app = open_page(model="date-translator")
    told = texts(app)
    assert "Next token '3'" in told
    assert "the lowest of 16 removals" in told
    assert "1. cross layer 0, head" in told
    app = open_page(model="date-translator", heads="encoder:1.0 cross:0.2", hide="encoder:3")
    assert "2. cross layer 0, head 2 removed\n3. token 3 hidden" in texts(app)
    app = open_page(model="date-translator", heads="0.2")
    assert "say in which of them" in texts(app)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"heads": "<b>3</b>"}, "written layer.head"),
        ({"heads": "99.0"}, "no attention layer 99"),
        ({"heads": "1.99"}, "heads 0 to 8"),
        ({"hide": "one"}, "hidden by position"),
        ({"hide": "9999"}, "is not there"),
        ({"scale": "17.3"}, "as in 17.3 x 2"),
        ({"edges": "3"}, "query>key"),
        ({"edges": "99>0"}, "13 queries and 13 keys"),
        ({"patch": "17.3", "other": "Mr"}, "the texts have 13 and 1 tokens"),
        ({"text": ""}, "type at least one word|is empty"),
        ({"text": "the cat " * 300}, "at most 256 tokens"),
        ({"word": "ley"}, None),
    ],
)
def test_bad_input_is_a_sentence_and_is_kept(query: dict[str, str], words: str | None) -> None:
    import re

    app = open_page(**query)
    told = texts(app)
    if words is not None:
        assert re.search(words, told), told
    for word, value in query.items():  # in its control, or kept for one that is folded away
        assert app.session_state[word] == value, word

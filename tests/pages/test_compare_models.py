"""Two texts, two models: the page's maps are those of its code, and nothing typed breaks it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attnviz as av
from attnviz.comparing import compare
from attnviz.ui.page import CAUTIONS
from tests.components.test_payload import unpack

PAGE = Path(__file__).parents[2] / "pages" / "compare_models.py"
QUICK = {"model_a": "induction-2l", "text_a": "abcdefabcdef", "text_b": "abcdxefabcdxef"}


def open_page(**query: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=180)
    for word, value in (QUICK | query).items():
        app.query_params[word] = value
    app.run()
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    return "\n".join(element.value for element in [*app.markdown, *app.text])


def shown(app: AppTest) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    header, arrays = unpack(app.get("bidi_component")[0].proto.bytes)
    return header, {one["id"]: arrays[one["values"]] for one in header["panels"]}


def test_the_maps_and_the_table_are_those_of_the_code() -> None:
    app = open_page(tab="heads")
    header, panels = shown(app)
    model = av.load_model("induction-2l")
    found = compare(av.capture(model, QUICK["text_a"]), av.capture(model, QUICK["text_b"]))
    table = found.changes().table
    best = (int(table["layer"][0]), int(table["head"][0]))
    for word, part in zip(("a", "b", "difference"), found.maps(best), strict=True):
        np.testing.assert_array_equal(panels[word], part.values)
    listed = app.dataframe[0].value
    assert listed["distance"].tolist() == table["distance"].tolist()
    chosen = header["selection"]
    assert (chosen["layer"], chosen["head"]) == best
    names: dict[str, Any] = {"layer": best[0], "head": best[1]}
    exec(compile(header["snippet"], "snippet", "exec"), names)
    np.testing.assert_array_equal(names["found"].difference(best), panels["difference"])
    told = texts(app)
    assert "12 pairs of tokens, of 12 in A and 14 in B" in told
    assert "Nothing is renormalised" in told
    assert CAUTIONS["not_explanation"] in told
    assert CAUTIONS["head_role"] in told


def test_a_link_names_the_head() -> None:
    app = open_page(layer="0", head="3")
    assert shown(app)[0]["panels"][0]["title"] == "A: layer 0, head 3"
    assert app.query_params["layer"] == "0"


@pytest.mark.parametrize("tab", ["pairs", "files", "lesson", "code"])
def test_every_part_opens(tab: str, capsys: pytest.CaptureFixture[str]) -> None:
    app = open_page(tab=tab)
    if tab == "pairs":
        assert (app.dataframe[0].value["pair"] == "no partner").sum() == 2
    if tab == "code":
        exec(compile(app.code[0].value, "code", "exec"), {})
        assert "distance" in capsys.readouterr().out


def test_the_same_text_changes_nothing() -> None:
    app = open_page(text_b="")
    assert (app.dataframe[0].value[["distance", "moved"]] == 0).all(axis=None)
    assert "All 12 tokens are the same." in texts(app)


def test_a_checkpoint_in_a_folder_is_compared_head_by_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from attnviz.settings import settings

    model = av.load_model("induction-2l")
    weight = dict(model.model.named_parameters())
    name = next(word for word in weight if "layers.1" in word and "q_proj.weight" in word)
    head, dim = 2, weight[name].shape[0] // 4
    with torch.no_grad():
        weight[name][head * dim : (head + 1) * dim] += 1
    model.model.save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    monkeypatch.setenv("ATTNVIZ_MODEL_DIRS", str(tmp_path))
    settings.cache_clear()
    try:
        app = open_page(model_b="other", id_b=str(tmp_path), text_b="")
    finally:
        settings.cache_clear()
    table = app.dataframe[0].value
    assert table.iloc[0][["layer", "head"]].tolist() == [1, head]
    assert (table["distance"][1:] == 0).all()


@pytest.mark.models
def test_models_of_other_shapes_have_a_head_chosen_in_each() -> None:
    app = open_page(model_b="minilm-l6", text_a="a cat", text_b="a cat", head_a="1.3", head_b="5.7")
    told = texts(app)
    assert "heads are not ranked" in told
    assert "tokens are paired by their letters" in told
    titles = [one["title"] for one in shown(app)[0]["panels"]]
    assert titles == ["A: layer 1, head 3", "B: layer 5, head 7", "B − A"]
    assert not app.dataframe


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"text_a": ""}, "empty|at least one"),
        ({"model_b": "other"}, "No model is named"),
        ({"model_b": "other", "id_b": "/etc/<b>x"}, "not in a folder that visitors"),
        ({"model_a": "<b>", "model_b": "<b>", "layer": "99", "head": "x"}, None),
        ({"text_b": "<s>[a](b) $5$ :smile:"}, None),
    ],
)
def test_bad_input_is_a_sentence(query: dict[str, str], words: str | None) -> None:
    import re

    if "model_a" in query:
        query = query | {"text_a": "a", "text_b": "a"}
    told = texts(open_page(**query))
    assert words is None or re.search(words, told), told

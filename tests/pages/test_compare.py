"""The Compare page: any two or three variants, with the numbers that its code computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import attnviz as av
from attnviz.ui.page import CAUTIONS
from tests.components.test_payload import unpack

PAGE = Path(__file__).parents[2] / "pages" / "compare.py"

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


def test_the_maps_are_those_that_the_code_computes() -> None:
    app = open_page(a="grouped_query", b="kimi_delta", c="mamba2", shown="1", seed="2")
    header, arrays = unpack(app.get("bidi_component")[0].proto.bytes)
    names: dict = {}
    exec(compile(header["snippet"], "snippet", "exec"), names)
    panels = {one["id"]: arrays[one["values"]] for one in header["panels"]}
    for name, trace in names["traces"].items():
        assert np.array_equal(panels[name], trace.weights[0, 1].numpy())
    assert CAUTIONS["effective_map"] in texts(app)


@pytest.mark.parametrize("name", av.variants.names())
def test_any_variant_can_be_compared(name: str) -> None:
    app = open_page(a=name, b="multi_head", c="none", tab="cost")
    assert not any("could not be done" in block.value for block in app.markdown)
    assert app.dataframe[0].value["operations"].min() > 0


def test_a_variant_beside_itself_is_one() -> None:
    app = open_page(a="linear", b="linear", c="none")
    assert "One variant alone" in texts(app)


def test_distances_and_code() -> None:
    table = open_page().dataframe[0].value
    assert len(table) == 3
    assert "W_q, W_k, W_v, W_o" in table["shared"].tolist()
    assert "traces['delta_rule']" in open_page(tab="code").code[0].value


@pytest.mark.parametrize("query", [{"a": "<b>"}, {"shown": "99"}, {"n_heads": "3"}])
def test_hostile_values_in_a_link_fall_back(query: dict[str, str]) -> None:
    open_page(**query)

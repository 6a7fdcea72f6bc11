"""The example of CONTRIBUTING is a variant that nobody has seen: it runs, and pages take it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

import attnviz as av
from attnviz.cost.forms import forms
from attnviz.trace import Origin
from attnviz.variants import VARIANTS, multi_head
from attnviz.variants.gates import unit_length
from attnviz.variants.heads import attending, join_heads, project_heads
from attnviz.variants.softmax import attend, hide, softmax
from attnviz.variants.variant import Setup, StepText, Variant

ROOT = Path(__file__).parents[1]


def describe(setup: Setup) -> Mapping[str, StepText]:
    """What the example leaves to its author: words for the steps that it adds."""
    unit = {
        f"{role}_features": StepText(
            ("batch", "head", role, "channel"), role, "U", "U", "One long.", Origin("formula")
        )
        for role in ("query", "key")
    }
    return multi_head.describe(setup) | unit


@pytest.fixture
def cosine(monkeypatch: pytest.MonkeyPatch) -> Variant:
    """The example, registered."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = re.search(r"^ +```python\n(.*?)^ +```", text, re.DOTALL | re.MULTILINE)
    assert block
    names = {
        "project_heads": project_heads, "attending": attending, "unit_length": unit_length,
        "attend": attend, "join_heads": join_heads, "hide": hide, "softmax": softmax,
        "Variant": Variant, "multi_head": multi_head, "describe": describe,
        "fused": multi_head.fused,
    }  # fmt: skip
    path = ROOT / "attnviz" / "variants" / "cosine.py"
    exec(compile(textwrap.dedent(block[1]), str(path), "exec"), names)
    variant = names["VARIANT"]
    assert isinstance(variant, Variant)
    monkeypatch.setitem(VARIANTS, "cosine", variant)
    return variant


def test_the_example_computes_cosines(cosine: Variant) -> None:
    x = av.random_inputs(6, 32, seed=1)
    trace = av.run("cosine", x, n_heads=2, scale=5.0)
    q, k = (trace[f"{role}_heads"].tensor for role in ("query", "key"))
    fit = torch.nn.functional.cosine_similarity(q[..., :, None, :], k[..., None, :, :], dim=-1)
    assert torch.allclose(trace.weights, torch.softmax(5 * fit, dim=-1), atol=1e-5)
    assert {"cosine/reference", "cosine/sdpa"} <= set(forms())


@pytest.mark.models
@pytest.mark.parametrize("tab", ["lesson", "steps", "formulas", "cost"])
def test_the_pages_take_a_variant_that_they_have_not_seen(cosine: Variant, tab: str) -> None:
    app = AppTest.from_file(str(ROOT / "pages" / "variants.py"), default_timeout=60)
    app.query_params["variant"], app.query_params["tab"] = "cosine", tab
    app.run()
    assert not app.exception
    assert app.title[0].value == "Cosine attention"  # it has no lesson yet
    assert not any("could not be done" in block.value for block in app.markdown)

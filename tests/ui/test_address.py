"""What the browser is told of its address, where a run comes with one that is a moment old."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from attnviz.ui import address


class Told(dict):
    """Query parameters as a run has them, and what the browser would be told."""

    def __init__(self) -> None:
        super().__init__()
        self.browser: dict[str, str] = {}
        self.steps = 0  # back in the browser

    def from_dict(self, words: dict[str, str]) -> None:
        dict.clear(self)
        dict.update(self, words)
        self.browser = dict(self)
        self.steps += 1

    def stale(self, **said: str) -> None:
        """The next run comes with this address, whatever the browser was told meanwhile."""
        dict.clear(self)
        dict.update(self, said)


@pytest.fixture
def query(monkeypatch: pytest.MonkeyPatch) -> Told:
    query = Told()
    monkeypatch.setattr(address, "st", SimpleNamespace(query_params=query, session_state={}))
    return query


def test_a_value_is_told_and_taken_back(query: Told) -> None:
    address.write("mask", "causal")
    assert query.browser == {"mask": "causal"}
    address.write("mask", None)
    assert query.browser == {}


def test_taking_back_reaches_a_browser_whose_run_knew_of_nothing(query: Told) -> None:
    address.write("mask", "causal")
    query.stale()
    address.write("mask", None)
    assert query.browser == {}


def test_a_value_reaches_a_browser_that_was_told_otherwise_since(query: Told) -> None:
    query.stale(mask="causal")
    address.write("mask", "causal")
    address.write("mask", None)
    query.stale(mask="causal")
    address.write("mask", "causal")
    assert query.browser == {"mask": "causal"}


def test_what_the_browser_has_is_not_told_again(query: Told) -> None:
    query.stale(mask="causal")
    address.write("mask", "causal")
    address.write("head", None)
    assert query.browser == {}


def test_what_changes_together_is_one_step_back(query: Told) -> None:
    query.stale(layer="1", mask="causal")
    address.write_all({"layer": None, "row": "2", "col": "3"})
    assert query.browser == {"mask": "causal", "row": "2", "col": "3"}
    assert query.steps == 1
    address.write_all({"row": "2", "col": "3"})
    assert query.steps == 1  # nothing new


def test_a_control_comes_back_where_the_last_whole_run_did_not_show_it(query: Told) -> None:
    """So it does after a page that stopped at a mistake, and not after a run that was cut short."""

    def run(*keys: str, whole: bool = True) -> list[bool]:
        visit = address.begin("page")
        back = [address.comes_back(key) for key in keys]
        if whole:
            visit.end()
        return back

    assert run("text", "tab") == [False, False]  # entered
    assert run("text") == [False]  # stopped at a mistake
    assert run("text", "tab") == [False, True]
    assert run("text", whole=False) == [False]  # another run began meanwhile
    assert run("text", "tab") == [False, False]

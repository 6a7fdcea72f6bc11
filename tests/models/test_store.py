"""The store of loaded models: bounded, each loaded once, memory given back."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from attnviz.errors import Cancelled
from attnviz.models.store import Store


class Thing:
    """Stands in for a model, with a cycle as real ones may have."""

    def __init__(self) -> None:
        self.me = self


def quiet(fraction: float, text: str) -> None:
    pass


def test_ten_at_once_load_once() -> None:
    store: Store[Thing] = Store(lambda: 2)
    loads, gate = [], threading.Event()

    def load() -> Thing:
        loads.append(1)
        gate.wait(10)
        return Thing()

    with ThreadPoolExecutor(10) as pool:
        waiting = [pool.submit(store.get, "a", load, quiet) for _ in range(10)]
        gate.set()
        got = {id(each.result()) for each in waiting}
    assert len(loads) == 1
    assert len(got) == 1


def test_the_least_used_leaves_and_its_memory_comes_back() -> None:
    store: Store[Thing] = Store(lambda: 2)
    seen = {key: weakref.ref(store.get(key, Thing, quiet)) for key in "ab"}
    store.get("a", Thing, quiet)  # now b is the least used
    store.get("c", Thing, quiet)
    gc.collect()
    assert len(store) == 2
    assert seen["b"]() is None
    assert seen["a"]() is store.get("a", Thing, quiet)


def test_switching_back_and_forth_loads_each_once() -> None:
    store: Store[Thing] = Store(lambda: 3)
    loads = []
    for key in "abababab":
        store.get(key, lambda key=key: loads.append(key) or Thing(), quiet)
    assert sorted(loads) == ["a", "b"]


def test_a_failed_load_is_told_to_all_and_tried_again() -> None:
    store: Store[Thing] = Store(lambda: 2)

    def fail() -> Thing:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store.get("a", fail, quiet)
    assert isinstance(store.get("a", Thing, quiet), Thing)


def test_a_load_that_one_visitor_stops_does_not_stop_the_others() -> None:
    """The one whose visit starts the load leaves; the one who waited loads it then."""
    store: Store[Thing] = Store(lambda: 2)
    started, leave = threading.Event(), threading.Event()

    def stopped() -> Thing:
        started.set()
        leave.wait(10)
        raise Cancelled

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(store.get, "a", stopped, quiet)
        started.wait(10)
        second = pool.submit(store.get, "a", Thing, quiet)
        threading.Timer(0.3, leave.set).start()
        with pytest.raises(Cancelled):
            first.result(10)
        assert isinstance(second.result(10), Thing)


def test_a_visitor_who_waits_may_leave() -> None:
    store: Store[Thing] = Store(lambda: 2)
    started, gate = threading.Event(), threading.Event()

    def slow() -> Thing:
        started.set()
        gate.wait(10)
        return Thing()

    def leave(fraction: float, text: str) -> None:
        assert "loading this model" in text
        raise Cancelled

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(store.get, "a", slow, quiet)
        started.wait(10)
        with pytest.raises(Cancelled):
            store.get("a", Thing, leave)
        gate.set()
        assert isinstance(first.result(10), Thing)

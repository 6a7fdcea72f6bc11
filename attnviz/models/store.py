"""The loaded models of this process: a few, shared by everyone, the least used leaving first."""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from threading import Lock
from typing import Generic, TypeVar

from attnviz.errors import Cancelled
from attnviz.models.progress import Progress

T = TypeVar("T")


class Store(Generic[T]):
    """At most `limit` loaded things by key; each is loaded once, however many ask at once."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._lock = Lock()
        self._items: OrderedDict[Hashable, Future[T]] = OrderedDict()

    def get(self, key: Hashable, load: Callable[[], T], report: Progress) -> T:
        """The thing of that key: kept, being loaded by someone else, or loaded here now.

        A failed load is forgotten, so that the next one tries again; those who waited for it
        get its error. Where whoever was loading left, the next in line loads.
        """
        while True:
            future, mine = self._claim(key)
            if mine:
                return self._load(key, future, load)
            try:
                return _wait(future, report)
            except _Left:
                continue

    def __len__(self) -> int:
        return len(self._items)

    def _claim(self, key: Hashable) -> tuple[Future[T], bool]:
        """(the future of that key, whether it is ours to fulfil)."""
        with self._lock:
            future = self._items.get(key)
            mine = future is None
            if future is None:
                future = self._items[key] = Future()
                self._drop_oldest()
            self._items.move_to_end(key)
            return future, mine

    def _load(self, key: Hashable, future: Future[T], load: Callable[[], T]) -> T:
        try:
            loaded = load()
        except BaseException as problem:
            with self._lock:
                if self._items.get(key) is future:
                    del self._items[key]
            left = isinstance(problem, Cancelled) or not isinstance(problem, Exception)
            future.set_exception(_Left() if left else problem)
            raise
        settle()
        future.set_result(loaded)
        return loaded

    def _drop_oldest(self) -> None:
        dropped = False
        while len(self._items) > max(1, self._limit()):
            self._items.popitem(last=False)
            dropped = True
        if dropped:
            gc.unfreeze()  # what was frozen below may be garbage now
            gc.collect()


class _Left(Exception):
    """Whoever was loading stopped waiting for it."""


def _wait(future: Future[T], report: Progress) -> T:
    while not future.done():
        report(0.0, "Waiting: somebody else is loading this model")
        wait([future], timeout=0.2)
    return future.result()


def settle() -> None:
    """Move everything alive out of the garbage collector's sight.

    A loaded model is hundreds of thousands of objects that will not become garbage; looking
    through them at each full collection costs every visitor a quarter of a second.
    """
    gc.collect()
    gc.freeze()

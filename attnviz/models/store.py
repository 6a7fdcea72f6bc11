"""The loaded models of this process: a few, shared by everyone, the least used leaving first."""

from __future__ import annotations

import gc
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from threading import Lock
from typing import Generic, TypeVar

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
        get its error.
        """
        with self._lock:
            future = self._items.get(key)
            mine = future is None
            if future is None:
                future = self._items[key] = Future()
                self._drop_oldest()
            self._items.move_to_end(key)
        if mine:
            try:
                future.set_result(load())
            except BaseException as problem:
                with self._lock:
                    if self._items.get(key) is future:
                        del self._items[key]
                future.set_exception(problem)
                raise
            settle()
        while True:
            try:
                return future.result(timeout=0.2)
            except NotYet:
                if future.done():
                    raise
                report(0.0, "Waiting: somebody else is loading this model")

    def _drop_oldest(self) -> None:
        dropped = False
        while len(self._items) > max(1, self._limit()):
            self._items.popitem(last=False)
            dropped = True
        if dropped:
            gc.unfreeze()  # what was frozen below may be garbage now
            gc.collect()

    def __len__(self) -> int:
        return len(self._items)


def settle() -> None:
    """Move everything alive out of the garbage collector's sight.

    A loaded model is hundreds of thousands of objects that will not become garbage; looking
    through them at each full collection costs every visitor a quarter of a second.
    """
    gc.collect()
    gc.freeze()

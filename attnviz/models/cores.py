"""Threads that each compute on one core.

torch gives every operation all cores, and they wait for each other after each. Work of many
small operations that falls apart into independent shares goes faster with one share a core, and
much faster where other work keeps a core busy.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import cache
from threading import Barrier, Lock
from typing import TypeVar

import torch

T = TypeVar("T")
_STARTING = Lock()


def available() -> int:
    """Cores that torch uses in this thread."""
    return torch.get_num_threads()


def on_each(share: Callable[[int], T], n_shares: int) -> list[T]:
    """[share(0), .., share(n_shares - 1)], each on a core of its own, without gradients.

    The first error of a share is raised once all of them have ended, so that none goes on
    writing to what the caller has left.
    """
    if n_shares == 1:
        return [share(0)]
    with _STARTING:  # a cached function may be entered twice while its first call runs
        pool = _pool(n_shares)
    waiting = [pool.submit(torch.no_grad()(share), place) for place in range(n_shares)]
    try:
        return [future.result() for future in waiting]
    finally:
        for future in waiting:
            future.exception()


@cache
def _pool(n_threads: int) -> Executor:
    pool = ThreadPoolExecutor(n_threads, thread_name_prefix="attnviz-core")
    everyone = Barrier(n_threads)
    before = torch.get_num_threads()

    def begin() -> None:
        torch.set_num_threads(1)  # of this thread, and of any that first uses torch after it
        torch.get_num_threads()  # a thread's first question fixes the answer
        everyone.wait()

    for started in [pool.submit(begin) for _ in range(n_threads)]:
        started.result()
    torch.set_num_threads(before)  # so that threads begun later have all cores again
    return pool

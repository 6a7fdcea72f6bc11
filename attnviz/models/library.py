"""One thread at a time inside transformers' imports.

transformers fetches its names, and the code of each model, when they are first asked for. Two
threads that ask at once find half-made modules ("cannot import name 'AutoTokenizer'"), which is
what a class does that opens the app together.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

_LOCK = RLock()


@contextmanager
def alone() -> Iterator[None]:
    """Hold this around every import of transformers and every load through it."""
    with _LOCK:
        yield

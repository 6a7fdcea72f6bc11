"""transformers' progress bars and notices, kept off the server's console while models load."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from attnviz.models.library import alone

_LOCK = Lock()
_inside = 0
_before: tuple[int, bool] = (0, True)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers below errors, process-wide, until the last of those inside leaves."""
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _inside, _before
    with alone():
        from transformers.utils import logging

    with _LOCK:
        if _inside == 0:
            _before = (logging.get_verbosity(), logging.is_progress_bar_enabled())
            logging.set_verbosity_error()
            logging.disable_progress_bar()
        _inside += 1


def _leave() -> None:
    global _inside
    from transformers.utils import logging

    with _LOCK:
        _inside -= 1
        if _inside == 0:
            level, bars = _before
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()

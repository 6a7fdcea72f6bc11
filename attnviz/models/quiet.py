"""transformers' progress bars and notices, kept off the server's console while models load."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

_LOCK = RLock()


@contextmanager
def quiet() -> Iterator[None]:
    """Silence transformers below errors; the settings are process-wide, hence the lock."""
    from transformers.utils import logging

    with _LOCK:
        level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.set_verbosity(level)
            if bars:
                logging.enable_progress_bar()

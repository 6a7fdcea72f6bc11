"""Keep the garbage collector away from what never becomes garbage.

A full collection walks every object that torch and transformers brought: 250 ms, under the
interpreter's lock, for every visitor (config.toml turns Streamlit's own off). Frozen once,
those objects are never walked again.
"""

from __future__ import annotations

import gc
import sys
from threading import Lock

_HEAVY = ("torch", "transformers", "pandas")
_lock = Lock()
_frozen: set[str] = set()


def settle() -> bool:
    """Freeze the heap if something heavy was imported since the last time; say whether so."""
    loaded = {name for name in _HEAVY if name in sys.modules}
    with _lock:
        if loaded <= _frozen:
            return False
        _frozen.update(loaded)
    gc.collect()
    gc.freeze()
    return True

"""The kernels of linear layers, and the switch that lets a run listen to them.

A layer calls its kernel by a global name of its model's file, so replacing it is process-wide. The
replacement calls the original, and tells the listener of its own thread only: another visitor's
run of the same family at the same time gets its ordinary result. It is put in place once for
however many runs there are and taken out after the last of them.

With flash-linear-attention or mamba_ssm importable, transformers sends even CPU tensors to their
Triton kernels, which need a GPU; the replacement calls transformers' own torch code there.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn

from attnviz.models.mixers.readers import HELPERS, KERNELS

NAMES = (*KERNELS, *HELPERS)


@runtime_checkable
class Listener(Protocol):
    """Whoever wants each kernel call of a run: its name, arguments by name, and result."""

    def heard(self, name: str, call: dict[str, Any], result: Any) -> None: ...


LISTENER: ContextVar[Listener | None] = ContextVar("attnviz_mixers", default=None)
_LOCK = Lock()
_RUNS: dict[str, int] = {}  # by the name of a model's file: how many runs listen there


def called_by(module: nn.Module) -> set[str]:
    """The kernels that this module's own forward names."""
    forward = inspect.unwrap(type(module).forward)
    code = getattr(forward, "__code__", None)
    return set() if code is None else set(code.co_names) & set(KERNELS)


@contextmanager
def replaced(model: nn.Module) -> Iterator[None]:
    """For the body of a with, let the model's kernels tell a listener what they are called with."""
    files = sorted({type(m).__module__ for m in model.modules() if called_by(m)})
    entered: list[str] = []
    try:
        for file in files:
            _enter(file)
            entered.append(file)
        yield
    finally:
        for file in entered:
            _leave(file)


def _enter(file: str) -> None:
    with _LOCK:
        _RUNS[file] = _RUNS.get(file, 0) + 1
        if _RUNS[file] == 1:
            place = vars(sys.modules[file])
            for name in NAMES:
                if name in place:
                    place[name] = _telling(name, place[name])


def _leave(file: str) -> None:
    with _LOCK:
        _RUNS[file] -= 1
        if _RUNS[file] == 0:
            place = vars(sys.modules[file])
            for name in NAMES:
                if name in place:
                    place[name] = getattr(place[name], "original", place[name])


def _telling(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    own = inspect.unwrap(original)  # transformers' torch code, whatever is installed
    signature = inspect.signature(own)

    def kernel(*args: Any, **kwargs: Any) -> Any:
        first = args[0] if args else next(iter(kwargs.values()))
        on_cpu = isinstance(first, Tensor) and first.device.type == "cpu"
        known = {word: value for word, value in kwargs.items() if word in signature.parameters}
        result = own(*args, **known) if on_cpu else original(*args, **kwargs)
        listener = LISTENER.get()
        if listener is not None and name in KERNELS:
            listener.heard(name, signature.bind(*args, **known).arguments, result)
        return result

    kernel.original = original  # type: ignore[attr-defined]
    return kernel

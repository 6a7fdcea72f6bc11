"""Attention seen where it happens: every softmax and every fused call that a model's code makes.

Code that does not ask transformers' registry still calls torch. A softmax over the last of four
axes inside an attention module gives that module's weights, as they are used: some models return
other things under the name attentions (SqueezeBERT and ProphetNet's encoder their scores).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

SOFTMAX = (nn.functional.softmax, torch.softmax, Tensor.softmax)
ANGLES = torch.acos  # YOSO's, in place of a softmax (angles.py)
FUSED = nn.functional.scaled_dot_product_attention


@runtime_checkable
class Watcher(Protocol):
    """Who is told (recorder.Recorder)."""

    busy: bool  # it computes something itself, which is not the model's

    def attend(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        **options: Any,
    ) -> Tensor: ...

    def keep(self, module: nn.Module, weights: Tensor) -> None: ...


class _Watch(TorchFunctionMode):
    """Torch calls this for every function of its own, in this thread only."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self.inside: list[nn.Module] = []  # the modules that are running, the innermost last
        self._watcher = watcher

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if self._watcher.busy or not (module := self._attending()):
            return func(*args, **kwargs)
        if func is FUSED:
            return self._fused(module, *args, **kwargs)
        out = func(*args, **kwargs)
        if (func in SOFTMAX or func is ANGLES) and out.ndim >= 3:
            self._watcher.keep(module, out)
        return out

    def _attending(self) -> nn.Module | None:
        """The innermost module that has parts: nn.Softmax itself says nothing about its place."""
        return next((m for m in reversed(self.inside) if next(m.children(), None)), None)

    def _fused(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        options = {"scaling": scale, "is_causal": is_causal, "dropout": 0.0}
        if query.ndim != 4:
            return FUSED(
                query,
                key,
                value,
                attn_mask,
                dropout_p,
                is_causal,
                scale=scale,
                enable_gqa=enable_gqa,
            )
        out = self._watcher.attend(module, query, key, value, attn_mask, **options)
        return out.transpose(1, 2)


@contextmanager
def watching(model: nn.Module, watcher: Watcher) -> Iterator[None]:
    """Tell the watcher of every attention of this model, for the body of a with."""
    watch = _Watch(watcher)
    handles, ours = [], get_ident()

    def enter(module: nn.Module, args: Any) -> None:
        if get_ident() == ours:  # somebody else may run the same model
            watch.inside.append(module)

    def leave(module: nn.Module, args: Any, output: Any) -> None:
        if get_ident() == ours and watch.inside:
            watch.inside.pop()

    try:
        for module in set(model.modules()):
            handles.append(module.register_forward_pre_hook(enter))
            handles.append(module.register_forward_hook(leave, always_call=True))
        with watch:
            yield
    finally:
        for handle in handles:
            handle.remove()

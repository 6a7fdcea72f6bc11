"""Turns the kernel calls of one run into records of its linear and state-space layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.errors import ModelError
from attnviz.models.check import COMPARE_UP_TO, LayerCheck
from attnviz.models.layer import Layer
from attnviz.models.mixers.drive import Drive
from attnviz.models.mixers.fourier import fourier
from attnviz.models.mixers.kernels import LISTENER, called_by, replaced
from attnviz.models.mixers.readers import KERNELS, lightning, output_of
from attnviz.models.mixers.record import MixerRecord
from attnviz.models.recorder import layer_number

LIGHTNING = ("qkv_proj", "act_fn", "norm", "slope_rate", "num_attention_heads")
"""The parts of MiniMax's layer, which has its arithmetic inline instead of in a kernel."""
SAMPLED = 3  # heads of a layer that are checked
ROWS = 8  # rows of each


@dataclass(frozen=True)
class Heard:
    """One call of a layer's kernel."""

    number: int
    mixer: str
    drive: Drive
    check: LayerCheck


class MixerRecorder:
    """Listens to a run. Layers that cannot be read are in `refused`, with the reason.

    advance is called after each layer, and may raise to stop the run; keep decides whether a
    tensor stays in memory (spill.Spill).
    """

    def __init__(
        self, model: nn.Module, advance: Callable[[], None], keep: Callable[[Tensor], Tensor]
    ) -> None:
        self.calls: list[Heard] = []
        self.refused: dict[int, str] = {}
        self._model = model
        self._advance = advance
        self._keep = keep
        self._now: list[tuple[int, str]] = []  # the layers being run, innermost last
        self._mixers = {
            module: number
            for name, module in model.named_modules()
            if (called_by(module) or _is_lightning(module) or _is_fourier(module))
            and (number := layer_number(name)) is not None
        }

    def __bool__(self) -> bool:
        """Whether the model has any such layer."""
        return bool(self._mixers)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Record every call that this thread makes in the body of a with."""
        token = LISTENER.set(self)
        try:
            with ExitStack() as stack:
                stack.enter_context(replaced(self._model))
                for module, number in self._mixers.items():
                    for handle in self._hooks(module, number):
                        stack.callback(handle.remove)
                yield
        finally:
            LISTENER.reset(token)

    def cpu_kernels(self) -> AbstractContextManager[None]:
        """For a run that nobody listens to: on a CPU, transformers' own torch code is called."""
        return replaced(self._model)

    def heard(self, name: str, call: dict[str, Any], result: Any) -> None:
        """One kernel call of the layer that is being run (kernels.Listener)."""
        if not self._now:
            return
        number, mixer = self._now[-1]
        with torch.no_grad():
            try:
                drive, factor = KERNELS[name][0](call)
            except ModelError as problem:
                self.refused[number] = str(problem)
                return
            check = _check(drive, factor, output_of(name, result))
        self._add(Heard(number, mixer, drive, check))

    def records(self) -> dict[int, MixerRecord]:
        """By layer; a layer that calls its kernel for some heads at a time has them all."""
        by_layer: dict[int, list[Heard]] = {}
        for call in self.calls:
            if call.number not in self.refused:
                by_layer.setdefault(call.number, []).append(call)
        found = {}
        for number, calls in sorted(by_layer.items()):
            drives = tuple(call.drive for call in calls)
            layer = Layer(
                index=number,
                kind=drives[0].kind,
                mixer=calls[0].mixer,
                n_heads=sum(drive.n_heads for drive in drives),
                n_kv_heads=sum(drive.n_groups for drive in drives),
            )
            found[number] = MixerRecord(layer, drives)
        return found

    def _hooks(self, module: nn.Module, number: int) -> Iterator[Any]:
        def enter(*_: Any) -> None:
            if LISTENER.get() is self:
                self._now.append((number, type(module).__name__))

        def leave(*_: Any) -> None:
            if LISTENER.get() is self and self._now:
                self._now.pop()
                self._advance()

        def transformed(_: nn.Module, args: tuple[Tensor, ...], out: tuple[Tensor]) -> None:
            if LISTENER.get() is self:
                self._fourier(module, number, args[0].detach(), out[0].detach())

        yield module.register_forward_pre_hook(enter)
        if _is_fourier(module):
            yield module.register_forward_hook(transformed)
        yield module.register_forward_hook(leave)
        if not _is_lightning(module):
            return
        layer: Any = module
        kept: list[Tensor] = []

        def projected(_: nn.Module, __: Any, out: Tensor) -> None:
            if LISTENER.get() is self:
                kept[:] = [out.detach()]

        def normed(_: nn.Module, args: tuple[Tensor, ...]) -> None:
            if LISTENER.get() is self:
                self._lightning(layer, number, kept.pop(), args[0])

        yield layer.qkv_proj.register_forward_hook(projected)
        yield layer.norm.register_forward_pre_hook(normed)

    @torch.no_grad()
    def _lightning(self, layer: Any, number: int, projected: Tensor, output: Tensor) -> None:
        heads = layer.num_attention_heads
        if projected.shape[0] != 1:
            self.refused[number] = f"it ran on {projected.shape[0]} texts at once"
            return
        packed = layer.act_fn(projected[0]).unflatten(-1, (heads, -1)).transpose(0, 1)  # (H, T, 3d)
        query, key, value = packed.chunk(3, dim=-1)
        drive = lightning(query, key, value, layer.slope_rate)
        out = output[0].unflatten(-1, (heads, -1)).transpose(0, 1)  # (H, T, d)
        check = _check(drive, None, out)
        self._add(Heard(number, type(layer).__name__, drive, check))

    def _fourier(self, module: nn.Module, number: int, hidden: Tensor, output: Tensor) -> None:
        if hidden.shape[0] != 1:
            self.refused[number] = f"it ran on {hidden.shape[0]} texts at once"
            return
        drive = fourier(hidden)
        self._add(Heard(number, type(module).__name__, drive, _check(drive, None, output)))

    def _add(self, call: Heard) -> None:
        kept = call.drive.mapped(lambda tensor: self._keep(tensor.cpu()))
        self.calls.append(replace(call, drive=kept))


def _check(drive: Drive, factor: Tensor | None, output: Tensor) -> LayerCheck:
    """Sampled rows of sampled heads, A V times the kernel's own factor, against its output.

    Of a long text one head and its last rows: of a delta rule a row takes a walk over all tokens.
    """
    length = output.shape[1]
    short = length <= COMPARE_UP_TO
    step = -(-output.shape[0] // (SAMPLED if short else 1))
    heads = range(0, output.shape[0], step)
    step = -(-length // ROWS) if short else 1
    rows = torch.arange(length - 1, -1, -step)[:ROWS].flip(0)
    error = sums = 0.0
    for head in heads:
        some = slice(None) if drive.nature == "waves" else slice(head, head + 1)
        A = drive.tile(some, rows, torch.arange(length))  # (1 or all, rows, T)
        if drive.nature == "shares":
            sums = max(sums, float((A.sum(-1) - 1).abs().max()))
        got = (A @ drive.value[some].to(A)).sum(0)
        if factor is not None:
            got = got * factor[head, rows].float()
        wanted = output[head, rows].to(got)
        largest = float(wanted.abs().max())
        far = float((got - wanted).abs().max()) / max(1.0, largest)
        error = max(error, far if far == far else float("inf"))
    return LayerCheck(error, sums, 0.0, softmax=drive.nature == "shares")


def _is_lightning(module: nn.Module) -> bool:
    return all(hasattr(module, part) for part in LIGHTNING)


def _is_fourier(module: nn.Module) -> bool:
    return hasattr(module, "fourier_transform")

"""Running only the layers that a change can reach: the ones below it keep what they had given.

A stack is a list of layers, each a function of the hidden states before it. When something
changes inside layer l, the layers before l give what they gave without the change, so their
outputs of one plain run are handed on instead of being computed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from attnviz.interventions.projections import Outlet
from attnviz.models.loaded import LoadedModel


@dataclass(frozen=True, eq=False)
class Depth:
    """The layers of the stack that a model with one stack has, in order."""

    layers: tuple[nn.Module, ...]

    @contextmanager
    def keeping(self) -> Iterator[list[Any]]:
        """What each layer gives in the run of the body."""
        kept: list[Any] = [None] * len(self.layers)
        with ExitStack() as hooks:
            for number, layer in enumerate(self.layers):

                def keep(_: nn.Module, __: Any, output: Any, number: int = number) -> None:
                    kept[number] = output

                hooks.callback(layer.register_forward_hook(keep).remove)
            yield kept

    @contextmanager
    def from_layer(self, first: int, kept: Sequence[Any], batch: int) -> Iterator[None]:
        """Layers before first give what was kept, for every example of the batch.

        A module's own forward is put in place of its class's, and taken away again whatever
        happens. Hold the model's lock.
        """
        with ExitStack() as undo:
            for layer, output in list(zip(self.layers, kept, strict=True))[:first]:
                repeated = _repeated(output, batch)
                layer.forward = lambda *_, given=repeated, **__: given  # type: ignore[method-assign]
                undo.callback(layer.__dict__.pop, "forward")
            yield


def depth_of(model: LoadedModel, places: Sequence[Outlet]) -> Depth | None:
    """The model's layers; None where they are not one list in order, as in an encoder-decoder."""
    if model.kind == "encoder_decoder":
        return None
    lists = {
        name: module
        for name, module in model.model.named_modules()
        if isinstance(module, nn.ModuleList)
        and all(place.name.startswith(f"{name}.{place.layer}.") for place in places)
    }
    if len(lists) != 1:
        return None
    (layers,) = lists.values()
    if any("forward" in layer.__dict__ for layer in layers):
        return None
    return Depth(tuple(layers))


def repeatable(output: Any) -> bool:
    """Whether what a layer gave for one example can be given for several: the example comes first.

    Gemma 3n's layers hand on several streams, and those come before the examples.
    """
    if isinstance(output, Tensor):
        return output.ndim > 0 and output.shape[0] == 1
    return output is None or (type(output) is tuple and all(map(repeatable, output)))


def _repeated(output: Any, batch: int) -> Any:
    if isinstance(output, tuple):
        return tuple(_repeated(part, batch) for part in output)
    return None if output is None else output.expand(batch, *output.shape[1:])

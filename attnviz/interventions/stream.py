"""Whether a model adds to its residual stream what its heads write, as it stands.

The parts of a logit assume it (Elhage et al. 2021): a layer's output is its input, plus what its
heads wrote through W^O, plus what its MLP wrote. A norm behind the heads (Gemma 2 and 3, OLMo 2,
GLM 4) or a factor on them (Granite, MiniMax) breaks it, so each run is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.errors import ModelError
from attnviz.interventions.projections import Outlet
from attnviz.models.loaded import LoadedModel

ROUNDING = {torch.float32: 1e-4, torch.float64: 1e-8}
COARSE = 3e-2  # of bfloat16 and float16
"""How far a sum of three vectors may be from the fourth, of their lengths."""


@contextmanager
def adding(model: LoadedModel, places: Sequence[Outlet]) -> Iterator[Callable[[], None]]:
    """Watch a run of one text; after it, what this gives raises ModelError for a layer that
    does more to its heads than add them. Hold the model's lock."""
    modules = dict(model.model.named_modules())
    layers = []
    with ExitStack() as hooks:
        for place in places:
            found = re.match(r".*?\.\d+(?=\.)", place.name)
            assert found is not None  # an outlet stands in a numbered layer
            layer = _Layer(place, modules[found[0]])
            layers.append(layer)
            entered = layer.module.register_forward_pre_hook(layer.enter, with_kwargs=True)
            hooks.callback(entered.remove)
            for part in layer.module.modules():
                hooks.callback(part.register_forward_hook(layer.gave).remove)

        def require() -> None:
            for layer in layers:
                if not layer.adds(ROUNDING.get(model.dtype, COARSE)):
                    raise ModelError(
                        f"Layer {layer.place.layer} of {model.title} does more to what its heads "
                        "write than add it to the residual stream (a norm behind them, or a "
                        "factor), so its logits cannot be split into heads; remove heads instead."
                    )

        yield require


@dataclass(eq=False)
class _Layer:
    """The last token's vectors of one layer: what enters it, and what each of its parts gives."""

    place: Outlet
    module: nn.Module
    entered: Tensor | None = None
    given: dict[nn.Module, Tensor] = field(default_factory=dict)

    def enter(self, _: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.entered = _last(inputs[0] if inputs else named["hidden_states"])

    def gave(self, part: nn.Module, _: Any, output: Any) -> None:
        first = output[0] if isinstance(output, tuple) else output
        if isinstance(first, Tensor) and first.ndim > 1:
            self.given[part] = _last(first)

    def adds(self, share: float) -> bool:
        """Whether left = entered + heads + one more part, or none."""
        entered, left = self.entered, self.given[self.module]
        assert entered is not None
        heads = self.given[self.place.module]
        rest = left - entered - heads
        parts = [torch.zeros_like(rest), *self.given.values()]
        off = min(float((rest - part).norm()) for part in parts if part.shape == rest.shape)
        return off <= share * max(float(it.norm()) for it in (entered, left, heads))


def _last(states: Tensor) -> Tensor:
    """A copy, as some layers add in place."""
    return states.detach().flatten(0, -2)[-1].double()

"""What each head reads besides its weights: the values of every layer, by one more run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attnviz.errors import ModelError
from attnviz.interventions.edges import Hider
from attnviz.interventions.projections import Outlet, outlets
from attnviz.interventions.reading import accepted
from attnviz.models.captures import Capture
from attnviz.models.interface import listening, reachable, running
from attnviz.models.loaded import LoadedModel
from attnviz.models.own_code.watching import FUSED, SOFTMAX

PRODUCTS = (torch.matmul, torch.bmm, Tensor.matmul, Tensor.__matmul__, Tensor.bmm)


@dataclass(frozen=True, eq=False)
class Values:
    """The values of one attention layer and what its heads' sums pass before W^O."""

    outlet: Outlet = field(repr=False)
    values: Float[Tensor, "kv_heads keys width"]  # x W_V + b_V, float32 on the CPU
    output: Float[Tensor, "heads queries width"]  # the weights times these
    gate: Float[Tensor, "heads queries width"] | None = None
    """What a gated layer (Qwen3-Next) multiplies each head's sum by, 0 to 1; None: nothing."""

    def of_head(self, head: int) -> Float[Tensor, "keys width"]:
        """The values that this query head reads; some share theirs (grouped queries)."""
        share = self.outlet.n_heads // self.values.shape[0]
        return self.values[head // share]


def values_of(model: LoadedModel, capture: Capture, group: str | None = None) -> dict[int, Values]:
    """The values of a capture's layers, by layer: its tokens are read once more.

    Raises ModelError, a sentence, where the values or the output projection of a layer cannot be
    reached.
    """
    part = capture.of(group)
    keep = _Keeper()
    places = {o.layer: o for o in _outlets(model) if o.group == part.group}
    missing = [number for number in part.records if number not in places]
    if missing:
        raise _unreached(model, missing[0])
    inputs = _inputs(model, capture)
    with model.lock, keep.at([places[number] for number in part.records]), _run(model, keep):
        model.run(accepted(model, inputs))
    found = {}
    for number in part.records:
        if number not in keep.found:
            raise _unreached(model, number)
        found[number] = keep.found[number]
        _require_same(model, part, number, found[number])
    return found


class _Keeper:
    """Keeps the last product of weights and values before each output projection.

    It hears of them through the registry of attention functions (models.interface.Listener), or
    of a model with attention code of its own through the torch calls that this makes.
    """

    def __init__(self) -> None:
        self.found: dict[int, Values] = {}
        self.last: tuple[Tensor, Tensor] | None = None
        self.plain: Any = None

    def attend(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        **options: Any,
    ) -> Tensor:
        output = self.plain.attend(module, query, key, value, mask, **options)
        self.last = value, output.transpose(1, 2)
        return output

    @contextmanager
    def at(self, places: list[Outlet]) -> Iterator[None]:
        with ExitStack() as hooks:
            for place in places:
                hook = self._arrived(place)
                hooks.callback(place.module.register_forward_pre_hook(hook).remove)
            yield

    def _arrived(self, place: Outlet) -> Callable[[nn.Module, tuple[Any, ...]], None]:
        def hook(_: nn.Module, inputs: tuple[Any, ...]) -> None:
            if self.last is None:
                return
            value, output = self.last
            self.last = None
            heads = inputs[0].detach().reshape(-1, place.n_heads, place.width).transpose(0, 1)
            if output.numel() != heads.numel() or value.shape[-1] != place.width:
                return  # not what this projection reads
            output = output.reshape(heads.shape).float().cpu()
            value = value.reshape(-1, value.shape[-2], place.width).float().cpu()
            gate = _gate(place, output, heads.float().cpu())
            self.found[place.layer] = Values(place, value.clone(), output, gate)

        return hook


def _gate(place: Outlet, output: Tensor, heads: Tensor) -> Tensor | None:
    """What stands between the heads' sums and their projection; None where nothing does."""
    if torch.equal(output, heads):
        return None
    gate = torch.where(output == 0, 0.0, heads / output)
    if not bool(((gate >= 0) & (gate <= 1.01)).all()):
        raise ModelError(
            f"Layer {place.layer} changes what its heads have read before its output projection, "
            "and not by a gate between 0 and 1, so no share of a single token can be told; look "
            "at the weights instead."
        )
    return gate


class _Products(TorchFunctionMode):
    """Tells a keeper of each product of a softmax with something, and of each fused call."""

    def __init__(self, keep: _Keeper) -> None:
        super().__init__()
        self._keep = keep
        self._softmax = 0  # where the last one lies in memory

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        if func is FUSED and len(args) > 2:
            self._keep.last = args[2], out
        elif func in SOFTMAX:
            self._softmax = out.untyped_storage().data_ptr()
        elif func in PRODUCTS and args[0].untyped_storage().data_ptr() == self._softmax:
            self._keep.last = args[1], out
        return out


@contextmanager
def _run(model: LoadedModel, keep: _Keeper) -> Iterator[None]:
    if reachable(model.model):
        keep.plain = Hider(model, ())
        with listening(model.model, keep):
            yield
    else:
        with running(model.model, None), _Products(keep):
            yield


def _inputs(model: LoadedModel, capture: Capture) -> dict[str, Tensor]:
    """The tokens that a capture was made of, as its model takes them."""
    if capture.image is not None:
        raise ModelError(
            f"{model.title} has seen a picture here; values are read again of texts only."
        )
    stacks = {"input_ids": capture.token_ids}
    if model.kind == "encoder_decoder":
        stacks["input_ids"] = capture.of("encoder").token_ids
        stacks["decoder_input_ids"] = capture.of("decoder").token_ids
    return {name: torch.tensor([ids], device=model.device) for name, ids in stacks.items()}


def _outlets(model: LoadedModel) -> tuple[Outlet, ...]:
    try:
        return outlets(model)
    except ModelError:
        raise ModelError(
            f"The output projections of {model.title}'s attention could not be told apart, so its "
            "values cannot be weighed by them; look at the weights instead."
        ) from None


def _unreached(model: LoadedModel, layer: int) -> ModelError:
    return ModelError(
        f"The values of layer {layer} of {model.title} cannot be reached between its weights and "
        "an output projection of its own; look at the weights instead."
    )


def _require_same(model: LoadedModel, capture: Capture, layer: int, found: Values) -> None:
    """Whether the capture's weights times these values are what the layer read."""
    record = capture.records[layer]
    rows = slice(None, None, max(1, record.n_queries // 8))
    size = max(1.0, float(found.output.abs().max()))
    limit = size * (1e-3 if model.dtype in (torch.float32, torch.float64) else 5e-2)
    for head in range(record.n_heads):
        weights = record.weights(slice(head, head + 1), rows, slice(None))[0].float()
        read = weights @ found.of_head(head)
        if not (read - found.output[head, rows]).abs().max() <= limit:
            raise ModelError(
                f"The weights of layer {layer}, head {head} times the values found for it are not "
                f"what this layer of {model.title} has read, so they are not shown; look at the "
                "weights instead."
            )

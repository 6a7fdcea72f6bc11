"""Changing what heads hand to their output projection, for the body of a with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.errors import AttnvizError
from attnviz.interventions.edits import Edit, Knockout, Patch, Scale
from attnviz.interventions.projections import Outlet, outlet
from attnviz.models.loaded import LoadedModel

HeadEdit = Knockout | Scale | Patch
Change = Callable[[Tensor], Tensor]
"""The heads side by side (..., tokens, heads * width) to the same, changed."""


@contextmanager
def changing(changes: Sequence[tuple[nn.Module, Change]]) -> Iterator[None]:
    """Pass each projection's input through its change. Hold the model's lock."""
    with ExitStack() as hooks:
        for module, change in changes:
            handle = module.register_forward_pre_hook(_hook(change))
            hooks.callback(handle.remove)
        yield


@contextmanager
def reading(places: Sequence[Outlet]) -> Iterator[dict[str, Tensor]]:
    """The inputs of these projections by their names, as the run in the body made them."""
    kept: dict[str, Tensor] = {}
    with ExitStack() as hooks:
        for place in places:

            def keep(_: nn.Module, inputs: tuple[Any, ...], name: str = place.name) -> None:
                kept[name] = inputs[0].detach().clone()

            hooks.callback(place.module.register_forward_pre_hook(keep).remove)
        yield kept


@contextmanager
def examples_first(places: Sequence[Outlet]) -> Iterator[list[bool]]:
    """For each run of a projection in the body: does its input begin with the one example?

    FSMT's begins with the tokens, and windows of a text with the windows.
    """
    found: list[bool] = []
    with ExitStack() as hooks:
        for place in places:

            def look(_: nn.Module, inputs: tuple[Any, ...]) -> None:
                found.append(inputs[0].shape[0] == 1)

            hooks.callback(place.module.register_forward_pre_hook(look).remove)
        yield found


def changes_of(
    model: LoadedModel, edits: Sequence[Edit], others: dict[str, dict[str, Tensor]]
) -> list[tuple[nn.Module, Change]]:
    """What to do at which projection; others holds the heads of each Patch's text, by name."""
    found: list[tuple[nn.Module, Change]] = []
    for edit in edits:
        if not isinstance(edit, HeadEdit):
            continue
        place = outlet(model, edit.layer, edit.group)
        where = place.features(edit.head)
        if isinstance(edit, Knockout):
            found.append((place.module, knocked_out(where, edit.by)))
        elif isinstance(edit, Scale):
            found.append((place.module, _scaled(where, edit.factor)))
        else:
            found.append((place.module, _patched(where, others[edit.text][place.name])))
    return found


def knocked_out(where: slice, by: str = "zero") -> Change:
    """These features become zero, or their own mean over positions."""

    def change(heads: Tensor) -> Tensor:
        heads = heads.clone()
        heads[..., where] = heads[..., where].mean(-2, keepdim=True) if by == "mean" else 0.0
        return heads

    return change


def one_each(features: Sequence[slice]) -> Change:
    """In example b of a batch, the features number b become zero."""

    def change(heads: Tensor) -> Tensor:
        heads = heads.clone()
        for example, where in enumerate(features):
            heads[example, ..., where] = 0.0
        return heads

    return change


def _scaled(where: slice, factor: float) -> Change:
    def change(heads: Tensor) -> Tensor:
        heads = heads.clone()
        heads[..., where] *= factor
        return heads

    return change


def _patched(where: slice, other: Tensor) -> Change:
    def change(heads: Tensor) -> Tensor:
        if heads.shape != other.shape:
            raise AttnvizError(
                f"A head is patched position by position, and the texts have {heads.shape[-2]} "
                f"and {other.shape[-2]} tokens; make them equally long."
            )
        heads = heads.clone()
        heads[..., where] = other[..., where]
        return heads

    return change


def _hook(change: Change) -> Callable[[nn.Module, tuple[Any, ...]], tuple[Any, ...]]:
    def hook(_: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        with torch.no_grad():
            return (change(inputs[0]), *inputs[1:])

    return hook

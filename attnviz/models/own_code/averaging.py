"""PoolFormer: a token mixer that averages neighbours, in all channels and pictures alike.

Yu et al. 2022, MetaFormer is actually what you need for vision (arXiv:2111.11418), section 3.2:
the average over a square about each patch, minus the patch itself. So the output is A V with a
fixed, signed A and the normalised patches as V. A square that is cut by the picture's edge is
averaged over the patches that are there.
"""

from __future__ import annotations

from contextlib import ExitStack
from math import prod
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from attnviz.models.axis import patches
from attnviz.models.interface import running
from attnviz.models.own_code.returned import Found
from attnviz.models.passes import forward
from attnviz.models.stacks import layer_number

NOTE = (
    "Average pooling minus the patch itself: what each patch's output takes from each patch of "
    "the same layer, before the layer's scale. Fixed by the mechanism, whatever the picture: the "
    "same in all channels, signed, and with rows that add up to 0."
)


def averaged(model: Any, prepared: Any, outputs: Any, heard: Any) -> list[Found]:
    """Every layer's A, compared with what its module gives for the patches of this picture.

    The module's inputs are taken from a further pass, for they make no softmax to be heard by.
    """
    mixers = {
        module: layer_number(name) or 0  # the first number in the name is the stage's
        for name, module in model.model.named_modules()
        if type(module).__name__ == "PoolFormerPooling"
    }
    flows: dict[nn.Module, tuple[Tensor, Tensor]] = {}

    def keep(module: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> None:
        flows[module] = args[0][0].detach(), output[0].detach()

    with ExitStack() as stack:
        for mixer in mixers:
            stack.callback(mixer.register_forward_hook(keep).remove)
        with running(model.model, None):
            forward(model, prepared)
    made: dict[int, tuple[Tensor, Tensor]] = {}
    found = []
    for index, (mixer, stage) in enumerate(mixers.items()):
        values, output = flows[mixer]
        rows, columns = values.shape[1:]
        if stage not in made:  # its layers share one map
            made[stage] = pooling_map(mixer, rows, columns)
        maps, allowed = made[stage]
        mixed = values.flatten(1).float().cpu() @ maps[0].T  # (channels, patches)
        far = float((mixed - output.flatten(1).float().cpu()).abs().max())
        error = far / max(1.0, float(output.abs().max()))
        axis = patches(rows, columns, prod(model.model.config.strides[: stage + 1]))
        found.append(
            Found(f"stage {stage + 1}", index, maps, allowed, (axis, axis), NOTE, True, error)
        )
    return found


@torch.no_grad()
def pooling_map(
    mixer: nn.Module, rows: int, columns: int
) -> tuple[Float[Tensor, "1 queries keys"], Bool[Tensor, "1 queries keys"]]:
    """(A, the pairs within a square of the pooling), from the module's own answer to each patch."""
    length = rows * columns
    each = torch.eye(length).view(length, 1, rows, columns)  # a picture with one patch alone lit
    maps = mixer(each).view(length, length).T.contiguous()
    return maps[None], (maps + torch.eye(length) != 0)[None]

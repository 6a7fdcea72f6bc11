"""How far a stack of layers sees: what one layer hides, another can still pass on."""

from __future__ import annotations

import torch
from jaxtyping import Bool
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.masks.mask import Mask, whole


def receptive_field(
    mask: Mask, length: int, n_layers: int
) -> Bool[Tensor, "#batch #heads {length} {length}"]:
    """True where token j of the input can reach position i after n_layers layers with this mask.

    Reachability by boolean products of the mask with itself. The residual connection carries each
    token on at its own position, whatever the mask. A causal window of w keys reaches
    n_layers (w - 1) + 1 keys (Jiang et al. 2023, Mistral 7B, section 2).
    """
    n_layers = whole("The number of layers", n_layers)
    if n_layers < 1:
        raise AttnvizError(f"The number of layers is 1 or more; received {n_layers}.")
    allowed = mask.allowed(length, length)
    layer = (allowed | torch.eye(length, dtype=torch.bool)).float()
    reached = layer
    for _ in range(min(n_layers, length) - 1):  # a path visits each token at most once
        reached = (layer @ reached > 0).float()
    return reached > 0

"""How far apart two runs' outputs and maps are."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor


def relative(
    one: Float[Tensor, "tokens features"], other: Float[Tensor, "tokens features"]
) -> float:
    """||one - other|| / the mean of their two norms (Frobenius): 0 is equal, 2 is opposite.

    Two outputs of zeros are at distance 0.
    """
    size = (one.norm() + other.norm()) / 2
    return float((one - other).norm() / size) if size > 0 else 0.0


def by_token(
    one: Float[Tensor, "tokens features"], other: Float[Tensor, "tokens features"]
) -> Float[Tensor, " tokens"]:
    """The same for each token's own vector."""
    size = (one.norm(dim=-1) + other.norm(dim=-1)) / 2
    return ((one - other).norm(dim=-1) / size).nan_to_num(0.0)

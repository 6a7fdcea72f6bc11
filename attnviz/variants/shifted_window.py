"""Shifted windows: patches attend within squares, which move by half in the next layer.

Liu et al. 2021, Swin Transformer, section 3.2 (arXiv:2103.14030): softmax(Q K^T / sqrt(d) + B) V in
each M x M window, with a learned bias B for each relative place (equation 4). The shift is done by
rolling the grid; patches that only the rolling made neighbours are kept apart. Written here as one
map of all patches. Where Swin pads an axis that M does not divide, the last window is smaller here;
an axis no longer than M is one window and is not shifted. A sequence without a grid is one row.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from attnviz import seeded
from attnviz.errors import AttnvizError
from attnviz.masks import require_no_empty_rows
from attnviz.trace import Origin
from attnviz.variants import multi_head
from attnviz.variants.dimensions import positive
from attnviz.variants.heads import attending, join_heads, project_heads, split_heads
from attnviz.variants.softmax import hide, softmax
from attnviz.variants.variant import Setup, StepText, Tensors, Variant


def compute(
    x: Float[Tensor, "batch patches d_model"],
    context: Float[Tensor, "batch keys d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads patches patches"] | None,
    setup: Setup,
) -> Tensors:
    """All heads, every step kept."""
    M, grid = setup.dimensions["window"], setup.grid or (1, x.shape[1])
    near = same_window(grid, M, setup.options["shift"] == "half").to(x.device)[None, None]
    if allowed is not None:
        near = near & allowed
        if setup.empty_rows == "error":
            require_no_empty_rows(near)
    steps = project_heads(x, context, W, setup)
    query, key, value = attending(steps)
    steps["scores"] = query @ key.mT  # (B, H, T, T)
    steps["scaled"] = steps["scores"] * setup.scale
    steps["biased"] = steps["scaled"] + W["bias_table"][:, relative_places(grid, M).to(x.device)]
    steps["masked"] = hide(steps["biased"], near)
    steps["weights"] = softmax(steps["masked"])
    return steps | join_heads(steps["weights"] @ value, W)


def same_window(
    grid: tuple[int, int], window: int, shifted: bool
) -> Bool[Tensor, "patches patches"]:
    """True where two patches, numbered row by row, meet in one window without crossing an edge."""
    rows, columns = (windows_of(size, window, shifted) for size in grid)
    number = rows[:, None] * (int(columns.max()) + 1) + columns  # (rows, columns)
    return number.flatten()[:, None] == number.flatten()


def windows_of(size: int, window: int, shifted: bool) -> Int[Tensor, " {size}"]:
    """The window that each place of one axis falls into, after the roll if shifted.

    The window that the roll makes of both ends counts as two.
    """
    window, shift = min(window, size), window // 2 if shifted and size > window else 0
    whole = -(-size // window) * window
    rolled = (torch.arange(size) - shift) % whole
    return rolled // window * 2 + (rolled >= whole - shift)


def relative_places(grid: tuple[int, int], window: int) -> Int[Tensor, "patches patches"]:
    """(dr + M - 1) (2 M - 1) + (dc + M - 1): the entry of the bias table for each pair of patches.

    Pairs too far apart for any window get the nearest entry, and are hidden anyway.
    """
    place = torch.cartesian_prod(*(torch.arange(size) for size in grid))  # (T, 2)
    apart = (place[:, None] - place).clamp(1 - window, window - 1) + window - 1
    return apart[..., 0] * (2 * window - 1) + apart[..., 1]


def dimensions(
    d_model: int,
    n_heads: int = 4,
    head_dim: int | None = None,
    v_head_dim: int | None = None,
    window: int = 4,
) -> dict[str, int]:
    """window is the paper's M, 7 there: patches along one side."""
    if positive("window", window) > 256:
        raise AttnvizError(f"window must be at most 256 patches a side; received {window:,}.")
    return multi_head.dimensions(d_model, n_heads, head_dim, v_head_dim) | {"window": window}


def parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """Those of multi_head, and bias_table (H, (2 M - 1)^2), drawn from N(0, 1)."""
    n_places = (2 * sizes["window"] - 1) ** 2
    tables = [seeded.normal((n_places,), seed, "bias", head) for head in range(sizes["n_heads"])]
    return multi_head.parameters(d_model, seed, sizes) | {"bias_table": torch.stack(tables)}


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    pairs = ("batch", "head", "query", "key")
    steps = multi_head.describe(setup)
    steps["biased"] = StepText(
        pairs,
        "scores",
        "S^{b}_h",
        r"S^{b}_h[i,j] = S'_h[i,j] + B_h[\Delta r, \Delta c]",
        "A bias for each relative place, rows and columns apart, the same in every window.",
        Origin("formula", ("scaled", "bias_table")),
    )
    also = f" Mask: {setup.mask}." if setup.mask else ""
    steps["masked"] = StepText(
        pairs,
        "scores",
        r"\hat{S}_h",
        r"\hat{S}_h[i,j] = S^{b}_h[i,j] \text{ if in one window, else } {-\infty}",
        f"A patch of another window gets minus infinity, so its weight will be 0.{also}",
        Origin("formula", ("biased",)),
    )
    return steps


VARIANT = Variant(
    name="shifted_window",
    title="Shifted windows",
    source="Liu et al. 2021, Swin Transformer, section 3.2 (arXiv:2103.14030)",
    compute=compute,
    fused=compute,
    dimensions=dimensions,
    parameters=parameters,
    describe=describe,
    parts=(
        same_window, windows_of, relative_places, project_heads, split_heads, hide, softmax,
        join_heads,
    ),
    fast="",
    options={"shift": ("none", "half")},
    crosses=False,
    for_pictures=True,
)  # fmt: skip

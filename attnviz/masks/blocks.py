"""Masks that work on blocks of tokens, so that a kernel can skip what is hidden in one go."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz import seeded
from attnviz.errors import AttnvizError
from attnviz.masks.mask import Grid, Mask, whole


@dataclass(frozen=True, repr=False)
class Blocks(Mask):
    """Base: block q // size of the queries, block k // size of the keys."""

    size: int

    def rule(self, at: Grid) -> Tensor:
        size = min(self.size, at.n_queries + at.n_keys)
        row, col = at.query() // size, at.key // size
        return self.pairs(int(row[-1, 0]) + 1, int(col[0, -1]) + 1, at.device)[row, col]

    def pairs(self, n_rows: int, n_cols: int, device: torch.device | None) -> Tensor:
        """Bool (n_rows, n_cols): which block of queries may look at which block of keys."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class BlockLocal(Blocks):
    neighbours: int = 0

    @property
    def name(self) -> str:
        near = f" and {self.neighbours} to each side" if self.neighbours else ""
        return f"own block of {self.size}{near}"

    def __repr__(self) -> str:
        more = f", {self.neighbours}" if self.neighbours else ""
        return f"block_local({self.size}{more})"

    def pairs(self, n_rows: int, n_cols: int, device: torch.device | None) -> Tensor:
        at = Grid(n_rows, n_cols, device)
        return (at.query() - at.key).abs() <= min(self.neighbours, n_rows + n_cols)


@dataclass(frozen=True, repr=False)
class EdgeBlocks(Blocks):
    @property
    def name(self) -> str:
        return f"first and last block of {self.size}"

    def __repr__(self) -> str:
        return f"edge_blocks({self.size})"

    def pairs(self, n_rows: int, n_cols: int, device: torch.device | None) -> Tensor:
        at = Grid(n_rows, n_cols, device)
        row, col = at.query(), at.key
        return (row == 0) | (row == n_rows - 1) | (col == 0) | (col == n_cols - 1)


@dataclass(frozen=True, repr=False)
class RandomBlocks(Blocks):
    count: int
    seed: int = 0

    @property
    def name(self) -> str:
        many = "block" if self.count == 1 else "blocks"
        return f"{self.count} random {many} of {self.size} (seed {self.seed})"

    def __repr__(self) -> str:
        more = f", {self.seed}" if self.seed else ""
        return f"random_blocks({self.size}, {self.count}{more})"

    def pairs(self, n_rows: int, n_cols: int, device: torch.device | None) -> Tensor:
        taken = BlockLocal(self.size, 1).pairs(n_rows, n_cols, None)
        taken |= EdgeBlocks(self.size).pairs(n_rows, n_cols, None)
        drawn = seeded.normal((n_rows, n_cols), self.seed, "random_blocks")
        drawn = drawn.masked_fill(taken, -torch.inf)
        best = drawn.topk(min(self.count, n_cols), dim=1).indices
        chosen = torch.zeros_like(taken).scatter(1, best, True)
        return (chosen & ~taken).to(device)


def block_local(size: int, neighbours: int = 0) -> Mask:
    """Keys in the query's own block of `size` tokens, and in `neighbours` blocks to each side."""
    neighbours = whole("The number of neighbours", neighbours)
    if neighbours < 0:
        raise AttnvizError(f"The number of neighbours is 0 or more; received {neighbours}.")
    return BlockLocal(_size(size), neighbours)


def edge_blocks(size: int) -> Mask:
    """The first and the last block are global: they read all, and all read them."""
    return EdgeBlocks(_size(size))


def random_blocks(size: int, count: int, seed: int = 0) -> Mask:
    """`count` blocks of keys for each block of queries, drawn by the seed.

    Drawn among those that big_bird shows to no one else: neither the block's own nor a neighbour,
    neither first nor last. Where fewer are left, all of them.
    """
    count = whole("The number of random blocks", count)
    if count < 0:
        raise AttnvizError(f"The number of random blocks is 0 or more; received {count}.")
    return RandomBlocks(_size(size), count, seeded.whole_seed(seed))


def big_bird(size: int, count: int, seed: int = 0) -> Mask:
    """BigBird's pattern: own block and neighbours, first and last block, random blocks.

    Zaheer et al. 2020, section 2, internal transformer construction (ITC).
    """
    return block_local(size, 1) | edge_blocks(size) | random_blocks(size, count, seed)


def _size(size: int) -> int:
    size = whole("The block size", size)
    if size < 1:
        raise AttnvizError(f"A block holds at least 1 token; received {size}.")
    return size

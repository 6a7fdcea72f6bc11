"""Global tokens: a few that read all and that all read (Beltagy et al. 2020, section 3.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.masks.mask import Grid, Mask, whole
from attnviz.masks.sliding_window import sliding_window


@dataclass(frozen=True, repr=False)
class GlobalTokens(Mask):
    positions: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"global tokens {', '.join(map(str, self.positions))}"

    def __repr__(self) -> str:
        return f"global_tokens({list(self.positions)})"

    def rule(self, at: Grid) -> Tensor:
        longest = max(at.n_queries, at.n_keys)
        if max(self.positions) >= longest:
            raise AttnvizError(
                f"Global tokens must be at positions 0 to {longest - 1}; received "
                f"{max(self.positions)}."
            )
        chosen = torch.tensor(self.positions, device=at.device)
        return torch.isin(at.key, chosen) | torch.isin(at.query(), chosen)


def global_tokens(positions: Iterable[int]) -> Mask:
    """Whole columns and whole rows: a global token is read by every query and reads every key."""
    if isinstance(positions, str) or not isinstance(positions, Iterable):
        raise AttnvizError(
            f"Global tokens are given as a list of positions; received {positions!r}."
        )
    chosen = tuple(whole("Each position of a global token", position) for position in positions)
    if not chosen:
        raise AttnvizError("Global tokens need at least one position; received none.")
    if min(chosen) < 0:
        raise AttnvizError(f"Positions of global tokens are 0 or more; received {min(chosen)}.")
    return GlobalTokens(chosen)


def longformer(window: int, positions: Iterable[int]) -> Mask:
    """Longformer's pattern: a window of `window` keys around each token, or a global token.

    Longformer counts a window by its two halves, the query's own key besides: window 4 shows two
    keys before, the own, and two after, which is `sliding_window(3)`. The softmax runs once over
    window and global tokens together.
    """
    window = whole("The window", window)
    if window < 2 or window % 2:
        raise AttnvizError(
            f"Longformer's window has two equal halves, so it must be an even number from 2; "
            f"received {window}."
        )
    return sliding_window(window // 2 + 1) | global_tokens(positions)

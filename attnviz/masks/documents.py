"""Documents: several texts packed into one sequence, none of which sees another.

Packing without padding: Krell et al. 2021 (arXiv:2107.02027).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.masks.mask import Grid, Mask, whole


@dataclass(frozen=True, repr=False)
class Documents(Mask):
    ids: tuple[int, ...]
    lengths: tuple[int, ...] = ()  # as given; () if ids were given

    @property
    def name(self) -> str:
        if self.lengths:
            return f"documents of {', '.join(map(str, self.lengths))}"
        return f"documents {', '.join(map(str, self.ids))}"

    def __repr__(self) -> str:
        if self.lengths:
            return f"documents({list(self.lengths)})"
        return f"document_ids({list(self.ids)})"

    def rule(self, at: Grid) -> Tensor:
        if len(self.ids) != at.n_keys or len(self.ids) != at.n_queries:
            raise AttnvizError(
                f"The documents have {len(self.ids)} tokens together; expected {at.n_keys}, as "
                f"many queries as keys; received {at.n_queries} queries and {at.n_keys} keys."
            )
        ids = torch.tensor(self.ids, device=at.device)
        return ids[:, None] == ids[None, :]


def documents(lengths: Iterable[int]) -> Mask:
    """Texts of these lengths one after the other: a query sees the keys of its own text.

    Joined with `causal()`, each text is written left to right as if it stood alone; its positions
    should then also start at 0.
    """
    sizes = _whole_numbers("Each document length", lengths)
    if min(sizes) < 1:
        raise AttnvizError(f"Each document holds at least 1 token; received {min(sizes)}.")
    ids = tuple(number for number, size in enumerate(sizes) for _ in range(size))
    return Documents(ids, sizes)


def document_ids(ids: Iterable[int]) -> Mask:
    """One number a token: tokens with the same number see each other, wherever they stand."""
    return Documents(_whole_numbers("Each document id", ids))


def _whole_numbers(what: str, values: object) -> tuple[int, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise AttnvizError(f"{what} must be a whole number in a list; received {values!r}.")
    numbers = tuple(whole(what, value) for value in values)
    if not numbers:
        raise AttnvizError(f"{what} must be a whole number; received none.")
    return numbers

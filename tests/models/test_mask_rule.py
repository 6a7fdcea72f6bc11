"""A mask kept as a rule is the mask, cell by cell."""

from __future__ import annotations

import pytest
import torch
from transformers.masking_utils import (
    sliding_window_bidirectional_mask_function,
    sliding_window_causal_mask_function,
)

from attnviz.models.mask_rule import MaskRule, rule_of

LENGTH = 600  # more than one block of rows
ROWS, COLS = torch.arange(LENGTH)[:, None], torch.arange(LENGTH)[None, :]


def table(rule: str, window: int) -> torch.Tensor:
    """transformers' own predicates, (1, T, T)."""
    if rule == "causal":
        return (COLS <= ROWS)[None]
    if rule == "full":
        return torch.ones(1, LENGTH, LENGTH, dtype=torch.bool)
    if rule == "window":
        return sliding_window_causal_mask_function(window)(0, 0, ROWS, COLS)[None]
    return sliding_window_bidirectional_mask_function(window)(0, 0, ROWS, COLS)[None]


@pytest.mark.parametrize("rule", ["causal", "full", "window", "both"])
@pytest.mark.parametrize("window", [1, 4, 299])
def test_a_known_pattern_becomes_a_rule(rule: str, window: int) -> None:
    expected = table(rule, window)
    found = rule_of(expected, causal=rule in ("causal", "window"), window=window)
    assert found.table is None
    assert found.window == (window if rule in ("window", "both") else None)
    for rows, cols in [
        (torch.arange(LENGTH), torch.arange(LENGTH)),
        (torch.arange(10, 20), torch.arange(5, 30)),
        (torch.arange(400, 420), torch.arange(0, 50)),
        (torch.arange(0, 600, 37), torch.arange(1, 600, 41)),
        (torch.arange(50, 51), torch.arange(50, 51)),
    ]:
        part = expected[:, rows][:, :, cols]
        got = found.allowed(rows, cols)
        assert torch.equal(torch.ones_like(part) if got is None else got, part)


@pytest.mark.parametrize("rule", ["causal", "full", "window", "both"])
@pytest.mark.parametrize("rows", [slice(0, 1), slice(0, 256), slice(256, 512), slice(590, 600)])
def test_nothing_is_seen_outside_the_reach(rule: str, rows: slice) -> None:
    expected = table(rule, 7)
    found = rule_of(expected, causal=rule in ("causal", "window"), window=7)
    reach = found.reach(rows, LENGTH)
    seen = expected[0, rows].any(0).nonzero()
    assert (reach.start, reach.stop) == (int(seen.min()), int(seen.max()) + 1)


@pytest.mark.parametrize("cell", [(0, 599), (599, 0), (300, 301), (511, 511)])
def test_one_odd_cell_keeps_the_mask_itself(cell: tuple[int, int]) -> None:
    odd = table("causal", 1).clone()
    odd[0, *cell] ^= True
    found = rule_of(odd, causal=True, window=4)
    assert found.table is not None
    got = found.allowed(torch.arange(LENGTH), torch.arange(LENGTH))
    assert got is not None
    assert torch.equal(got, odd)


def test_a_mask_of_its_own_for_each_head_is_kept() -> None:
    masks = torch.stack([table("causal", 1)[0], table("full", 1)[0]])
    found = rule_of(masks, causal=True, window=None)
    assert torch.equal(found.allowed(torch.arange(LENGTH), torch.arange(LENGTH)), masks)


def test_an_empty_tile_needs_no_mask() -> None:
    assert MaskRule(causal=True).allowed(torch.arange(0), torch.arange(5)) is None

"""The largest weights of blocks, against the whole map cut into blocks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attnviz.errors import AttnvizError
from attnviz.models.layer import Layer
from attnviz.models.layers import LayerRecord
from attnviz.models.mask_rule import MaskRule
from attnviz.models.pooling import largest
from attnviz.models.stream import stream
from tests.models.made_up import made_up

TABLE = torch.rand(1, 300, 300, generator=torch.Generator().manual_seed(2)) < 0.02


def record(rule: MaskRule, **more) -> LayerRecord:
    generator = torch.Generator().manual_seed(0)
    layer = Layer(0, "full", "MadeUp", 2, 1)
    queries = torch.randn(2, 300, 16, generator=generator)
    keys = torch.randn(1, 300, 16, generator=generator)
    return stream(LayerRecord(layer, queries, keys, 0.5, rule, **more), 32).record


@pytest.mark.parametrize(
    "made",
    [
        record(MaskRule(causal=True)),
        record(MaskRule(causal=True, window=20)),
        record(MaskRule(causal=False)),
        record(MaskRule(causal=False, window=7)),
        record(MaskRule(causal=False, table=TABLE)),
        record(MaskRule(causal=True), softcap=2.0, sinks=torch.tensor([[0.5], [3.0]])),
    ],
    ids=["causal", "window", "both ways", "both ways, window", "table", "softcap and sinks"],
)
@pytest.mark.parametrize(
    ("rows", "cols", "block"),
    [
        (slice(0, 300), slice(0, 300), 16),
        (slice(0, 300), slice(0, 300), 300),
        (slice(33, 200), slice(10, 260), 4),
        (slice(5, 290), slice(64, 300), 8),
        (slice(290, 300), slice(0, 3), 2),
        (slice(0, 300), slice(0, 300), 1),
    ],
)
def test_each_block_has_its_largest_weight_and_says_if_it_is_masked(
    made: LayerRecord, rows: slice, cols: slice, block: int
) -> None:
    whole = made.weights(slice(1, 2), rows, cols)[0].numpy()
    allowed = made.rule.allowed(*made.positions(rows, cols))
    seen = np.ones(whole.shape, bool) if allowed is None else allowed[0].numpy()
    down, across = (np.arange(0, side, block) for side in whole.shape)
    expected = np.maximum.reduceat(np.maximum.reduceat(whole, down, 0), across, 1)
    open_ = np.logical_or.reduceat(np.logical_or.reduceat(seen, down, 0), across, 1)
    values, blocked = largest(made, 1, block, rows, cols)
    np.testing.assert_allclose(values, expected, atol=1e-6)
    np.testing.assert_array_equal(blocked, ~open_)


def test_tops_are_each_rows_largest_weight() -> None:
    capture = made_up(300)
    for head in range(3):
        expected = capture.weights(1, head).max(1)
        np.testing.assert_allclose(capture.tops(1, head), expected, atol=1e-6)


def test_what_is_not_there_is_refused_in_words() -> None:
    capture = made_up(40)
    for ask in (
        lambda: capture.largest(0, 9, 2),
        lambda: capture.largest(0, 0, 0),
        lambda: capture.largest(0, 0, 2, rows=slice(5, 5)),
        lambda: capture.largest(0, 0, 2, cols=slice(0, 40, 2)),
        lambda: capture.tops(7, 0),
    ):
        with pytest.raises(AttnvizError, match=r"heads 0 to 2|1 or more|one token|layers 0 to 1"):
            ask()

"""The streamed overview, metrics and output against the whole map, by definition in float64."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from attnviz.metrics.heads import head_metrics
from attnviz.models import stream as streaming
from attnviz.models.layer import Layer
from attnviz.models.layers import LayerRecord
from attnviz.models.mask_rule import MaskRule
from attnviz.models.stream import bins, stream

T, HEADS, GROUPS, D = 1024, 6, 2, 16


def table() -> MaskRule:
    generator = torch.Generator().manual_seed(1)
    allowed = torch.rand(1, T, T, generator=generator) < 0.3
    allowed[0, 5] = False  # a query that sees nothing
    return MaskRule(causal=True, table=allowed)


RULES = {
    "causal": lambda: MaskRule(causal=True),
    "full": lambda: MaskRule(causal=False),
    "sliding": lambda: MaskRule(causal=True, window=100),
    "around": lambda: MaskRule(causal=False, window=60),
    "table": table,
}


def record(rule: MaskRule) -> LayerRecord:
    generator = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    return LayerRecord(
        layer=Layer(0, "full", "test", HEADS, GROUPS),
        queries=3 * draw(HEADS, T, D),
        keys=draw(GROUPS, T, D),
        scale=D**-0.5,
        rule=rule,
    )


def whole(of: LayerRecord) -> torch.Tensor:
    """softmax(q k^T scale + mask), all of it, in float64."""
    q, k = of.queries.double(), of.keys.double().repeat_interleave(HEADS // GROUPS, 0)
    scores = q @ k.mT * of.scale
    if of.softcap is not None:
        scores = of.softcap * (scores / of.softcap).tanh()
    everywhere = torch.arange(T)
    allowed = of.rule.allowed(everywhere, everywhere)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    if of.sinks is not None:
        scores = torch.cat([scores, of.sinks.double()[:, None].expand(-1, T, 1)], -1)
    return scores.softmax(-1).nan_to_num()[..., :T]


@pytest.mark.parametrize("kind", [*RULES, "sinks", "softcap"])
def test_1024_tokens_equal_the_full_maps_to_1e_5(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = record(RULES.get(kind, RULES["causal"])())
    if kind == "sinks":
        of = replace(of, sinks=torch.linspace(-2, 9, HEADS)[:, None])
    if kind == "softcap":
        of = replace(of, softcap=2.0)
    monkeypatch.setattr(streaming, "CELLS", 2**17)  # many blocks, as of a long text
    values = torch.randn(GROUPS, T, 8, generator=torch.Generator().manual_seed(2))
    got = stream(of, 30, values)  # 30 does not divide 1,024
    maps = whole(of)
    pool = torch.nn.functional.one_hot(bins(T, 30)).double()
    pool /= pool.sum(0)
    torch.testing.assert_close(got.overview.double(), pool.T @ maps @ pool, rtol=0, atol=1e-5)
    torch.testing.assert_close(got.metrics.double(), head_metrics(maps), rtol=1e-5, atol=1e-5)
    spread = values.double().repeat_interleave(HEADS // GROUPS, 0)
    torch.testing.assert_close(got.output.double(), maps @ spread, rtol=0, atol=1e-5)  # type: ignore[union-attr]
    rows, cols = slice(3, 900, 50), slice(700, 1020)
    tile = got.record.weights(slice(4, 5), rows, cols)
    torch.testing.assert_close(tile.double(), maps[4:5, rows, cols], rtol=0, atol=1e-5)


@pytest.mark.parametrize("heads", [slice(0, 6), slice(1, 6), slice(2, 4), slice(3, 6), slice(1, 3)])
def test_any_run_of_heads_reads_its_own_keys(heads: slice) -> None:
    """3 heads share a key head: runs that cut a group in two, or are within one, or are whole."""
    of = stream(record(RULES["causal"]()), 8).record
    rows, cols = slice(40, 60), slice(0, 60)
    got = of.weights(heads, rows, cols)
    alone = [of.weights(slice(h, h + 1), rows, cols) for h in range(heads.start, heads.stop)]
    torch.testing.assert_close(got, torch.cat(alone), rtol=0, atol=1e-6)

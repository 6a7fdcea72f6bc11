"""Every metric of a head against its definition, written out over full maps of 300 tokens."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from attnviz.metrics.heads import NAMES
from attnviz.models.captures import Capture
from attnviz.models.pooling import stacked
from attnviz.models.stream import stream
from tests.models.made_up import made_up

T = 300


@pytest.fixture(scope="module", params=[True, False], ids=["causal", "bidirectional"])
def capture(request: pytest.FixtureRequest) -> Capture:
    """A text of 40 different tokens, in float64: a distance of 100 has no 1e-6 in float32."""
    made = made_up(T, causal=request.param)
    ids = np.random.default_rng(0).integers(0, 40, T)
    streamed = {
        index: stream(
            replace(record, queries=record.queries.double(), keys=record.keys.double()), 32
        )
        for index, record in made.records.items()
    }
    return replace(
        made,
        token_ids=tuple(ids.tolist()),
        records={index: one.record for index, one in streamed.items()},
        numbers=stacked([one.metrics.float().numpy() for one in streamed.values()], 3),
    )


def definitions(p: np.ndarray, ids: tuple[int, ...]) -> dict[str, float]:
    """Row by row, in plain numpy."""
    rows: dict[str, list[float]] = {name: [] for name in (*NAMES, "duplicate", "induction")}
    for i, row in enumerate(p):
        kept = row[row > 0]
        entropy = -float((kept * np.log(kept)).sum())
        rows["entropy"].append(entropy)
        rows["span"].append(float(np.exp(entropy)))
        rows["distance"].append(sum(w * abs(i - j) for j, w in enumerate(row)))
        rows["first"].append(row[0])
        rows["self"].append(row[i])
        if i:
            rows["previous"].append(row[i - 1])
        before = [j for j in range(i) if ids[j] == ids[i]]
        if before:
            rows["duplicate"].append(row[before[-1]])
            if before[-1] + 1 < i:
                rows["induction"].append(row[before[-1] + 1])
    return {name: float(np.mean(values)) for name, values in rows.items()}


def test_each_is_its_definition(capture: Capture) -> None:
    frame = capture.metrics().set_index(["layer", "head"])
    for (layer, head), found in frame.iterrows():  # type: ignore[misc]
        maps = capture.records[layer].weights(slice(head, head + 1), slice(None), slice(None))
        expected = definitions(maps[0].numpy(), capture.token_ids)
        assert set(expected) == set(frame.columns)
        for name, value in expected.items():
            assert found[name] == pytest.approx(value, rel=1e-6, abs=1e-6), (layer, head, name)


def test_they_tell_heads_apart(capture: Capture) -> None:
    """Made-up heads differ: a metric that were the same number everywhere would show."""
    assert (capture.metrics()[[*NAMES, "duplicate", "induction"]].std() > 1e-4).all()

"""Duplicate and induction scores against their definition, written out over full maps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.metrics.patterns import pattern_scores, repeated_random
from tests.models.made_up import made_up
from tests.models.shrink import shrink
from tests.models.tiny import TEXT, build, llama


@pytest.mark.parametrize("causal", [True, False])
def test_equal_to_the_definition_over_full_maps(causal: bool) -> None:
    generator = np.random.default_rng(0)
    ids = tuple(int(token) for token in generator.integers(0, 40, 300))
    capture = replace(made_up(300, causal=causal), token_ids=ids)
    found = pattern_scores(capture).set_index(["layer", "head"])
    for layer in capture.captured:
        for head in range(layer.n_heads):
            weights = capture.weights(layer.index, head)
            duplicate, induction = [], []
            for i, token in enumerate(ids):
                before = [j for j in range(i) if ids[j] == token]
                if before:
                    duplicate.append(weights[i, before[-1]])
                    if before[-1] + 1 < i:
                        induction.append(weights[i, before[-1] + 1])
            row = found.loc[(layer.index, head)]
            assert row["duplicate"] == pytest.approx(np.mean(duplicate), abs=1e-6)
            assert row["induction"] == pytest.approx(np.mean(induction), abs=1e-6)


def test_windows_and_whole_maps_count_alike() -> None:
    for model in (build(shrink("mistral", sliding_window=4)), build(shrink("falcon"))):
        capture = av.capture(model, TEXT)
        found = pattern_scores(capture)
        weights = capture.weights(1, 2)
        ids = capture.token_ids
        own = [
            weights[i, max(j for j in range(i) if ids[j] == ids[i])]
            for i in range(len(ids))
            if ids[i] in ids[:i]
        ]
        row = found[(found["layer"] == 1) & (found["head"] == 2)].iloc[0]
        assert row["duplicate"] == pytest.approx(np.mean(own), abs=1e-6)


def test_a_text_without_repetition_has_no_score() -> None:
    assert pattern_scores(made_up(12)).loc[:, ["duplicate", "induction"]].isna().all(axis=None)


def test_the_probe_repeats_different_ordinary_tokens() -> None:
    model = llama()
    ids = repeated_random(model, 20, seed=3)
    assert ids[:20].tolist() == ids[20:].tolist()
    assert len(set(ids[:20].tolist())) == 20
    assert ids.tolist() != repeated_random(model, 20, seed=4).tolist()
    with pytest.raises(AttnvizError, match="1 to"):
        repeated_random(model, 10_000)

"""The induction circuit's numbers against the trainer's own, and what has none."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import attnviz as av
from attnviz.errors import AttnvizError, ModelError
from attnviz.interventions import induction_circuit
from attnviz.models.teaching.induction import head_scores, knock_outs, without_head
from tests.models.tiny import llama

HALF = 12


def test_scores_and_rises_are_the_trainers() -> None:
    """An independent reading: eager maps gathered cell by cell, hooks on the projections."""
    model = av.load_model("induction-2l", device="cpu")
    found = induction_circuit(model, half=HALF, seed=3)
    ids = torch.tensor([found.capture.token_ids])
    periods = torch.tensor([HALF])
    before = model.model.config._attn_implementation
    model.model.set_attn_implementation("eager")
    try:
        induction, previous = head_scores(model.model, ids, periods)
        whole, rises = knock_outs(model.model, ids, periods)
        with without_head(model.model, *found.teller):
            untold = head_scores(model.model, ids, periods)[0]
    finally:
        model.model.set_attn_implementation(before)
    assert found.heads["induction"].to_list() == pytest.approx(
        induction.flatten().tolist(), abs=1e-5
    )
    assert found.heads["rise"].to_list() == pytest.approx(rises.flatten().tolist(), abs=1e-4)
    assert found.losses["whole"][found.second].mean() == pytest.approx(whole, abs=1e-5)
    assert found.induction_without == pytest.approx(float(untold[found.finder]), abs=1e-5)
    assert found.finder == divmod(int(induction.argmax()), 4)
    assert found.teller == (0, int(previous[0].argmax()))
    assert np.median(found.heads["rise"]) < 0.1 < 1 < found.score(found.finder, "rise")


def test_what_has_no_such_circuit_is_said() -> None:
    with pytest.raises(AttnvizError, match="two tokens at least"):
        induction_circuit(av.load_model("induction-2l", device="cpu"), half=1)
    with pytest.raises(ModelError, match="other tokens than were written"):
        induction_circuit(llama(), half=20)

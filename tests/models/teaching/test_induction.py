"""induction-2l as shipped: loaded by its name, judged on sequences it was not trained on."""

from __future__ import annotations

import pytest
import torch

import attnviz as av
from attnviz.models import catalog
from attnviz.models.teaching.induction import (
    LETTERS,
    head_scores,
    knock_outs,
    repeated_loss,
    sequences,
    without_head,
)

NAME = "induction-2l"


@pytest.fixture(scope="module")
def loaded():
    model = av.load_model(NAME)
    model.model.set_attn_implementation("eager")
    return model


@pytest.fixture(scope="module")
def judged(loaded):
    ids, periods = sequences(100, torch.Generator().manual_seed(77))
    induction, previous = head_scores(loaded.model, ids, periods)
    return induction, previous, *knock_outs(loaded.model, ids, periods)


def test_one_head_does_induction_and_builds_on_one_that_looks_at_the_previous_token(
    loaded, judged
) -> None:
    induction, previous = judged[0].clone(), judged[1]
    best = divmod(int(induction.argmax()), induction.shape[1])
    assert best[0] == 1  # it takes two layers
    assert induction[best] > 0.9
    induction[best] = 0.0
    assert induction.max() < 0.2  # the score singles it out
    below = int(previous[0].argmax())
    assert previous[0, below] > 0.7
    ids, periods = sequences(30, torch.Generator().manual_seed(78))
    with without_head(loaded.model, 0, below):
        assert head_scores(loaded.model, ids, periods)[0][best] < 0.3


def test_the_loss_hangs_on_that_head_and_not_on_the_median_one(judged) -> None:
    induction, _, whole, rises = judged
    assert whole < 0.1
    best = divmod(int(induction.argmax()), induction.shape[1])
    assert rises[best] >= 1.0
    assert rises.median() < 0.1


def test_a_knocked_out_head_is_its_slice_of_the_output_projection_set_to_zero(loaded) -> None:
    ids, periods = sequences(4, torch.Generator().manual_seed(1))
    projection = loaded.model.model.layers[1].self_attn.o_proj.weight
    kept = projection.detach().clone()
    with without_head(loaded.model, 1, 0):
        hooked = repeated_loss(loaded.model, ids, periods)
    try:
        with torch.no_grad():
            projection[:, :16] = 0.0
        zeroed = repeated_loss(loaded.model, ids, periods)
    finally:
        with torch.no_grad():
            projection.copy_(kept)
    assert torch.allclose(hooked, zeroed, atol=1e-6)
    assert hooked > repeated_loss(loaded.model, ids, periods) + 1


def test_scores_are_those_of_the_maps_read_cell_by_cell(loaded) -> None:
    ids, periods = sequences(2, torch.Generator().manual_seed(3))
    induction, previous = head_scores(loaded.model, ids, periods)
    maps = loaded.model(input_ids=ids, output_attentions=True).attentions
    for scores, shift in ((induction, lambda p: p - 1), (previous, lambda p: 1)):
        cells = [
            maps[1][n, 0, i, i - shift(p)].item()
            for n, p in enumerate(periods.tolist())
            for i in range(p, min(2 * p, ids.shape[1]))
        ]
        assert scores[1, 0].item() == pytest.approx(sum(cells) / len(cells), abs=1e-5)


def test_each_character_is_a_token_and_what_it_writes_goes_on(loaded) -> None:
    text = "k7#Qz!pm" * 2
    ids = loaded.tokenizer(text)["input_ids"]
    assert [LETTERS[i] for i in ids] == list(text)
    assert loaded.tokenizer.decode(ids) == text
    logits = loaded.model(input_ids=torch.tensor([ids])).logits[0]
    said = [LETTERS[i] for i in logits[8:-1].argmax(-1).tolist()]
    assert said == list(text[9:])


def test_the_card_and_the_size() -> None:
    folder = catalog.find(NAME).source()
    assert (folder / "card.json").exists()
    assert (folder / "model.safetensors").stat().st_size < 3_000_000

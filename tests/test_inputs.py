"""Random and text inputs: reproducible, named, and related words near."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import attnviz as av
from attnviz.embeddings import near_preserving
from attnviz.inputs import tokenize
from attnviz.positions import sinusoidal


def test_random_inputs_follow_their_seed() -> None:
    first, again = av.random_inputs(6, 8, batch=2, seed=1), av.random_inputs(6, 8, batch=2, seed=1)
    assert first.embeddings.shape == (2, 6, 8)
    assert torch.equal(first.embeddings, again.embeddings)
    assert not torch.equal(first.embeddings, av.random_inputs(6, 8, batch=2, seed=2).embeddings)
    longer = av.random_inputs(9, 8, batch=2, seed=1)
    assert torch.equal(longer.embeddings[:, :6], first.embeddings)


def test_numbers_that_links_rely_on() -> None:
    row = av.random_inputs(2, 4, seed=0).embeddings[0, 0]
    assert row.tolist() == pytest.approx(STORED, abs=1e-6)


STORED = [-1.738449, 1.312861, -1.424122, -0.995430]


def test_random_components_have_variance_one() -> None:
    x = av.random_inputs(200, 64).embeddings
    assert float(x.var()) == pytest.approx(1, abs=0.05)
    assert float(x.mean()) == pytest.approx(0, abs=0.03)


def test_tokens_default_to_positions() -> None:
    x = av.Inputs(embeddings=torch.zeros(1, 3, 2))
    assert x.tokens == ("0", "1", "2")
    assert (x.length, x.d_model) == (3, 2)


def test_sinusoidal_positions_are_added_and_kept_apart() -> None:
    plain, placed = av.random_inputs(5, 8), av.random_inputs(5, 8, positions="sinusoidal")
    added = sinusoidal(5, 8).float()
    assert torch.allclose(placed.embeddings, plain.embeddings + added, atol=1e-6)
    assert placed.summands is not None
    assert torch.equal(placed.summands[0], plain.embeddings)
    assert "sinusoids" in placed.notes[-1]


def test_rotary_positions_leave_the_embeddings() -> None:
    rotary = av.random_inputs(5, 8, positions="rotary")
    assert torch.equal(rotary.embeddings, av.random_inputs(5, 8).embeddings)
    assert rotary.positions == "rotary"


@pytest.mark.parametrize(
    ("embeddings", "sentence"),
    [
        (torch.zeros(3, 4), r"must be \(batch, length, d_model\).*received shape \(3, 4\)"),
        (torch.zeros(1, 0, 4), r"received shape \(1, 0, 4\)"),
        (torch.zeros(1, 3, 4, dtype=torch.long), "must be floating-point; received torch.int64"),
        (torch.full((1, 1, 2), torch.nan), "must be finite"),
    ],
)
def test_bad_embeddings_are_told(embeddings: Tensor, sentence: str) -> None:
    with pytest.raises(av.AttnvizError, match=sentence):
        av.Inputs(embeddings)


def test_bad_choices_are_told() -> None:
    with pytest.raises(av.AttnvizError, match="one token for each of the 3 embeddings; received 1"):
        av.Inputs(torch.zeros(1, 3, 4), ["a"])
    with pytest.raises(av.AttnvizError, match="positions must be one of none, sinusoidal, rotary"):
        av.random_inputs(3, 4, positions="alibi")
    with pytest.raises(av.AttnvizError, match="length must be a whole number of 1 or more"):
        av.random_inputs(0, 4)


@pytest.mark.models
class TestText:
    def test_same_token_same_vector_and_repeats_stay_apart(self) -> None:
        x = av.text_inputs("the cat the dog the cat", d_model=16, seed=1)
        assert x.tokens == ("the", "·cat", "·the", "·dog", "·the", "·cat")
        assert torch.equal(x.embeddings[0, 1], x.embeddings[0, 5])
        assert not torch.equal(x.embeddings[0, 1], x.embeddings[0, 3])
        other = av.text_inputs("a cat", d_model=16, seed=1)
        assert torch.equal(x.embeddings[0, 1], other.embeddings[0, 1])
        assert not torch.equal(other.embeddings, av.text_inputs("a cat", 16, seed=2).embeddings)

    def test_every_choice_is_noted(self) -> None:
        x = av.text_inputs("a cat", d_model=8, seed=4, embedding="model", positions="rotary")
        notes = " ".join(x.notes)
        for words in ("SmolLM2's tokenizer, 2 of them", "reduced to the 8 directions", "seed 4"):
            assert words in notes
        assert "rotary" in notes

    def test_the_table_is_the_models_own(self, smollm2) -> None:
        """With room for every dimension the rows' own angles survive exactly."""
        text = "cats and dogs"
        x = av.text_inputs(text, d_model=576, embedding="model").embeddings[0].double()
        table = smollm2.model.get_input_embeddings().weight.detach()
        ids = list(tokenize(text).ids)
        rows = (table[ids] - table.mean(dim=0)).double()
        assert torch.allclose(_cosines(x), _cosines(rows), atol=1e-5)

    def test_related_words_are_near(self) -> None:
        words = " cat dog red blue king queen one two eat drink mother father happy sad"
        pairs = torch.arange(14).view(7, 2)
        for d_model, at_least in ((14, 14), (8, 11)):
            x = av.text_inputs(words, d_model=d_model, embedding="model")
            assert len(x.tokens) == 14
            near = _cosines(x.embeddings[0]).fill_diagonal_(-2).argmax(dim=1)
            partner = pairs.flip(1).flatten()
            assert int((near == partner).sum()) >= at_least
        drawn = av.text_inputs(words, d_model=14, embedding="random")
        near = _cosines(drawn.embeddings[0]).fill_diagonal_(-2).argmax(dim=1)
        assert int((near == pairs.flip(1).flatten()).sum()) < 5

    def test_two_texts_share_one_space(self) -> None:
        left, right = "the cat sat", "a cat and a dog"
        x = av.text_inputs(left, d_model=4, embedding="model", beside=right)
        y = av.text_inputs(right, d_model=4, embedding="model", beside=left)
        assert x.tokens[1] == y.tokens[1] == "·cat"
        # Scaled each to a mean square of 1 over both texts' tokens: the very same vector.
        assert torch.equal(x.embeddings[0, 1], y.embeddings[0, 1])

    def test_components_are_of_size_one(self) -> None:
        x = av.text_inputs("the cat sat on the mat", d_model=64, embedding="model")
        assert float(x.embeddings.square().mean()) == pytest.approx(1, abs=0.3)
        assert float(x.embeddings.square().mean(dim=1).min()) > 0.01  # no component is empty

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("", "The text is empty; type at least one character"),
            ("a b c d e f", "The text makes 6 tokens and at most 4 are taken here"),
            ("x\ud800", "half of a character"),
        ],
    )
    def test_texts_that_cannot_be_taken(self, text: str, sentence: str) -> None:
        with pytest.raises(av.AttnvizError, match=sentence):
            av.text_inputs(text, max_tokens=4)

    @pytest.mark.parametrize("text", [" ", "\n\t", "🤗", "<s>$x$</s>", "a" * 5_000])
    def test_odd_texts_have_visible_tokens(self, text: str) -> None:
        x = av.text_inputs(text, d_model=4)
        assert all(token.strip() for token in x.tokens)
        assert len(x.token_details) == len(x.tokens)

    def test_the_models_table_has_no_more_directions_than_its_own(self) -> None:
        with pytest.raises(av.AttnvizError, match=r"at most 576 with embedding='model'.* 4,096"):
            av.text_inputs("a cat", d_model=4096, embedding="model")

    def test_unknown_embedding(self) -> None:
        with pytest.raises(av.AttnvizError, match="embedding must be 'random' or 'model'"):
            av.text_inputs("a", embedding="glove")


def _cosines(rows: Tensor) -> Tensor:
    unit = rows / rows.norm(dim=1, keepdim=True)
    return unit @ unit.T


def test_near_preserving_is_exact_when_there_is_room() -> None:
    torch.manual_seed(0)
    rows = torch.randn(6, 40, dtype=torch.float64)
    reduced = near_preserving(rows, 6, seed=1)
    assert torch.allclose(_cosines(reduced), _cosines(rows), atol=1e-12)
    assert float(reduced.square().mean()) == pytest.approx(1)
    wide = near_preserving(rows, 64, seed=1)
    assert torch.allclose(_cosines(wide), _cosines(rows), atol=1e-12)


def test_near_preserving_beats_a_random_projection() -> None:
    """Nearest neighbours kept of 60 clustered points in 100 dimensions, seen in 8."""
    torch.manual_seed(0)
    centres = 3 * torch.randn(30, 100, dtype=torch.float64)
    rows = centres.repeat_interleave(2, 0) + torch.randn(60, 100, dtype=torch.float64)
    nearest = _cosines(rows).fill_diagonal_(-2).argmax(1)

    def kept(reduced: Tensor) -> float:
        found = _cosines(reduced).fill_diagonal_(-2).argmax(1)
        return float((found == nearest).double().mean())

    random = rows @ torch.linalg.qr(torch.randn(100, 8, dtype=torch.float64))[0]
    assert kept(near_preserving(rows, 8)) > kept(random)

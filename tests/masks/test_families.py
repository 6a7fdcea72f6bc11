"""Each family of masks against PyTorch's and transformers' own."""

from __future__ import annotations

import pytest
import torch
from torch.nn.attention.bias import causal_lower_right, causal_upper_left
from transformers import masking_utils

from attnviz import masks
from attnviz.errors import AttnvizError

LENGTHS = [(1, 1), (5, 5), (3, 7), (7, 3), (1, 6)]


def of_predicate(predicate, n_queries: int, n_keys: int) -> torch.Tensor:
    """A transformers mask function, asked pair by pair."""
    at = [torch.arange(n) for n in (n_queries, n_keys)]
    zero = torch.tensor(0)
    return torch.tensor([[bool(predicate(zero, zero, q, k)) for k in at[1]] for q in at[0]])


def flat(mask: masks.Mask, n_queries: int, n_keys: int) -> torch.Tensor:
    allowed = mask.allowed(n_queries, n_keys)
    assert allowed.shape == (1, 1, n_queries, n_keys)
    assert allowed.dtype == torch.bool
    return allowed[0, 0]


@pytest.mark.parametrize(("n_queries", "n_keys"), LENGTHS)
def test_causal_is_transformers_and_pytorch_causal(n_queries, n_keys):
    ours = flat(masks.causal(), n_queries, n_keys)
    assert ours.equal(of_predicate(masking_utils.causal_mask_function, n_queries, n_keys))
    assert ours.equal(causal_upper_left(n_queries, n_keys)._materialize())


@pytest.mark.parametrize(("n_queries", "n_keys"), [(5, 5), (3, 7), (1, 6)])
def test_causal_end_aligned_is_pytorch_lower_right(n_queries, n_keys):
    ours = flat(masks.causal(align="end"), n_queries, n_keys)
    assert ours.equal(causal_lower_right(n_queries, n_keys)._materialize())


def test_causal_end_aligned_leaves_the_first_of_too_many_queries_empty():
    allowed = masks.causal(align="end").allowed(5, 3)
    assert masks.empty_rows(allowed)[0, 0].tolist() == [True, True, False, False, False]


@pytest.mark.parametrize("window", [1, 2, 4, 9])
@pytest.mark.parametrize(("n_queries", "n_keys"), LENGTHS)
def test_causal_window_is_that_of_transformers(window, n_queries, n_keys):
    ours = flat(masks.causal() & masks.sliding_window(window), n_queries, n_keys)
    theirs = masking_utils.sliding_window_causal_mask_function(window)
    assert ours.equal(of_predicate(theirs, n_queries, n_keys))


def test_causal_window_of_four_shows_the_last_row_positions_six_to_nine():
    last = (masks.causal() & masks.sliding_window(4)).allowed(10, 10)[0, 0, -1]
    assert last.nonzero().flatten().tolist() == [6, 7, 8, 9]


@pytest.mark.parametrize("window", [1, 2, 4])
def test_window_alone_looks_both_ways_and_is_transformers_bidirectional_one_smaller(window):
    ours = flat(masks.sliding_window(window), 9, 9)
    theirs = masking_utils.sliding_window_bidirectional_mask_function(window - 1)
    assert ours.equal(of_predicate(theirs, 9, 9))
    assert int(ours[4].sum()) == 2 * window - 1


def test_window_end_aligned_follows_the_last_query():
    window = masks.causal(align="end") & masks.sliding_window(2, align="end")
    assert flat(window, 1, 5).tolist() == [[False, False, False, True, True]]


def test_bidirectional_hides_nothing():
    ours = flat(masks.bidirectional(), 3, 4)
    assert ours.equal(of_predicate(masking_utils.bidirectional_mask_function, 3, 4))


@pytest.mark.parametrize("length", [0, 2, 5, 9])
def test_prefix_opens_the_first_keys(length):
    columns = flat(masks.prefix(length), 4, 5)
    assert columns.equal((torch.arange(5) < length).expand(4, 5))


def test_prefix_language_model_sees_its_prompt_both_ways():
    allowed = flat(masks.causal() | masks.prefix(3), 5, 5)
    assert allowed[:3, :3].all()
    assert allowed[3:].equal(torch.ones(5, 5, dtype=torch.bool).tril()[3:])


@pytest.mark.parametrize("side", ["right", "left"])
def test_padding_is_transformers_padding_mask(side):
    keys = torch.arange(5)
    real = torch.stack([keys < n if side == "right" else keys >= 5 - n for n in (5, 3, 0)])
    predicate = masking_utils.padding_mask_function(real)
    allowed = masks.padding(lengths=[5, 3, 0], side=side).allowed(4, 5)
    assert allowed.shape == (3, 1, 4, 5)
    for example in range(3):
        for query in range(4):
            for key in range(5):
                expected = bool(predicate(example, 0, query, key))
                assert bool(allowed[example, 0, query, key]) == expected


def test_from_tensor_gives_a_three_dimensional_mask_its_head_axis():
    drawn = torch.rand(2, 3, 4, generator=torch.manual_seed(0)) > 0.5
    allowed = masks.from_tensor(drawn).allowed(3, 4)
    assert allowed.shape == (2, 1, 3, 4)
    assert allowed[:, 0].equal(drawn)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: masks.sliding_window(0), "at least 1 key, the query's own; received 0"),
        (lambda: masks.prefix(-1), "0 keys or more; received -1"),
        (lambda: masks.padding(lengths=[]), "one length per example; received none"),
        (lambda: masks.padding(lengths=[3, -2]), "0 or more; received -2"),
        (lambda: masks.padding(lengths=[9]).allowed(4, 5), "number of keys, 5; received 9"),
        (lambda: masks.causal().allowed(0, 3), "received 0 queries and 3 keys"),
        (lambda: masks.from_tensor(torch.ones(2, 2)), "True for allowed; received torch.float32"),
        (lambda: masks.from_tensor(torch.ones(2, dtype=torch.bool)), "received shape (2,)"),
        (
            lambda: masks.from_tensor(torch.ones(2, 2, dtype=torch.bool), "mine").allowed(3, 3),
            "'mine' is for 2 queries and 2 keys; expected 3 queries and 3 keys",
        ),
    ],
)
def test_bad_masks_say_what_was_expected_and_what_came(build, sentence):
    with pytest.raises(AttnvizError) as raised:
        build()
    assert sentence in str(raised.value)


@pytest.mark.parametrize("mask", [masks.sliding_window(10**30), masks.prefix(10**30)])
@pytest.mark.parametrize(("n_queries", "n_keys"), LENGTHS)
def test_a_size_beyond_every_key_hides_nothing(mask, n_queries, n_keys):
    assert bool(flat(mask, n_queries, n_keys).all())

"""What a caller passes as a mask, and what is made of it."""

from __future__ import annotations

import pytest
import torch

from attnviz import masks
from attnviz.errors import AttnvizError, EmptyRowError

B, H, Q, K = 2, 3, 4, 5


def random_mask(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.manual_seed(0)) > 0.5


def test_none_stays_none():
    assert masks.as_allowed(None, B, H, Q, K) is None


@pytest.mark.parametrize(
    ("shape", "placed"),
    [
        ((Q, K), (1, 1, Q, K)),
        ((B, Q, K), (B, 1, Q, K)),
        ((1, Q, K), (1, 1, Q, K)),
        ((B, H, Q, K), (B, H, Q, K)),
        ((B, 1, Q, K), (B, 1, Q, K)),
        ((1, H, Q, K), (1, H, Q, K)),
    ],
)
def test_each_accepted_shape_keeps_its_entries(shape, placed):
    mask = random_mask(*shape)
    allowed = masks.as_allowed(mask, B, H, Q, K)
    assert allowed.shape == placed
    assert allowed.reshape(shape).equal(mask)


def test_one_row_for_all_queries_is_spread():
    mask = random_mask(B, 1, 1, K)
    allowed = masks.as_allowed(mask, B, H, Q, K)
    assert allowed.equal(mask.expand(B, 1, Q, K))


def test_three_axes_are_examples_even_where_batch_equals_heads():
    mask = random_mask(3, Q, K)
    allowed = masks.as_allowed(mask, 3, 3, Q, K)
    assert allowed.shape == (3, 1, Q, K)
    scores = torch.zeros(3, 3, Q, K).masked_fill(~allowed, -1)
    for example in range(3):
        for head in range(3):
            assert (scores[example, head] == 0).equal(mask[example])


def test_a_mask_object_is_evaluated_at_the_size():
    allowed = masks.as_allowed(masks.causal(), B, H, Q, K)
    assert allowed.equal(masks.causal().allowed(Q, K))


@pytest.mark.parametrize(
    ("mask", "parts"),
    [
        (random_mask(Q, K + 1), ["(2, 3, 4, 5)", "received shape (4, 6)"]),
        (random_mask(H, Q, K), ["received shape (3, 4, 5)", "for each head needs four axes"]),
        (random_mask(B, K), ["received shape (2, 5)", "masks.from_key_padding"]),
        (random_mask(B, 2, Q, K), ["received shape (2, 2, 4, 5)"]),
        (random_mask(B, H, K, Q), ["received shape (2, 3, 5, 4)"]),
        (masks.padding([1, 2, 3]), ["'padding to 1, 2, 3'", "each of the 2 examples"]),
        (torch.zeros(Q, K), ["True for allowed", "torch.float32", "masks.from_additive"]),
    ],
)
def test_a_mask_that_does_not_fit_says_expected_and_received(mask, parts):
    with pytest.raises(AttnvizError) as raised:
        masks.as_allowed(mask, B, H, Q, K)
    for part in parts:
        assert part in str(raised.value)


def test_empty_rows_are_found():
    allowed = masks.as_allowed(masks.prefix(0) | masks.padding([0, 2]), B, H, Q, K)
    assert masks.empty_rows(allowed)[:, 0].tolist() == [[True] * Q, [False] * Q]


def test_an_empty_row_is_an_error_that_names_it():
    allowed = masks.as_allowed(masks.causal(align="end"), 1, 1, 5, 3)
    with pytest.raises(EmptyRowError) as raised:
        masks.require_no_empty_rows(allowed, ("a", "b", "c", "d", "e"))
    sentence = str(raised.value)
    assert sentence.startswith("Query 0 ('a') has no key it may look at, and 1 more like it")
    assert 'empty_rows="zero"' in sentence


def test_an_empty_row_of_one_example_and_head_is_named_so():
    allowed = torch.ones(B, H, Q, K, dtype=torch.bool)
    allowed[1, 2, 3] = False
    with pytest.raises(EmptyRowError, match=r"^Query 3 of example 1 in head 2 has no key"):
        masks.require_no_empty_rows(allowed)


def test_no_empty_row_passes():
    masks.require_no_empty_rows(masks.causal().allowed(4, 4))

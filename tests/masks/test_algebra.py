"""Masks form a Boolean algebra, name themselves and refuse Python's `and`."""

from __future__ import annotations

import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import masks
from attnviz.errors import AttnvizError
from attnviz.masks import Mask

SIMPLE = st.one_of(
    st.builds(masks.causal, st.sampled_from(["start", "end"])),
    st.just(masks.bidirectional()),
    st.builds(masks.sliding_window, st.integers(1, 8)),
    st.builds(masks.prefix, st.integers(0, 8)),
    st.builds(masks.padding, st.lists(st.integers(0, 1), min_size=3, max_size=3)),
)
MASKS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        st.builds(lambda a: ~a, inner),
    ),
    max_leaves=5,
)
SIZES = st.tuples(st.integers(1, 7), st.integers(1, 7))
NOTHING_HIDDEN = masks.bidirectional()
ALL_HIDDEN = ~masks.bidirectional()

# beartype draws an item of each sequence at random to check it, which hypothesis would not like.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")

quick = settings(max_examples=60, deadline=None, derandomize=True)


def same(left: Mask, right: Mask, size: tuple[int, int]) -> bool:
    a, b = torch.broadcast_tensors(left.allowed(*size), right.allowed(*size))
    return a.equal(b)


@quick
@given(MASKS, MASKS, SIZES)
def test_de_morgan(a, b, size):
    assert same(~(a & b), ~a | ~b, size)
    assert same(~(a | b), ~a & ~b, size)


@quick
@given(MASKS, MASKS, MASKS, SIZES)
def test_distributes_commutes_associates(a, b, c, size):
    assert same(a & (b | c), (a & b) | (a & c), size)
    assert same(a | (b & c), (a | b) & (a | c), size)
    assert same(a & b, b & a, size)
    assert same(a | (b | c), (a | b) | c, size)


@quick
@given(MASKS, SIZES)
def test_complement_identity_absorption(a, size):
    assert same(~~a, a, size)
    assert same(a & ~a, ALL_HIDDEN, size)
    assert same(a | ~a, NOTHING_HIDDEN, size)
    assert same(a & NOTHING_HIDDEN, a, size)
    assert same(a | ALL_HIDDEN, a, size)
    assert same(a & a, a, size)


@quick
@given(MASKS, SIZES)
def test_always_four_axes_of_bool(a, size):
    allowed = a.allowed(*size)
    assert allowed.ndim == 4
    assert allowed.shape[2:] == size
    assert allowed.dtype == torch.bool
    assert masks.empty_rows(allowed).equal(allowed.sum(-1) == 0)


@quick
@given(MASKS)
def test_equal_masks_are_equal_and_survive_pickling(a):
    again = pickle.loads(pickle.dumps(a))  # noqa: S301 -- our own bytes, made a line above
    assert again == a
    assert hash(again) == hash(a)
    assert again.name == a.name


@quick
@given(MASKS)
def test_a_masks_repr_is_the_python_that_builds_it(a):
    scope = {word: getattr(masks, word) for word in masks.__all__}
    assert eval(repr(a), scope) == a  # noqa: S307 -- made by the repr under test


@pytest.mark.parametrize(
    ("mask", "name"),
    [
        (masks.causal(), "causal"),
        (masks.causal(align="end"), "causal, end-aligned"),
        (masks.bidirectional(), "bidirectional"),
        (masks.sliding_window(4), "sliding window 4"),
        (masks.prefix(2), "prefix 2"),
        (masks.padding(lengths=[5, 3]), "padding to 5, 3"),
        (masks.padding([3], side="left"), "left padding to 3"),
        (masks.from_tensor(torch.ones(2, 2, dtype=torch.bool)), "custom"),
        (masks.causal() & masks.sliding_window(4), "causal and sliding window 4"),
        (masks.causal() & masks.prefix(1) & masks.prefix(2), "causal and prefix 1 and prefix 2"),
        (
            (masks.causal() & masks.sliding_window(4)) | masks.prefix(2),
            "(causal and sliding window 4) or prefix 2",
        ),
        (~masks.causal(), "not causal"),
        (~(masks.causal() | masks.prefix(2)), "not (causal or prefix 2)"),
    ],
)
def test_masks_name_themselves(mask, name):
    assert mask.name == str(mask) == name


def test_python_and_is_refused_because_it_would_drop_a_mask():
    with pytest.raises(AttnvizError, match=r"joined with & and \|"):
        _ = masks.causal() and masks.prefix(2)


def test_masks_of_different_batches_do_not_join():
    joined = masks.padding([2, 3]) & masks.padding([2, 3, 1])
    with pytest.raises(AttnvizError, match=r"\(2, 1, 1, 3\) and \(3, 1, 1, 3\)"):
        joined.allowed(3, 3)


def test_a_boolean_tensor_joins_from_either_side():
    drawn = torch.tensor([[True, True], [False, True]])
    for mask in (masks.causal() & drawn, drawn & masks.causal()):
        assert mask.allowed(2, 2)[0, 0].tolist() == [[True, False], [False, True]]
    for mask in (masks.causal() | drawn, drawn | masks.causal()):
        assert mask.allowed(2, 2)[0, 0].all()
    assert (masks.causal() & drawn).name == "causal and custom"

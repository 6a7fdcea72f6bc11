"""Sparse patterns against transformers' own layers, FlexAttention and definitions pair by pair."""

from __future__ import annotations

import pytest
import torch
from torch.nn.attention.flex_attention import create_mask
from transformers import BigBirdConfig, LongformerConfig, masking_utils
from transformers.models.big_bird import modeling_big_bird
from transformers.models.longformer import modeling_longformer

import attnviz as av
from attnviz import masks
from attnviz.errors import AttnvizError

LENGTH, D_MODEL, HEADS = 24, 16, 2


def flat(mask: masks.Mask, length: int = LENGTH) -> torch.Tensor:
    allowed = mask.allowed(length, length)
    assert allowed.shape == (1, 1, length, length)
    return allowed[0, 0]


def of_flex(predicate, length: int = LENGTH) -> torch.Tensor:
    """A FlexAttention mask function (True keeps), written out."""
    return create_mask(predicate, 1, 1, length, length, device="cpu")[0, 0]


@pytest.mark.parametrize(("window", "dilation"), [(1, 1), (3, 1), (3, 2), (4, 3), (9, 5)])
def test_dilated_window_steps_over_keys(window, dilation):
    steps = {step * dilation for step in range(window)}
    expected = [[abs(i - j) in steps for j in range(LENGTH)] for i in range(LENGTH)]
    assert flat(masks.dilated_window(window, dilation)).tolist() == expected


def test_dilation_one_is_the_plain_window():
    assert flat(masks.dilated_window(3, 1)).equal(flat(masks.sliding_window(3)))


def test_a_causal_dilated_window_shows_as_many_keys_as_its_name_says():
    last = flat(masks.causal() & masks.dilated_window(3, 4))[-1]
    assert last.nonzero().flatten().tolist() == [15, 19, 23]


@pytest.mark.parametrize("positions", [(0,), (3, 17)])
@pytest.mark.parametrize("window", [4, 8])
def test_longformer_is_transformers_layer(window, positions):
    """Its separate global projections set to the ordinary ones, so that only the pattern counts."""
    trace = av.run(
        "multi_head",
        av.random_inputs(LENGTH, D_MODEL, seed=1),
        n_heads=HEADS,
        mask=masks.longformer(window, positions),
    )
    layer = modeling_longformer.LongformerSelfAttention(
        LongformerConfig(hidden_size=D_MODEL, num_attention_heads=HEADS, attention_window=[window]),
        layer_id=0,
    ).eval()
    copy_projections(layer, trace)
    for word in ("query", "key", "value"):
        copied = getattr(layer, word).state_dict()
        getattr(layer, f"{word}_global").load_state_dict(copied)
    is_global = torch.zeros(1, LENGTH, dtype=torch.bool)
    is_global[0, list(positions)] = True
    with torch.no_grad():
        (output,) = layer(
            trace["inputs"].tensor,
            attention_mask=is_global * 10000.0,
            is_index_masked=torch.zeros_like(is_global),
            is_index_global_attn=is_global,
            is_global_attn=True,
        )
    assert (output - trace["concatenated"].tensor).abs().max() < 1e-6


@pytest.mark.parametrize("count", [1, 2])
def test_big_bird_is_transformers_layer_but_for_the_draw(count):
    """With its own random blocks in place of ours, attention is that of transformers."""
    size, length = 4, 48
    fixed = masks.block_local(size, 1) | masks.edge_blocks(size)
    x = av.random_inputs(length, D_MODEL, seed=1)
    layer = modeling_big_bird.BigBirdBlockSparseAttention(
        BigBirdConfig(
            hidden_size=D_MODEL,
            num_attention_heads=1,
            block_size=size,
            num_random_blocks=count,
            use_bias=False,
        ),
        seed=0,
    ).train()  # in eval mode its random blocks are all block 0
    plain = av.run("multi_head", x, n_heads=1)
    copy_projections(layer, plain)
    blocked, band, from_mask, to_mask = (
        modeling_big_bird.BigBirdModel.create_masks_for_block_sparse_attn(
            torch.ones(1, length), size
        )
    )
    with torch.no_grad():
        output, weights = layer(
            x.embeddings,
            band_mask=band,
            from_mask=from_mask,
            to_mask=to_mask,
            from_blocked_mask=blocked,
            to_blocked_mask=blocked,
        )
    seen = weights[0, 0] > 0
    assert bool(seen[flat(fixed, length)].all())
    drawn = seen & ~flat(fixed, length)
    assert same_counts(drawn, flat(masks.random_blocks(size, count), length))
    trace = av.run("multi_head", x, n_heads=1, mask=fixed | masks.from_tensor(drawn))
    assert (output - trace["concatenated"].tensor).abs().max() < 1e-6


def same_counts(left: torch.Tensor, right: torch.Tensor) -> bool:
    """As many keys in each row."""
    return left.sum(1).tolist() == right.sum(1).tolist()


def copy_projections(layer: torch.nn.Module, trace: av.Trace) -> None:
    with torch.no_grad():
        for word in ("query", "key", "value"):
            linear = getattr(layer, word)
            linear.weight.copy_(trace.parameters[f"W_{word[0]}"].T)
            if linear.bias is not None:
                linear.bias.zero_()


def test_random_blocks_are_whole_blocks_fixed_by_the_seed_and_new_to_the_pattern():
    size, length = 3, 40  # the last block is cut off
    first, again = (masks.random_blocks(size, 2, seed=5) for _ in range(2))
    assert flat(first, length).equal(flat(again, length))
    assert not flat(first, length).equal(flat(masks.random_blocks(size, 2, seed=6), length))
    other = flat(masks.block_local(size, 1) | masks.edge_blocks(size), length)
    assert not bool((flat(first, length) & other).any())
    by_block = flat(first, length)[::size, ::size]
    assert flat(first, length).equal(
        by_block.repeat_interleave(size, 0).repeat_interleave(size, 1)[:length, :length]
    )
    assert by_block[1:-1].sum(1).tolist() == [2] * 12


@pytest.mark.parametrize("neighbours", [0, 1, 3])
@pytest.mark.parametrize("size", [1, 5, 24])
def test_block_local_is_a_comparison_of_block_numbers(size, neighbours):
    ours = flat(masks.block_local(size, neighbours))
    theirs = of_flex(lambda b, h, q, k: (q // size - k // size).abs() <= neighbours)
    assert ours.equal(theirs)


def test_edge_blocks_are_rows_and_columns():
    edges = torch.zeros(24, dtype=torch.bool)
    edges[:5] = edges[20:] = True
    ours = flat(masks.edge_blocks(5))
    assert ours.equal(of_flex(lambda b, h, q, k: edges[q] | edges[k]))


def test_global_tokens_are_read_by_all_and_read_all():
    ours = flat(masks.global_tokens([0, 7]))
    assert ours.equal(of_flex(lambda b, h, q, k: (q == 0) | (k == 0) | (q == 7) | (k == 7)))


def test_documents_are_transformers_packed_sequences():
    lengths = [5, 1, 18]
    positions = torch.cat([torch.arange(n) for n in lengths])[None]
    packed = masking_utils.find_packed_sequence_indices(positions)
    predicate = masking_utils.packed_sequence_mask_function(packed)
    expected = of_flex(lambda b, h, q, k: predicate(torch.tensor(0), h, q, k))
    assert flat(masks.documents(lengths)).equal(expected)
    assert flat(masks.document_ids(packed[0].tolist())).equal(expected)


def test_causal_documents_are_each_text_run_alone():
    whole = av.random_inputs(8, D_MODEL, seed=2)
    mask = masks.causal() & masks.documents([3, 5])
    together = av.run("multi_head", whole, mask=mask).output
    parts = [av.Inputs(part) for part in whole.embeddings.split([3, 5], dim=1)]
    alone = [av.run("multi_head", part, mask=masks.causal()).output for part in parts]
    assert (together - torch.cat(alone, dim=1)).abs().max() < 1e-6


@pytest.mark.parametrize("mask", [
    masks.dilated_window(2, 3), masks.longformer(4, [1]), masks.big_bird(2, 1, 3),
    masks.block_local(2), masks.block_local(4, 1), masks.documents([20, 4]),
    masks.document_ids([0, 1] * 12),
], ids=str)  # fmt: skip
def test_the_repr_builds_the_mask(mask):
    assert eval(repr(mask), vars(masks)) == mask  # noqa: S307


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: masks.dilated_window(0, 1), "at least 1 key, the query's own; received 0"),
        (lambda: masks.dilated_window(2, 0), "is 1 or more; received 0"),
        (lambda: masks.longformer(3, [0]), "an even number from 2; received 3"),
        (lambda: masks.global_tokens([]), "at least one position; received none"),
        (lambda: masks.global_tokens([-1]), "are 0 or more; received -1"),
        (lambda: masks.global_tokens([5]).allowed(5, 5), "positions 0 to 4; received 5"),
        (lambda: masks.block_local(0), "at least 1 token; received 0"),
        (lambda: masks.block_local(2, -1), "neighbours is 0 or more; received -1"),
        (lambda: masks.big_bird(2, -1), "random blocks is 0 or more; received -1"),
        (lambda: masks.documents([]), "received none"),
        (lambda: masks.documents([2, 0]), "at least 1 token; received 0"),
        (lambda: masks.documents([2, 2]).allowed(5, 5), "have 4 tokens together; expected 5"),
    ],
)
def test_bad_patterns_say_what_was_expected_and_what_came(build, sentence):
    with pytest.raises(AttnvizError) as raised:
        build()
    assert sentence in str(raised.value)

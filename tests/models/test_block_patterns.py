"""Encoders that attend block by block: their maps against a dense softmax under the block rule.

The definition is written here from each paper: scores of all pairs, those outside the pattern
left out, one softmax. What enters a layer is caught by a hook; nothing else of the code is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import attnviz as av
from attnviz.models import Capture, LoadedModel
from tests.models.test_own_code import loaded

LENGTH, HEADS, DIM = 23, 4, 8  # the last block is not full


def entering(model: LoadedModel, kind: str, **inputs: Tensor) -> tuple[Capture, list[dict]]:
    """The capture, and what went into each layer's module of that class."""
    seen: list[dict[str, Any]] = []
    hooks = [
        module.register_forward_pre_hook(
            lambda module, args, kwargs: seen.append(
                kwargs | dict(enumerate(args)) | {"module": module}
            ),
            with_kwargs=True,
        )
        for module in model.model.modules()
        if type(module).__name__ == kind
    ]
    source = torch.randint(3, 59, (1, LENGTH), generator=torch.Generator().manual_seed(1))
    given = {"input_ids": source, "decoder_input_ids": torch.tensor([[0, 5, 7]])}
    capture = av.capture(model, inputs=given, check=False)
    for hook in hooks:
        hook.remove()
    return capture, seen


def heads(projection: nn.Module, states: Tensor) -> Tensor:
    """(heads, tokens, dim)"""
    with torch.no_grad():
        return projection(states).view(len(states), HEADS, DIM).transpose(0, 1)


def agree(capture: Capture, layer: int, scores: Tensor, allowed: Tensor) -> None:
    expected = scores.masked_fill(~allowed, -torch.inf).softmax(-1).numpy()
    encoder = capture.of("encoder")
    for head in range(HEADS):
        got = encoder.weights(layer, head)
        assert got.shape == expected.shape[1:]
        np.testing.assert_allclose(got, expected[head], rtol=0, atol=1e-5)
    np.testing.assert_array_equal(encoder.blocked(layer), ~allowed.numpy())
    assert np.ptp(expected, axis=0).max() > 0.1, "heads differ"


def test_pegasus_x_joins_staggered_blocks_by_global_tokens() -> None:
    """Phang et al. 2022, section 4: a token sees its block and the globals, a global everything;
    in every second layer the blocks begin half a block earlier."""
    side, n_global = 6, 3
    model = loaded("SEQ_TO_SEQ_CAUSAL_LM", "pegasus_x", block_size=side, num_global_tokens=n_global)
    capture, seen = entering(model, "PegasusXGlobalLocalAttention")
    for layer, given in enumerate(seen):
        shift = side // 2 if layer % 2 else 0
        tokens = given["token_hidden_states"][0, shift : shift + LENGTH]
        states = torch.cat([given["global_hidden_states"][0], tokens])
        module = given["module"]
        scores = heads(module.q_proj, states) @ heads(module.k_proj, states).mT / DIM**0.5
        block = (torch.arange(LENGTH) + shift) // side
        allowed = torch.ones(LENGTH + n_global, LENGTH + n_global, dtype=torch.bool)
        allowed[n_global:, n_global:] = block[:, None] == block[None]
        agree(capture, layer, scores, allowed)
    assert capture.of("encoder").tokens[:3] == ("global 0", "global 1", "global 2")


def bias(table: nn.Module, distance: Tensor) -> Tensor:
    """T5's bias (Raffel et al. 2020, section 2.1): short distances have a bucket each, keys ahead
    of the query their own. (heads, queries, keys)"""
    assert distance.abs().max() < 8
    with torch.no_grad():
        return table(distance.abs() + 16 * (distance > 0)).permute(2, 0, 1)


@pytest.mark.parametrize("kind", ["local", "transient-global"])
def test_long_t5_sees_its_neighbours_and_summaries_of_blocks(kind: str) -> None:
    """Guo et al. 2022, section 3.1: keys at most a radius away; with transient global tokens also
    the normalised sum of each block of keys, the tokens left over being of the last."""
    radius, side = 4, 5
    changes = {"local_radius": radius, "global_block_size": side, "encoder_attention_type": kind}
    model = loaded("SEQ_TO_SEQ_CAUSAL_LM", "longt5", **changes)
    name = {"local": "LongT5LocalAttention", "transient-global": "LongT5TransientGlobalAttention"}
    capture, seen = entering(model, name[kind])
    assert len(seen) == 2
    place = torch.arange(LENGTH)
    distance = place[None] - place[:, None]
    first = seen[0]["module"]
    for layer, given in enumerate(seen):
        module, states = given["module"], given.get("hidden_states", given.get(0))[0]
        query = heads(module.q, states)
        scores = query @ heads(module.k, states).mT
        scores = scores + bias(first.relative_attention_bias, distance.clamp(-7, 7))
        allowed = distance.abs() <= radius
        if kind == "transient-global":
            n_blocks = LENGTH // side
            block = (place // side).clamp(max=n_blocks - 1)
            sums = torch.stack([states[block == number].sum(0) for number in range(n_blocks)])
            size = sums.pow(2).mean(-1, keepdim=True) + model.model.config.layer_norm_epsilon
            sums = sums / size.sqrt() * module.global_input_layer_norm.weight.detach()
            across = torch.arange(n_blocks)[None] - block[:, None]
            extra = query @ heads(module.k, sums).mT
            extra = extra + bias(first.global_relative_attention_bias, across)
            scores = torch.cat([scores, extra], -1)
            allowed = torch.cat([allowed, torch.ones(LENGTH, n_blocks, dtype=torch.bool)], -1)
        agree(capture, layer, scores, allowed)
    if kind == "transient-global":
        keys = capture.of("encoder").key_tokens
        assert keys[-4:] == ("block 0", "block 1", "block 2", "block 3")
        assert len(keys) == LENGTH + 4

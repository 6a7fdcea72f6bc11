"""Reformer's maps: by the definition, and times the values the layer's own output."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import attnviz as av
from tests.models.shrink import build
from tests.models.test_own_code import ids
from tests.models.tiny import tokenizer


def loaded(task: str, **changes: Any) -> av.models.LoadedModel:
    torch.manual_seed(0)
    model = build(task, "reformer", **changes)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 0.4)
    return av.from_transformers(model, tokenizer())


def layers(model: av.models.LoadedModel) -> list[Any]:
    return [m for m in model.model.modules() if hasattr(m, "chunk_length") and hasattr(m, "value")]


@pytest.mark.parametrize("task", ["CAUSAL_LM", "MASKED_LM"])
@pytest.mark.parametrize(("length", "rounds"), [(13, 1), (13, 3), (24, 3), (4, 2)])
def test_maps_times_values_are_the_layer_s_output(task: str, length: int, rounds: int) -> None:
    """13 tokens are padded to 16; 4 are one chunk, which attends to itself as a whole."""
    after = 0 if task == "CAUSAL_LM" else 1
    model = loaded(
        task, num_hashes=rounds, lsh_num_chunks_after=after, local_num_chunks_after=after
    )
    made: dict[Any, tuple[Tensor, Tensor]] = {}

    def hook(module: Any, args: Any, kwargs: Any, out: Any) -> None:
        made[module] = module.value(kwargs["hidden_states"])[0], out.hidden_states[0]

    for module in layers(model):
        module.register_forward_hook(hook, with_kwargs=True)
    capture = av.capture(model, inputs={"input_ids": ids(length)})
    assert capture.check.logits_error == 0.0
    assert [layer.index for layer in capture.captured] == [0, 1]
    for index, (values, outputs) in enumerate(made.values()):
        V, wanted = (t[:length].unflatten(-1, (4, -1)).transpose(0, 1) for t in (values, outputs))
        A = np.stack([capture.weights(index, head) for head in range(4)])
        lone = (np.diagonal(A, axis1=1, axis2=2) > 0) & bool(
            index
        )  # the library rounds a row of one key
        np.testing.assert_allclose(A.sum(-1)[~lone], 1, atol=1e-5)
        np.testing.assert_allclose(A.sum(-1)[lone], 1, atol=4e-3)
        torch.testing.assert_close(torch.from_numpy(A) @ V, wanted, rtol=0, atol=1e-4)
        assert float(wanted.abs().max()) > 0.1
        if task == "CAUSAL_LM":
            assert np.all(np.triu(A, 1) == 0)


def test_one_bucket_s_map_is_the_softmax_of_the_definition() -> None:
    """A chunk as long as the text: keys are queries of length 1, and none reads itself."""
    model = loaded("CAUSAL_LM", lsh_attn_chunk_length=16, local_attn_chunk_length=16)
    module = layers(model)[1]
    kept: list[Tensor] = []
    module.query_key.register_forward_hook(lambda m, args, out: kept.append(out[0].detach()))
    capture = av.capture(model, inputs={"input_ids": ids(13)})
    q = kept[0].unflatten(-1, (4, -1)).transpose(0, 1)[:, :13]
    k = q / q.pow(2).mean(-1, keepdim=True).add(1e-6).sqrt() / q.shape[-1] ** 0.5
    scores = (q @ k.mT).masked_fill(torch.ones(13, 13).triu(0).bool(), -torch.inf)
    scores[:, 0, 0] = 0.0  # the first token has none but itself
    for head in range(4):
        wanted = scores[head].softmax(-1).numpy()
        np.testing.assert_allclose(capture.weights(1, head), wanted, atol=1e-5)


def test_hashing_is_steady_and_leaves_model_and_process_as_they_were() -> None:
    model = loaded("CAUSAL_LM", num_buckets=None)
    module = layers(model)[1]
    state = torch.get_rng_state()
    first = av.capture(model, inputs={"input_ids": ids(24)})
    av.capture(model, inputs={"input_ids": ids(8)})  # fewer buckets
    again = av.capture(model, inputs={"input_ids": ids(24)})
    assert torch.equal(state, torch.get_rng_state())
    np.testing.assert_array_equal(first.weights(1, 2), again.weights(1, 2))
    assert module.num_buckets is None
    assert module.config.num_buckets is None
    assert "_attend" not in vars(module)

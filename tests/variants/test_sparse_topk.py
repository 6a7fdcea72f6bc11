"""The indexer against DeepSeek-V3.2's in transformers, and the selection against a sort."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F
from transformers import DeepseekV32Config
from transformers.models.deepseek_v32.modeling_deepseek_v32 import DeepseekV32Indexer

import attnviz as av
from attnviz import masks
from attnviz.positions import rotary_tables
from tests.variants.cases import TOLERANCE, answering, asking, largest_difference

SIZES = {"n_heads": 4, "n_kv_heads": 2, "top_k": 3, "index_heads": 3, "index_dim": 6}
MASKS = [None, masks.causal(), masks.padding([7, 2]), masks.sliding_window(2)]


def by_sorting(trace: av.Trace, mask: masks.Mask | None) -> torch.Tensor:
    """Bool (B, T_q, T_k): the three highest index scores among the allowed keys, one by one."""
    scores = trace["index_scores"].tensor
    batch, n_queries, n_keys = scores.shape
    mask = masks.bidirectional() if mask is None else mask
    allowed = mask.allowed(n_queries, n_keys).expand(batch, 1, -1, -1)[:, 0]
    chosen = torch.zeros(batch, n_queries, n_keys, dtype=torch.bool)
    for b in range(batch):
        for i in range(n_queries):
            seen = [j for j in range(n_keys) if allowed[b, i, j]]
            for j in sorted(seen, key=lambda j: -float(scores[b, i, j]))[:3]:
                chosen[b, i, j] = True
    return chosen


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", MASKS, ids=str)
@pytest.mark.parametrize("context", [False, True], ids=["self", "cross"])
def test_attention_is_torchs_on_the_keys_that_a_sort_selects(context, mask, dtype) -> None:
    if context and mask is MASKS[2]:
        mask = masks.padding([5, 2])
    x, other = asking(dtype), answering(dtype) if context else None
    trace = av.run("sparse_topk", x, context=other, mask=mask, empty_rows="zero", **SIZES)
    chosen = by_sorting(trace, mask)
    assert torch.equal(trace["selected"].tensor[:, 0] == 1, chosen)
    query, key, value = (trace[f"{word}_heads"].tensor for word in ("query", "key", "value"))
    expected = F.scaled_dot_product_attention(
        query, key, value, attn_mask=chosen[:, None], enable_gqa=True
    )
    assert largest_difference(trace["heads"].tensor, expected) < 2 * TOLERANCE[dtype]
    assert bool(((trace.weights > 0) == chosen[:, None]).all())
    fused = av.run(
        "sparse_topk", x, context=other, mask=mask, empty_rows="zero", kernel="sdpa", **SIZES
    )
    assert largest_difference(trace.output, fused.output) < 3 * TOLERANCE[dtype]


@pytest.mark.parametrize("positions", ["none", "rotary"])
def test_the_indexer_is_deepseeks(positions: str) -> None:
    x = av.Inputs(asking().embeddings, positions=positions)
    trace = av.run("sparse_topk", x, mask=masks.causal(), **SIZES)
    W, length = trace.parameters, x.length
    indexer = DeepseekV32Indexer(
        DeepseekV32Config(
            hidden_size=24, q_lora_rank=24, index_n_heads=3, index_head_dim=6, index_topk=3,
            qk_rope_head_dim=6,
        ),
        0,
    )  # fmt: skip
    with torch.no_grad():
        indexer.wq_b.weight.copy_(W["W_index_q"].T)
        indexer.wk.weight.copy_(W["W_index_k"].T)
        indexer.weights_proj.weight.copy_(W["W_index_w"].T)
    tables = [table.float()[None] for table in rotary_tables(length, 6)]
    if positions == "none":
        tables = [torch.ones(1, length, 6), torch.zeros(1, length, 6)]
    added = masks.to_additive(masks.causal().allowed(length, length))[:, 0]
    best = indexer(x.embeddings, x.embeddings, tuple(tables), added, torch.arange(length)[None])
    theirs = torch.zeros(2, length, length, dtype=torch.bool).scatter(-1, best.long(), True)
    theirs &= masks.causal().allowed(length, length)[:, 0]
    assert torch.equal(trace["selected"].tensor[:, 0] == 1, theirs)


def test_as_many_as_there_are_is_grouped_query() -> None:
    x = asking("float64")
    common = {"mask": masks.causal(), "n_heads": 4, "n_kv_heads": 2}
    dense = av.run("grouped_query", x, **common)
    sparse = av.run("sparse_topk", x, top_k=7, **common)
    assert torch.equal(dense.weights, sparse.weights)


def test_a_mask_for_each_head_selects_for_each_head() -> None:
    by_head = torch.ones(1, 4, 7, 7, dtype=torch.bool).tril()
    by_head[:, 1] = True
    trace = av.run("sparse_topk", asking(), mask=by_head, **SIZES)
    assert trace["selected"].shape == (2, 4, 7, 7)
    assert bool((trace["selected"].tensor[:, 1].sum(-1) == 3).all())
    assert bool((trace.weights[:, 0].triu(1) == 0).all())

"""Captures of any length from random queries and keys: what a model would take minutes for."""

from __future__ import annotations

import torch

from attnviz.models.captures import Capture
from attnviz.models.check import CheckResult
from attnviz.models.layer import Layer
from attnviz.models.layers import LayerRecord
from attnviz.models.mask_rule import MaskRule
from attnviz.models.pooling import stacked
from attnviz.models.stream import stream

WORDS = ("·the", "·keys", "·to", "·the", "·cabinet", "·are", "·on", "·table", ",", "·because")


def made_up(
    n_tokens: int, *, n_layers: int = 2, n_heads: int = 3, causal: bool = True, seed: int = 0
) -> Capture:
    """A capture whose heads look at a few keys, at their neighbours and at the first token."""
    generator = torch.Generator().manual_seed(seed)
    streamed = []
    for index in range(n_layers):
        walk = torch.randn(n_heads, n_tokens, 16, generator=generator).cumsum(1) / 12
        queries = torch.randn(n_heads, n_tokens, 16, generator=generator) + walk
        keys = torch.randn(1, n_tokens, 16, generator=generator) + walk[:1]
        layer = Layer(index, "full", "MadeUp", n_heads, 1)
        record = LayerRecord(layer, queries, keys, 0.12, MaskRule(causal))
        streamed.append(stream(record, 32))
    records = {number: each.record for number, each in enumerate(streamed)}
    labels = tuple(WORDS[place % len(WORDS)] for place in range(n_tokens))
    return Capture(
        model_name="made-up",
        text="".join(labels),
        tokens=labels,
        token_details=tuple(f"{label} as token {place}" for place, label in enumerate(labels)),
        token_ids=tuple(range(n_tokens)),
        special=(False,) * n_tokens,
        layers=tuple(record.layer for record in records.values()),
        check=CheckResult(True, 0.0, 0.0, 0.0, None, "logits", "sdpa", "Made up, not run."),
        notes=(),
        device="cpu",
        dtype="float32",
        records=records,
        pooled=stacked([each.overview.numpy() for each in streamed], 4),
        numbers=stacked([each.metrics.float().numpy() for each in streamed], 3),
        probabilities=None,
        tokenizer=None,
    )

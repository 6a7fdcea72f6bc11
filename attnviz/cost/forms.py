"""The forms whose cost is measured: for each variant of the registry, the ways to compute it.

All but those of a whole layer are causal, so that they answer the same question. What is timed is
the mixer itself, from each head's queries, keys and values to its output, without projections. A
variant that is neither plain softmax over heads nor a recurrence is timed as a whole layer, as
`run` computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attnviz import variants
from attnviz.cost.windowed import windowed
from attnviz.device import device
from attnviz.errors import AttnvizError
from attnviz.inputs import Inputs
from attnviz.masks import causal
from attnviz.trace import Trace
from attnviz.variants import kernels
from attnviz.variants.chunked import chunked
from attnviz.variants.heads import share_heads
from attnviz.variants.recurrence import recur
from attnviz.variants.recurrent import recurrence_of
from attnviz.variants.softmax import attend
from attnviz.variants.variant import Variant

WINDOW = 256
HEAD_DIM = 64
MAPS = 8
"""Of the size (H, T, T) that a readable form has in memory at its peak, rounded up."""
ROWS = 64
"""Of the size (H, T, d) that any form has, rounded up."""

PLAIN = ("multi_head", "grouped_query")
"""Variants that are softmax over each head's queries and keys as they are, and nothing else."""

Compute = Callable[[], Tensor]


@dataclass(frozen=True)
class Form:
    """One way to compute one variant, named "multi_head/naive"."""

    variant: str
    kernel: str
    title: str
    square: bool  # does its memory grow with the square of the length?
    make: Callable[[Trace], Compute] | None = None  # from a finished fast run; None: a whole layer

    @property
    def word(self) -> str:
        return f"{self.variant}/{self.kernel}"

    def estimate(self, length: int, n_heads: int) -> int:
        """Bytes at its peak, in float32, on the safe side."""
        maps = MAPS * length if self.square else 0
        return n_heads * length * 4 * (maps + ROWS * HEAD_DIM)

    def prepare(
        self, length: int, n_heads: int, seed: int, place: torch.device | None = None
    ) -> Compute:
        """The computation on random inputs of that length: (1, H, T, d), or (1, T, d_model)."""
        variant, width = variants.find(self.variant), n_heads * HEAD_DIM
        generator = torch.Generator().manual_seed(seed)
        inputs = Inputs(torch.randn(1, length, width, generator=generator))
        heads = {"n_heads": n_heads, "n_kv_heads": max(1, n_heads // 2)}
        options: dict[str, Any] = {
            word: count for word, count in heads.items() if word in _takes(variant)
        }

        def layer(kernel: str) -> Trace:
            return variants.run(self.variant, inputs, kernel=kernel, device=place, **options)

        if self.make is None:
            return lambda: layer(self.kernel).output
        return self.make(layer(variant.fast))


def forms() -> dict[str, Form]:
    """Every form of every registered variant, and a sliding window in blocks, by their words."""
    made = [
        Form("multi_head", "windowed", f"Sliding window of {WINDOW}, in blocks", False, _in_blocks)
    ]
    for word, variant in variants.VARIANTS.items():
        title, fast = variant.title, variant.fast
        if variant.recurrence is not None:
            made.append(Form(word, "recurrent", f"{title}, token by token", False, _by_token))
            made.append(Form(word, "chunked", f"{title}, in chunks", False, _in_chunks))
        elif word in PLAIN:
            made.append(Form(word, "naive", f"{title}, every map written", True, _naive))
            made.append(Form(word, "sdpa", f"{title}, fused kernel", False, _fused))
            if word == "multi_head" and not kernels.flex_refusal(device(), torch.float32):
                made.append(Form(word, "flex", f"{title}, FlexAttention", False, _flex))
        else:
            square = not variant.own_queries  # whose number does not grow with the length
            made.append(Form(word, "reference", f"{title}, whole layer, every step kept", square))
            if fast:
                made.append(Form(word, fast, f"{title}, whole layer, {fast}", False))
    return {form.word: form for form in made}


def find(word: str) -> Form:
    """The form of that word. Raises AttnvizError with those that there are."""
    known = forms()
    if word not in known:
        raise AttnvizError(f"There is no form {word!r}; the forms are {', '.join(known)}.")
    return known[word]


def _takes(variant: Variant) -> set[str]:
    return set(signature(variant.dimensions).parameters)


def _by_token(trace: Trace) -> Compute:
    driven = recurrence_of(trace)
    return lambda: recur(driven).output


def _in_chunks(trace: Trace) -> Compute:
    driven = recurrence_of(trace)
    return lambda: chunked(driven)[0]


def _naive(trace: Trace) -> Compute:
    q, k, v = _heads(trace)
    allowed = causal().allowed(q.shape[2], k.shape[2]).to(q.device)
    return lambda: attend(q, k, v, allowed=allowed, scale=q.shape[-1] ** -0.5)["output"]


def _fused(trace: Trace) -> Compute:
    q, k, v = _heads(trace)
    return lambda: scaled_dot_product_attention(q, k, v, is_causal=True)


def _flex(trace: Trace) -> Compute:
    """Compiled for each length, in seconds, before the first timed run."""
    from torch.nn.attention.flex_attention import create_block_mask

    q, k, v = _heads(trace)
    length = q.shape[2]
    # A lambda: PyTorch counts the arguments, and tests wrap functions that have annotations.
    blocks = create_block_mask(
        lambda b, h, i, j: i >= j, None, None, length, length, device=str(q.device)
    )
    flex = kernels.compiled_flex()
    return lambda: flex(q, k, v, block_mask=blocks)


def _in_blocks(trace: Trace) -> Compute:
    q, k, v = _heads(trace)
    return lambda: windowed(q, k, v, WINDOW)


def _heads(trace: Trace) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values (1, H, T, d) of every query head, shared ones repeated."""
    q, k, v = (trace[word].tensor for word in ("query_heads", "key_heads", "value_heads"))
    k, v = (share_heads(tensor, q.shape[1]) for tensor in (k, v))
    return q.contiguous(), k.contiguous(), v.contiguous()

"""Repeated random sequences, and how a model's heads do on them (Olsson et al. 2022).

A head does induction if, at the second time a token comes, it looks at what followed the first
time. It builds on a head one layer below that tells each token which one came before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

LETTERS = [chr(code) for code in range(0x20, 0x7F)]
"""The vocabulary: each printable ASCII character is a token."""
PERIODS = (6, 24)
LENGTH = 64


def sequences(
    n: int, generator: torch.Generator, length: int = LENGTH, period: int | None = None
) -> tuple[Int[Tensor, "n length"], Int[Tensor, " n"]]:
    """Different letters in a random order, said again and again; and after how many they repeat.

    Each line has a period of its own, so that no fixed distance can stand for looking.
    """
    low, high = PERIODS
    periods = torch.randint(low, high + 1, (n,), generator=generator)
    if period is not None:
        periods = torch.full((n,), period)
    order = torch.rand(n, len(LETTERS), generator=generator).argsort(dim=1)
    return order.gather(1, torch.arange(length) % periods[:, None]), periods


def repeated_loss(
    model: Any, ids: Int[Tensor, "n length"], periods: Int[Tensor, " n"]
) -> Float[Tensor, ""]:
    """Mean cross-entropy, nats a token, where the next token can be known: after one period."""
    logits = model(input_ids=ids).logits[:, :-1]
    known = torch.arange(ids.shape[1] - 1) >= periods[:, None]
    return F.cross_entropy(logits[known], ids[:, 1:][known])


@torch.no_grad()
def head_scores(
    model: Any, ids: Int[Tensor, "n length"], periods: Int[Tensor, " n"]
) -> tuple[Float[Tensor, "layers heads"], Float[Tensor, "layers heads"]]:
    """(induction, previous token): mean weight on key i - period + 1, and on key i - 1.

    Both over the queries of the second time; from the third on a head has several good keys. The
    model's attention must be "eager".
    """
    maps = torch.stack(model(input_ids=ids, output_attentions=True).attentions)  # (l, n, H, T, T)
    rows = torch.arange(ids.shape[1])
    again = (rows >= periods[:, None]) & (rows < 2 * periods[:, None])  # (n, T)
    scores = []
    for keys in (rows - periods[:, None] + 1, (rows - 1).expand(len(ids), -1)):
        index = keys.clamp(min=0)[None, :, None, :, None].expand(*maps.shape[:4], 1)
        weights = maps.gather(-1, index)[..., 0]  # (l, n, H, T)
        scores.append((weights * again[:, None]).sum((1, 3)) / again.sum())
    return scores[0], scores[1]


@contextmanager
def without_head(model: Any, layer: int, head: int) -> Iterator[None]:
    """Within, that head's output is zero where it enters the output projection (of a Llama)."""
    attention = model.model.layers[layer].self_attn
    own = slice(head * attention.head_dim, (head + 1) * attention.head_dim)

    def cut(module: Any, given: tuple[Tensor, ...]) -> tuple[Tensor]:
        heads = given[0].clone()
        heads[..., own] = 0.0
        return (heads,)

    handle = attention.o_proj.register_forward_pre_hook(cut)
    try:
        yield
    finally:
        handle.remove()


@torch.no_grad()
def knock_outs(
    model: Any, ids: Int[Tensor, "n length"], periods: Int[Tensor, " n"]
) -> tuple[float, Float[Tensor, "layers heads"]]:
    """(loss of the whole model, by how much it rises without each head), nats a token."""
    whole = float(repeated_loss(model, ids, periods))
    config = model.config
    rises = torch.empty(config.num_hidden_layers, config.num_attention_heads)
    for layer in range(rises.shape[0]):
        for head in range(rises.shape[1]):
            with without_head(model, layer, head):
                rises[layer, head] = float(repeated_loss(model, ids, periods)) - whole
    return whole, rises

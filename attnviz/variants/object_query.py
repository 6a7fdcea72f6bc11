"""Object queries: a few learned vectors ask an image, the same ones for every image.

Carion et al. 2020, DETR, section 3.2 and appendix A.4 (arXiv:2005.12872), one decoder layer without
its feed-forward part. The queries P first attend to each other, then to the memory M:

    X' = LayerNorm(X + SelfAttention(X + P, X + P, X))    Y = Attention(X' + P, M + E, M)

Positions (E of the memory, P of the queries) are added to what is compared, never to the values. X
is 0 in the first layer, and what the layer before gathered in a later one.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import layer_norm

from attnviz import seeded
from attnviz.errors import AttnvizError
from attnviz.positions import detr_sine
from attnviz.variants import multi_head
from attnviz.variants.dimensions import positive
from attnviz.variants.heads import attending, concatenate_heads, join_heads, split_heads
from attnviz.variants.object_query_text import describe
from attnviz.variants.parameters import head_columns, head_rows
from attnviz.variants.softmax import attend, attend_fused, hide, softmax, weigh
from attnviz.variants.variant import Setup, Tensors, Variant


def compute(
    x: Float[Tensor, "batch patches d_model"],
    context: Float[Tensor, "batch patches d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads n_queries patches"] | None,
    setup: Setup,
) -> Tensors:
    """All heads, every step kept; x is the memory."""
    steps = ask_each_other(x, W, setup) | place(x, setup)
    steps |= project(x, steps, W, setup)
    steps |= attend(*attending(steps), allowed=same_for_all(allowed), scale=setup.scale)
    return steps | join_heads(steps.pop("output"), W)


def fused(
    x: Float[Tensor, "batch patches d_model"],
    context: Float[Tensor, "batch patches d_model"],
    W: Mapping[str, Tensor],
    allowed: Bool[Tensor, "#batch #heads n_queries patches"] | None,
    setup: Setup,
) -> Tensors:
    """The same, the attention to the memory from PyTorch's fused kernel."""
    steps = ask_each_other(x, W, setup) | place(x, setup)
    steps |= project(x, steps, W, setup)
    heads = attend_fused(*attending(steps), allowed=same_for_all(allowed), scale=setup.scale)
    return steps | join_heads(heads, W)


def ask_each_other(
    x: Float[Tensor, "batch patches d_model"], W: Mapping[str, Tensor], setup: Setup
) -> Tensors:
    """Self-attention among the queries, up to what then asks the memory."""
    H, P = setup.dimensions["n_heads"], W["P"].expand(len(x), -1, -1)
    X = W["X"].expand_as(P) if "X" in W else torch.zeros_like(P)
    steps = {"object_queries": P, "target": X, "self_input": X + P}  # (B, n, d_model)
    query, key = (split_heads(steps["self_input"] @ W[f"W_self_{it}"], H) for it in "qk")
    value = split_heads(X @ W["W_self_v"], H)  # no P: positions are compared, not handed over
    among = attend(query, key, value, allowed=None, scale=setup.scale)
    steps["self_weights"] = among["weights"]  # (B, H, n, n)
    steps["self_output"] = concatenate_heads(among["output"]) @ W["W_self_o"]
    steps["asking"] = layer_norm(X + steps["self_output"], X.shape[-1:])
    return steps | {"query_input": steps["asking"] + P}


def place(x: Float[Tensor, "batch patches d_model"], setup: Setup) -> Tensors:
    """The memory with the positions of its patches; a sequence without a grid is one row."""
    E = detr_sine(setup.grid or (1, x.shape[1]), x.shape[2]).to(x)
    return {"memory_positions": E.expand_as(x), "key_input": x + E}


def project(
    x: Float[Tensor, "batch patches d_model"],
    steps: Mapping[str, Tensor],
    W: Mapping[str, Tensor],
    setup: Setup,
) -> Tensors:
    """Heads of queries and keys, which hold positions, and of values, which hold none."""
    if setup.rotary:
        raise AttnvizError(
            "Object queries stand at no position that could turn them, and the memory gets DETR's "
            "own position vectors; choose positions 'none'."
        )
    H = setup.dimensions["n_heads"]
    projected = {
        "query": steps["query_input"] @ W["W_q"],  # (B, n, H * d_k)
        "key": steps["key_input"] @ W["W_k"],  # (B, T_k, H * d_k)
        "value": x @ W["W_v"],  # (B, T_k, H * d_v), from M alone
    }
    return projected | {f"{word}_heads": split_heads(it, H) for word, it in projected.items()}


def same_for_all(
    allowed: Bool[Tensor, "#batch #heads n_queries patches"] | None,
) -> Bool[Tensor, "#batch #heads n_queries patches"] | None:
    """The mask, if it hides a key from all queries or from none."""
    if allowed is not None and not torch.equal(allowed, allowed[:, :, :1].expand_as(allowed)):
        raise AttnvizError(
            "Object queries stand in no order, so a mask can hide a key from all of them "
            "(masks.padding) and not from some; no mask, or a padding mask, was expected."
        )
    return allowed


def dimensions(
    d_model: int,
    n_heads: int = 4,
    head_dim: int | None = None,
    v_head_dim: int | None = None,
    n_queries: int = 6,
) -> dict[str, int]:
    """n_queries is the paper's N, 100 there. d_model must be a multiple of 4."""
    if positive("n_queries", n_queries) > 10_000:
        raise AttnvizError(f"n_queries must be at most 10,000; received {n_queries:,}.")
    sizes = multi_head.dimensions(d_model, n_heads, head_dim, v_head_dim)
    return sizes | {"n_queries": n_queries}


def parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """Those of multi_head, the same again for the queries among themselves, and the queries.

    P (n, d_model) from N(0, 1), as torch draws an embedding before training. Query i
    is the same however many there are.
    """
    H, d_k, d_v = sizes["n_heads"], sizes["head_dim"], sizes["v_head_dim"]
    return {
        "P": _rows("object_query", seed, sizes["n_queries"], d_model),
        "W_self_q": head_columns("W_self_q", seed, H, d_model, d_k),
        "W_self_k": head_columns("W_self_k", seed, H, d_model, d_k),
        "W_self_v": head_columns("W_self_v", seed, H, d_model, d_v),
        "W_self_o": head_rows("W_self_o", seed, H, d_v, d_model),
    } | multi_head.parameters(d_model, seed, sizes)


def later_target(
    d_model: int, seed: int, sizes: Mapping[str, int], options: Mapping[str, str]
) -> Tensors:
    """X (n, d_model), which stands for what the layers before have gathered."""
    if options["decoder_layer"] == "first":
        return {}
    return {"X": _rows("target", seed, sizes["n_queries"], d_model)}


def _rows(word: str, seed: int, count: int, d_model: int) -> Float[Tensor, "{count} {d_model}"]:
    return torch.stack([seeded.normal((d_model,), seed, word, row) for row in range(count)])


VARIANT = Variant(
    name="object_query",
    title="Object queries",
    source="Carion et al. 2020, DETR, section 3.2 and appendix A.4 (arXiv:2005.12872)",
    compute=compute,
    fused=fused,
    dimensions=dimensions,
    parameters=parameters,
    optional_parameters=later_target,
    describe=describe,
    options={"decoder_layer": ("first", "later")},
    parts=(
        ask_each_other, place, detr_sine, project, split_heads, attend, weigh, hide,
        softmax, join_heads,
    ),
    causal="never",
    crosses=False,
    for_pictures=True,
    own_queries="object query",
)  # fmt: skip

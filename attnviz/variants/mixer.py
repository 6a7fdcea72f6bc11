"""What recurrent mixers share around their recurrence: projections, heads, and the steps kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.positions import apply_rotary
from attnviz.variants import kernels
from attnviz.variants.chunked import chunked
from attnviz.variants.dimensions import per_head, positive
from attnviz.variants.effective import effective_map, initial_map
from attnviz.variants.fla_kernels import in_triton
from attnviz.variants.heads import join_heads, share_heads, split_heads
from attnviz.variants.parameters import head_columns, head_rows
from attnviz.variants.recurrence import Recurrence, recur
from attnviz.variants.variant import Setup, StepText, Tensors, Variant


def project_mixer(
    x: Float[Tensor, "batch length d_model"], W: Mapping[str, Tensor], setup: Setup
) -> Tensors:
    """Values for H heads, queries and keys for G, dealt out, and turned by position if rotary."""
    H, G = setup.dimensions["n_heads"], setup.dimensions["n_key_heads"]
    steps = {
        "query": x @ W["W_q"],  # (B, T, G * d_k)
        "key": x @ W["W_k"],  # (B, T, G * d_k)
        "value": x @ W["W_v"],  # (B, T, H * d_v)
    }
    steps["query_heads"] = split_heads(steps["query"], G)  # (B, G, T, d_k)
    steps["key_heads"] = split_heads(steps["key"], G)  # (B, G, T, d_k)
    steps["value_heads"] = split_heads(steps["value"], H)  # (B, H, T, d_v)
    if setup.rotary:
        steps["query_rotated"] = apply_rotary(steps["query_heads"])
        steps["key_rotated"] = apply_rotary(steps["key_heads"])
    return steps


def placed(steps: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Queries and keys (B, G, T, d_k), turned by position in a rotary run."""
    query = steps.get("query_rotated", steps["query_heads"])
    return query, steps.get("key_rotated", steps["key_heads"])


def driving(
    query: Float[Tensor, "batch key_heads length d_k"],
    key: Float[Tensor, "batch key_heads length d_k"],
    value: Float[Tensor, "batch heads length d_v"],
    *,
    log_decay: Float[Tensor, "batch heads length #d_k"] | None = None,
    strength: Float[Tensor, "batch heads length"] | None = None,
    scale: float = 1.0,
    erases: bool = False,
    normalised: bool = False,
    skip: Float[Tensor, " heads"] | None = None,
) -> Recurrence:
    """A recurrence without decay and of strength 1 where none are given; key heads are shared."""
    ones = torch.ones_like(value[..., 0])
    none = torch.zeros_like(value[..., :1])
    return Recurrence(
        query=share_heads(query, value.shape[1]),
        key=share_heads(key, value.shape[1]),
        value=value,
        log_decay=none if log_decay is None else log_decay,
        strength=ones if strength is None else strength,
        scale=scale,
        erases=erases,
        normalised=normalised,
        skip=skip,
    )


def walk(recurrence: Recurrence, W: Mapping[str, Tensor], setup: Setup) -> Tensors:
    """Token by token, with what is written and erased, and the exact map."""
    dtype, r = recurrence.query.dtype, recurrence.wide()
    start = setup.initial_state
    done = recur(r, start)
    steps = {} if start is None else {"initial_state": start}
    steps["written"] = done.written
    if r.erases:
        steps["erased"] = done.erased
    steps |= {"state_norm": done.state_norm, "state": done.state}
    steps["weights"] = effective_map(r, start)
    if start is not None:
        steps["initial_map"] = initial_map(r, start)
    steps = {word: tensor.to(dtype) for word, tensor in steps.items()}
    return steps | join_heads(done.output.to(dtype), W)


def in_chunks(recurrence: Recurrence, W: Mapping[str, Tensor], setup: Setup) -> Tensors:
    """The same output and state from the chunked form, in torch or in Triton; it makes no map."""
    dtype, start = recurrence.query.dtype, setup.initial_state
    if kernels.chosen() == "fla":
        output, state = in_triton(recurrence, start)
    else:
        output, state = chunked(recurrence.wide(), start)
    steps = {} if start is None else {"initial_state": start.to(dtype)}
    return steps | {"state": state.to(dtype)} | join_heads(output.to(dtype), W)


def mixer_dimensions(
    d_model: int, n_heads: int, head_dim: int | None, v_head_dim: int | None
) -> dict[str, int]:
    """head_dim is d_k and defaults to d_model / n_heads; v_head_dim is d_v and defaults to d_k."""
    H = positive("n_heads", n_heads)
    d_k = per_head(d_model, H, head_dim)
    d_v = positive("v_head_dim", d_k if v_head_dim is None else v_head_dim)
    return {"n_heads": H, "n_key_heads": H, "head_dim": d_k, "v_head_dim": d_v}


def mixer_parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """W_q, W_k (d_model, G d_k), W_v (d_model, H d_v), W_o (H d_v, d_model), as multi_head's."""
    H, G = sizes["n_heads"], sizes["n_key_heads"]
    d_k, d_v = sizes["head_dim"], sizes["v_head_dim"]
    return {
        "W_q": head_columns("W_q", seed, G, d_model, d_k),
        "W_k": head_columns("W_k", seed, G, d_model, d_k),
        "W_v": head_columns("W_v", seed, H, d_model, d_v),
        "W_o": head_rows("W_o", seed, H, d_v, d_model),
    }


def solving(cells: int, sizes: Mapping[str, int], options: Mapping[str, str]) -> int:
    """What the exact map is made of: fading in float64, the system, and its right-hand side."""
    return 8 * cells


def recurrent_variant(
    *,
    name: str,
    title: str,
    source: str,
    prepare: Callable[[Tensor, Mapping[str, Tensor], Setup], Tensors],
    recurrence: Callable[[Mapping[str, Tensor], Mapping[str, Tensor], Setup], Recurrence],
    dimensions: Callable[..., dict[str, int]],
    parameters: Callable[[int, int, Mapping[str, int]], Tensors],
    describe: Callable[[Setup], dict[str, StepText]],
    parts: tuple[Callable[..., object], ...] = (),
    scaled: bool = True,
    normalised: bool = False,
    options: Mapping[str, tuple[str, ...]] | None = None,
) -> Variant:
    """A variant from its two own parts: prepare makes what each token brings, from x and W, and
    recurrence says how that drives the state. parts are what these two call.
    """

    def compute(
        x: Float[Tensor, "batch length d_model"],
        context: Tensor,
        W: Mapping[str, Tensor],
        allowed: Tensor | None,
        setup: Setup,
    ) -> Tensors:
        steps = prepare(x, W, setup)
        return steps | walk(recurrence(steps, W, setup), W, setup)

    def fused(
        x: Float[Tensor, "batch length d_model"],
        context: Tensor,
        W: Mapping[str, Tensor],
        allowed: Tensor | None,
        setup: Setup,
    ) -> Tensors:
        steps = prepare(x, W, setup)
        return steps | in_chunks(recurrence(steps, W, setup), W, setup)

    return Variant(
        name=name,
        title=title,
        source=source,
        compute=compute,
        fused=fused,
        dimensions=dimensions,
        parameters=parameters,
        describe=describe,
        parts=(prepare, *parts, recurrence, walk, recur, effective_map, in_chunks, chunked),
        fast="chunked",
        scaled=scaled,
        normalised=normalised,
        options=options or {},
        recurrence=recurrence,
        causal="always",
        working=solving,
    )

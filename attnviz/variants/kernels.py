"""Which kernels compute a variant here, why the others cannot, and the choice while one runs.

"reference" keeps every step. "sdpa" lets PyTorch choose among its fused kernels; "flash",
"efficient", "cudnn" and "math" each name one of them. "flex" is FlexAttention, compiled. Recurrent
mixers have "chunked", and "fla", flash-linear-attention's Triton kernels on a GPU.
"""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib.util import find_spec

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from attnviz.errors import AttnvizError
from attnviz.variants.variant import Variant

BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "math": SDPBackend.MATH,
}
_chosen: ContextVar[str] = ContextVar("_chosen", default="sdpa")


def of(variant: Variant) -> tuple[str, ...]:
    """The kernels that the variant has at all, on any machine."""
    if variant.fast == "sdpa":
        return ("reference", "sdpa", *BACKENDS, "flex")
    if variant.recurrence is not None:
        return ("reference", variant.fast, "fla")
    return ("reference", variant.fast) if variant.fast else ("reference",)


def require(
    kernel: str,
    variant: Variant,
    place: torch.device,
    dtype: torch.dtype,
    sizes: tuple[int, int],
    masked: bool,
) -> None:
    """Raise AttnvizError, saying why, where that kernel cannot compute this run."""
    reason = why_not(kernel, variant, place, dtype, sizes, masked)
    if reason:
        raise AttnvizError(f"The kernel {kernel!r} cannot compute this: {reason}")


def why_not(
    kernel: str,
    variant: Variant,
    place: torch.device,
    dtype: torch.dtype,
    sizes: tuple[int, int],
    masked: bool,
) -> str:
    """A sentence, or "" where the kernel can compute the run. sizes: head_dim and v_head_dim."""
    if kernel not in of(variant):
        return f"{variant.name} has the kernels {', '.join(of(variant))}."
    if kernel in BACKENDS:
        return _refused(kernel, str(place), dtype, sizes, masked)
    if kernel == "flex":
        return flex_refusal(place, dtype)
    return _fla_refused(place, dtype) if kernel == "fla" else ""


@lru_cache(maxsize=64)
def _refused(
    kernel: str, place: str, dtype: torch.dtype, sizes: tuple[int, int], masked: bool
) -> str:
    """PyTorch's own answer, from trying it on two tokens of these sizes."""
    query, key = (torch.zeros(1, 1, 2, sizes[0], device=place, dtype=dtype) for _ in range(2))
    value = torch.zeros(1, 1, 2, sizes[1], device=place, dtype=dtype)
    mask = torch.ones(2, 2, dtype=torch.bool, device=place) if masked else None
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            with sdpa_kernel(BACKENDS[kernel]):
                F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        except RuntimeError as problem:
            why = " ".join(str(one.message).split("(Triggered")[0].strip() for one in told)
            kind = str(dtype).removeprefix("torch.")
            return (
                f"PyTorch has no such kernel for {kind}, head sizes {sizes[0]} and {sizes[1]}"
                f"{', a mask' if masked else ''} on {place}; choose kernel='sdpa'. "
                f"{why or problem}"
            )
    return ""


def flex_refusal(place: torch.device, dtype: torch.dtype) -> str:
    """Why FlexAttention cannot be compiled there; "" where it can."""
    if dtype == torch.float64:
        return "FlexAttention has no float64; choose dtype='float32'."
    if place.type == "cpu" and not (shutil.which("g++") or shutil.which("clang++")):
        return (
            "FlexAttention is compiled when first used, and there is no C++ compiler; install g++."
        )
    if place.type not in ("cpu", "cuda"):
        return f"FlexAttention does not compile for {place.type}; choose kernel='sdpa'."
    return ""


def _fla_refused(place: torch.device, dtype: torch.dtype) -> str:
    if place.type != "cuda":
        return (
            f"flash-linear-attention's Triton kernels need an NVIDIA GPU and this run is on "
            f"{place.type}; choose kernel='chunked'."
        )
    if "fla" not in sys.modules and find_spec("fla") is None:
        return "the package fla-core is not installed: pip install -r requirements-gpu.txt."
    if dtype not in (torch.float16, torch.bfloat16):
        return "flash-linear-attention computes in half precision; choose dtype='bfloat16'."
    return ""


@contextmanager
def computing_with(kernel: str) -> Iterator[None]:
    """While it lasts, fused computations in this thread use that kernel."""
    token = _chosen.set(kernel)
    try:
        with sdpa_kernel(BACKENDS[kernel]) if kernel in BACKENDS else nullcontext():
            yield
    finally:
        _chosen.reset(token)


def chosen() -> str:
    """The kernel of the computation that is under way."""
    return _chosen.get()


def fused(
    query: Float[Tensor, "batch heads queries d_k"],
    key: Float[Tensor, "batch kv_heads keys d_k"],
    value: Float[Tensor, "batch kv_heads keys d_v"],
    mask: Bool[Tensor, "#batch #heads queries keys"]
    | Float[Tensor, "#batch #heads queries keys"]
    | None,
    scale: float,
) -> Float[Tensor, "batch heads queries d_v"]:
    """Softmax attention in one kernel; a mask is boolean, True = allowed, or added to the scores.

    key and value may have fewer heads than query: each is then shared by a group of query heads.
    """
    if chosen() == "flex":
        return _flex(query, key, value, mask, scale)
    return F.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, scale=scale, enable_gqa=key.shape[1] != query.shape[1]
    )


@cache
def compiled_flex():
    """FlexAttention, compiled anew for each shape."""
    from torch.nn.attention.flex_attention import flex_attention

    # Beyond this many shapes dynamo would run it uncompiled, silently and with the whole map.
    torch._dynamo.config.recompile_limit = 64
    return torch.compile(flex_attention, dynamic=False)


def _flex(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float
) -> Float[Tensor, "batch heads queries d_v"]:
    given = {}
    if mask is not None:
        B, H = query.shape[:2]
        added = mask.expand(B, H, *mask.shape[2:])
        if mask.dtype == torch.bool:
            added = torch.zeros_like(added, dtype=query.dtype).masked_fill(~added, -torch.inf)

        def score_mod(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
            return score + added[b, h, i, j]

        given["score_mod"] = score_mod
    shared = key.shape[1] != query.shape[1]
    output = compiled_flex()(query, key, value, scale=scale, enable_gqa=shared, **given)
    return output.nan_to_num() if mask is not None else output  # a row without keys is 0

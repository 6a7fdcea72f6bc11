"""A run again with a kernel that keeps no steps, beside the run that keeps them all."""

from __future__ import annotations

from collections.abc import Callable

import torch

from attnviz import variants
from attnviz.errors import AttnvizError
from attnviz.trace import Trace
from attnviz.variants import kernels

FAST = "fast"
"""Stands for the kernel of a variant's own: SDPA's, a recurrence in chunks, a Fourier transform."""
CHOICES = {
    "reference": "every step kept, as the papers write it",
    FAST: "each variant's own: SDPA, chunks, or a Fourier transform",
    **{word: f"PyTorch's SDPA, {word} alone" for word in kernels.BACKENDS},
    "flex": "FlexAttention, compiled for each shape in seconds",
    "fla": "flash-linear-attention's Triton kernels",
}
"""The kernels that one choice for all variants has, and what each is."""


def agreement(reference: Trace, kernel: str, again: Callable[..., Trace]) -> str:
    """One sentence: what ran where, and how a run with the kernel agrees, or why there is none.

    again(kernel=, dtype=) runs the same once more. On a GPU a kernel without single precision is
    given bfloat16.
    """
    kind = f"Computed on {reference.device} in {reference.dtype}, every step kept"
    if kernel == "reference":
        return f"{kind} (kernel: reference)."
    variant = variants.find(reference.variant)
    word = (variant.fast or "reference") if kernel == FAST else kernel
    if word == "reference":
        return f"{kind}; {variant.title} has no other kernel."
    if word not in kernels.of(variant):
        own = ", ".join(repr(name) for name in kernels.of(variant))
        return f"{kind}; of the kernels {variant.title} has {own}, and {word!r} is none of them."
    try:
        fast = again(kernel=word, dtype=_dtype(reference, word))
    except AttnvizError as problem:
        return f"{kind}. {problem}"
    wanted, made = (trace.output.detach().double().cpu() for trace in (reference, fast))
    apart = float((made - wanted).abs().max())
    return (
        f"{kind}; the kernel {word!r} gives the same output in {fast.dtype} to within {apart:.1e}, "
        f"of numbers up to {float(wanted.abs().max()):.2g}, and keeps no map."
    )


def _dtype(reference: Trace, kernel: str) -> str:
    place, own = torch.device(reference.device), getattr(torch, reference.dtype)
    variant = variants.find(reference.variant)
    sizes = reference.dimensions["head_dim"], reference.dimensions["v_head_dim"]
    asked = (kernel, variant, place), (sizes, reference.allowed is not None)
    needs_half = place.type == "cuda" and kernels.why_not(*asked[0], own, *asked[1])
    if needs_half and not kernels.why_not(*asked[0], torch.bfloat16, *asked[1]):
        return "bfloat16"
    return reference.dtype


def unavailable(place: torch.device) -> dict[str, str]:
    """Kernels that compute nothing on that device in the app's runs, each with the reason."""
    softmax, recurrent = variants.find("multi_head"), variants.find("linear")
    half = torch.bfloat16 if place.type == "cuda" else torch.float32
    reasons = {}
    for word in (*kernels.BACKENDS, "flex", "fla"):
        asked = recurrent if word == "fla" else softmax
        reason = kernels.why_not(word, asked, place, half, (16, 16), masked=False)
        if reason:
            reasons[word] = reason
    return reasons

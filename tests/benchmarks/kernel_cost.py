"""What each kernel of this machine computes, how exactly, and how much we add to its bare call.

    .venv/bin/python -m tests.benchmarks.kernel_cost [--tokens 1024] [--dtype float32]

For each kernel: the largest error against the readable reference, our time and that of the
library's own function on the same tensors, called in turn in one run, and their ratio (goal: at
most 1.05). A kernel that cannot run here says why.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import nullcontext
from statistics import median

import torch
from torch.nn import functional as F
from torch.nn.attention import sdpa_kernel

import attnviz as av
from attnviz.device import device
from attnviz.variants import kernels
from attnviz.variants.fla_kernels import in_triton
from attnviz.variants.recurrence import Recurrence, recur
from attnviz.variants.softmax import attend, attend_fused

KEPT, GOAL = 15, 1.05
HEADS, WIDTH = 8, 64


def seconds(call: Callable[[], object], place: torch.device) -> float:
    begin = time.perf_counter()
    call()
    if place.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - begin


def in_turn(
    ours: Callable[[], object], bare: Callable[[], object], place: torch.device
) -> tuple[float, float, float]:
    """(our median, theirs, the median of the ratios), after two of each to warm up."""
    pairs = [(seconds(ours, place), seconds(bare, place)) for _ in range(KEPT + 2)][2:]
    return (
        median(own for own, _ in pairs),
        median(theirs for _, theirs in pairs),
        median(own / theirs for own, theirs in pairs),
    )


def row(kernel: str, error: float, times: tuple[float, float, float]) -> None:
    ours, theirs, ratio = times
    over = "" if ratio <= GOAL else "  over the goal"
    print(
        f"{kernel:<12} error {error:8.1e}   ours {1e3 * ours:8.2f} ms   bare {1e3 * theirs:8.2f} "
        f"ms   ratio {ratio:.2f}{over}"
    )


def softmax_kernels(n_tokens: int, dtype: torch.dtype, place: torch.device) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (
        torch.randn(1, HEADS, n_tokens, WIDTH, generator=generator).to(place, dtype)
        for _ in range(3)
    )
    scale = WIDTH**-0.5
    wanted = attend(q, k, v, allowed=None, scale=scale)["output"]
    variant = av.variants.find("multi_head")
    for kernel in ("sdpa", *kernels.BACKENDS, "flex"):
        if why := kernels.why_not(kernel, variant, place, dtype, (WIDTH, WIDTH), False):
            print(f"{kernel:<12} {why}")
            continue
        backend = kernels.BACKENDS.get(kernel)
        library = kernels.compiled_flex() if kernel == "flex" else F.scaled_dot_product_attention

        def bare(library=library, backend=backend):
            with sdpa_kernel(backend) if backend else nullcontext():
                return library(q, k, v, scale=scale)

        def ours(kernel=kernel):
            with kernels.computing_with(kernel):
                return attend_fused(q, k, v, allowed=None, scale=scale)

        row(kernel, float((ours() - wanted).abs().max()), in_turn(ours, bare, place))


def triton_kernels(n_tokens: int, dtype: torch.dtype, place: torch.device) -> None:
    variant = av.variants.find("gated_delta_rule")
    if why := kernels.why_not("fla", variant, place, dtype, (WIDTH, WIDTH), True):
        print(f"{'fla':<12} {why}")
        return
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule

    def drawn(*more: int) -> torch.Tensor:
        return torch.randn(1, HEADS, n_tokens, *more, device=place, dtype=dtype)

    r = Recurrence(
        query=F.normalize(drawn(WIDTH), dim=-1),
        key=F.normalize(drawn(WIDTH), dim=-1),
        value=drawn(WIDTH),
        log_decay=-drawn(1).abs() / 10,
        strength=drawn().sigmoid(),
        scale=WIDTH**-0.5,
        erases=True,
    )
    wanted = recur(r.wide()).output
    q, k, v, g, beta = (
        x.transpose(1, 2).contiguous()
        for x in (r.query, r.key, r.value, r.log_decay[..., 0].float(), r.strength)
    )

    def bare():
        return chunk_gated_delta_rule(
            q=q, k=k, v=v, g=g, beta=beta, scale=r.scale, output_final_state=True
        )

    error = float((in_triton(r)[0] - wanted).abs().max())
    row("fla", error, in_turn(lambda: in_triton(r), bare, place))


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--dtype", default=None)
    options = parser.parse_args()
    place = device()
    dtype = getattr(torch, options.dtype or ("bfloat16" if place.type == "cuda" else "float32"))
    print(f"{place}, {dtype}, {HEADS} heads of {WIDTH}, {options.tokens:,} tokens\n")
    softmax_kernels(options.tokens, dtype, place)
    triton_kernels(options.tokens, dtype, place)


if __name__ == "__main__":
    main()

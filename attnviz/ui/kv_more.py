"""The calculator's further parts: really allocated, 93.3 %, equal memory, speed of light."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attnviz import kv_cache as kv
from attnviz.figures.kv_plane import equal_memory
from attnviz.kv_cache import held
from attnviz.kv_cache.words import readable
from attnviz.ui import controls, page, work

BANDWIDTHS = {
    "laptop, dual-channel DDR5: 90 GB/s, 1 TFLOP/s": (90, 1),
    "RTX 4090: 1,008 GB/s, 165 TFLOP/s": (1008, 165),
    "A100 80 GB: 2,039 GB/s, 312 TFLOP/s": (2039, 312),
    "H100 SXM: 3,350 GB/s, 989 TFLOP/s": (3350, 989),
    "H200: 4,800 GB/s, 989 TFLOP/s": (4800, 989),
}
"""Makers' stated peaks: GB/s (10^9 bytes) and dense bf16 TFLOP/s."""


@dataclass(frozen=True)
class Allocation:
    """A job: run the architecture on the meta device and count its cache."""

    spec: kv.CacheSpec
    length: int
    batch: int
    dtype: str
    decoded: int
    encoder_length: int

    def run(self, progress: Callable[..., None]) -> kv.Allocated:
        progress(0.1, "Making the architecture without weights")
        return kv.allocate(
            self.spec,
            self.length,
            batch=self.batch,
            dtype=self.dtype,
            decoded=self.decoded,
            encoder_length=self.encoder_length,
        )


def allocated(size: kv.Size, options: dict[str, Any]) -> None:
    """On request: predicted beside measured, to the byte."""
    st.markdown(
        "Runs this architecture once with transformers, without its weights, and counts the "
        "tensors that its cache then holds, each storage once."
    )
    if not controls.toggle("Allocate it", key="allocate"):
        return
    dtype = size.dtype if size.dtype in held.DTYPES else "bfloat16"
    length, decoded = max(size.length, 2), options.get("decoded", 0)
    job = Allocation(size.spec, length, size.batch, dtype, decoded, size.encoder_length)
    found = work.result_of(job, st.empty())
    rows = {
        "nominal bytes (elements × width)": (
            found.predicted_bytes,
            found.measured.nominal_bytes,
        ),
        "held bytes (memory kept alive)": (
            found.predicted_held_bytes,
            found.measured.held_bytes,
        ),
    }
    for word, (predicted, measured) in rows.items():
        st.markdown(
            f"{word}: predicted **{predicted:,}**, measured **{measured:,}**"
            + (": equal." if predicted == measured else f", off by {measured - predicted:,}.")
        )
    theory = kv.size(size.spec, found.length, size.batch, dtype, encoder_length=size.encoder_length)
    st.markdown(f"Theory for the same tokens: **{theory.total_bytes:,}**. {found.note}.")
    page.notes(
        held.differences(size.spec.model_type, size.spec.layers)
        or ("Here the library keeps what the papers' formulas count.",)
    )


def reduction() -> None:
    """Where 93.3 % comes from."""
    row = st.container(horizontal=True)
    with row:
        ours = controls.pick("DeepSeek-V2's latent stored as", kv.DTYPES, key="v2", default="int6")
        baseline = controls.pick("Against", list(kv.BASELINES), key="base")
        theirs = controls.pick("stored as", kv.DTYPES, key="old", default="float16")
    found = kv.reduction(ours, baseline, theirs)
    st.metric("Saved", f"{found.saved:.1%}")
    st.code(f"{found.expression}\n= {found.saved}", language="python", wrap_lines=True)
    st.markdown(
        f"{found.latent_bytes:,} bytes a token instead of {found.baseline_bytes:,}. The report "
        "says **93.3 %**, and that comes out for a latent in 6 bits against DeepSeek 67B as it "
        "is, with 8 KV heads at 16 bits. At equal precision the architecture alone saves "
        "**82.2 %**; against a 67B with a key and a value for each head, which never was, "
        "**97.8 %**. No baseline of that kind gives 93.3 %."
    )
    page.plain(
        "Rule: DeepSeek-V2 (2024), abstract and section 3.2.3 (6 bits on average); DeepSeek LLM "
        "(2024), table 2 (67B uses GQA). That the report compared 6 with 16 bits is an inference: "
        "it is the only pairing of stated configurations that fits."
    )
    page.caution("equal_cache")


def plane(spec: kv.CacheSpec) -> None:
    """Which GQA costs the same as which MLA."""
    width = spec.head_dim or 128
    page.chart(
        equal_memory(width, dark=st.context.theme.type == "dark"),
        "KV heads of a GQA that takes as many bytes as an MLA with this latent.",
    )
    st.latex(r"g = \frac{d_c + d_h^R}{2 \, d_h}")
    page.plain(f"(512 + 64) / (2 * {width}) = {kv.equal_groups(512, 64, width):g} groups")
    page.plain("Rule: DeepSeek-V2 (2024), section 2.1.4 and table 1: 2.25 groups at d_h = 128.")
    page.caution("mla_not_gqa", "equal_cache")


def bound(size: kv.Size, weights_gib: int) -> None:
    """The speed of light of decoding."""
    row = st.container(horizontal=True)
    with row:
        word = controls.pick("Memory", list(BANDWIDTHS), key="chip", default=list(BANDWIDTHS)[3])
        weights = controls.number(
            "Weights in GiB", 1, 100_000, key="read", default=max(1, weights_gib or 15)
        )
        wide = controls.pick("of bytes each", (2, 1, 4), key="wide")
    speed, peak = BANDWIDTHS[word]
    read = kv.gib(weights)
    found = kv.decoding_bound(
        weights_bytes=read,
        cache_bytes_per_sequence=size.sequence_bytes,
        batch=size.batch,
        bandwidth=speed * 10**9,
        flops=peak * 10**12,
        parameters=read // wide,
    )
    st.metric("At most, tokens a second", f"{found.tokens_per_second:,.1f}")
    st.code(
        f"{size.batch} / (({read} + {size.batch} * {size.sequence_bytes}) / {speed * 10**9})\n"
        f"= {size.batch / found.memory_seconds:,.1f} by memory\n"
        f"{size.batch} / (2 * {read // wide} * {size.batch} / {peak * 10**12})\n"
        f"= {size.batch / found.compute_seconds:,.1f} by arithmetic",
        language="python",
        wrap_lines=True,
    )
    takes_over = (
        f"Arithmetic takes longer from **{found.compute_from_batch:,}** sequences on."
        if found.compute_from_batch
        else "At this context arithmetic never takes longer: the caches outgrow it."
    )
    st.markdown(
        f"A step reads {readable(found.bytes_per_step)}: the weights once, the cache of each "
        f"sequence. Limited by **{found.limited_by}**. {takes_over}"
    )
    page.notes(
        (
            "A bound, not a forecast: no decoder on this memory is faster, all are slower.",
            "Not counted: activations, attention's own arithmetic, launches, communication.",
            "All weights are read at each step; of a mixture of experts count the active ones.",
        )
    )
    page.plain("Rule: Pope et al. 2022, section 2: bytes over bandwidth, 2 operations a parameter.")

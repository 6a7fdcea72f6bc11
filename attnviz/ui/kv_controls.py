"""The calculator's controls: a model or a design, its context, and how its numbers are stored.

What is impossible together (a number of groups that does not divide the heads, a negative
context) is not silently corrected: the values stay, and the page says in a sentence what to change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from attnviz.kv_cache import (
    DTYPES,
    CacheSpec,
    divisors,
    grouped_query,
    latent_attention,
    preset,
    presets,
)
from attnviz.ui import controls
from attnviz.ui.folded import Folded

LARGEST_TYPED = 2**53
"""Beyond it a browser counts whole numbers no longer one by one."""
DESIGNS = ("Model", "GQA", "MLA")
CONTEXTS = tuple(2**power for power in range(7, 21))
LATENTS = (64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
ROPES = (0, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class Choice:
    """What the visitor set. spec() may raise, with a sentence."""

    design: str
    slug: str
    shape: tuple[int, int, int]  # layers, heads, head_dim
    n_kv_heads: int
    kv_lora_rank: int
    qk_rope_head_dim: int
    length: int
    batch: int
    dtype: str
    state_dtype: str
    encoder_length: int | None
    memory_gib: int
    weights_gib: int

    def spec(self) -> CacheSpec:
        layers, heads, width = self.shape
        if self.design == "GQA":
            return grouped_query(layers, heads, self.n_kv_heads, width)
        if self.design == "MLA":
            ranks = (self.kv_lora_rank, self.qk_rope_head_dim)
            return latent_attention(layers, heads, width, *ranks)
        return preset(self.slug)


def choose() -> Choice:
    """Draw the controls: at most three in sight beside the choice of design, the rest folded."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    kind = row.container(width="content")
    first, second, third = (row.container(width="stretch") for _ in range(3))
    with row:
        more = Folded("More")
    with kind:
        design = controls.segment("Whose cache", DESIGNS, key="design")
    with more:
        layers, heads, width = _shape() if design != "Model" else (1, 1, 1)
        batch = controls.number("Sequences in the batch", 1, 65_536, key="batch", default=1)
        if design == "MLA":
            dtype = _dtype()
    slug, groups, rank, rope = "llama-3.1-8b", 8, 512, 64
    with first:
        if design == "Model":
            slug = controls.pick("Model", _slugs(), key="preset", default=slug)
        elif design == "GQA":
            groups = _ladder("KV heads (groups)", divisors(heads), key="kv", default=groups)
        else:
            rank = _ladder("kv_lora_rank (latent)", LATENTS, key="latent", default=rank)
    with second if design != "MLA" else third:
        known = preset(slug).max_context or 0
        ladder = CONTEXTS if design != "Model" else tuple(sorted({*CONTEXTS, known}))
        length = _ladder("Context in tokens", ladder, key="context", default=8192)
    with third if design != "MLA" else second:
        if design == "MLA":
            rope = _ladder("qk_rope_head_dim", ROPES, key="rope", default=rope)
        else:
            dtype = _dtype()
    with more:
        spec = preset(slug) if design == "Model" else None
        state = "float32"
        if spec is not None and "linear" in spec.counts:
            state = controls.pick("Recurrent states stored as", DTYPES, key="state", default=state)
        source = None
        if spec is not None and spec.has_encoder:
            source = controls.number(
                "Tokens that the encoder reads", 0, 10_000_000, key="encoder", default=512
            )
        memory = controls.number("Memory in GiB", 1, 100_000, key="memory", default=80)
        weights = controls.number("Weights beside it, in GiB", 0, 100_000, key="weights", default=0)
        if more.open:
            st.number_input(
                "Another context, in tokens",
                value=None,
                step=1,
                key="_exact",
                placeholder="any whole number",
                on_change=_take_exact,
            )
    return Choice(
        design,
        slug,
        (layers, heads, width),
        groups,
        rank,
        rope,
        length,
        batch,
        dtype,
        state,
        source,
        memory,
        weights,
    )


def _slugs() -> list[str]:
    return [str(spec.slug) for spec in presets()]


def _dtype() -> str:
    return controls.pick("Cache stored as", DTYPES, key="dtype", default="bfloat16")


def _shape() -> tuple[int, int, int]:
    return (
        controls.number("Layers", 1, 1000, key="layers", default=32),
        controls.number("Query heads", 1, 1024, key="heads", default=32),
        controls.number("Width of a head (head_dim)", 1, 4096, key="head_dim", default=128),
    )


def _take_exact() -> None:
    """Send the typed context through the slider, which then has it as one of its steps."""
    if st.session_state["_exact"] is not None:
        st.session_state["context"] = st.session_state["_exact"]


def _ladder(label: str, values: Sequence[int], *, key: str, default: int) -> int:
    """A ladder that keeps a whole number from outside it (a link, another design) as a step."""
    asked = st.session_state.get(key, st.query_params.get(key))
    try:
        own = int(str(asked))
    except ValueError:
        own = default
    steps = sorted({*values, own}) if abs(own) <= LARGEST_TYPED else list(values)
    start = default if default in steps else steps[-1]
    return controls.ladder(label, steps, key=key, default=start)

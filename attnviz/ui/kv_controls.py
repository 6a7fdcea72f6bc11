"""The calculator's controls: a model or a design, its context, and how its numbers are stored.

What is impossible together (a number of groups that does not divide the heads, a negative
context) is not silently corrected: the values stay, and the page says in a sentence what to change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attnviz.components.calculator import Slider
from attnviz.kv_cache import (
    ACCOUNTINGS,
    DTYPES,
    CacheSpec,
    divisors,
    from_json,
    grouped_query,
    latent_attention,
    preset,
    presets,
)
from attnviz.ui import controls
from attnviz.ui.folded import Folded

LARGEST_TYPED = 2**53
"""Beyond it a browser counts whole numbers no longer one by one."""
DESIGNS = ("Model", "GQA", "MLA", "Config")
CONTEXTS = tuple(2**power for power in range(7, 21))
BATCHES = tuple(2**power for power in range(11))
LATENTS = (64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
ROPES = (0, 16, 32, 64, 128, 256)
WINDOWS = tuple(2**power for power in range(6, 16))
RATIOS = tuple(range(12))
CONFIG = """{
  "model_type": "llama", "num_hidden_layers": 16, "hidden_size": 2048,
  "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64
}"""
SHAPED = ("GQA", "MLA")


@dataclass(frozen=True)
class Choice:
    """What the visitor set. spec() may raise, with a sentence."""

    design: str
    slug: str
    pasted: str
    shape: tuple[int, int, int]  # layers, heads, head_dim
    sliders: tuple[Slider, ...]
    options: dict[str, Any]  # of kv_cache.size
    memory_gib: int
    weights_gib: int

    def __getitem__(self, key: str) -> int:
        """The value of a slider."""
        return next(slider.value for slider in self.sliders if slider.key == key)

    @property
    def own(self) -> dict[str, Any] | None:
        """The shape that the browser designs with; None of a model's own layers."""
        if self.design not in SHAPED:
            return None
        layers, heads, width = self.shape
        latent = self.design == "MLA"
        return {"layers": layers, "heads": heads, "width": width, "latent": latent}

    def spec(self) -> CacheSpec:
        layers, heads, width = self.shape
        if self.design == "GQA":
            window, ratio = self["window"], self["ratio"]
            return grouped_query(layers, heads, self["kv"], width, window=window, ratio=ratio)
        if self.design == "MLA":
            ranks = (self["latent"], self["rope"])
            return latent_attention(layers, heads, width, *ranks, ratio=self["ratio"])
        return from_json(self.pasted) if self.design == "Config" else preset(self.slug)


def choose() -> Choice:
    """Draw the controls: at most three in sight beside the sliders, the rest folded."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    kind = row.container(width="content")
    first, second = (row.container(width="stretch") for _ in range(2))
    with row:
        more = Folded("More")
    with kind:
        design = controls.segment("Whose cache", DESIGNS, key="design")
    slug, pasted, shape = "llama-3.1-8b", CONFIG, (1, 1, 1)
    with first:
        if design == "Model":
            slugs = [str(spec.slug) for spec in presets()]
            slug = controls.pick("Model", slugs, key="preset", default=slug)
        else:
            dtype = _dtype()
    with second:
        accounting = controls.pick("Accounting", ACCOUNTINGS, key="accounting")
    with more:
        if design == "Model":
            dtype = _dtype()
        if design in SHAPED:
            shape = _shape()
        state = controls.pick("Recurrent states stored as", DTYPES, key="state", default="float32")
        known = preset(slug) if design == "Model" else None
        options: dict[str, Any] = {"dtype": dtype, "state_dtype": state, "accounting": accounting}
        if design == "Config" or (known is not None and known.has_encoder):
            options["encoder_length"] = controls.number(
                "Tokens that the encoder reads", 0, 10_000_000, key="encoder", default=512
            )
        options |= _of_accounting(accounting)
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
    if design == "Config":
        pasted = _pasted()
    stated = (known.max_context or 0) if known is not None else 0
    sliders = (*_design_sliders(design, shape[1]), *_size_sliders(stated))
    return Choice(design, slug, pasted, shape, sliders, options, memory, weights)


def moved(key: str, value: int) -> None:
    """A slider was let go in the browser."""
    st.session_state[key] = value


def repair(choice: Choice) -> None:
    """The same sliders where there is no size to draw: what is impossible can be changed."""
    for slider in choice.sliders:
        controls.ladder(slider.label, slider.values, key=slider.key, default=slider.value)


def _design_sliders(design: str, heads: int) -> tuple[Slider, ...]:
    if design == "GQA":
        return (
            _slider("kv", "KV heads (groups)", divisors(heads), 8),
            _slider("ratio", "Windowed layers for each full one", RATIOS, 0),
            _slider("window", "Window in tokens", WINDOWS, 1024),
        )
    if design == "MLA":
        return (
            _slider("latent", "kv_lora_rank (latent)", LATENTS, 512),
            _slider("rope", "qk_rope_head_dim", ROPES, 64),
            _slider("ratio", "Layers with a state for each latent one", RATIOS, 0),
        )
    return ()


def _size_sliders(stated: int) -> tuple[Slider, ...]:
    """stated: the longest context that the model's makers state."""
    contexts = sorted({*CONTEXTS, stated} - {0})
    return (
        _slider("context", "Context in tokens", contexts, 8192),
        _slider("batch", "Sequences in the batch", BATCHES, 1),
    )


def _of_accounting(accounting: str) -> dict[str, int]:
    if accounting == "engine":
        return {
            "block_size": controls.number("Tokens in a page", 1, 4096, key="block", default=16),
            "tensor_parallel": controls.number("GPUs (TP)", 1, 1024, key="tp", default=1),
            "max_batched_tokens": controls.number(
                "Most tokens in one step", 1, 1_000_000, key="step", default=8192
            ),
        }
    if accounting == "transformers":
        after = controls.toggle("After the first decoding step", key="decoded")
        return {"decoded": int(after)}
    return {}


def _dtype() -> str:
    return controls.pick("Cache stored as", DTYPES, key="dtype", default="bfloat16")


def _shape() -> tuple[int, int, int]:
    return (
        controls.number("Layers", 1, 1000, key="layers", default=32),
        controls.number("Query heads", 1, 1024, key="heads", default=32),
        controls.number("Width of a head (head_dim)", 1, 4096, key="head_dim", default=128),
    )


def _pasted() -> str:
    left, right = st.columns([3, 1])
    with right:
        st.file_uploader(
            "or upload it", type=["json"], key="_file", on_change=_take_file, max_upload_size=1
        )
    with left:
        return controls.text("Paste a config.json", key="config", default=CONFIG, height=140)


def _take_file() -> None:
    file = st.session_state["_file"]
    if file is not None:
        st.session_state["config"] = file.getvalue().decode(errors="replace")


def _take_exact() -> None:
    """Send the typed context through the slider, which then has it as one of its steps."""
    if st.session_state["_exact"] is not None:
        st.session_state["context"] = st.session_state["_exact"]


def _slider(key: str, label: str, values: Sequence[int], default: int) -> Slider:
    """A slider that keeps a whole number from outside it (a link, another design) as a step."""
    asked = st.session_state.get(key, st.query_params.get(key))
    try:
        own = int(str(asked))
    except ValueError:
        own = default
    steps = sorted({*values, own}) if abs(own) <= LARGEST_TYPED else list(values)
    start = default if default in steps else steps[-1]
    value = controls.kept(steps, key=key, default=start)
    return Slider(key, label, tuple(steps), value)

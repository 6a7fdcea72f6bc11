"""The controls of one variant, made from what the registry says that it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from attnviz.figures.heads import divisors
from attnviz.figures.maps import run_code
from attnviz.figures.picture import View
from attnviz.ui import address, computing, controls, kernel_text, lecture
from attnviz.ui.folded import Folded
from attnviz.ui.own_input import LONGEST, ONLY_TOKENS, OwnInput, input_kind, own_input
from attnviz.ui.own_picture import KINDS, upload_control
from attnviz.ui.step_controls import MASKS, SECOND_TEXT, simple_mask
from attnviz.ui.variant_settings import WIDTH, Setting, settings_of

if TYPE_CHECKING:
    import attnviz as av
    from attnviz.variants import Variant

TEXT = "The cat sat on the mat"
HEADS = (1, 2, 4, 8, 16)
SHARED = ("n_kv_heads", "n_key_heads")
WORDS = {
    "n_heads": "Query heads",
    "n_kv_heads": "Key/value heads",
    "n_key_heads": "Key heads",
    "head_dim": "d_k: channels of a head",
    "n_channels": "Channels, a map for each",
    "v_head_dim": "d_v: value channels",
    "beta_max": "Largest write strength β",
    "n_queries": "Object queries",
    "decoder_layer": "Decoder layer",
    "window": "Window (patches a side)",
    "n_layers": "Layers of the model",
    "layer": "Layer of the model",
    "feature_map": "Feature map φ",
    "gate": "Gate",
    "bias": "Position bias",
    "softcap": "Soft cap on scores",
    "sink": "Attention sink",
    "yarn": "YaRN factor",
    "head_mixing": "Head mixing",
    "head_norm": "Norm of each head",
}


@dataclass(frozen=True)
class Choices:
    """What to run a variant on, and with what."""

    name: str
    source: OwnInput
    cross: str | None  # the text that answers; None: self-attention
    mask: str
    size: int  # of the window, the prefix or the padding
    given: Mapping[str, Any]
    kernel: str = ""  # of multi-token attention, as typed


def chosen_variant() -> Variant:
    """The variant that the control below says, for the title above it."""
    from attnviz.variants import VARIANTS

    address.seed("variant", {word: word for word in VARIANTS}.get, next(iter(VARIANTS)))
    return VARIANTS.get(str(st.session_state["variant"]), next(iter(VARIANTS.values())))


def variant_controls(variant: Variant) -> Choices:
    """Draw the controls: variant, input and main choice in sight, the rest folded."""
    from attnviz.variants import VARIANTS

    main, *others = settings_of(variant)
    if variant.causal == "if masked":
        lecture.mask_key("mask", off="none", on="causal")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        with st.container(width=280):
            controls.pick(
                "Variant", list(VARIANTS), key="variant", show=lambda word: VARIANTS[word].title
            )
        kind = _input_kind(variant)
        front = st.container(width="content")
        more = Folded("Input, heads, seed" if kind in KINDS else "Text, heads, seed")
    if kind == "picture":
        upload_control()
    with more:
        given = {setting.word: _ask(setting, {}) for setting in _heads_first(others)}
        others_given = {word: value for word, value in given.items() if value is not None}
        mask, size, cross = "none", 2, None
        if variant.causal != "always":
            unordered = variant.causal == "never" or kind in KINDS  # nothing comes before
            words = ["none", "padding"] if unordered else list(MASKS)
            mask = controls.pick(
                "Mask",
                words,
                key="mask",
                default=words[0] if unordered else "causal",
                show=lambda word: MASKS[word],
            )
            if mask in ("window", "prefix", "padding"):
                size = controls.number(
                    f"{mask.capitalize()} (keys)", 1, LONGEST, key=mask, default=2
                )
            if (
                kind == "text"
                and variant.crosses
                and controls.toggle("Cross-attention", key="cross")
            ):
                cross = controls.text("Text that answers", key="text2", default=SECOND_TEXT)
        kernel = ""
        if variant.name == "multi_token":
            kernel = controls.line(
                "Kernel of every head", key="blend", placeholder="drawn", help=kernel_text.HELP
            )
        source = own_input(TEXT, kind)
    with front:
        chosen = _ask(main, others_given)
    given = others_given | ({} if chosen is None else {main.word: chosen})
    _forget([setting.key for other in VARIANTS.values() for setting in settings_of(other)], variant)
    return Choices(variant.name, source, cross, mask, size, given, kernel)


def _input_kind(variant: Variant) -> str:
    """A variant made for pictures begins with one, whatever another was shown on."""
    if variant.for_pictures:
        return input_kind((*KINDS, *ONLY_TOKENS), key="grid_input")
    return input_kind((*ONLY_TOKENS, *KINDS))


def _heads_first(settings: list[Setting]) -> list[Setting]:
    return sorted(settings, key=lambda setting: setting.word != "n_heads")


def _ask(setting: Setting, given: Mapping[str, Any]) -> Any:
    """The value chosen; None where it is left to follow from the others."""
    word, key = setting.word, setting.key
    label = WORDS.get(word, word.replace("_", " ").capitalize())
    if setting.values:
        ask = controls.segment if len(setting.values) <= 4 else controls.pick
        return ask(label, list(setting.values), key=key, default=setting.default)
    if word == "n_heads":
        return controls.ladder(label, HEADS, key=key, default=setting.default or 4)
    if word in SHARED:
        fitting = divisors(given.get("n_heads", st.session_state.get("n_heads", 4)))
        wanted = setting.default if setting.default in fitting else fitting[-1]
        return controls.ladder(label, fitting, key=key, default=wanted)
    if setting.default is None:
        value = controls.number(
            label, 0, WIDTH, key=key, default=0, help="0: follows from the other sizes."
        )
        return value or None
    return controls.number(label, 1, max(100, setting.default), key=key, default=setting.default)


def _forget(keys: list[str], variant: Variant) -> None:
    """Leave no word in the address about what this variant does not take."""
    own = {setting.key for setting in settings_of(variant)}
    foreign = set(keys) - own | ({"mask", "cross"} if variant.causal == "always" else set())
    foreign |= set() if variant.crosses else {"cross"}
    foreign |= set() if variant.name == "multi_token" else {"blend"}
    foreign.add("input" if variant.for_pictures else "grid_input")
    for key in foreign:
        address.write(key, None)


@dataclass(frozen=True)
class Run:
    """A trace, how its inputs were made, and the Python that makes it."""

    trace: av.Trace
    notes: tuple[str, ...]
    code: str
    ran: str  # where, and with which kernel
    view: View | None = None  # of a run on a picture


def run(choices: Choices) -> Run:
    """Compute the variant. Raises AttnvizError in a sentence that can be shown."""
    import attnviz as av
    from attnviz.variants.agreement import agreement

    source = choices.source
    x = source.inputs(WIDTH)
    made = {"x": source.code(WIDTH)}
    context = None
    if choices.cross is not None:
        second = source.with_text(choices.cross)
        context, made["context"] = second.inputs(WIDTH), second.code(WIDTH)
    mask, mask_code = simple_mask(choices.mask, choices.size, (context or x).length)
    computed = computing.chosen()
    options = {"seed": source.seed, **computed.options, **choices.given}
    options |= kernel_text.options(choices.kernel, choices.given)
    written = {word: repr(value) for word, value in options.items()}
    if mask is not None:
        options |= {"mask": mask, "empty_rows": "zero"}
        written |= {"mask": mask_code, "empty_rows": "'zero'"}
    again = partial(av.run, choices.name, x, context=context, **options)
    trace = again()
    ran = agreement(trace, computed.kernel, again)
    view = None
    if source.picture is not None and x.grid is not None:
        view = View(source.picture.pixels(source.seed), x.grid, source.picture.patch)
    return Run(trace, x.notes, run_code(made, choices.name, written), ran, view)

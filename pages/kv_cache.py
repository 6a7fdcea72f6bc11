"""How much memory a context costs, for 67 models or a design of one's own."""

import streamlit as st

from attnviz import kv_cache as kv
from attnviz.components.calculator import calculator
from attnviz.errors import AttnvizError
from attnviz.ui import controls, kv_controls, kv_more, kv_panels, page

page.head(
    "How much memory does the cache take?",
    "To write the next token, a model keeps keys and values (or a latent, or a state) of the "
    "tokens before it. Here is how many bytes that is, layer by layer.",
)
choice = kv_controls.choose()
dark = st.context.theme.type == "dark"

try:
    spec = choice.spec()
    size = kv.size(spec, choice["context"], choice["batch"], **choice.options)
    fits = {"memory_bytes": kv.gib(choice.memory_gib), "weights_bytes": kv.gib(choice.weights_gib)}
    room = kv.longest_context(spec, batch=size.batch, **fits, **choice.options)
    users = kv.most_sequences(spec, length=size.length, **fits, **choice.options)
except AttnvizError as problem:
    page.error(problem)
    kv_controls.repair(choice)
    st.stop()
others = [other for other in kv.alternatives(spec) if other.layers != spec.layers]
if choice.options["accounting"] == "transformers":
    others = []  # shapes of nobody's: the library has no architecture for them

calculator(
    size,
    choice.sliders,
    key="calculator",
    own=choice.own,
    others=others,
    free_bytes=room.free_bytes,
    dark=dark,
    moved=kv_controls.moved,
)
if size.spec.counts.keys() == {"none"}:
    page.plain("An encoder reads its whole input at once: it keeps no cache, and nothing grows.")
kv_panels.fitting(size, room, users, choice)
page.caution("equal_cache", "mla_not_gqa")

section = controls.section(
    {
        "formula": "Numbers unfolded",
        "compare": "Side by side",
        "measure": "Really allocated",
        "fits": "What fits",
        "reduction": "Where 93.3 % is from",
        "plane": "Equal memory",
        "bound": "Speed of light",
        "source": "Sources",
        "lesson": "Lesson",
    }
)
try:
    if section == "formula":
        kv_panels.formula(size, room, users, room.free_bytes)
    if section == "compare":
        kv_panels.comparison(spec, others, choice, size, room.free_bytes)
    if section == "measure":
        kv_more.allocated(size, choice.options)
    if section == "fits":
        kv_panels.cards(spec, choice, size)
    if section == "reduction":
        kv_more.reduction()
    if section == "plane":
        kv_more.plane(spec)
    if section == "bound":
        kv_more.bound(size, choice.weights_gib)
    if section == "source":
        kv_panels.provenance(spec)
    if section == "lesson":
        page.lesson("kv_cache")
except AttnvizError as problem:
    page.error(problem)

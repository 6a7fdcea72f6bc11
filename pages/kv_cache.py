"""How much memory a context costs, for 67 models or a design of one's own."""

import streamlit as st

from attnviz import kv_cache as kv
from attnviz.errors import AttnvizError
from attnviz.figures.kv_cache import growth
from attnviz.figures.kv_stack import stack
from attnviz.ui import controls, kv_controls, kv_panels, page

page.head(
    "How much memory does the cache take?",
    "To write the next token, a model keeps keys and values (or a latent, or a state) of the "
    "tokens before it. Here is how many bytes that is, layer by layer.",
)
choice = kv_controls.choose()
dark = st.context.theme.type == "dark"

try:
    spec = choice.spec()
    options = {
        "dtype": choice.dtype,
        "state_dtype": choice.state_dtype,
        "encoder_length": choice.encoder_length,
    }
    size = kv.size(spec, choice.length, choice.batch, **options)
    fits = {"memory_bytes": kv.gib(choice.memory_gib), "weights_bytes": kv.gib(choice.weights_gib)}
    room = kv.longest_context(spec, batch=choice.batch, **fits, **options)
    users = kv.most_sequences(spec, length=choice.length, **fits, **options)
except AttnvizError as problem:
    page.error(problem)
    st.stop()
others = [other for other in kv.alternatives(spec) if other.layers != spec.layers]

hero = st.container(horizontal=True, gap="medium")
numbers, curve = hero.container(width=230), hero.container(width="stretch")
with numbers:
    kv_panels.numbers(size, room, users, choice.memory_gib)
with curve:
    if size.spec.counts.keys() == {"none"}:
        page.plain(
            "An encoder reads its whole input at once: it keeps no cache, and nothing grows."
        )
    else:
        page.chart(
            growth(size, others, dark=dark),
            f"Cache of {spec.name} against context, beside its shape as MHA, GQA, MQA and MLA.",
        )
page.chart(
    stack(size, dark=dark),
    f"Bytes of each of the {spec.n_layers} layers of {spec.name}.",
)
page.caution("equal_cache", "mla_not_gqa")

section = controls.section(
    {
        "formula": "Formula",
        "compare": "Designs side by side",
        "fits": "What fits where",
        "source": "Where this comes from",
        "lesson": "Lesson",
    }
)
if section == "formula":
    kv_panels.formula(size)
if section == "compare":
    kv_panels.comparison([spec, *others], choice, size, options, fits)
if section == "fits":
    kv_panels.cards(spec, choice, options)
if section == "source":
    kv_panels.provenance(spec)
if section == "lesson":
    page.lesson("kv_cache")

"""The calculator's panels: what fits, every number unfolded, comparisons, sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from attnviz import kv_cache as kv
from attnviz.figures.kv_cache import growth
from attnviz.figures.spreadsheet import csv_of
from attnviz.kv_cache import engine, held
from attnviz.kv_cache.words import stack
from attnviz.ui import controls, page
from attnviz.ui.kv_controls import Choice

CARDS = {
    8: "laptop GPUs",
    12: "RTX 3060, 4070",
    16: "RTX 4080, T4",
    24: "RTX 3090, 4090, L4",
    32: "RTX 5090, V100",
    40: "A100 40 GB",
    48: "L40S, A6000",
    80: "A100 80 GB, H100",
    141: "H200",
    192: "MI300X",
}
"""Memory in GiB as the cards are sold, and examples; a driver leaves a little less."""
NOBODY = "–"


def fitting(size: kv.Size, room: kv.Room, users: kv.Room, choice: Choice) -> None:
    """What fits, and what else there is to say of these numbers, below the picture."""
    each = " each" if size.batch > 1 else ""
    said = [
        f"In {choice.memory_gib:,} GiB beside {choice.weights_gib:,} GiB of weights: "
        f"**{_count(room.count)}** tokens{each}, or **{_count(users.count)}** sequences of "
        f"{size.length:,}. Accounting: **{size.accounting}**."
    ]
    stated = size.spec.max_context
    if stated is not None and size.length > stated:
        said.append(f"Beyond the model's own {stated:,} tokens.")
    layer = size.spec.layers[0]
    if len(size.spec.groups) == 1 and isinstance(layer, kv.Latent) and size.spec.head_dim:
        groups = kv.equal_groups(layer.kv_lora_rank, layer.qk_rope_head_dim, size.spec.head_dim)
        said.append(f"As large as GQA with **{groups:g}** groups.")
    st.markdown("  \n".join(said))


def _count(number: int | None) -> str:
    return "no limit" if number is None else f"{number:,}"


def formula(size: kv.Size, room: kv.Room, users: kv.Room, free: int) -> None:
    """The general formula, then every number of the page with its own arithmetic."""
    made = kv.formula(size)
    st.latex(made.latex)
    st.markdown("\n".join(f"- ${symbol}$: {meaning}" for symbol, meaning in made.legend))
    for number in (*kv.unfold(size), *kv.unfold_room(room, users, size, free)):
        st.markdown(f"**{number.name}**")
        st.code(f"{number.expression}\n= {number.value}", language="python", wrap_lines=True)
        page.plain(f"Rule: {number.source}")
    _differences(size)


def _differences(size: kv.Size) -> None:
    """What this accounting counts that another does not."""
    if size.accounting == "engine":
        st.markdown("Why a server's log shows other numbers:")
        page.notes(engine.REASONS)
    elif size.accounting == "transformers":
        st.markdown("Where the library differs from the papers' formulas:")
        page.notes(held.differences(size.spec.model_type, size.spec.layers) or ("Nowhere here.",))
    else:
        st.markdown(
            "Accounting **theory**: the papers' formulas. Windows count W tokens, convolutions "
            "K − 1 columns; no padding, no pages. A library may keep a little more or less, and "
            "a server that stores whole pages and replicates KV heads over GPUs logs other "
            "numbers: choose the accounting above."
        )


def comparison(
    spec: kv.CacheSpec, others: Sequence[kv.CacheSpec], choice: Choice, size: kv.Size, free: int
) -> None:
    """Up to three presets beside this one: curves, where they cross, a table, CSV and JSON."""
    slugs = [NOBODY, *(str(each.slug) for each in kv.presets())]
    row = st.container(horizontal=True)
    with row:
        picked = [
            controls.pick(f"Beside it, {place}", slugs, key=f"with{place}") for place in (1, 2, 3)
        ]
    beside = [kv.preset(slug) for slug in dict.fromkeys(picked) if slug != NOBODY]
    beside = [each for each in beside if each.name != spec.name] or list(others)
    options = {"encoder_length": size.encoder_length, **choice.options}
    table = kv.compare(
        [spec, *beside],
        length=size.length,
        batch=size.batch,
        memory_bytes=free,
        **options,
    )
    page.chart(
        growth(size, beside, dark=st.context.theme.type == "dark"),
        f"Cache of {spec.name} against context, beside {', '.join(one.name for one in beside)}.",
    )
    for other in beside:
        at = kv.crossing(spec, other, size)
        if at is not None:
            page.plain(f"{spec.name} and {other.name} change places at {at:,} tokens.")
    _table(table, choice, size, options)
    page.caution("no_ranking")


def _table(table: Any, choice: Choice, size: kv.Size, options: dict[str, Any]) -> None:
    counts = {
        "total_bytes": "Total, bytes",
        "fixed_bytes": "Fixed, bytes",
        "bytes_per_token": "A token, bytes",
        "longest_context": f"Longest context in {choice.memory_gib:,} GiB",
        "sequences": "Sequences at once",
    }
    # As text a number of any size is exact, but sorts like a word: only where it must be.
    wide = [word for word in counts if any(map(page.too_large, table[word].dropna().tolist()))]
    shown = table.assign(**{word: [f"{count:,}" for count in table[word]] for word in wide})
    localized = {
        word: title if word in wide else st.column_config.NumberColumn(title, format="localized")
        for word, title in counts.items()
    }
    st.dataframe(
        shown,
        hide_index=True,
        column_config={
            "design": "Design",
            "total_gib": st.column_config.NumberColumn("Total, GiB", format="%.3f"),
            "arithmetic": "Total, as arithmetic",
            "relative": st.column_config.NumberColumn("Against the first", format="%.3f ×"),
            **localized,
        },
    )
    settings = {
        "context": size.length,
        "batch": size.batch,
        "memory_gib": choice.memory_gib,
        "weights_gib": choice.weights_gib,
        **options,
    }
    files(table, f"{size.spec.slug or size.spec.name}-{size.length}", settings)


def files(table: Any, name: str, settings: dict[str, Any]) -> None:
    """A table to take away, as CSV and JSON."""
    stem = f"attnviz-kv-cache-{name}".replace(" ", "-")
    buttons = st.container(horizontal=True)
    buttons.download_button("CSV", csv_of(table), f"{stem}.csv", "text/csv", on_click="ignore")
    buttons.download_button(
        "JSON",
        kv.to_json(table, **settings),
        f"{stem}.json",
        "application/json",
        on_click="ignore",
    )


def cards(spec: kv.CacheSpec, choice: Choice, size: kv.Size) -> None:
    """Common memory sizes: the longest context, and the sequences of the chosen length."""
    weights = kv.gib(choice.weights_gib)
    options = {"encoder_length": size.encoder_length, **choice.options}
    rows = []
    for memory, names in CARDS.items():
        given = {"memory_bytes": kv.gib(memory), "weights_bytes": weights, **options}
        longest = kv.longest_context(spec, batch=size.batch, **given)
        users = kv.most_sequences(spec, length=size.length, **given)
        why = "" if longest.count else longest.reason
        quotient = f"{users.free_bytes} // {size.sequence_bytes}"
        counts = (_count(longest.count), _count(users.count))
        rows.append((memory, names, *counts, kv.context_arithmetic(longest, size), quotient, why))
    titles = ["Memory, GiB", "For example", f"Longest context, batch of {size.batch:,}"]
    counted = [f"Sequences of {size.length:,} tokens"]
    unfolded = ["Context, as arithmetic", "Sequences, as arithmetic", "Why"]
    table = pd.DataFrame(rows, columns=[*titles, *counted, *unfolded])
    st.dataframe(table, hide_index=True)
    files(table, f"cards-{spec.slug or spec.name}-{size.length}", choice.options)


def provenance(spec: kv.CacheSpec) -> None:
    """The stack in words, and where a preset's dimensions were read."""
    page.plain("\n".join(stack(spec)))
    if spec.provenance is None:
        page.plain("A design of your own: nothing to look up.")
        return
    facts = spec.provenance
    lines = [
        f"Source: {facts.source}",
        f"How sure: {facts.confidence}",
        f"Longest context: {spec.max_context:,} tokens",
    ]
    if facts.hub_id:
        lines.append(f"On the Hub: {facts.hub_id}")
    lines += [f"Note: {note}" for note in facts.notes]
    lines += [f"Trap: {trap}" for trap in facts.traps]
    for line in lines:
        page.plain(line)

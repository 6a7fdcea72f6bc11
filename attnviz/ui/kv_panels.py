"""The calculator's panels: the numbers, the formula behind them, comparisons, sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from attnviz import kv_cache as kv
from attnviz.kv_cache.words import readable, stack
from attnviz.ui import page
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


def numbers(size: kv.Size, room: kv.Room, users: kv.Room, memory_gib: int) -> None:
    """The answer, in large: total, its two parts, and what fits."""
    _bytes(size.spec.name, size.total_bytes)
    _bytes("Fixed, per sequence", size.fixed_bytes)
    _bytes("Per token", size.bytes_per_token)
    sequences = "" if size.batch == 1 else f" × {size.batch:,} sequences"
    each = " each" if size.batch > 1 else ""
    st.markdown(
        f"{size.length:,} tokens{sequences}  \n"
        f"Accounting: **{size.accounting}**  \n"
        + _beyond(size)
        + _equal(size.spec)
        + f"In {memory_gib:,} GiB: **{_count(room.count)}** tokens{each}  \n"
        f"or **{_count(users.count)}** such sequences"
    )


def _beyond(size: kv.Size) -> str:
    stated = size.spec.max_context
    if stated is None or size.length <= stated:
        return ""
    return f"Beyond the model's own {stated:,} tokens  \n"


def _equal(spec: kv.CacheSpec) -> str:
    """For a design of latents alone: the groups of GQA that would take as many bytes."""
    layer = spec.layers[0]
    if len(spec.groups) > 1 or not isinstance(layer, kv.Latent) or spec.head_dim is None:
        return ""
    groups = kv.equal_groups(layer.kv_lora_rank, layer.qk_rope_head_dim, spec.head_dim)
    return f"As large as GQA with **{groups:g}** groups  \n"


def _bytes(label: str, count: int | float) -> None:
    """Bytes in a readable unit, and exactly below."""
    exact = f"{count:,} bytes" if count >= 1024 else None
    st.metric(label, readable(count), exact, delta_color="off", delta_arrow="off")


def _count(number: int | None) -> str:
    return "no limit" if number is None else f"{number:,}"


def formula(size: kv.Size) -> None:
    """The formula, then the same with this page's numbers."""
    made = kv.formula(size)
    st.latex(made.latex)
    st.code(f"{made.plain}\n= {size.total_bytes} bytes", language="python", wrap_lines=True)
    st.markdown("\n".join(f"- ${symbol}$: {meaning}" for symbol, meaning in made.legend))
    st.markdown(
        "Accounting **theory**: the papers' formulas. Windows count W tokens, convolutions K − 1 "
        "columns; no scales of quantised formats, no padding, no pages. A library may keep a "
        "little more or less, and a server that stores whole pages and replicates KV heads over "
        "GPUs logs other numbers."
    )


def comparison(
    specs: Sequence[kv.CacheSpec],
    choice: Choice,
    size: kv.Size,
    options: dict[str, Any],
    fits: dict[str, int],
) -> None:
    """The design beside the same shape with other attention in every layer; CSV and JSON."""
    table = kv.compare(specs, length=size.length, batch=size.batch, **fits, **options)
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
            "relative": st.column_config.NumberColumn("Against the first", format="%.3f ×"),
            **localized,
        },
    )
    settings = {
        "context": size.length,
        "batch": size.batch,
        "accounting": size.accounting,
        "memory_gib": choice.memory_gib,
        "weights_gib": choice.weights_gib,
        **options,
    }
    stem = f"attnviz-kv-cache-{size.spec.slug or size.spec.name}-{size.length}".replace(" ", "-")
    buttons = st.container(horizontal=True)
    buttons.download_button(
        "CSV", table.to_csv(index=False), f"{stem}.csv", "text/csv", on_click="ignore"
    )
    buttons.download_button(
        "JSON",
        kv.to_json(table, **settings),
        f"{stem}.json",
        "application/json",
        on_click="ignore",
    )
    page.caution("no_ranking")


def cards(spec: kv.CacheSpec, choice: Choice, options: dict[str, Any]) -> None:
    """Common memory sizes: the longest context, and the sequences of the chosen length."""
    weights = kv.gib(choice.weights_gib)
    rows = []
    for memory, names in CARDS.items():
        given = {"memory_bytes": kv.gib(memory), "weights_bytes": weights, **options}
        longest = kv.longest_context(spec, batch=choice.batch, **given)
        users = kv.most_sequences(spec, length=choice.length, **given)
        why = "" if longest.count else longest.reason
        rows.append((memory, names, _count(longest.count), _count(users.count), why))
    st.dataframe(
        pd.DataFrame(
            rows,
            columns=[
                "Memory, GiB",
                "For example",
                f"Longest context, batch of {choice.batch:,}",
                f"Sequences of {choice.length:,} tokens",
                "Why",
            ],
        ),
        hide_index=True,
    )


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

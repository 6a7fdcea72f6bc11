"""Designs side by side, as rows for the page, a notebook, CSV and JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attnviz.kv_cache.capacity import GIB, longest_context, most_sequences
from attnviz.kv_cache.formulas import formula
from attnviz.kv_cache.sizes import size
from attnviz.kv_cache.spec import CacheSpec

if TYPE_CHECKING:
    from pandas import DataFrame


def compare(
    specs: Sequence[CacheSpec],
    *,
    length: int,
    batch: int = 1,
    memory_bytes: int | None = None,
    weights_bytes: int = 0,
    **options,
) -> DataFrame:
    """A row a design: its bytes at this length and, if memory is given, what fits beside weights.

    arithmetic gives total_bytes. relative is the total over the first design's. longest_context
    and sequences are empty where there is no limit. options are those of size: dtype, state_dtype,
    encoder_length, accounting and its own.
    """
    import pandas as pd

    rows = []
    for spec in specs:
        z = size(spec, length, batch, **options)
        row = {
            "design": spec.name,
            "total_bytes": z.total_bytes,
            "total_gib": z.total_bytes / GIB,
            "fixed_bytes": z.fixed_bytes,
            "bytes_per_token": z.bytes_per_token,
        }
        if memory_bytes is not None:
            given = {"weights_bytes": weights_bytes, **options}
            fits = longest_context(spec, memory_bytes, batch=batch, **given)
            users = most_sequences(spec, memory_bytes, length=length, **given)
            row |= {"longest_context": fits.count, "sequences": users.count}
        row["arithmetic"] = " ".join(formula(z).plain.split())
        rows.append(row)
    table = pd.DataFrame(rows)
    first = rows[0]["total_bytes"] if rows else 0
    table["relative"] = [row["total_bytes"] / first if first else None for row in rows]
    for name in ("longest_context", "sequences"):
        if name in table:
            table[name] = table[name].astype("Int64")
    return table


def to_json(table: DataFrame, **settings: object) -> str:
    """The table with the settings it was computed under."""
    exact = table.astype(object)  # Python's own numbers: bytes may need more than 64 bits
    rows = exact.where(table.notna(), None).to_dict(orient="records")
    return json.dumps({"settings": settings, "rows": rows}, indent=1)

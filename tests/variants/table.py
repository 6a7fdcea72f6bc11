"""Which inputs apply to which variant: the table that test_every_variant.py goes through.

Columns: 1 token; 2 tokens; 2,048 tokens, in the form that keeps every step; a text with emoji; an
image; a fully masked row; features not divisible by heads; heads not divisible by groups (the
dimension that groups them); float64; causality. "yes": it runs, or raises the named error where
the column is one. "-": it does not apply, and what asks for it is refused in a sentence.
"""

from __future__ import annotations

COLUMNS = (
    "one", "two", "long", "emoji", "image", "empty_row", "heads", "groups", "float64", "causal",
)  # fmt: skip

TABLE = """
scaled_dot_product  yes yes yes yes yes  yes  -    -            yes  yes
multi_head          yes yes yes yes yes  yes  yes  -            yes  yes
grouped_query       yes yes yes yes yes  yes  yes  n_kv_heads   yes  yes
additive            yes yes yes yes yes  yes  -    -            yes  yes
latent              yes yes yes yes yes  yes  yes  -            yes  yes
gated_latent        yes yes yes yes yes  yes  yes  -            yes  yes
multi_token         yes yes yes yes yes  yes  yes  head_group   yes  yes
sparse_topk         yes yes yes yes yes  yes  yes  n_kv_heads   yes  yes
linformer           yes yes yes yes yes  yes  yes  -            yes  -
shifted_window      yes yes yes yes yes  yes  yes  -            yes  yes
object_query        yes yes yes yes yes  yes  yes  -            yes  -
linear              yes yes yes yes yes  -    yes  -            yes  yes
retention           yes yes yes yes yes  -    yes  -            yes  yes
delta_rule          yes yes yes yes yes  -    yes  -            yes  yes
gated_delta_rule    yes yes yes yes yes  -    yes  n_key_heads  yes  yes
kimi_delta          yes yes yes yes yes  -    yes  -            yes  yes
lightning           yes yes yes yes yes  -    yes  -            yes  yes
mamba2              yes yes yes yes yes  -    yes  n_key_heads  yes  yes
hyena               yes yes yes yes yes  -    -    -            yes  yes
"""
ROWS = {
    name: dict(zip(COLUMNS, cells, strict=True))
    for name, *cells in (line.split() for line in TABLE.strip().splitlines())
}


def applying(column: str) -> list[str]:
    """The variants to which a column applies."""
    return [name for name, row in ROWS.items() if row[column] != "-"]


def without(column: str) -> list[str]:
    """The others."""
    return [name for name, row in ROWS.items() if row[column] == "-"]

"""Tables with a visitor's text in them, as CSV that reads back and that no spreadsheet runs."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from pandas.api.types import is_numeric_dtype

if TYPE_CHECKING:
    import pandas as pd

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet takes for a formula (OWASP, CSV Injection)."""


def csv_of(table: pd.DataFrame) -> str:
    """The table without its index, text in quotes, an apostrophe before what would be a formula,
    in a cell or a column's name.

    Numbers are as they are. Whoever needs the text to the letter takes another kind of file.
    """
    safe = table.copy()
    for name in table.columns[[not is_numeric_dtype(kind) for kind in table.dtypes]]:
        safe[name] = table[name].map(_harmless)
    safe.columns = [_harmless(name) for name in safe.columns]
    return safe.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")


def _harmless(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell

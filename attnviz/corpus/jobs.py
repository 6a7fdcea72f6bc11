"""Measurements over many texts as jobs for the board, and their results as files."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnviz.corpus.texts import Lines
from attnviz.interventions.jobs import require_short
from attnviz.interventions.written import parse_heads
from attnviz.models.choice import ONE_TEXT, ModelChoice
from attnviz.models.progress import part

if TYPE_CHECKING:
    import pandas as pd

    from attnviz.models.progress import Progress


@dataclass(frozen=True)
class MetricsJob:
    """Every head's metrics over these texts."""

    model: ModelChoice
    texts: Lines

    def run(self, progress: Progress) -> pd.DataFrame:
        from attnviz.corpus.measuring import metrics_over

        lines, texts = zip(*self.texts, strict=True)
        model = self.model.load(part(progress, 0.02, 0.3), ONE_TEXT)
        return metrics_over(model, texts, lines=lines, progress=part(progress, 0.3, 1.0))


@dataclass(frozen=True)
class RemovalsJob:
    """What the removal of each head in turn does over these texts."""

    model: ModelChoice
    texts: Lines

    def run(self, progress: Progress) -> pd.DataFrame:
        from attnviz.corpus.measuring import each, removals_over

        lines, texts = zip(*self.texts, strict=True)
        model = self.model.load(part(progress, 0.02, 0.3), ONE_TEXT)
        instead = "leave it out, or name the heads to remove together above"
        each(texts, lambda text, _: require_short(model, text, instead), lines=lines)
        return removals_over(model, texts, lines=lines, progress=part(progress, 0.3, 1.0))


@dataclass(frozen=True)
class TogetherJob:
    """What the removal of chosen heads, all at once, does to the loss on each text."""

    model: ModelChoice
    texts: Lines
    heads: str  # as interventions.written.parse_heads takes them: "17.3, 16.0"

    def run(self, progress: Progress) -> pd.DataFrame:
        from attnviz.corpus.measuring import change_over

        edits = parse_heads(self.heads)
        lines, texts = zip(*self.texts, strict=True)
        model = self.model.load(part(progress, 0.02, 0.3), ONE_TEXT)
        return change_over(model, texts, edits, lines=lines, progress=part(progress, 0.3, 1.0))


def to_parquet(table: pd.DataFrame) -> bytes:
    """The table as a Parquet file."""
    file = io.BytesIO()
    table.to_parquet(file, index=False, engine="pyarrow")
    return file.getvalue()

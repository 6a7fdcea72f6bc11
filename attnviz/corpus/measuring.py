"""Every head's metrics, and the harm of removing it, over many texts: one capture at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import Any

import pandas as pd

from attnviz.corpus.tally import Tally
from attnviz.errors import AttnvizError
from attnviz.interventions.edits import Edit, require_edits
from attnviz.models.loaded import LoadedModel
from attnviz.models.progress import Progress, part, silent

PLACE = ["layer", "head"]


def metrics_over(
    model: LoadedModel,
    texts: Sequence[str],
    *,
    lines: Sequence[int] = (),
    progress: Progress | None = None,
) -> pd.DataFrame:
    """A row for each head and metric: layer, head, metric, mean, sd, se, n.

    The unit is the text: a text's number is the head's own mean over its rows, se is sd / sqrt(n)
    between texts, and n counts the texts that have the number (one without a repeated token has
    no induction score). Metrics are those of Capture.metrics and metrics.patterns.

    lines: the number of each text's line, where it stands in a file.

    Raises AttnvizError naming the text that could not be read, by its line if that is given.
    """
    from attnviz.metrics.patterns import pattern_scores
    from attnviz.models import capture

    def measured(text: str, report: Progress) -> pd.DataFrame:
        run = capture(model, text, check=False, progress=report)
        if not run.captured:
            raise AttnvizError(f"{model.title} has no softmax maps, whose metrics these are.")
        own, scores = run.metrics(), pattern_scores(run)
        return own[[*own.columns.difference(scores.columns), *PLACE]].merge(scores, on=PLACE)

    return _over(texts, measured, PLACE, progress, lines)


def removals_over(
    model: LoadedModel,
    texts: Sequence[str],
    *,
    lines: Sequence[int] = (),
    progress: Progress | None = None,
) -> pd.DataFrame:
    """A row for each head and measure of its removal (zero ablation): as metrics_over, by group.

    Measures are those of interventions.Sweep: loss_change (nats a token; above 0, the head is
    needed) of a model that writes, moved of an encoder.
    """
    from attnviz.interventions.sweeping import sweep

    def measured(text: str, report: Progress) -> pd.DataFrame:
        table = sweep(model, text, progress=report).table()
        kept = [name for name in ("loss_change", "moved") if name in table]
        return pd.DataFrame(table.sort_values(by=["group", *PLACE])[["group", *PLACE, *kept]])

    return _over(texts, measured, ["group", *PLACE], progress, lines)


def change_over(
    model: LoadedModel,
    texts: Sequence[str],
    edits: Sequence[Edit],
    *,
    lines: Sequence[int] = (),
    progress: Progress | None = None,
) -> pd.DataFrame:
    """What the edits, all at once, do to each text, a row each.

    Columns text, before, after and change of the loss (nats a token), NaN of a text of one token,
    which has none; of an encoder text and moved: the mean over its tokens of
    ||after - before|| / ||before|| of its output states.

    Raises AttnvizError for a head that is not there, or naming the text that could not be read.
    """
    from attnviz.interventions.heads import HeadEdit
    from attnviz.interventions.projections import outlet
    from attnviz.interventions.running import intervene

    _require_texts(texts)
    require_edits(edits)
    for edit in edits:  # first: no text is to blame for a head that is not there
        if isinstance(edit, HeadEdit):
            outlet(model, edit.layer, edit.group).features(edit.head)

    def measured(text: str, report: Progress) -> dict[str, Any]:
        run = intervene(model, text, edits, progress=report)
        if not run.predicts:
            return {"text": text, "moved": float(run.moved().mean())}
        before, after = run.loss() if len(run.before.ids) > 1 else (nan, nan)
        return {"text": text, "before": before, "after": after, "change": after - before}

    return pd.DataFrame(each(texts, measured, progress, lines))


def _over(
    texts: Sequence[str],
    measured: Callable[[str, Progress], pd.DataFrame],
    places: list[str],
    progress: Progress | None,
    lines: Sequence[int],
) -> pd.DataFrame:
    """Tables of the same rows, one a text, as means and errors."""
    _require_texts(texts)
    where, names, tally = pd.DataFrame(), [], Tally((0, 0))

    def add(text: str, report: Progress) -> None:
        nonlocal where, names, tally
        table = measured(text, report)
        if where.empty:
            where = table[places].reset_index(drop=True)
            names = [name for name in table.columns if name not in places]
            tally = Tally((len(table), len(names)))
        tally.add(table[names].to_numpy(float))

    each(texts, add, progress, lines)
    parts = [
        where.assign(
            metric=name,
            mean=tally.mean[:, at],
            sd=tally.sd[:, at],
            se=tally.se[:, at],
            n=tally.n[:, at],
        )
        for at, name in enumerate(names)
    ]
    return pd.concat(parts, ignore_index=True)


def _require_texts(texts: Sequence[str]) -> None:
    if isinstance(texts, str) or not texts:
        raise AttnvizError(f"Expected texts, a list of one or more strings; received {texts!r}.")


def each(
    texts: Sequence[str],
    measured: Callable[[str, Progress], Any],
    progress: Progress | None = None,
    lines: Sequence[int] = (),
) -> list[Any]:
    """measured(text, progress) of one after the other; an error says of which text it is."""
    report, found = progress or silent, []
    for number, text in enumerate(texts):
        whole = part(report, number / len(texts), (number + 1) / len(texts))

        def said(fraction: float, words: str, whole: Progress = whole, at: int = number) -> None:
            whole(fraction, f"Text {at + 1} of {len(texts)}: {words}")

        try:
            found.append(measured(text, said))
        except AttnvizError as problem:
            which = f"The text on line {lines[number]}" if lines else f"Text {number + 1}"
            raise AttnvizError(f"{which} could not be measured. {problem}") from problem
    return found

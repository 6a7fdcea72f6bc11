"""The induction circuit of a small model, found and tested on one random text said twice.

Olsson et al. 2022 (In-context Learning and Induction Heads): a head in a later layer looks, from a
token that came before, at what followed it then; it can, since a head below has told each token
which one stood before it. Scores propose the two heads, and removals decide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float32

from attnviz.errors import AttnvizError, ModelError
from attnviz.interventions.edits import Knockout
from attnviz.interventions.heads import changes_of, changing
from attnviz.interventions.running import intervene
from attnviz.metrics.patterns import pattern_scores, repeated_random
from attnviz.models import capture
from attnviz.models.captures import Capture
from attnviz.models.loaded import LoadedModel, require_loaded
from attnviz.models.progress import Progress, part, silent

Head = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Circuit:
    """What the heads of one model do with a random text that is said twice."""

    capture: Capture
    half: int  # tokens until it repeats
    n_words: int  # tokens that the model knows
    heads: pd.DataFrame
    """A row a head: layer, head, induction and previous (mean weights, 0 to 1), rise (of the loss
    on the second half without that head, nats a token)."""
    finder: Head  # of the highest induction score
    teller: Head  # of the highest previous-token score, in a layer below
    induction_without: float  # the finder's score once the teller is removed
    losses: dict[str, Float32[np.ndarray, " predicted"]]
    """-ln p of each token but the first, nats: whole, and without the finder or the teller."""

    @property
    def nbytes(self) -> int:
        return self.capture.nbytes

    @property
    def second(self) -> slice:
        """Of the losses, those of tokens that the first half tells: all after its first again."""
        return slice(self.half, None)

    def score(self, head: Head, name: str) -> float:
        """One head's number out of the table."""
        table = self.heads.set_index(["layer", "head"])
        return float(table.loc[head, name])  # type: ignore[arg-type]


def induction_circuit(
    model: LoadedModel, *, half: int = 20, seed: int = 0, progress: Progress | None = None
) -> Circuit:
    """Write a random text twice, read the scores off its maps, and remove every head in turn.

    half: tokens until the text repeats; no token stands in a half twice. seed: which tokens.

    Raises ModelError for a model whose tokenizer reads the random text as other tokens, or whose
    heads cannot be told from each other.
    """
    require_loaded(model)
    report = progress or silent
    if half < 2:
        raise AttnvizError(f"A text that is said twice needs two tokens at least, not {half}.")
    ids = tuple(repeated_random(model, half, seed).tolist())
    text = model.tokenizer.decode(ids)
    report(0.1, "Reading the text")
    found = capture(model, text)
    if found.token_ids != ids:
        raise ModelError(
            f"{model.title} reads random text as other tokens than were written; choose a model "
            "whose characters are tokens, such as induction-2l."
        )
    heads = pattern_scores(found).drop(columns="duplicate")
    heads["previous"] = found.metrics()["previous"].to_numpy()
    finder = _best(heads, "induction")
    below = heads.query("layer < @finder[0]")
    if below.empty:
        raise ModelError(
            f"The head of {model.title} with the highest induction score is in its first layer, so "
            "it builds on no other."
        )
    teller = _best(below, "previous")
    inner = part(report, 0.3, 0.9)
    losses: dict[str, np.ndarray] = {}
    rises = []
    for place, (layer, head) in enumerate(zip(heads["layer"], heads["head"], strict=True)):
        inner(place / len(heads), f"Removing layer {layer}, head {head}")
        run = intervene(model, text, [Knockout(int(layer), int(head))])
        whole, without = run.before.losses.numpy(), run.after.losses.numpy()
        rises.append(float(without[half:].mean() - whole[half:].mean()))
        losses["whole"] = whole
        for name, chosen in (("finder", finder), ("teller", teller)):
            if chosen == (layer, head):
                losses[name] = without
    heads["rise"] = rises
    with model.lock, changing(changes_of(model, [Knockout(*teller)], {})):
        untold = pattern_scores(capture(model, text)).set_index(["layer", "head"])
    report(1.0, "Done")
    return Circuit(
        capture=found,
        half=half,
        n_words=int(model.shape.vocab_size),
        heads=heads,
        finder=finder,
        teller=teller,
        induction_without=float(untold.loc[finder, "induction"]),  # type: ignore[arg-type]
        losses=losses,
    )


def _best(heads: pd.DataFrame, score: str) -> Head:
    row = heads.loc[heads[score].idxmax()]
    return int(row["layer"]), int(row["head"])

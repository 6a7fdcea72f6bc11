"""Run a text as it is, and again with something changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.interventions.edges import hiding
from attnviz.interventions.edits import Edit, Patch, require_edits
from attnviz.interventions.heads import changes_of, changing, reading
from attnviz.interventions.projections import outlets
from attnviz.interventions.reading import Reading, prepared_of, read, relative_move
from attnviz.models.interface import reachable, running
from attnviz.models.loaded import LoadedModel, require_loaded
from attnviz.models.prepared import Prepared
from attnviz.models.progress import Progress, silent
from attnviz.models.tokens import screen_tokens

MOST_EDITS = 10_000


@dataclass(frozen=True, eq=False)
class Intervention:
    """One text, read twice: as it is and with the edits."""

    title: str  # the model's
    tokenizer: Any = field(repr=False)
    edits: tuple[Edit, ...]
    before: Reading
    after: Reading

    @property
    def nbytes(self) -> int:
        return self.before.rows.nbytes + self.after.rows.nbytes

    @property
    def predicts(self) -> bool:
        """Whether the model predicts next tokens; an encoder's hidden states only move."""
        return self.before.predicts

    def loss(self) -> tuple[float, float]:
        """Mean -ln p of the text's own next tokens, before and after, in nats a token."""
        self._require_predictions()
        if len(self.before.ids) < 2:
            raise AttnvizError("A loss needs a text of two tokens at least.")
        return float(self.before.losses.mean()), float(self.after.losses.mean())

    def divergence(self, position: int = -1) -> float:
        """KL(before || after) of the next-token distributions at a position, in nats."""
        self._require_predictions()
        p, q = (it.row(position).double().log_softmax(-1) for it in (self.before, self.after))
        return float((p.exp() * (p - q)).sum())

    def moved(self) -> Float[Tensor, " tokens"]:
        """How far each token's row moved: ||after - before|| / ||before||."""
        return relative_move(self.before.rows, self.after.rows)

    def next_tokens(self, k: int = 10, position: int = -1) -> pd.DataFrame:
        """The k words whose probability moved most: before, after, change, and their ranks.

        Columns token (as shown), token_id, before, after, change, rank_before, rank_after; ranks
        count from 1.
        """
        self._require_predictions()
        p, q = (it.probabilities(position).double() for it in (self.before, self.after))
        change = q - p
        # Of those that moved alike, as all do without an edit, the likelier first.
        likely = torch.maximum(p, q).argsort(descending=True, stable=True)
        ids = likely[change[likely].abs().argsort(descending=True, stable=True)][: max(0, k)]
        labels = [screen_tokens(self.tokenizer, [int(token)])[0][0] for token in ids]
        return pd.DataFrame(
            {
                "token": labels,
                "token_id": ids.numpy(),
                "before": p[ids].numpy(),
                "after": q[ids].numpy(),
                "change": change[ids].numpy(),
                "rank_before": [int((p > p[token]).sum()) + 1 for token in ids],
                "rank_after": [int((q > q[token]).sum()) + 1 for token in ids],
            }
        )

    def _require_predictions(self) -> None:
        if not self.predicts:
            raise AttnvizError(
                f"{self.title} predicts no next token; read how far its hidden states moved."
            )


def intervene(
    model: LoadedModel,
    text: str,
    edits: Sequence[Edit],
    *,
    target: str | None = None,
    progress: Progress | None = None,
) -> Intervention:
    """Read a text as it is and with the edits, which all hold at once.

    target: what an encoder-decoder is to write; its own, likeliest words unless given. Without
    any edit the two readings are equal to the bit.

    Raises AttnvizError for a layer, head, token or pair that is not there, and for a pair that
    the model does not read anyway; ModelError for a model whose heads or masks cannot be reached.
    """
    require_loaded(model)
    report, model = progress or silent, model.reader()
    require_edits(edits)
    if len(edits) > MOST_EDITS:
        raise AttnvizError(f"At most {MOST_EDITS:,} edits hold at once, not {len(edits):,}.")
    with model.lock:
        prepared = prepared_of(model, text, target)
        with running(model.model, implementation(model)):
            report(0.1, "Reading the text as it is")
            before = read(model, prepared)
            report(0.4, "Reading the texts that heads are patched from")
            others = _others(model, edits, prepared, target)
        report(0.6, "Reading the text with the changes")
        changes = changes_of(model, edits, others)
        with running(model.model, implementation(model)), hiding(model, edits), changing(changes):
            after = read(model, prepared)
    report(1.0, "Done")
    return Intervention(model.title, model.tokenizer, tuple(edits), before, after)


def _others(
    model: LoadedModel, edits: Sequence[Edit], prepared: Prepared, target: str | None
) -> dict[str, dict[str, Tensor]]:
    """The heads of every text that something is patched from, written into the same target."""
    found: dict[str, dict[str, Tensor]] = {}
    for text in dict.fromkeys(edit.text for edit in edits if isinstance(edit, Patch)):
        other = prepared_of(model, text, target)
        same = {k: v for k, v in prepared.inputs.items() if k.startswith("decoder_")}
        with reading(outlets(model)) as kept, torch.no_grad():
            read(model, replace(other, inputs=other.inputs | same))
        found[text] = kept
    return found


def implementation(model: LoadedModel) -> str | None:
    """SDPA where the model has it, so that both readings take the same path."""
    return "sdpa" if reachable(model.model) and model.model._supports_sdpa else None

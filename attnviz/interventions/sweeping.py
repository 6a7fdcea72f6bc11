"""Remove every head in turn, and see on which of them a prediction depends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float32
from torch import Tensor

from attnviz.errors import AttnvizError
from attnviz.interventions.depth import depth_of, repeatable
from attnviz.interventions.heads import changing, examples_first, knocked_out, one_each
from attnviz.interventions.projections import Outlet, text_outlets
from attnviz.interventions.reading import (
    Reading,
    accepted,
    prepared_of,
    read,
    relative_move,
)
from attnviz.interventions.running import implementation
from attnviz.models.interface import running
from attnviz.models.loaded import LoadedModel, require_loaded
from attnviz.models.progress import Progress, part, silent
from attnviz.models.tokens import screen_tokens

MOST_LOGITS = 64 << 20
"""Numbers of one batch's logits: 256 MiB in float32."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """What the removal of each head does to one text, by zero ablation.

    A model that writes is followed by one next token and its loss on the text; an encoder by how
    far its output states move.
    """

    model_name: str
    tokens: tuple[str, ...]
    token_id: int | None  # the next token whose probability was followed; None: an encoder
    token: str  # the same, as shown
    probability: float  # of that token without any change; NaN for an encoder
    loss: float  # mean nats a token of the text without any change; NaN for one token
    layers: tuple[tuple[str, int], ...]  # (group, layer) of each row of the arrays
    probabilities: Float32[np.ndarray, "layers heads"]  # with that head removed; NaN: no head
    losses: Float32[np.ndarray, "layers heads"]
    moved: Float32[np.ndarray, "layers heads"]
    """Of an encoder: mean over tokens of ||after - before|| / ||before|| of its output states."""

    @property
    def predicts(self) -> bool:
        return self.token_id is not None

    def table(self) -> pd.DataFrame:
        """A row a head, the one that matters most first.

        Columns group, layer, head and, of a model that writes, probability, log_ratio (ln of that
        over the unchanged one; the more below 0, the more the head is needed), loss, loss_change
        (nats a token); of an encoder, moved.
        """
        followed = self.probabilities if self.predicts else self.moved
        rows = [
            {"group": group, "layer": layer, "head": head} | self._numbers(place, head)
            for place, (group, layer) in enumerate(self.layers)
            for head, number in enumerate(followed[place])
            if not np.isnan(number)
        ]
        by = "log_ratio" if self.predicts else "moved"
        table = pd.DataFrame(rows).sort_values(by, ascending=self.predicts, kind="stable")
        return table.reset_index(drop=True)

    def _numbers(self, place: int, head: int) -> dict[str, float]:
        if not self.predicts:
            return {"moved": float(self.moved[place, head])}
        probability = float(self.probabilities[place, head])
        loss = float(self.losses[place, head])
        return {
            "probability": probability,
            "log_ratio": float(np.log(probability) - np.log(self.probability)),
            "loss": loss,
            "loss_change": loss - self.loss,
        }


def sweep(
    model: LoadedModel,
    text: str,
    *,
    token_id: int | None = None,
    target: str | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Knock out every head, one at a time, and follow one next token after the text.

    token_id: the token followed, the likeliest one unless given. target: what an encoder-decoder
    has written so far; without it, all that it writes. A layer's heads are removed in one batch,
    an example a head, and the layers below it are not computed again, where the model's code puts
    examples first.

    Raises AttnvizError for a token that is not there or a model that predicts none.
    """
    require_loaded(model)
    report, model = progress or silent, model.reader()
    places = text_outlets(model)
    with model.lock, running(model.model, implementation(model)):
        prepared = prepared_of(model, text, target)
        depth = depth_of(model, places)
        report(0.0, "Reading the text as it is")
        keeping = depth.keeping() if depth else nullcontext([])
        with keeping as kept, examples_first(places) as first:
            before = read(model, prepared)
        if not all(map(repeatable, kept)):
            depth = None
        followed = _followed(model, before, token_id)
        most = max(place.n_heads for place in places)
        probabilities = np.full((len(places), most), np.nan, dtype=np.float32)
        losses, moved = probabilities.copy(), probabilities.copy()
        inner = part(report, 0.05, 1.0)
        for row, place in enumerate(places):
            for heads in _batches(place, before, together=all(first)):
                inner(row / len(places), f"Removing the heads of layer {place.layer}")
                where = [place.features(head) for head in heads]
                change = one_each(where) if len(heads) > 1 else knocked_out(where[0])
                below = depth.from_layer(place.layer, kept, len(heads)) if depth else nullcontext()
                with below, changing([(place.module, change)]):
                    found = _rows(model, prepared.inputs, len(heads))
                for head, rows in zip(heads, found, strict=True):
                    if followed is None:
                        moved[row, head] = relative_move(before.rows, rows).mean()
                        continue
                    after = Reading(before.axis, before.ids, True, rows)
                    probabilities[row, head] = after.probabilities()[followed]
                    losses[row, head] = _loss(after)
    report(1.0, "Done")
    return Sweep(
        model_name=model.name,
        tokens=before.axis.labels,
        token_id=followed,
        token="" if followed is None else screen_tokens(model.tokenizer, [followed])[0][0],
        probability=float("nan") if followed is None else float(before.probabilities()[followed]),
        loss=_loss(before),
        layers=tuple((place.group, place.layer) for place in places),
        probabilities=probabilities,
        losses=losses,
        moved=moved,
    )


def _loss(reading: Reading) -> float:
    """Mean nats a token; NaN where nothing is predicted."""
    one = not reading.predicts or len(reading.ids) < 2
    return float("nan") if one else float(reading.losses.mean())


def _followed(model: LoadedModel, before: Reading, token_id: int | None) -> int | None:
    """The token to follow; None of an encoder, whose output states are followed."""
    if not before.predicts:
        if token_id is None:
            return None
        raise AttnvizError(
            f"{model.title} predicts no next token, so none can be followed; leave it out, or "
            "choose a model that writes."
        )
    return before.followed(token_id)


def _batches(place: Outlet, before: Reading, *, together: bool) -> Iterator[Sequence[int]]:
    """The heads of a layer, as many at once as their logits leave room for; or one at a time."""
    size = max(1, min(place.n_heads, MOST_LOGITS // before.rows.numel())) if together else 1
    for first in range(0, place.n_heads, size):
        yield range(first, min(first + size, place.n_heads))


def _rows(model: LoadedModel, inputs: dict[str, Tensor], batch: int) -> Tensor:
    """(batch, tokens, words or features) of the same text, batch times, float32 on the CPU."""
    many = {
        name: tensor.expand(batch, *tensor.shape[1:]).contiguous()
        if tensor.ndim and tensor.shape[0] == 1
        else tensor
        for name, tensor in inputs.items()
    }
    with torch.no_grad():
        outputs = model.run(accepted(model, many))
    logits = getattr(outputs, "logits", None)
    return (outputs.last_hidden_state if logits is None else logits).float().cpu()

"""Sweeps and single changes as jobs for the board: they name their model and never hold one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from attnviz.errors import AttnvizError
from attnviz.interventions.edits import Edit
from attnviz.models.choice import READERS, ModelChoice
from attnviz.models.progress import part

if TYPE_CHECKING:
    from attnviz.interventions.attribution import HeadLogits
    from attnviz.interventions.circuit import Circuit
    from attnviz.interventions.running import Intervention
    from attnviz.interventions.sweeping import Sweep
    from attnviz.models.progress import Progress

SWEEP_TOKENS = 256
"""The longest text that is swept on a page: each head costs a pass over it."""


@dataclass(frozen=True)
class SweepJob:
    """Remove every head of a model in turn, and follow one next token."""

    model: ModelChoice
    text: str
    word: str = ""  # what is followed; empty: the likeliest next token
    target: str = ""  # what an encoder-decoder has written so far; empty: all that it writes

    def run(self, progress: Progress) -> Sweep:
        from attnviz.interventions.sweeping import sweep

        model = self.model.load(part(progress, 0.02, 0.3), READERS)
        require_short(model, self.text)
        before = self.target if model.kind == "encoder_decoder" else self.text
        return sweep(
            model,
            self.text,
            token_id=_first_token(model, before, self.word) if self.word else None,
            target=self.target or None,
            progress=part(progress, 0.3, 1.0),
        )


@dataclass(frozen=True)
class ChangeJob:
    """One text as it is and with edits."""

    model: ModelChoice
    text: str
    edits: tuple[Edit, ...]
    target: str = ""

    def run(self, progress: Progress) -> Intervention:
        from attnviz.interventions.running import intervene

        model = self.model.load(part(progress, 0.02, 0.3), READERS)
        return intervene(
            model,
            self.text,
            self.edits,
            target=self.target or None,
            progress=part(progress, 0.5, 1.0),
        )


@dataclass(frozen=True)
class LogitJob:
    """What each head writes straight into the logit of one next token."""

    model: ModelChoice
    text: str
    word: str = ""

    def run(self, progress: Progress) -> HeadLogits:
        from attnviz.interventions.attribution import head_logits

        model = self.model.load(part(progress, 0.02, 0.3), READERS)
        return head_logits(
            model, self.text, _first_token(model, self.text, self.word) if self.word else None
        )


@dataclass(frozen=True)
class ProbeJob:
    """A repeated random sequence, and what each head does with the repetition."""

    model: ModelChoice
    length: int = 32
    seed: int = 0

    def run(self, progress: Progress) -> Any:
        """A DataFrame: layer, head, duplicate, induction (metrics.patterns)."""
        from attnviz.metrics.patterns import pattern_scores, repeated_random
        from attnviz.models import capture

        model = self.model.load(part(progress, 0.02, 0.3), READERS)
        ids = repeated_random(model, self.length, self.seed)
        inputs = {"input_ids": ids[None].to(model.device)}
        return pattern_scores(capture(model, inputs=inputs, progress=part(progress, 0.5, 1.0)))


@dataclass(frozen=True)
class CircuitJob:
    """The induction circuit of a model whose tokens are characters."""

    model: ModelChoice = field(default_factory=lambda: ModelChoice("induction-2l"))
    half: int = 20
    seed: int = 0

    def run(self, progress: Progress) -> Circuit:
        from attnviz.interventions.circuit import induction_circuit

        model = self.model.load(part(progress, 0.02, 0.3), READERS)
        inner = part(progress, 0.3, 1.0)
        return induction_circuit(model, half=self.half, seed=self.seed, progress=inner)


def require_short(model: Any, text: str, instead: str = "remove chosen heads below") -> None:
    """AttnvizError for a text too long to be swept here; instead: what else a visitor can do."""
    from attnviz.models.texts import tokenise

    length = len(tokenise(model, text).axis)
    if length > SWEEP_TOKENS:
        raise AttnvizError(
            f"A sweep reads the text once a head, so it takes at most {SWEEP_TOKENS} tokens here; "
            f"this text has {length:,}. Shorten it, or {instead}."
        )


def _first_token(model: Any, text: str, word: str) -> int:
    """The token with which a text goes on when this word follows it."""
    if not text:
        raise AttnvizError("A word follows what is written so far; type that too.")
    whole, start = (
        model.tokenizer(it, add_special_tokens=False)["input_ids"] for it in (text + word, text)
    )
    if whole[: len(start)] == start and len(whole) > len(start):
        return whole[len(start)]
    raise AttnvizError(
        f"{word!r} joins the last word of the text into other tokens; begin it with a space, or "
        "end the text where a token ends."
    )

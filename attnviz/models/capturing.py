"""The one run behind a capture: checks before it, the forward pass, checks after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from attnviz.errors import AttnvizError, ModelError
from attnviz.models import memory
from attnviz.models.assembling import assembled
from attnviz.models.captures import Capture
from attnviz.models.chat import conversation
from attnviz.models.check import COMPARE_UP_TO, CheckResult, conclude
from attnviz.models.continuing import Written, agrees, continued, require_writer
from attnviz.models.interface import running
from attnviz.models.loaded import LoadedModel, require_loaded
from attnviz.models.own_code.hashed import steady
from attnviz.models.passes import Pass, forward
from attnviz.models.prepared import Prepared, one_text, pair, raw
from attnviz.models.progress import Progress, part, silent
from attnviz.models.reaching import Reached, reach
from attnviz.models.slices import whole_number
from attnviz.models.vision import picture


def capture(
    model: LoadedModel,
    text: str | Sequence[str] | None = None,
    *,
    messages: Sequence[Mapping[str, str]] | None = None,
    image: Any = None,
    source: str | None = None,
    target: str | None = None,
    inputs: Mapping[str, Any] | None = None,
    example: int = 0,
    generate: int = 0,
    max_new_tokens: int = 32,
    progress: Progress | None = None,
    check: bool | None = None,
    overview_size: int = 32,
    max_tokens: int | None = None,
) -> Capture:
    """Run a model on a text and keep its attention, in memory that grows with the text's length.

    text: what a model with one stack reads; of several texts, the one with the number example.
    messages: a conversation instead, through the model's template, [{"role": ..., "content":
    ...}]. image: what a model for pictures sees, a PIL image or an array (height, width, 3).
    source: what an encoder-decoder reads, and target: what it is to write, by the model itself
    unless given (greedily, at most max_new_tokens). inputs: tensors as the model takes them, of
    which the example with that number is run, its padding trimmed.

    generate: of a text or messages, let a decoder write at most so many tokens, greedily, until
    it ends its answer. The maps are then of the prompt and the new tokens stitched into one, each
    row as it was when the model wrote the next token; the last token written was never read and
    has no row. Capture.written has the new tokens.

    check: compare the run's logits (hidden states of an encoder) with a plain run; None does so
    up to 1,024 tokens. Sampled rows of every layer are checked in any case. max_tokens: the
    longest text taken, ATTNVIZ_MAX_TOKENS unless given.

    Raises AttnvizError or TooLargeError, before any model work, for a text that is empty, too
    long for the model or the deployment, or too large for memory; ModelError for a model whose
    attention cannot be reached or whose run fails its own check, or which does not read in one
    pass what it read token by token (generate): such maps are never returned.
    """
    _require(model, example, overview_size, max_new_tokens)
    report = progress or silent
    given = {
        "text": text,
        "messages": messages,
        "image": image,
        "source": source,
        "inputs": inputs,
    }
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise AttnvizError(
            f"A capture reads one thing: {', '.join(given)}; received "
            f"{' and '.join(named) or 'none of them'}."
        )
    if target is not None and named[0] not in ("text", "source"):
        raise AttnvizError(f"A target is of a text, as source=; received {named[0]} beside it.")
    require_writer(model, named[0], generate)
    if model.kind == "encoder_decoder" and isinstance(text, str):
        source, text = text, None
    if inputs is not None:
        prepared = raw(model, inputs, example, max_tokens)
    elif image is not None:
        model = model.eyes()
        prepared = picture(model, image)
    elif messages is not None:
        prepared = conversation(model, messages, max_tokens)
    elif text is not None:
        if target is not None:
            raise AttnvizError(
                f"{model.title} writes no target of its own; give text= alone, or choose an "
                "encoder-decoder."
            )
        if model.kind == "vision":
            raise AttnvizError(f"{model.title} sees pictures and reads no text; give image=.")
        model = model.reader()
        prepared = one_text(model, text, example, max_tokens)
    elif model.kind != "encoder_decoder":
        raise AttnvizError(
            f"{model.title} reads one text and writes into the same; give text= instead of "
            "source= and target=."
        )
    else:
        assert source is not None
        with _turn(model, report):
            prepared = pair(model, source, target, max_tokens, max_new_tokens)
    if not generate:
        return _captured(model, prepared, report, check, overview_size)
    with _turn(model, report):
        prepared, written = continued(model, prepared, generate, max_tokens, part(report, 0, 0.5))
    return _captured(model, prepared, part(report, 0.5, 1.0), check, overview_size, written)


def _require(model: object, example: object, overview_size: object, new: object) -> None:
    """AttnvizError, a sentence, for a model or a number that is none."""
    require_loaded(model)
    whole_number("example", example)
    whole_number("overview_size", overview_size, 1)
    whole_number("max_new_tokens", new, 1)


def _captured(
    model: LoadedModel,
    prepared: Prepared,
    report: Progress,
    check: bool | None,
    size: int,
    written: Written | None = None,
) -> Capture:
    length = prepared.length
    memory.require(
        memory.estimate(model, length),
        f"Capturing {length:,} tokens of {model.title}",
        "shorten the text or choose a smaller model",
        model.device,
    )
    compare = length <= COMPARE_UP_TO if check is None else check
    doing = part(report, 0.0, 0.6 if compare else 0.95)
    reference = None
    with _turn(model, report), steady(model.model):
        reached = reach(model, prepared, size, doing)
        if compare:
            report(0.65, f"Comparing with a plain {reached.plain or 'run'}")
            with running(model.model, reached.plain), reached.mixers.cpu_kernels():
                reference = forward(model, prepared)
    verdict = _verdict(model, reached, reference)
    if not verdict.passed:
        raise ModelError(
            f"The maps of {model.title} did not pass their own check, so they are not shown; "
            f"choose another model. {verdict.sentence}"
        )
    last = reached.run.last
    made = assembled(model, prepared, reached.stacks, reached.mixers, verdict, last)
    if written is not None and last is not None:
        notes = (*made.notes, agrees(model, written, last))
        made = replace(made, notes=notes, written=written.axis)
    report(1.0, "Done")
    return made


@contextmanager
def _turn(model: LoadedModel, report: Progress) -> Iterator[None]:
    """The model's lock, the waiting visitor being told (and able to leave) meanwhile."""
    while not model.lock.acquire(timeout=0.2):
        report(0.0, "Waiting: the model is busy with another text")
    try:
        yield
    finally:
        model.lock.release()


def _verdict(model: LoadedModel, reached: Reached, reference: Pass | None) -> CheckResult:
    compared, error = reached.run.compared, None
    if reference is not None:
        error = float((compared - reference.compared).abs().max())
    checks = [check for stack in reached.stacks.values() for check in stack.checks]
    return conclude(
        [*checks, *(call.check for call in reached.mixers.calls)],
        model.dtype,
        logits_error=error,
        largest=float(compared.abs().max()),
        compared=reached.run.what,
        plain=reached.plain or "own-code",
    )

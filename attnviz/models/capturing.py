"""The one run behind a capture: checks before it, the forward pass, checks after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from attnviz.errors import AttnvizError, ModelError
from attnviz.models import memory
from attnviz.models.assembling import Stack, assembled, kept_stacks, recorded_stacks
from attnviz.models.captures import Capture
from attnviz.models.chat import conversation
from attnviz.models.check import COMPARE_UP_TO, CheckResult, conclude
from attnviz.models.interface import listening, reachable, running
from attnviz.models.loaded import LoadedModel
from attnviz.models.numbering import complete
from attnviz.models.own_code import FAMILIES, found_maps
from attnviz.models.own_code.watching import watching
from attnviz.models.passes import Pass, forward
from attnviz.models.prepared import Prepared, one_text, pair, raw
from attnviz.models.progress import Progress, part, silent
from attnviz.models.recorder import Recorder, Unreachable
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

    check: compare the run's logits (hidden states of an encoder) with a plain run; None does so
    up to 1,024 tokens. Sampled rows of every layer are checked in any case. max_tokens: the
    longest text taken, ATTNVIZ_MAX_TOKENS unless given.

    Raises AttnvizError or TooLargeError, before any model work, for a text that is empty, too
    long for the model or the deployment, or too large for memory; ModelError for a model whose
    attention cannot be reached or whose run fails its own check: such maps are never returned.
    """
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
    return _captured(model, prepared, report, check, overview_size)


def _captured(
    model: LoadedModel, prepared: Prepared, report: Progress, check: bool | None, size: int
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
    with _turn(model, report):
        stacks, run, plain = _maps(model, prepared, size, doing)
        if compare:
            report(0.65, f"Comparing with a plain {plain or 'run'}")
            with running(model.model, plain):
                reference = forward(model, prepared)
    verdict = _verdict(model, stacks, run, reference, plain)
    if not verdict.passed:
        raise ModelError(
            f"The maps of {model.title} did not pass their own check, so they are not shown; "
            f"choose another model. {verdict.sentence}"
        )
    report(1.0, "Done")
    return assembled(model, prepared, stacks, verdict, run.last)


@contextmanager
def _turn(model: LoadedModel, report: Progress) -> Iterator[None]:
    """The model's lock, the waiting visitor being told (and able to leave) meanwhile."""
    while not model.lock.acquire(timeout=0.2):
        report(0.0, "Waiting: the model is busy with another text")
    try:
        yield
    finally:
        model.lock.release()


def _maps(
    model: LoadedModel, prepared: Prepared, size: int, progress: Progress
) -> tuple[dict[str, Stack], Pass, str | None]:
    """(the maps by group, the pass that made them, what to compare that pass with).

    Through the attention interface where all layers use it; else from the softmax and the fused
    calls that the model's own code makes; else as that code returns them.
    """
    runs, expected = model.model, model.n_layers

    own = runs.config.model_type in FAMILIES

    def recorder() -> Recorder:
        return Recorder(
            runs, overview_size=size, expected=expected, progress=progress, raw_only=own
        )

    if reachable(runs) and not own:
        heard = recorder()
        try:
            with listening(runs, heard):
                run = forward(model, prepared)
            if complete(model, heard.calls):
                stacks = recorded_stacks(model, heard.calls)
                return stacks, run, _plain_implementation(model, stacks)
        except Unreachable:
            pass  # windows of a picture, for one: below they are put together
    memory.require(
        expected * max(1, model.n_heads) * prepared.length**2 * 4,
        f"Keeping every map of {model.title} over {prepared.length:,} tokens",
        "shorten the text: this model's own code gives whole maps only",
    )
    eager, plain = ("eager", "sdpa") if reachable(runs) else (None, None)
    plain = plain if runs._supports_sdpa else None
    heard = recorder()
    with running(runs, eager), watching(runs, heard):
        run = forward(model, prepared, attentions=own)
    if heard.calls and not own:
        # What else made a softmax is no map of its own: a convolution's kernel, an n-gram stream.
        return recorded_stacks(model, heard.calls), run, plain
    if not own:
        with running(runs, eager):
            run = forward(model, prepared, attentions=True)
    return kept_stacks(model, found_maps(model, prepared, run.outputs, heard), size), run, plain


def _plain_implementation(model: LoadedModel, stacks: Mapping[str, Stack]) -> str:
    """What to compare with: SDPA, or eager code where it cannot do what the layers do."""
    records = [each.record for stack in stacks.values() for each in stack.streamed.values()]
    beyond = any(record.softcap is not None or record.sinks is not None for record in records)
    return "eager" if beyond or not model.model._supports_sdpa else "sdpa"


def _verdict(
    model: LoadedModel,
    stacks: Mapping[str, Stack],
    run: Pass,
    reference: Pass | None,
    plain: str | None,
) -> CheckResult:
    error = None
    if reference is not None:
        error = float((run.compared - reference.compared).abs().max())
    return conclude(
        [check for stack in stacks.values() for check in stack.checks],
        model.dtype,
        logits_error=error,
        largest=float(run.compared.abs().max()),
        compared=run.what,
        plain=plain or "own-code",
    )

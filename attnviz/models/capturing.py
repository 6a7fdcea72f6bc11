"""The one run behind a capture: checks before it, the forward pass, checks after it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from attnviz.errors import ModelError
from attnviz.models import memory
from attnviz.models.captures import Capture
from attnviz.models.check import COMPARE_UP_TO, CheckResult, LayerCheck, conclude
from attnviz.models.interface import listening, running
from attnviz.models.loaded import LoadedModel
from attnviz.models.mixers.recorder import MixerRecorder
from attnviz.models.numbering import absent, numbered
from attnviz.models.pooling import stacked
from attnviz.models.progress import Progress, part, silent
from attnviz.models.recorder import Call, Recorder
from attnviz.models.texts import Tokens, tokenise


def capture(
    model: LoadedModel,
    text: str,
    *,
    progress: Progress | None = None,
    check: bool | None = None,
    overview_size: int = 32,
    max_tokens: int | None = None,
) -> Capture:
    """Run a model on a text and keep its attention, in memory that grows with the text's length.

    check: compare the run's logits (hidden states of an encoder) with a plain run; None does so
    up to 1,024 tokens. Sampled rows of every layer are checked in any case. max_tokens: the
    longest text taken, ATTNVIZ_MAX_TOKENS unless given.

    Raises AttnvizError or TooLargeError, before any model work, for a text that is empty, too
    long for the model or the deployment, or too large for memory; ModelError for a model whose
    attention cannot be reached or whose run fails its own check: such maps are never returned.
    """
    tokens = tokenise(model, text, max_tokens)
    length = len(tokens.ids)
    memory.require(
        memory.estimate(model, length),
        f"Capturing {length:,} tokens of {model.title}",
        "shorten the text or choose a smaller model",
        model.device,
    )
    report = progress or silent
    compare = length <= COMPARE_UP_TO if check is None else check
    recorder = Recorder(
        model.model,
        overview_size=overview_size,
        expected=model.n_layers,
        progress=part(report, 0.0, 0.6 if compare else 0.95),
    )
    mixers = MixerRecorder(model.model)
    reference = None
    with _turn(model, report):
        with listening(model.model, recorder, required=not mixers), mixers.listening():
            outputs, last = _forward(model, tokens)
        plain = _plain_implementation(model, recorder.calls)
        if compare and (recorder.calls or mixers.calls):
            report(0.65, f"Comparing with a plain {plain} run")
            with running(model.model, plain), mixers.cpu_kernels():
                reference, _ = _forward(model, tokens)
    if not recorder.calls and not mixers.calls:
        raise ModelError(
            f"No attention layer of {model.title} could be reached: its code does not use "
            "transformers' attention interface; choose another model."
        )
    checks = [call.check for call in (*recorder.calls, *mixers.calls)]
    verdict = _verdict(model, checks, outputs, reference, plain)
    if not verdict.passed:
        raise ModelError(
            f"The maps of {model.title} did not pass their own check, so they are not shown; "
            f"choose another model. {verdict.sentence}"
        )
    report(1.0, "Done")
    return _assembled(model, text, tokens, recorder.calls, mixers, verdict, last)


@contextmanager
def _turn(model: LoadedModel, report: Progress) -> Iterator[None]:
    """The model's lock, the waiting visitor being told (and able to leave) meanwhile."""
    while not model.lock.acquire(timeout=0.2):
        report(0.0, "Waiting: the model is busy with another text")
    try:
        yield
    finally:
        model.lock.release()


def _forward(model: LoadedModel, tokens: Tokens) -> tuple[Tensor, Tensor | None]:
    """(what a check compares, the last position's logits or None), both float32 on the CPU.

    Compared are the logits of at most 64 positions, evenly spaced: all positions' logits of
    8,192 tokens would take 1.6 GiB. Of a model without logits, all hidden states.
    """
    length = len(tokens.ids)
    accepted = inspect.signature(model.model.forward).parameters
    anything = any(p.kind is p.VAR_KEYWORD for p in accepted.values())
    inputs: dict[str, Any] = {k: v for k, v in tokens.inputs.items() if k in accepted}
    step = -(-length // memory.LOGIT_ROWS)
    wanted = torch.arange((length - 1) % step, length, step, device=model.device)
    extra: dict[str, Any] = {"use_cache": False, "output_attentions": False, "return_dict": True}
    inputs |= {k: v for k, v in extra.items() if anything or k in accepted}
    kept = "logits_to_keep" in accepted
    if kept:
        inputs["logits_to_keep"] = wanted
    outputs = model.model(**inputs)
    logits = getattr(outputs, "logits", None)
    if logits is None:
        return outputs[0][0].float().cpu(), None
    logits = logits[0] if kept else logits[0, wanted]
    logits = logits.float().cpu()
    return logits, logits[-1] if model.kind == "decoder" else None


def _plain_implementation(model: LoadedModel, calls: Sequence[Call]) -> str:
    """What to compare with: SDPA, or eager code where it cannot do what the layers do."""
    records = [call.streamed.record for call in calls]
    beyond = any(record.softcap is not None or record.sinks is not None for record in records)
    return "eager" if beyond or not model.model._supports_sdpa else "sdpa"


def _verdict(
    model: LoadedModel,
    checks: Sequence[LayerCheck],
    outputs: Tensor,
    reference: Tensor | None,
    plain: str,
) -> CheckResult:
    error = None if reference is None else float((outputs - reference).abs().max())
    return conclude(
        checks,
        model.dtype,
        logits_error=error,
        largest=float(outputs.abs().max()),
        compared="logits" if model.kind == "decoder" else "hidden states",
        plain=plain,
    )


def _assembled(
    model: LoadedModel,
    text: str,
    tokens: Tokens,
    calls: Sequence[Call],
    mixers: MixerRecorder,
    verdict: CheckResult,
    last: Tensor | None,
) -> Capture:
    by_layer = numbered(model, calls)
    records = {number: call.streamed.record for number, call in by_layer.items()}
    effective = mixers.records()
    layers = [record.layer for record in (*records.values(), *effective.values())]
    layers += absent(model, records, effective, mixers.refused)
    streamed = [call.streamed for call in by_layer.values()]
    return Capture(
        model_name=model.name,
        text=text,
        tokens=tokens.labels,
        token_details=tokens.details,
        token_ids=tokens.ids,
        special=tokens.special,
        layers=tuple(sorted(layers, key=lambda layer: layer.index)),
        check=verdict,
        notes=model.notes,
        device=str(model.device),
        dtype=str(model.dtype).removeprefix("torch."),
        records=records,
        pooled=stacked([each.overview.float().numpy() for each in streamed], 4),
        numbers=stacked([each.metrics.float().numpy() for each in streamed], 3),
        probabilities=None if last is None else last.softmax(-1).numpy(),
        tokenizer=model.tokenizer,
        mixers=effective,
    )

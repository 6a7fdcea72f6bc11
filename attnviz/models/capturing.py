"""The one run behind a capture: checks before it, the forward pass, checks after it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnviz.errors import AttnvizError, ModelError, TooLargeError
from attnviz.models import memory
from attnviz.models.captures import Capture, stacked
from attnviz.models.check import COMPARE_UP_TO, CheckResult, conclude
from attnviz.models.interface import listening, plain_implementation, running
from attnviz.models.loaded import LoadedModel
from attnviz.models.numbering import absent, numbered
from attnviz.models.pieces import special_ids
from attnviz.models.progress import Progress, part, silent
from attnviz.models.recorder import Call, Recorder
from attnviz.models.tokens import screen_tokens
from attnviz.settings import settings


@dataclass(frozen=True)
class Tokens:
    """A text as the model gets it."""

    ids: tuple[int, ...]
    inputs: dict[str, Tensor]
    labels: tuple[str, ...]
    details: tuple[str, ...]
    special: tuple[bool, ...]


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
    )
    report = progress or silent
    compare = length <= COMPARE_UP_TO if check is None else check
    recorder = Recorder(
        model.model,
        overview_size=overview_size,
        expected=model.n_layers,
        progress=part(report, 0.0, 0.6 if compare else 0.95),
    )
    plain = plain_implementation(model.model)
    with _turn(model, report):
        with listening(model.model, recorder):
            outputs, last = _forward(model, tokens)
        reference = None
        if compare and recorder.calls:
            report(0.65, f"Comparing with a plain {plain} run")
            with running(model.model, plain):
                reference, _ = _forward(model, tokens)
    if not recorder.calls:
        raise ModelError(
            f"No attention layer of {model.title} could be reached: its code does not use "
            "transformers' attention interface; choose another model."
        )
    verdict = _verdict(model, recorder.calls, outputs, reference, plain)
    if not verdict.passed:
        raise ModelError(
            f"The maps of {model.title} did not pass their own check, so they are not shown; "
            f"choose another model. {verdict.sentence}"
        )
    report(1.0, "Done")
    return _assembled(model, text, tokens, recorder.calls, verdict, last)


def tokenise(model: LoadedModel, text: str, max_tokens: int | None = None) -> Tokens:
    """The text's tokens; AttnvizError or TooLargeError when the model or a limit forbids them."""
    if not text:
        raise AttnvizError("The text is empty; type at least one word.")
    limits = settings()
    if len(text) > limits.max_characters:
        raise TooLargeError(
            f"The text has {len(text):,} characters and at most {limits.max_characters:,} are "
            "taken; shorten it."
        )
    fast = bool(getattr(model.tokenizer, "is_fast", False))
    inputs = dict(
        model.tokenizer(text, return_tensors="pt", return_offsets_mapping=fast, verbose=False)
    )
    offsets = inputs.pop("offset_mapping")[0].tolist() if fast else None
    ids = tuple(inputs["input_ids"][0].tolist())
    special = special_ids(model.tokenizer) - {model.tokenizer.unk_token_id}
    if all(token in special for token in ids):
        raise AttnvizError("The text holds nothing that this model reads; type at least one word.")
    deployment = limits.max_tokens if max_tokens is None else max_tokens
    limit = min(model.max_tokens, deployment)
    if len(ids) > limit:
        whose = f"{model.title} takes" if limit == model.max_tokens else "this installation takes"
        raise TooLargeError(
            f"The text makes {len(ids):,} tokens and {whose} at most {limit:,}; shorten it."
        )
    labels, details = screen_tokens(model.tokenizer, ids, text, offsets)
    return Tokens(
        ids=ids,
        inputs={name: tensor.to(model.device) for name, tensor in inputs.items()},
        labels=labels,
        details=details,
        special=tuple(token in special for token in ids),
    )


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


def _verdict(
    model: LoadedModel,
    calls: Sequence[Call],
    outputs: Tensor,
    reference: Tensor | None,
    plain: str,
) -> CheckResult:
    error = None if reference is None else float((outputs - reference).abs().max())
    return conclude(
        [call.check for call in calls],
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
    verdict: CheckResult,
    last: Tensor | None,
) -> Capture:
    by_layer = numbered(model, calls)
    records = {number: call.streamed.record for number, call in by_layer.items()}
    layers = [record.layer for record in records.values()]
    layers += absent(model, list(records))
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
        pooled=stacked([each.overview.float().numpy() for each in streamed]),
        numbers=stacked([each.metrics.float().numpy() for each in streamed]),
        probabilities=None if last is None else last.softmax(-1).numpy(),
        tokenizer=model.tokenizer,
    )

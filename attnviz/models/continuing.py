"""Let a model write on, and read prompt and new tokens as one text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.errors import AttnvizError, ModelError
from attnviz.models import memory
from attnviz.models.axis import Axis
from attnviz.models.check import logits_limit, within
from attnviz.models.interface import running
from attnviz.models.loaded import LoadedModel
from attnviz.models.prepared import Prepared
from attnviz.models.progress import Progress
from attnviz.models.quiet import quiet
from attnviz.models.texts import axis_of, require_length

ANSWERS = "assistant"
"""Who says the new tokens of a conversation."""


@dataclass(frozen=True)
class Written:
    """What a model wrote: each token the likeliest one, until it ended or had enough."""

    axis: Axis  # the new tokens; the last one was written and not read
    last: Float[Tensor, " vocabulary"]  # the logits that the last one was chosen by


def require_writer(model: LoadedModel, given: str, count: int) -> None:
    """AttnvizError, a sentence, where generate= cannot be done."""
    if type(count) is not int or count < 0:
        raise AttnvizError(f"generate must be a number of tokens, 0 or more, not {count!r}.")
    if count and (model.kind != "decoder" or given not in ("text", "messages")):
        reads = "reads tensors as they are" if given == "inputs" else "writes nothing of its own"
        if model.kind == "encoder_decoder":
            reads = "writes its target anyway (max_new_tokens says how much)"
        raise AttnvizError(
            f"Here {model.title} {reads}; to have {count} tokens written, choose a decoder and "
            "give it a text, or let it write no new tokens."
        )


def continued(
    model: LoadedModel, prepared: Prepared, count: int, limit: int | None, report: Progress
) -> tuple[Prepared, Written]:
    """The text with what the model writes after it, at most count tokens; hold its lock.

    The tokens are written with the model's own cache, a step each. All but the last are then part
    of the example: one pass over it has a row for every position that a step had, with the same
    weights, for what a position attends to depends on nothing after it. agrees() checks that.
    """
    prompt = prepared.axes["self"]
    makes = "The text and what is to be written make"
    require_length(model, len(prompt) + count - 1, limit, makes)
    memory.require(
        memory.estimate(model, len(prompt) + count),
        f"Writing {count:,} tokens after {len(prompt):,} of {model.title}",
        "write fewer or choose a smaller model",
        model.device,
    )
    ids, last = _greedy(model, prepared.inputs, count, report)
    every = axis_of(model, [*prompt.ids, *ids])
    new = every.only(list(range(len(prompt), len(every))))
    read = prompt + new.only(list(range(len(new) - 1)))
    roles = (*prompt.roles, *(ANSWERS,) * (len(new) - 1)) if prompt.roles else ()
    inputs = {
        name: _longer(name, tensor, ids[:-1], len(prompt))
        for name, tensor in prepared.inputs.items()
    }
    longer = replace(prepared, inputs=inputs, axes={"self": replace(read, roles=roles)})
    return longer, Written(new, last)


def _greedy(
    model: LoadedModel, inputs: dict[str, Tensor], count: int, report: Progress
) -> tuple[list[int], Tensor]:
    """The new tokens, and the logits of the last step, float32 on the CPU."""
    from transformers import StoppingCriteria, StoppingCriteriaList

    n_prompt = inputs["input_ids"].shape[1]

    class Telling(StoppingCriteria):
        """Stops nothing itself; telling may, by raising."""

        def __call__(self, input_ids: Tensor, scores: Any, **_: Any) -> Tensor:
            done = input_ids.shape[1] - n_prompt
            report(done / count, f"Writing token {done} of at most {count}")
            return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)

    given = {name: inputs[name] for name in ("input_ids", "attention_mask") if name in inputs}
    report(0.0, "Writing")
    with _in_words(model), running(model.model, model.model.config._attn_implementation), quiet():
        out = model.model.generate(
            **given,
            max_new_tokens=count,
            do_sample=False,
            num_beams=1,
            repetition_penalty=1.0,  # what a checkpoint asks for besides would not be the likeliest
            no_repeat_ngram_size=0,
            use_cache=True,
            return_dict_in_generate=True,
            output_logits=True,
            stopping_criteria=StoppingCriteriaList([Telling()]),
        )
    ids = out.sequences[0, n_prompt:].tolist()
    if ids != [int(logits[0].argmax()) for logits in out.logits]:
        raise ModelError(
            f"{model.title} did not write its likeliest tokens, for its own settings of generation "
            "change them; let it write no new tokens."
        )
    return ids, out.logits[-1][0].float().cpu()


@contextmanager
def _in_words(model: LoadedModel) -> Iterator[None]:
    """What a model's own generation breaks on, as a sentence."""
    try:
        yield
    except AttnvizError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as p:
        reason = " ".join(str(p).split())[:200].rstrip(".")
        raise ModelError(
            f"{model.title} could not write on ({reason}); set the number of tokens to write to 0."
        ) from p


def _longer(name: str, tensor: Tensor, ids: list[int], length: int) -> Tensor:
    """This input for the new tokens too: their ids, and of everything else the last value."""
    if tensor.ndim != 2 or tensor.shape[1] != length:
        return tensor
    if name == "input_ids":
        more = torch.tensor([ids], dtype=tensor.dtype, device=tensor.device)
    else:
        more = tensor[:, -1:].expand(-1, len(ids))
    return torch.cat([tensor, more], dim=1)


def agrees(model: LoadedModel, written: Written, last: Float[Tensor, " vocabulary"]) -> str:
    """A sentence on how far the single pass is from the last step; last is that pass's logits.

    Raises ModelError where they differ: a model whose rotary frequencies change with the length,
    for one, keeps other keys in its cache than one pass makes.
    """
    error = float((last - written.last).abs().max())
    count = len(written.axis)
    if not error <= logits_limit(model.dtype, float(last.abs().max())):
        raise ModelError(
            f"{model.title} reads its text otherwise in one pass than token by token (its logits "
            f"differ by {error:.0e}), so the rows of the {count} tokens that it wrote cannot be "
            "stitched to it; set the number of tokens to write to 0."
        )
    tokens = "1 token, the likeliest" if count == 1 else f"{count} tokens, each its likeliest"
    return (
        f"The model wrote {tokens}, with a cache; the last step's logits equal "
        f"those of the one pass that these maps come from {within(error)}."
    )

"""What run() checks for a recurrent mixer, and what can be asked of its trace afterwards."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz import variants
from attnviz.errors import AttnvizError
from attnviz.inputs import Inputs
from attnviz.masks import Mask, as_allowed, causal
from attnviz.trace import Trace
from attnviz.variants.effective import probe
from attnviz.variants.recurrence import Recurrence, recur, until
from attnviz.variants.variant import Setup, Variant


def state_at(trace: Trace, token: int) -> Float[Tensor, "batch heads d_k columns"]:
    """The state S_t after that token, computed again: a trace keeps only the last one.

    token -1 is the state before the first. Raises AttnvizError for a variant without a state.
    """
    driven = recurrence_of(trace)
    length = driven.key.shape[2]
    if isinstance(token, bool) or not isinstance(token, int) or not -1 <= token < length:
        raise AttnvizError(
            f"token must be a whole number from -1 (before the first) to {length - 1}; received "
            f"{token!r}."
        )
    start = _start(trace)
    return driven.start(start) if token == -1 else recur(until(driven, token + 1), start).state


def probed_map(trace: Trace) -> Float[Tensor, "batch heads length length"]:
    """trace.weights found in another way: what the mixer makes of V = identity."""
    return probe(recurrence_of(trace), _start(trace))


def recurrence_of(trace: Trace) -> Recurrence:
    """What drove the state in this run, in float32 at least."""
    variant = variants.find(trace.variant)
    if variant.recurrence is None:
        raise AttnvizError(f"{variant.name} keeps no state; choose a recurrent variant.")
    steps = {step.name: step.tensor for step in trace.steps}
    setup = Setup(
        dimensions=trace.dimensions,
        scale=float(trace.options["scale"]),
        scaling="",
        rotary=trace.options["positions"] == "rotary",
        options={word: str(trace.options[word]) for word in variant.options},
    )
    return variant.recurrence(steps, trace.parameters, setup).wide()


def _start(trace: Trace) -> Tensor | None:
    return trace["initial_state"].tensor if "initial_state" in trace.names else None


def options_of(
    variant: Variant, choices: Mapping[str, object]
) -> tuple[dict[str, str], dict[str, object]]:
    """(the variant's options, those not given at their defaults; the other choices)."""
    options = {}
    for word, known in variant.options.items():
        chosen = choices.get(word, known[0])
        if isinstance(chosen, int | float) and not isinstance(chosen, bool):
            chosen = f"{chosen:g}"  # softcap=50 is softcap="50"
        if chosen not in known:
            raise AttnvizError(f"{word} must be one of {', '.join(known)}; received {chosen!r}.")
        options[word] = str(chosen)
    return options, {word: value for word, value in choices.items() if word not in options}


def always_causal(
    variant: Variant, mask: Mask | Tensor | None, context: Inputs | None, length: int
) -> Mask:
    """The causal mask, if nothing else was asked for: a state knows only what came before."""
    if context is not None:
        raise AttnvizError(
            f"{variant.name} reads one sequence in order and has no cross-attention; leave out "
            f"context."
        )
    wanted = as_allowed(mask, 1, 1, length, length)
    if wanted is not None and not torch.equal(wanted, causal().allowed(length, length)):
        named = f"'{mask.name}'" if isinstance(mask, Mask) else "another"
        raise AttnvizError(
            f"{variant.name} is causal by itself, since it holds what came before and nothing "
            f"else; leave out the mask, or give masks.causal(), instead of {named}."
        )
    return causal()


def starting_state(
    variant: Variant,
    state: Tensor | None,
    batch: int,
    sizes: Mapping[str, int],
    place: torch.device,
) -> Tensor | None:
    """The initial state on the device, if the variant has one and it fits."""
    if state is None:
        return None
    if variant.recurrence is None:
        raise AttnvizError(f"{variant.name} keeps no state; leave out initial_state.")
    columns = sizes["v_head_dim"] + variant.normalised
    shape = (batch, sizes["n_heads"], sizes["head_dim"], columns)
    if not isinstance(state, Tensor) or tuple(state.shape) != shape:
        came = tuple(state.shape) if isinstance(state, Tensor) else type(state).__name__
        more = ", the last column being the normaliser's" if variant.normalised else ""
        raise AttnvizError(
            f"initial_state must be a tensor of shape (batch, heads, d_k, columns) = {shape}"
            f"{more}; received {came}."
        )
    if not state.is_floating_point() or not bool(state.isfinite().all()):
        raise AttnvizError("initial_state must hold finite numbers of a floating-point dtype.")
    return state.to(place)

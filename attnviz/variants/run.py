"""Run a variant on inputs and keep every step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from attnviz import variants
from attnviz.device import device as chosen_device
from attnviz.errors import AttnvizError
from attnviz.inputs import Inputs
from attnviz.masks import Mask, as_allowed, require_no_empty_rows
from attnviz.trace import Step, Trace
from attnviz.variants import kernels
from attnviz.variants.dimensions import positive, sizes_of
from attnviz.variants.memory import require_room, require_weights
from attnviz.variants.parameters import replacements
from attnviz.variants.recurrent import always_causal, options_of, starting_state
from attnviz.variants.scaling import scaling
from attnviz.variants.text import input_steps
from attnviz.variants.variant import Setup, StepText

DTYPES = {
    "float64": torch.float64,
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def run(
    name: str,
    inputs: Inputs,
    *,
    mask: Mask | Tensor | None = None,
    context: Inputs | None = None,
    seed: int = 0,
    scale: bool | int | float = True,
    temperature: int | float = 1.0,
    device: str | torch.device | None = None,
    dtype: str | torch.dtype | None = None,
    kernel: str = "reference",
    empty_rows: str = "error",
    initial_state: Tensor | None = None,
    parameters: Mapping[str, Tensor | Sequence] | None = None,
    **choices: object,
) -> Trace:
    """Compute one attention mechanism and keep every intermediate step.

    inputs ask; context answers (None: the inputs themselves, self-attention). mask is a Mask or
    a boolean tensor, True = allowed. seed fixes the variant's own weights. scale True divides the
    scores by sqrt(d_k), False leaves them, a number multiplies them; temperature then divides
    them once more. dtype None keeps that of the inputs. kernel "reference" keeps everything; the
    others write no weights down: "sdpa", "flash", "efficient", "cudnn", "math" and "flex" of
    softmax attention, "chunked" and "fla" of a recurrent mixer (kernels.py). empty_rows "error"
    refuses a mask that leaves a query without a key, "zero" gives such a query weights and output
    of zero. initial_state (B, H, d_k, d_v) is what a recurrent mixer holds before the first token;
    such a mixer is causal by itself. parameters replaces some of the drawn weights by others of the
    same shape, or of its last axes. The other choices are the variant's own: its dimensions
    (head_dim, v_head_dim, n_heads, n_kv_heads, ..) and options (feature_map, bias, softcap, ..).

    Raises AttnvizError (EmptyRowError, TooLargeError) with a sentence that can be shown.
    """
    variant = variants.find(name)
    _one_of("kernel", kernel, kernels.of(variant))
    _one_of("empty_rows", empty_rows, ("error", "zero"))
    _require_inputs("inputs", inputs)
    if context is not None:
        _require_inputs("context", context)
        if not variant.crosses:
            raise AttnvizError(f"{name} looks at one sequence or image; leave out context.")
        _require_pair(inputs, context)
    place, number_type = chosen_device(device), _dtype(dtype, inputs.embeddings.dtype)
    options, dimensions = options_of(variant, choices)
    sizes = sizes_of(variant, inputs.d_model, dimensions)
    if kernel == "reference":
        require_room(variant, sizes, options, inputs, context or inputs, number_type)
    n_tokens = inputs.length + (context or inputs).length
    require_weights(inputs.d_model, sizes, inputs.embeddings.shape[0] * n_tokens)
    query_tokens = variant.query_tokens(inputs.tokens, sizes)
    if variant.causal == "always":
        mask = always_causal(variant, mask, context, inputs.length)
    answering = context or inputs
    batch, n_heads = inputs.embeddings.shape[0], sizes.get("n_heads", 1)
    allowed = as_allowed(mask, batch, n_heads, len(query_tokens), answering.length, device=place)
    if allowed is not None and empty_rows == "error":
        require_no_empty_rows(allowed, query_tokens)
    if scale is True and not variant.scaled:
        scale = False
    factor, formula = scaling(scale, temperature, sizes["head_dim"])
    setup = Setup(
        dimensions=sizes,
        scale=factor,
        scaling=formula,
        rotary=inputs.positions == "rotary",
        cross=context is not None,
        mask="" if mask is None else mask.name if isinstance(mask, Mask) else "custom",
        options=options,
        grid=inputs.grid,
        empty_rows=empty_rows,
        initial_state=starting_state(
            variant, initial_state, inputs.embeddings.shape[0], sizes, place
        ),
    )
    tensors, texts = _given(inputs, context, setup, place, number_type)
    drawn = variant.draw(inputs.d_model, seed, sizes, options)
    drawn |= replacements(drawn, parameters or {})
    W = {word: matrix.to(place, number_type) for word, matrix in drawn.items()}
    head_sizes = sizes["head_dim"], sizes["v_head_dim"]
    kernels.require(kernel, variant, place, number_type, head_sizes, allowed is not None)
    compute = variant.compute if kernel == "reference" else variant.fused
    x = tensors["inputs"]
    with kernels.computing_with(kernel):
        tensors |= compute(x, tensors.get("context", x), W, allowed, setup)
    texts |= variant.describe(setup)
    softmax = variant.recurrence is None and not variant.effective(options)
    return Trace(
        variant=name,
        steps=tuple(_step(word, tensor, texts[word]) for word, tensor in tensors.items()),
        parameters=W,
        weights_kind="softmax" if softmax else "effective",
        allowed=allowed,
        state=tensors.get("state"),
        query_tokens=query_tokens,
        key_tokens=answering.tokens,
        query_details=() if variant.own_queries else inputs.token_details,
        key_details=answering.token_details,
        dimensions={"d_model": inputs.d_model, **sizes},
        options={
            "seed": seed,
            "scale": factor,
            "temperature": temperature,
            "positions": inputs.positions,
            "mask": setup.mask or "none",
            "empty_rows": empty_rows,
            **options,
        },
        device=str(place),
        dtype=str(number_type).removeprefix("torch."),
        kernel=kernel,
    )


def parameters(name: str, d_model: int, seed: int = 0, **choices: object) -> dict[str, Tensor]:
    """The weight matrices that run() uses for this seed, by name, (n_in, n_out) in float64."""
    variant = variants.find(name)
    options, dimensions = options_of(variant, choices)
    sizes = sizes_of(variant, positive("d_model", d_model), dimensions)
    require_weights(d_model, sizes)
    return variant.draw(d_model, seed, sizes, options)


def _given(
    inputs: Inputs,
    context: Inputs | None,
    setup: Setup,
    place: torch.device,
    number_type: torch.dtype,
) -> tuple[dict[str, Tensor], dict[str, StepText]]:
    """The input steps: tensors and texts of the sequences, and of the positions added to them."""
    tensors: dict[str, Tensor] = {}
    texts: dict[str, StepText] = {}
    for word, side in (("inputs", inputs), ("context", context)):
        if side is None:
            continue
        if side.summands is not None:
            vectors, places = side.summands
            tensors[f"{word}_tokens"] = vectors.to(place, number_type)
            tensors[f"{word}_positions"] = places.to(place, number_type)
        tensors[word] = side.embeddings.to(place, number_type)
        texts |= input_steps(word, setup=setup, summed=side.summands is not None)
    return tensors, texts


def _step(name: str, tensor: Tensor, text: StepText) -> Step:
    if name != "masked" and not bool(tensor.isfinite().all()):
        kind = str(tensor.dtype).removeprefix("torch.")
        raise AttnvizError(
            f"The step {name!r} left the range of {kind}; choose a smaller scale, a higher "
            f"temperature or smaller embeddings."
        )
    return Step(
        name=name,
        tensor=tensor,
        axes=text.axes,
        role=text.role,
        formula=text.formula,
        note=text.note,
        symbol=text.symbol,
        origin=text.origin,
    )


def _require_inputs(word: str, given: object) -> None:
    if not isinstance(given, Inputs):
        remedy = {
            Tensor: "wrap the tensor: av.Inputs(tensor)",
            str: "make them from the text: av.text_inputs(text)",
        }.get(type(given), "make them with av.Inputs, av.random_inputs or av.text_inputs")
        raise AttnvizError(
            f"{word} must be an av.Inputs; received {type(given).__name__}: {remedy}."
        )


def _require_pair(inputs: Inputs, context: Inputs) -> None:
    (batch, _, d_model), (other_batch, _, other) = inputs.embeddings.shape, context.embeddings.shape
    if d_model != other:
        raise AttnvizError(
            f"inputs and context must have the same d_model; received {d_model} and {other}."
        )
    if batch != other_batch:
        raise AttnvizError(
            f"inputs and context must have the same batch size; received {batch} and {other_batch}."
        )
    if inputs.positions != context.positions:
        raise AttnvizError(
            f"inputs and context must tell positions in the same way; received "
            f"{inputs.positions!r} and {context.positions!r}."
        )


def _dtype(wanted: str | torch.dtype | None, own: torch.dtype) -> torch.dtype:
    if wanted is None:
        return own
    chosen = DTYPES.get(wanted) if isinstance(wanted, str) else wanted
    if chosen is None or chosen not in DTYPES.values():
        raise AttnvizError(f"dtype must be one of {', '.join(DTYPES)}; received {wanted!r}.")
    return chosen


def _one_of(word: str, value: str, options: tuple[str, ...]) -> None:
    if value not in options:
        raise AttnvizError(f"{word} must be {' or '.join(map(repr, options))}; received {value!r}.")

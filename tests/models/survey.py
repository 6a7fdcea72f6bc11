"""Every model type of transformers' mappings, tried: captured and compared, or the reason not.

python -m tests.models.survey writes docs/architectures.md; with names, it tries those alone.
"""

from __future__ import annotations

import inspect
import sys
import time
import traceback
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers.models.auto import modeling_auto

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.models import LoadedModel
from tests.models.shrink import TASKS, build
from tests.models.tiny import tokenizer

LENGTH, TARGET = 13, 7
TOO_LARGE = 30_000_000  # parameters: what shrinking leaves of a few convolutional nets
# Where what the library returns is known to be something else than the weights in use.
SCORES = ("fsmt", "prophetnet", "squeezebert")  # from before the softmax
SINKS_LEFT_OUT = ("granite_swa", "granitemoe_swa")  # normalised without the sink's share
FIELDS = {
    "self": "attentions",
    "pass 2": "attentions",
    "encoder": "encoder_attentions",
    "decoder": "decoder_attentions",
    "cross": "cross_attentions",
}


@dataclass(frozen=True)
class Tried:
    """What became of one model type under one task."""

    task: str
    model_type: str
    status: str  # exact, refused, no attention, not built
    route: str = ""  # interface or returned
    reason: str = ""
    error: float = 0.0  # the largest difference from the model's own attentions
    compared: int = 0  # maps compared with the model's own
    groups: tuple[str, ...] = ()
    seconds: float = 0.0


def inputs_for(model: Any, task: str) -> dict[str, torch.Tensor]:
    """Random inputs of the right kind, from the forward function's own names."""
    generator = torch.Generator().manual_seed(0)
    config, names = model.config, inspect.signature(model.forward).parameters
    ids = torch.randint(3, 59, (1, LENGTH), generator=generator)
    if model.main_input_name == "pixel_values":
        vision = getattr(config, "vision_config", config)
        size = getattr(vision, "image_size", None) or 32
        height, width = size if isinstance(size, (list, tuple)) else (size, size)
        channels = getattr(vision, "num_channels", 3) or 3
        return {"pixel_values": torch.randn(1, channels, height, width, generator=generator)}
    inputs: dict[str, torch.Tensor] = {"input_ids": ids}
    if model.main_input_name == "input_features" and task == "SEQ_TO_SEQ_CAUSAL_LM":
        inputs = {"input_features": torch.randn(1, 80, 192, generator=generator)}
    if "decoder_input_ids" in names:
        inputs["decoder_input_ids"] = ids[:, :TARGET].clone()
    return inputs


def attempt(task: str, model_type: str) -> Tried:
    """Build it, capture it, compare it with what its own eager code returns."""
    begun = time.perf_counter()
    try:
        with torch.device("meta"):
            size = sum(p.numel() for p in build(task, model_type).parameters())
        if size > TOO_LARGE:
            return Tried(task, model_type, "not built", reason=f"{size:,} parameters when shrunk")
        torch.manual_seed(0)
        model = build(task, model_type)
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.ndim > 1:
                    parameter.normal_(0.0, 0.2)  # enough that heads and rows differ
        inputs = inputs_for(model, task)
        with torch.no_grad():
            model(**inputs)
    except Exception as problem:  # noqa: BLE001
        reason = " ".join(str(problem).split())[:160]
        return Tried(task, model_type, "not built", reason=f"{type(problem).__name__}: {reason}")
    loaded = av.from_transformers(model, tokenizer())
    try:
        capture = av.capture(loaded, inputs=inputs)
    except AttnvizError as problem:
        none = not has_attention(model)
        return Tried(task, model_type, "no attention" if none else "refused", reason=str(problem))
    error, compared = difference(loaded, inputs, capture)
    captured = [capture.of(group) for group in capture.groups]
    maps = any(
        type(record).__name__ == "KeptMap" for part in captured for record in part.records.values()
    )
    return Tried(
        task,
        model_type,
        "exact" if error <= 1e-5 else "wrong",
        "returned" if maps else "interface",
        error=error,
        compared=compared,
        groups=capture.groups,
        seconds=time.perf_counter() - begun,
    )


def has_attention(model: Any) -> bool:
    return any("ttention" in type(module).__name__ for module in model.modules())


def difference(loaded: LoadedModel, inputs: Any, capture: av.Capture) -> tuple[float, int]:
    """(the largest difference from the eager attentions, how many maps were compared)."""
    from attnviz.models.interface import reachable, running
    from attnviz.models.own_code.returned import flat

    model = loaded.model
    if model.config.model_type == "falcon":
        # Asked for attentions, its fused class forgets the causal mask; its eager class does not.
        state = model.state_dict()
        model = type(model)._from_config(model.config, attn_implementation="eager").eval()
        model.load_state_dict(state)
    with running(model, "eager" if reachable(model) else None):
        extra = {"output_attentions": True, "return_dict": True}
        if "use_cache" in inspect.signature(model.forward).parameters:
            extra["use_cache"] = False  # FSMT masks the future only without a cache
        outputs = model(**inputs, **extra)
    largest, compared = 0.0, 0
    for group in capture.groups:
        part = capture.of(group)
        own = getattr(outputs, FIELDS.get(group, "none"), ())
        own = [one for one in flat(own) if one is not None]
        numbers = [layer.index for layer in part.captured]
        if model.config.model_type == "dory":  # layers 1 and 2 of 4 run twice, in between
            own = [own[at] for at in ((0, 1, 2, 5) if group == "self" else (3, 4))]
        if len(own) != len(numbers):
            own = [one for index, one in enumerate(own) if index in numbers]
        for layer, maps in zip(part.captured, own, strict=False):
            if maps.shape[1:] != (layer.n_heads, part.n_tokens, part.n_keys):
                continue
            for head in range(layer.n_heads):
                got, want = part.weights(layer.index, head), maps[0, head].float()
                if model.config.model_type in SCORES and not bool((want >= 0).all()):
                    want = want.softmax(-1)
                if model.config.model_type in SINKS_LEFT_OUT:
                    got = got / got.sum(-1, keepdims=True)
                largest = max(largest, float(np.abs(got - want.numpy()).max()))
                compared += 1
    return largest, compared


def everything(only: list[str]) -> list[Tried]:
    tried = []
    for task in TASKS:
        for model_type in getattr(modeling_auto, f"MODEL_FOR_{task}_MAPPING_NAMES"):
            if only and model_type not in only:
                continue
            try:
                one = attempt(task, model_type)
            except Exception as problem:  # noqa: BLE001
                if only:
                    traceback.print_exc()
                last = traceback.extract_tb(problem.__traceback__)[-1]
                where = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
                one = Tried(
                    task,
                    model_type,
                    "crashed",
                    reason=f"{type(problem).__name__} {where} {problem}"[:200],
                )
            print(
                task,
                model_type,
                one.status,
                one.route,
                one.groups,
                one.compared,
                f"{one.error:.1e}",
                f"{one.seconds:.2f}s",
                one.reason,
                flush=True,
            )
            tried.append(one)
    return tried


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    everything(sys.argv[1:])

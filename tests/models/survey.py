"""Every model type of transformers' mappings, tried: captured and compared, or the reason not.

python -m tests.models.survey writes docs/architectures.md; with names, it tries those alone.
"""

from __future__ import annotations

import inspect
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from transformers.models.auto import modeling_auto

import attnviz as av
from attnviz.errors import ModelError
from attnviz.models import LoadedModel
from attnviz.models.kept_map import KeptMap
from tests.models.shrink import TASKS, build
from tests.models.tiny import tokenizer

DOCUMENT = Path(__file__).parents[2] / "docs" / "architectures.md"
LENGTH, TARGET = 13, 7
TOLERANCE = 1e-5
TOO_LARGE = 30_000_000  # parameters: what shrinking leaves of a few convolutional nets
# Where what the library returns is known to be something else than the weights in use.
SCORES = ("fsmt", "prophetnet", "squeezebert")  # from before the softmax
SINKS_LEFT_OUT = ("granite_swa", "granitemoe_swa")  # normalised without the sink's share
# Asked for attentions, the fused class forgets the causal mask (Falcon) or gives none at all; the
# class that is made when eager is asked for does not.
EAGER_CLASS = ("data2vec-vision", "falcon")
# Whose maps are compared with a definition written in a test, the library returning none or others.
DEFINED = {
    "test_own_code.py": "big_bird cvt donut-swin led longformer swin swinv2",
    "test_places_on_pictures.py": "hiera mobilevit",
    "test_block_patterns.py": "longt5 pegasus_x",
    "test_picture_mixers.py": "mobilevitv2 poolformer swiftformer",
    "mixers/test_mixers.py": "falcon_h1 falcon_mamba mamba mamba2",
    "test_hashed.py": "reformer",
    "mixers/test_wkv.py": "rwkv",
    "mixers/test_fourier.py": "fnet",
    "test_angles.py": "yoso",
}
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
    status: str  # exact, effective, exact and effective, wrong, refused, no attention, not built
    route: str = ""  # interface or code
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
    except ModelError as problem:
        none = not has_attention(model)
        return Tried(task, model_type, "no attention" if none else "refused", reason=str(problem))
    error, compared = difference(loaded, inputs, capture)
    parts = [capture.of(group) for group in capture.groups]
    kept = any(isinstance(record, KeptMap) for part in parts for record in part.records.values())
    softmax = any(part.records and not part.signed for part in parts)
    effective = bool(capture.mixers) or any(part.signed for part in parts)
    status = "exact and effective" if softmax and effective else "exact"
    status = "effective" if effective and not softmax else status
    return Tried(
        task,
        model_type,
        status if error <= TOLERANCE else "wrong",
        "code" if kept else "interface",
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
    if model.config.model_type in EAGER_CLASS:
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
        own = getattr(outputs, FIELDS.get(group.split(" stage ")[0], "none"), ())
        own = [one for one in flat(own) if one is not None]
        numbers = [layer.index for layer in part.captured]
        if model.config.model_type == "dory":  # layers 1 and 2 of 4 run twice, in between
            own = [own[at] for at in ((0, 1, 2, 5) if group == "self" else (3, 4))]
        if len(own) != len(numbers):
            own = [one for index, one in enumerate(own) if index in numbers]
        for layer, maps in zip(part.captured, own, strict=False):
            seen = slice(None)
            if model.config.model_type == "cpmant":  # returned without the prompt before the text
                seen = slice(model.config.prompt_length, None)
            shape = part.weights(layer.index, 0)[seen, seen].shape
            if maps.shape[1:] != (layer.n_heads, *shape):
                continue
            for head in range(layer.n_heads):
                got = part.weights(layer.index, head)[seen, seen]
                want = maps[0, head].float()
                if model.config.model_type in SCORES and not bool((want >= 0).all()):
                    want = want.softmax(-1)
                if model.config.model_type in SINKS_LEFT_OUT:
                    got = got / got.sum(-1, keepdims=True)
                largest = max(largest, float(np.abs(got - want.numpy()).max()))
                compared += 1
    return largest, compared


def everything(only: list[str]) -> list[Tried]:
    tried = []
    for task, names in MODELS.items():
        for model_type in names:
            if only and model_type not in only:
                continue
            one = attempt(task, model_type)
            print(one.status, task, model_type, f"{one.error:.0e}", one.reason, flush=True)
            tried.append(one)
    return tried


DETECTORS = ("detr", "conditional_detr", "table-transformer")
MODELS = {
    task: list(getattr(modeling_auto, f"MODEL_FOR_{task}_MAPPING_NAMES")) for task in TASKS
} | {"OBJECT_DETECTION": list(DETECTORS)}
TITLES = {
    "CAUSAL_LM": "Text decoders (causal language modelling)",
    "MASKED_LM": "Text encoders (masked language modelling)",
    "SEQ_TO_SEQ_CAUSAL_LM": "Encoder-decoders (sequence to sequence)",
    "IMAGE_CLASSIFICATION": "Image classifiers",
    "OBJECT_DETECTION": "Detectors",
}
SHOWN = ("exact", "effective", "exact and effective")


def report(tried: list[Tried]) -> str:
    """docs/architectures.md."""
    counts = Counter(one.status for one in tried)
    every = [one for one in tried if one.status != "not built"]
    built = [one for one in every if one.status != "no attention"]
    shown = sum(one.status in SHOWN for one in built)
    lines = [
        "# Which architectures have maps",
        "",
        "Written by `python -m tests.models.survey`, which makes a tiny random model of every "
        f"model type in transformers {transformers.__version__}'s mappings, captures it, and "
        "compares the maps with the attentions that the model's own eager code returns, and the "
        "outputs with those of a plain run. A type counts once for each task.",
        "",
        f"Of {len(tried)}: {counts['exact']} exact, {counts['exact and effective']} exact beside "
        f"effective maps, {counts['effective']} effective, {counts['refused']} refused, "
        f"{counts['no attention']} without attention, {counts['not built']} not built. "
        f"{100 * shown / len(every):.1f} % of all those built have maps, and "
        f"{100 * shown / len(built):.1f} % of those with attention or a linear layer.",
        "",
        "- **exact**: softmax weights (YOSO's are chances by angle; MobileViTv2's rows are context "
        "vectors, one for each place within a patch), equal to the model's own to 1e-5.",
        "- **effective**: the exact maps A of layers without a softmax (linear, state-space, "
        "pooling), whose output is A V. RWKV's are softmaxes of a channel each; FNet's are the "
        "cosines and sines of a Fourier transform, the same for every text of a length, and their "
        "outputs are summed. PoolFormer's is the pooling minus the patch itself. SwiftFormer's is "
        "one row, of its global query, and all 1, whatever the picture: the library takes that "
        "softmax over an axis of one entry.",
        "- *Route*: through transformers' attention **interface**, or from the model's own "
        "**code** (its softmaxes, or what it returns, put in true coordinates).",
        "- *Compared*: maps compared with the library's; 0 where it returns none or others.",
        "- Every map of these is compared with a definition written in a test instead (output "
        "A V for the effective ones): "
        + "; ".join(
            f"{names.replace(' ', ', ')} (tests/models/{f})" for f, names in DEFINED.items()
        )
        + ".",
    ]
    for task in MODELS:
        own = [one for one in tried if one.task == task]
        lines += ["", f"## {TITLES[task]}", ""]
        lines += ["| model type | maps | route | compared | groups |", "|---|---|---|---|---|"]
        lines += [
            f"| {one.model_type} | {one.status} | {one.route} | {one.compared} | "
            f"{', '.join(one.groups)} |"
            for one in own
            if one.status in SHOWN
        ]
        others = [one for one in own if one.status not in SHOWN]
        if others:
            lines += ["", "| model type | no maps | reason |", "|---|---|---|"]
            lines += [
                f"| {one.model_type} | {one.status} | {_cell(one.reason)} |" for one in others
            ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "/").split(" You can install")[0].split(" Please note")[0][:220]


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    found = everything(sys.argv[1:])
    if len(sys.argv) == 1:
        DOCUMENT.parent.mkdir(exist_ok=True)
        DOCUMENT.write_text(report(found))

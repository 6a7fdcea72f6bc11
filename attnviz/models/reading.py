"""From weight files to a model in memory; whatever goes wrong becomes a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from attnviz.device import dtype_for
from attnviz.errors import AttnvizError, ModelError, TooLargeError
from attnviz.models import memory
from attnviz.models.catalog import Kind
from attnviz.models.checkpoint import Checkpoint
from attnviz.models.library import alone
from attnviz.models.loaded import LoadedModel, from_transformers, is_decoder, kind_of
from attnviz.models.pieces import special_ids
from attnviz.models.progress import Progress
from attnviz.models.quiet import quiet

STORED = {"F16": torch.float16, "BF16": torch.bfloat16}
LOCAL: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
REPLACEABLE = ("pooler", "lm_head", "cls.", "classifier")
"""Weights that attention does not depend on; a checkpoint may lack them."""
SEEING = ("ForImageClassification", "ForObjectDetection")
QUANTISED = "The weights are quantised ({}): what is shown is that model's attention."


class ModelTooLargeError(ModelError, TooLargeError):
    """A model that would not fit in memory."""


def read_folder(
    checkpoint: Checkpoint,
    *,
    name: str,
    title: str,
    place: torch.device,
    dtype: torch.dtype | None,
    report: Progress,
) -> LoadedModel:
    """Load an inspected folder: safetensors only, nothing fetched, no code of the model's own."""
    chosen = dtype or dtype_for(place, STORED.get(checkpoint.stored_dtype))
    n_bytes = checkpoint.bytes_as(chosen)
    spread = memory.needs_all_gpus(n_bytes, place)
    require_memory(title, n_bytes, place, spread=spread)
    # Spread over GPUs by accelerate; quantised weights cannot be moved once they are loaded.
    placing: dict[str, Any] = {}
    if spread or checkpoint.quantised:
        placing["device_map"] = "auto" if spread else {"": str(place)}
    report(0.1, f"Loading {title}")
    with _in_words(title):
        from transformers import AutoConfig, AutoTokenizer

        # A config that asks for attentions forbids every backend that does not return them.
        config = AutoConfig.from_pretrained(checkpoint.folder, output_attentions=False, **LOCAL)
        model, info = factory_of(config).from_pretrained(
            checkpoint.folder,
            config=config,
            dtype=chosen,
            use_safetensors=True,
            output_loading_info=True,
            **placing,
            **LOCAL,
        )
        tokenizer = None
        if model.main_input_name != "pixel_values":
            tokenizer = AutoTokenizer.from_pretrained(checkpoint.folder, config=config, **LOCAL)
            # The first call lifts a truncation that came with it; two at once would collide there.
            tokenizer("a")
            special_ids(tokenizer)  # fails now, in words, where it names tokens that are none
        notes = (*checkpoint.notes, *_require_whole(title, info))
        if checkpoint.quantised:
            notes += (QUANTISED.format(checkpoint.quantised),)
        if not placing:
            report(0.9, f"Moving {title} to {place}")
            model = model.to(place)
        seeing = processor_of(checkpoint.folder)
        loaded = from_transformers(
            model.eval(), tokenizer, processor=seeing, name=name, title=title
        )
    report(1.0, f"{title} is loaded")
    return replace(loaded, notes=notes)


def factory_of(config: Any) -> Any:
    """The class that a checkpoint with this config is loaded as, by what it was trained for."""
    import transformers as library

    architecture = next(iter(config.architectures or []), "")
    if architecture.endswith(SEEING):
        return getattr(library, architecture)
    if getattr(config, "is_encoder_decoder", False):
        return library.AutoModelForSeq2SeqLM
    decodes = is_decoder(config, architecture)
    return library.AutoModelForCausalLM if decodes else library.AutoModel


def stated_kind(checkpoint: Checkpoint, title: str) -> Kind:
    """What the model in an inspected folder does with its input; its weights are not read."""
    with _in_words(title):
        from transformers import AutoConfig
        from transformers.models.auto.auto_factory import _get_model_class

        config = AutoConfig.from_pretrained(checkpoint.folder, **LOCAL)
        factory = factory_of(config)
        many = getattr(factory, "_model_mapping", {})
        # What an automatic class does not know, the load refuses in its own words.
        known = type(config) in many
        return kind_of(_get_model_class(config, many) if known else factory, config)


def processor_of(folder: Path) -> Any:
    """The folder's image processor; None where there is none or it needs what is not installed."""
    if not (folder / "preprocessor_config.json").is_file():
        return None
    from transformers import AutoImageProcessor

    try:
        return AutoImageProcessor.from_pretrained(folder, **LOCAL)
    except (ImportError, OSError, ValueError):
        return None  # the picture is then prepared by the model's config


def read_gguf(
    path: Path,
    *,
    name: str,
    place: torch.device,
    dtype: torch.dtype | None,
    report: Progress,
) -> LoadedModel:
    """Load a GGUF file, dequantised."""
    chosen = dtype or torch.float32
    # The file says its number of weights only tensor by tensor; a 4-bit one grows eightfold.
    require_memory(path.name, path.stat().st_size * 2 * chosen.itemsize, place)
    report(0.1, f"Dequantising {path.name} (this can take a minute)")
    with _in_words(path.name):
        from transformers import AutoModelForCausalLM, AutoTokenizer

        where: dict[str, Any] = {"gguf_file": path.name, "local_files_only": True}
        factory: Any = AutoModelForCausalLM
        model = factory.from_pretrained(path.parent, dtype=chosen, **where)
        tokenizer = AutoTokenizer.from_pretrained(path.parent, **where)
        loaded = from_transformers(model.to(place).eval(), tokenizer, name=name, title=path.name)
    report(1.0, f"{path.name} is loaded")
    note = "The weights come from a quantised GGUF file: what is shown is that model's attention."
    return replace(loaded, notes=(note,))


def require_memory(
    title: str, n_bytes: float, place: torch.device, *, spread: bool = False
) -> None:
    """ModelTooLargeError, a sentence, when weights of so many bytes do not fit.

    spread: on all GPUs together.
    """
    places = memory.gpus() if spread else (place,)
    try:
        memory.require(int(n_bytes * 1.1), f"Loading {title}", "choose a smaller model", *places)
    except TooLargeError as problem:
        raise ModelTooLargeError(str(problem)) from None


@contextmanager
def _in_words(title: str) -> Iterator[None]:
    """Turn whatever transformers raises on these files into a ModelError."""
    try:
        with alone(), quiet():
            yield
    except AttnvizError:
        raise
    except Exception as problem:
        raise ModelError(
            f"{title} could not be loaded ({_reason(problem)}); choose another model."
        ) from problem


def _reason(problem: Exception) -> str:
    """What a library's error comes to, in one line."""
    text = str(problem).strip()
    if "backend tokenizer" in text:
        return "its tokenizer files are missing or damaged"
    if isinstance(problem, KeyError):
        return f"one of its files lacks or misnames {text}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = next((line for line in lines if not line.endswith(":")), type(problem).__name__)
    return told[:200].rstrip(".")


def _require_whole(title: str, info: dict[str, Any]) -> tuple[str, ...]:
    """Refuse weights that transformers would have made up; note those that do not matter."""
    missing = sorted(info.get("missing_keys") or ())
    vital = [key for key in missing if not any(part in key for part in REPLACEABLE)]
    wrong = sorted(str(key) for key in info.get("mismatched_keys") or ())
    if vital or wrong:
        raise ModelError(
            f"{title} lacks {len(vital) + len(wrong)} of the weights its config asks for (first: "
            f"{(vital + wrong)[0]}), and random numbers in their place would be shown as "
            "attention; choose a complete model."
        )
    if any("lm_head" in key for key in missing):
        return ("The model came without its output layer, so its next tokens mean nothing.",)
    return ()

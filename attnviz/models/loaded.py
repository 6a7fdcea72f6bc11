"""A model ready to be looked at: the transformers objects, and what every page says about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import RLock
from traceback import walk_tb
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

from attnviz.errors import AttnvizError, ModelError
from attnviz.models.catalog import Kind
from attnviz.models.library import alone

UNLIMITED = 1_000_000
"""max_tokens of a model that states no context limit (relative positions)."""

_LOCKS: WeakKeyDictionary[nn.Module, Any] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model shared by everyone in this process; a run takes its lock and restores it."""

    name: str
    title: str
    kind: Kind
    model: Any  # transformers.PreTrainedModel
    tokenizer: Any  # transformers.PreTrainedTokenizerBase; None of a model that reads no text
    processor: Any = None  # transformers' image processor, of a model that sees pictures
    notes: tuple[str, ...] = ()  # plain sentences that belong beside its pictures
    lock: Any = field(init=False, repr=False)  # one a model, however often it is wrapped

    def __post_init__(self) -> None:
        object.__setattr__(self, "lock", _LOCKS.setdefault(self.model, RLock()))

    def run(self, inputs: Mapping[str, Any]) -> Any:
        """What the model gives for these inputs; ModelError where its own code fails on them."""
        try:
            return self.model(**inputs)
        except Exception as problem:
            if not _of_libraries(problem):  # told in a sentence already, or whoever waits has left
                raise
            lines = str(problem).strip().splitlines() or ["no reason given"]
            raise ModelError(
                f"{self.title} failed on this input, in its own code: "
                f"{type(problem).__name__}, {lines[0][:200]}. Change the input, or choose another "
                "model."
            ) from problem

    @property
    def config(self) -> Any:
        return self.model.config

    @property
    def shape(self) -> Any:
        """The config of the text stack, which holds the dimensions of attention."""
        return self.config.get_text_config()

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        return next(p.dtype for p in self.model.parameters() if p.is_floating_point())

    def eyes(self) -> LoadedModel:
        """What a picture is shown to: the model, or of one for pictures and texts its tower.

        Raises ModelError for a model that sees no pictures. The lock stays the model's own.
        """
        tower = getattr(self.model, "vision_model", None)
        if self.kind == "vision" or tower is None:
            if self.kind != "vision":
                raise ModelError(f"{self.title} sees no pictures; give text= instead of image=.")
            return self
        return self._part(tower, "vision")

    def reader(self) -> LoadedModel:
        """What a text is given to: the model, or of one for pictures and texts its tower."""
        tower = getattr(self.model, "text_model", None)
        both = tower is not None and hasattr(self.model, "vision_model")
        return self._part(tower, "encoder") if both else self

    def _part(self, module: Any, kind: Kind) -> LoadedModel:
        _LOCKS.setdefault(module, self.lock)
        return replace(self, model=module, kind=kind)

    @property
    def n_layers(self) -> int:
        """Layers of the text stack, or of the encoder of a model with two; 0: not stated."""
        return self.stated("num_hidden_layers")

    @property
    def n_heads(self) -> int:
        """Query heads a layer; 0 of a model without attention."""
        return self.stated("num_attention_heads")

    @property
    def n_kv_heads(self) -> int:
        return self.stated("num_key_value_heads") or self.n_heads

    def stated(self, name: str) -> int:
        """A dimension by its config name, the largest where layers differ; 0: not stated."""
        try:
            return _one_number(getattr(self.shape, name, None))
        except RuntimeError:  # what transformers raises where layers differ
            return _one_number(self.shape.to_dict().get(name))

    @property
    def max_tokens(self) -> int:
        """The longest input that the model's positions allow."""
        shape = self.shape
        # RoBERTa counts positions from padding_idx + 1, so its table is that much shorter.
        table = next(
            (
                module
                for name, module in self.model.named_modules()
                if name.endswith("position_embeddings") and isinstance(module, nn.Embedding)
            ),
            None,
        )
        if table is not None:
            return table.num_embeddings - (
                0 if table.padding_idx is None else table.padding_idx + 1
            )
        for name in ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length"):
            limit = getattr(shape, name, None)
            if isinstance(limit, int) and limit > 0:
                return limit
        return UNLIMITED


def _one_number(value: Any) -> int:
    """The largest of what a config states for its layers or stages; 0: nothing."""
    if isinstance(value, (list, tuple)):
        return max((_one_number(one) for one in value), default=0)
    return value if isinstance(value, int) else 0


def from_transformers(
    model: Any,
    tokenizer: Any = None,
    *,
    processor: Any = None,
    name: str | None = None,
    title: str | None = None,
) -> LoadedModel:
    """Your own in-memory model and its tokenizer, a fine-tune in a notebook for example.

    A model that sees pictures has an image processor instead, or takes them by its config alone.
    Nothing is copied or moved.
    """
    label = name or getattr(model.config, "_name_or_path", "") or type(model).__name__
    return LoadedModel(
        name=label,
        title=title or label,
        kind=kind_of(type(model), model.config),
        model=model,
        tokenizer=tokenizer,
        processor=processor,
    )


def kind_of(made: Any, config: Any) -> Kind:
    """What a model of this class and config does with its input."""
    if getattr(made, "main_input_name", "input_ids") == "pixel_values":
        return "vision"
    if getattr(config, "is_encoder_decoder", False):
        return "encoder_decoder"
    return "decoder" if is_decoder(config, made.__name__) else "encoder"


def is_decoder(config: Any, architecture: str) -> bool:
    """Does a model of this architecture name and config predict the next token?"""
    with alone():
        from transformers.models.auto.modeling_auto import (
            MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
            MODEL_FOR_MASKED_LM_MAPPING_NAMES,
        )

    if architecture.endswith(("ForCausalLM", "LMHeadModel")):
        return True
    kind = config.model_type
    if kind in MODEL_FOR_MASKED_LM_MAPPING_NAMES:
        return bool(getattr(config, "is_decoder", False))
    return kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES


def _of_libraries(problem: Exception) -> bool:
    """Whether it was raised in the code of transformers or torch."""
    *_, (frame, _) = walk_tb(problem.__traceback__)
    return frame.f_globals.get("__name__", "").partition(".")[0] in ("torch", "transformers")


def require_loaded(model: object) -> None:
    """AttnvizError for what is no loaded model: its name, or transformers' own object."""
    if not isinstance(model, LoadedModel):
        raise AttnvizError(
            f"The first argument is a loaded model, not {type(model).__name__}; give "
            "av.load_model(name), or av.from_transformers(model, tokenizer) of your own."
        )

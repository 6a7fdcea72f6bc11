"""Our entry in transformers' registry of attention functions, and the switch that turns it on.

Registered in AttentionInterface and in AttentionMaskInterface: with only the first, models get
no mask at all and look at the future. The mask function is SDPA's own, which gives None where
the pattern is plainly causal or full, so that a run costs no T x T mask and its normal time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from attnviz.models.library import alone

with alone():
    from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import eager_mask, sdpa_mask

NAME = "attnviz"
WITH_MASKS = "attnviz_with_masks"  # for models that SDPA does not serve: they need every mask


@runtime_checkable
class Listener(Protocol):
    """Whoever wants each attention call of a run, and answers with its output."""

    def attend(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        **options: Any,
    ) -> Tensor: ...


_LISTENER: ContextVar[Listener | None] = ContextVar("attnviz_listener", default=None)


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **options: Any,
) -> tuple[Tensor, None]:
    """The registered function: (B, H, T, D) tensors in, output (B, T_q, H, D_v).

    Without a listener in this thread it is SDPA, so that somebody else's run of the same model
    at the same time gets its ordinary result.
    """
    listener = _LISTENER.get()
    if listener is None:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **options)
    return listener.attend(module, query, key, value, attention_mask, **options), None


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)
AttentionInterface.register(WITH_MASKS, attend)
AttentionMaskInterface.register(WITH_MASKS, eager_mask)


def reachable(model: Any) -> bool:
    """Whether this model's layers ask the registry; attention code of its own never does."""
    return any(True for _ in _settable(model))


def fused(model: nn.Module) -> bool:
    """Whether every part of this model runs under SDPA; a detector's backbone may not."""
    return all(m._supports_sdpa for m in model.modules() if isinstance(m, PreTrainedModel))


def _settable(model: nn.Module) -> Iterator[PreTrainedModel]:
    """The model, or of one that only joins others (an ear and a language model) those parts."""
    if isinstance(model, PreTrainedModel) and model._can_set_attn_implementation():
        yield model
    else:
        for child in model.children():
            yield from _settable(child)


@contextmanager
def listening(model: PreTrainedModel, listener: Listener) -> Iterator[None]:
    """Send every attention call of this model to the listener, for the body of a with."""
    with running(model, NAME):
        token = _LISTENER.set(listener)
        try:
            yield
        finally:
            _LISTENER.reset(token)


@contextmanager
def running(model: Any, implementation: str | None) -> Iterator[None]:
    """Run a model in eval mode, without gradients, under one attention implementation.

    implementation: None leaves it as it is, which is all that attention code of the model's own
    allows.

    Whatever happens in the body, every module's training flag and every config's attention
    implementation is as it was afterwards. Hold the model's lock around it.
    """
    modes = [(module, module.training) for module in model.modules()]
    configs = {id(config): config for config in _configs(model)}
    before = {key: config._attn_implementation_internal for key, config in configs.items()}
    # BigBird leaves its sparse attention for good after the first short text.
    kinds = [
        (module, module.attention_type)
        for module in model.modules()
        if hasattr(module, "set_attention_type") and hasattr(module, "attention_type")
    ]
    try:
        model.eval()
        if implementation is not None:
            for part in _settable(model):
                masks = implementation == NAME and not part._supports_sdpa
                part.set_attn_implementation(WITH_MASKS if masks else implementation)
        with torch.no_grad():
            yield
    finally:
        for module, kind in kinds:
            if module.attention_type != kind:
                module.set_attention_type(kind)
        for key, config in configs.items():
            config._attn_implementation_internal = before[key]
        for module, training in modes:
            module.training = training


def _configs(model: nn.Module) -> Iterator[Any]:
    """The config of the model and of every part of it, at any depth."""
    waiting = [m.config for m in model.modules() if isinstance(m, PreTrainedModel)]
    while waiting:
        config = waiting.pop()
        yield config
        waiting += [part for key in config.sub_configs if (part := getattr(config, key, None))]

"""A cache really allocated: the architecture is run once, and its cache's tensors are counted.

On torch's meta device no weight and no key takes any memory, so that models of any size can be
asked; shapes, dtypes and storages are those of a real run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attnviz.errors import AttnvizError
from attnviz.kv_cache.checks import whole
from attnviz.kv_cache.held import DTYPES
from attnviz.kv_cache.layers import Linear
from attnviz.kv_cache.measurement import Measured, measure
from attnviz.kv_cache.sizes import size
from attnviz.kv_cache.spec import CacheSpec
from attnviz.kv_cache.stand_ins import config_of

if TYPE_CHECKING:
    import torch

_ENCODERS = ("bert", "longformer", "big_bird", "nystromformer")
_ON_CPU = ("bart", "mbart", "pegasus", "marian", "led", *_ENCODERS[1:])
"""Their forward pass asks a tensor for its value, which the meta device has not."""
_STEP_BY_STEP = 64
"""Tokens that a model with states is given: it loops over them, and its states do not grow."""
_ENCODERS_READ = 64


@dataclass(frozen=True)
class Allocated:
    """Measured beside predicted, for the same tokens. equal: to the byte, nominal and held."""

    measured: Measured
    predicted_bytes: int
    predicted_held_bytes: int
    length: int  # tokens in the cache, which may be fewer than asked for
    note: str  # how it was run

    @property
    def equal(self) -> bool:
        found = self.measured.nominal_bytes, self.measured.held_bytes
        return found == (self.predicted_bytes, self.predicted_held_bytes)


def allocate(
    spec: CacheSpec,
    length: int,
    *,
    batch: int = 1,
    dtype: str = "bfloat16",
    decoded: int = 0,
    encoder_length: int | None = None,
) -> Allocated:
    """Run the spec's architecture on `length` tokens and compare its cache with the prediction.

    decoded: how many of the tokens come one at a time after the prompt. Raises AttnvizError for
    a spec that transformers has no architecture for.
    """
    tokens = whole("length (the context in tokens)", length)
    if any(isinstance(layer, Linear) for layer in spec.layers):
        tokens = min(tokens, _STEP_BY_STEP)
    if whole("decoded (tokens after the prompt)", decoded, least=0) >= tokens:
        raise AttnvizError(
            f"A prompt of at least one token comes first: decoded must be below {tokens:,}, not "
            f"{decoded:,}."
        )
    if dtype not in DTYPES:
        raise AttnvizError(f"transformers allocates {', '.join(DTYPES)}, not {dtype}.")
    options = {"batch": batch, "dtype": dtype, "encoder_length": encoder_length}
    expected = size(spec, tokens, accounting="transformers", decoded=decoded, **options)
    config = config_of(spec)
    device = "cpu" if config.model_type in _ON_CPU else "meta"
    cache = _cache(config, tokens, batch, dtype, decoded, expected.encoder_length, device)
    made = "on the meta device, where nothing takes memory" if device == "meta" else "on the CPU"
    return Allocated(
        measure(cache),
        expected.total_bytes,
        expected.held_bytes or 0,
        tokens,
        f"{type(config).__name__}, {tokens:,} tokens, {made}",
    )


def library() -> Any:
    """transformers, imported by one thread at a time."""
    from attnviz.models.library import alone

    with alone():
        import transformers
    return transformers


def _cache(
    config: Any, tokens: int, batch: int, dtype: str, decoded: int, source: int, device: str
) -> Any:
    """What the model hands back as its cache; None from one that keeps none."""
    import torch

    from attnviz.models.library import alone

    transformers = library()
    encoder_decoder = bool(getattr(config, "is_encoder_decoder", False))
    kind = "AutoModelForSeq2SeqLM" if encoder_decoder else "AutoModelForCausalLM"
    if config.model_type in _ENCODERS:
        kind, tokens = "AutoModel", min(tokens, _ENCODERS_READ)
    with alone(), torch.device(device), torch.no_grad():
        model = getattr(transformers, kind).from_config(config, dtype=getattr(torch, dtype)).eval()

        def ids(length: int) -> torch.Tensor:
            return torch.zeros(batch, length, dtype=torch.long)

        if kind == "AutoModel":
            return _held(model(input_ids=ids(tokens)))
        prompt: dict[str, Any] = {"input_ids": ids(tokens - decoded)}
        if encoder_decoder:
            prompt = {"input_ids": ids(source), "decoder_input_ids": ids(tokens - decoded)}
        out = model(**prompt, use_cache=True)
        for _ in range(decoded):
            step: dict[str, Any] = {"input_ids": ids(1)}
            if encoder_decoder:
                step = {
                    "encoder_outputs": (out.encoder_last_hidden_state,),
                    "decoder_input_ids": ids(1),
                }
            name = next(n for n in ("cache", "past_key_values", "cache_params") if n in out)
            out = model(**step, **{name: _held(out)}, use_cache=True)
        return _held(out)


def _held(out: Any) -> Any:
    names = ("cache", "past_key_values", "cache_params")
    return next((out[name] for name in names if name in out), None)

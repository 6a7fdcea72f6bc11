"""What sharing keys and values costs: KV heads averaged into fewer, without training again.

Ainslie et al. 2023 (GQA), section 2.1: mean-pooled key and value projections are where their
uptraining starts. Nothing is trained here, so the loss is that of the start, not of a real GQA.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.decoding.stepping import Report, quiet, read, step, turn
from attnviz.errors import AttnvizError
from attnviz.kv_cache import measure
from attnviz.kv_cache.fields import grouped
from attnviz.models import LoadedModel
from attnviz.models.library import alone


@dataclass(frozen=True)
class Shared:
    """One text read by a model and by the same one with fewer KV heads."""

    labels: tuple[str, ...]
    kv_heads: tuple[int, int]  # before, after
    cache_bytes: tuple[int, int]  # of the text, from the tensors
    losses: tuple[tuple[float, ...], tuple[float, ...]]  # nats, of each token after the first

    @property
    def loss(self) -> tuple[float, float]:
        """Means."""
        before, after = (sum(each) / len(each) for each in self.losses)
        return before, after


def share(
    model: LoadedModel, text: str, n_kv_heads: int = 1, *, progress: Report = quiet
) -> Shared:
    """Bytes and loss of a text, before and after pooling."""
    tokens = read(model, text)
    if len(tokens.ids) < 2:
        raise AttnvizError("A loss needs at least two tokens; type a longer text.")
    found = []
    with turn(model, progress):
        for place, each in enumerate((model, pooled(model, n_kv_heads))):
            progress(place / 2, "Reading the text" + (" with shared keys and values" * place))
            with torch.no_grad():
                logits, cache = step(each, tokens.ids)
            found.append((_losses(logits, tokens.ids), measure(cache).nominal_bytes))
    (losses, size), (losses_after, size_after) = found
    heads = (model.n_kv_heads, n_kv_heads)
    return Shared(tokens.labels, heads, (size, size_after), (losses, losses_after))


def pooled(model: LoadedModel, n_kv_heads: int) -> LoadedModel:
    """The model with mean-pooled key and value projections; all other weights are its own."""
    config = model.config
    if getattr(config, "model_type", "") not in ("llama", "mistral", "qwen2", "qwen3"):
        raise AttnvizError(
            f"How to pool the keys of {model.title} is not known here; choose a model of the "
            "Llama, Mistral or Qwen kind."
        )
    grouped(model.n_kv_heads, n_kv_heads)
    changed = type(config).from_dict({**config.to_dict(), "num_key_value_heads": n_kv_heads})
    weights = {
        name: _mean(tensor, model.n_kv_heads, n_kv_heads)
        if name.rsplit(".", 2)[-2] in ("k_proj", "v_proj")
        else tensor
        for name, tensor in model.model.state_dict().items()
    }
    with alone(), torch.device("meta"):
        made = type(model.model)(changed)
    made.load_state_dict(weights, assign=True, strict=True)
    _restore_buffers(made, model)
    made.tie_weights()
    made.set_attn_implementation("sdpa")
    title = f"{model.title}, {n_kv_heads} KV heads"
    return LoadedModel(model.name, title, model.kind, made.eval(), model.tokenizer)


def _restore_buffers(made: torch.nn.Module, model: LoadedModel) -> None:
    """Rotary frequencies are no weights: they come from the model itself."""
    for name, buffer in model.model.named_buffers():
        owner, _, last = name.rpartition(".")
        made.get_submodule(owner).register_buffer(last, buffer, persistent=False)


def _mean(tensor: Float[Tensor, "rows ..."], heads: int, fewer: int) -> Float[Tensor, "fewer ..."]:
    """Rows of each of `heads` heads, averaged into `fewer` of them."""
    shape = tensor.shape[1:]
    width = tensor.shape[0] // heads
    grouped_rows = tensor.reshape(fewer, heads // fewer, width, *shape)
    return grouped_rows.mean(1).reshape(fewer * width, *shape)


def _losses(logits: Float[Tensor, "tokens vocabulary"], ids: tuple[int, ...]) -> tuple[float, ...]:
    chosen = torch.tensor(ids[1:])
    return tuple(torch.nn.functional.cross_entropy(logits[:-1], chosen, reduction="none").tolist())

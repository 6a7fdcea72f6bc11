"""How much each head adds to the logit of one next token, read off the residual stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float32
from torch import Tensor, nn

from attnviz.errors import ModelError
from attnviz.interventions.heads import reading
from attnviz.interventions.projections import text_outlets
from attnviz.interventions.reading import prepared_of, read
from attnviz.interventions.running import implementation
from attnviz.interventions.stream import adding
from attnviz.models.interface import running
from attnviz.models.loaded import LoadedModel, require_loaded
from attnviz.models.tokens import screen_tokens


@dataclass(frozen=True, eq=False)
class HeadLogits:
    """The parts of one logit that heads wrote; the rest is from the MLPs, embedding and biases."""

    token_id: int
    token: str  # the same, as shown
    logit: float  # the whole, as the model gave it
    layers: tuple[int, ...]
    parts: Float32[np.ndarray, "layers heads"]  # NaN: no head

    def table(self) -> pd.DataFrame:
        """A row a head, the largest part first: layer, head, logit."""
        rows = [
            (layer, head, float(part))
            for layer, parts in zip(self.layers, self.parts, strict=True)
            for head, part in enumerate(parts)
            if not np.isnan(part)
        ]
        table = pd.DataFrame(rows, columns=["layer", "head", "logit"])
        return table.iloc[np.argsort(-table["logit"].abs())].reset_index(drop=True)

    @property
    def rest(self) -> float:
        """What no head wrote."""
        return self.logit - float(np.nansum(self.parts.astype(np.float64)))


def head_logits(model: LoadedModel, text: str, token_id: int | None = None) -> HeadLogits:
    """Direct logit attribution (Elhage et al. 2021, A Mathematical Framework, 'Logit
    attribution'): (z_h W_O^h / sigma * gamma) . u for each head h, at the last position.

    z_h is the head's output there, sigma the last norm's scale in this run, gamma its weight, u
    the token's row of the output layer. token_id: the likeliest next token unless given.

    Raises ModelError for a model whose last norm or residual stream is of another make.
    """
    require_loaded(model)
    model = model.reader()
    places = text_outlets(model)
    head: Any = model.model.get_output_embeddings() if model.kind == "decoder" else None
    norm = _last_norm(model)
    if head is None or norm is None:
        raise ModelError(
            f"{model.title} has no output layer after one last norm, so its logits cannot be "
            "split into heads; choose a decoder such as Llama's or GPT-2's family."
        )
    seen: dict[str, Tensor] = {}

    def watch(_: nn.Module, inputs: tuple[Any, ...]) -> None:
        seen["stream"] = inputs[0].detach()[0, -1].clone()

    with model.lock, running(model.model, implementation(model)):
        handle = norm.register_forward_pre_hook(watch)
        try:
            with reading(places) as kept, adding(model, places) as require_added:
                run = read(model, prepared_of(model, text))
            require_added()
            factor = _factor(model, norm, head, seen["stream"], run.rows[-1])
        finally:
            handle.remove()
    token = run.followed(token_id)
    stream = seen["stream"].double()
    direction = factor * _gain(norm) * head.weight[token].detach().double()  # (d_model,)
    centred = isinstance(norm, nn.LayerNorm)
    if centred:
        direction = direction - direction.mean()  # as the norm subtracts the stream's mean
        stream = stream - stream.mean()
    direction = direction / (stream.pow(2).mean() + _epsilon(norm)).sqrt()
    parts = np.full((len(places), max(p.n_heads for p in places)), np.nan, dtype=np.float32)
    for row, place in enumerate(places):
        heads = kept[place.name][0, -1].double()
        for number in range(place.n_heads):
            written = heads[place.features(number)] @ place.weight_of(number).double()
            parts[row, number] = float(written @ direction)
    return HeadLogits(
        token_id=token,
        token=screen_tokens(model.tokenizer, [token])[0][0],
        logit=float(run.rows[-1, token]),
        layers=tuple(place.layer for place in places),
        parts=parts,
    )


def _factor(model: LoadedModel, norm: Any, head: Any, stream: Tensor, logits: Tensor) -> float:
    """What the output layer's numbers are multiplied by; ModelError where that is not all."""
    with torch.no_grad():
        plain = head(norm(stream[None, None]))[0, 0].double().cpu()
    factor = float((logits.double() @ plain) / plain.square().sum())
    if (factor * plain - logits).norm() > 1e-2 * logits.norm():
        raise ModelError(
            f"{model.title} does more to its logits than multiply them (soft-capping), so they "
            "cannot be split into heads; remove heads instead."
        )
    return factor


def _last_norm(model: LoadedModel) -> nn.Module | None:
    """The norm that the output layer reads, outside of every layer."""
    body = getattr(model.model, getattr(model.model, "base_model_prefix", ""), model.model)
    for name in ("norm", "ln_f", "final_layer_norm", "final_layernorm"):
        for holder in (body, getattr(body, "decoder", None)):
            norm = getattr(holder, name, None)
            if isinstance(norm, nn.Module) and hasattr(norm, "weight"):
                return norm
    return None


def _gain(norm: Any) -> Tensor:
    """gamma, or 1 + gamma where the norm keeps its weight around 0 (Gemma, Qwen3-Next)."""
    probe = torch.ones_like(norm.weight)
    probe[0] = -1.0  # of mean square 1, so that an RMS norm gives gamma itself
    if isinstance(norm, nn.LayerNorm):
        return norm.weight.detach().double()
    with torch.no_grad():
        return (norm(probe[None])[0] / probe).double()


def _epsilon(norm: Any) -> float:
    return float(getattr(norm, "variance_epsilon", getattr(norm, "eps", 1e-6)))

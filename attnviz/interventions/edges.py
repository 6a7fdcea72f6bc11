"""Hiding keys from queries in a run: the layers' masks with a few more pairs forbidden."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from attnviz.errors import AttnvizError, ModelError
from attnviz.interventions.edits import Edit, HideEdge, HideToken
from attnviz.models.interface import listening, reachable
from attnviz.models.library import alone
from attnviz.models.loaded import LoadedModel
from attnviz.models.stacks import group_of, layer_number

with alone():
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

Hide = HideToken | HideEdge


class Hider:
    """Listens to a run (models.interface.Listener) and forbids pairs in it."""

    def __init__(self, model: LoadedModel, edits: Sequence[Hide]) -> None:
        self._two_stacks = model.kind == "encoder_decoder"
        if self._two_stacks and any(edit.group is None for edit in edits):
            raise AttnvizError(
                f"{model.title} has the groups encoder, decoder and cross; say in which of them "
                "to hide."
            )
        self._model, self._edits = model, edits
        self._hidden: set[Hide] = set()  # those by which a query lost a key
        self._heard: dict[str, list[int | None]] = {}  # the layers that attended, by their group
        self._names = {module: name for name, module in model.model.named_modules()}

    def attend(
        self,
        module: nn.Module,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        **options: Any,
    ) -> Tensor:
        name = self._names.get(module, "")
        layer, group = layer_number(name), group_of(name, self._two_stacks)
        self._heard.setdefault(group, []).append(layer)
        own = [
            edit
            for edit in self._edits
            if edit.layer in (None, layer) and edit.group in (None, group)
        ]
        attention = _plain_attention(module, options)
        if own:
            shape = (query.shape[1], query.shape[2], key.shape[2])
            allowed = _allowed(mask, shape, _causal(module, options), query.device)
            before = allowed.clone()
            for edit in own:
                if _forbid(edit, allowed, before, across=group == "cross"):
                    self._hidden.add(edit)
            _require_a_key(allowed, layer)
            mask = _joined(mask, allowed, query.dtype)
        if attention is not sdpa_attention_forward and mask is None and _causal(module, options):
            shape = (1, query.shape[2], key.shape[2])
            mask = _joined(None, _allowed(None, shape, True, query.device), query.dtype)
        return attention(module, query, key, value, mask, **options)[0]

    def require_hidden(self) -> None:
        """After the run: AttnvizError or ModelError for an edit that did not do what it says."""
        title, n_layers = self._model.title, self._model.n_layers
        for edit in self._edits:
            if edit.group is not None and edit.group not in self._heard:
                raise AttnvizError(
                    f"{title} has the groups {', '.join(self._heard) or 'of no attention'}; "
                    f"{edit.group!r} is not there."
                )
            layers = [layer for group in self._heard for layer in self._heard[group]]
            if edit.layer is None and not self._two_stacks and len(layers) < n_layers:
                raise ModelError(
                    f"Only {len(layers)} of the {n_layers} layers of {title} have attention in "
                    "which pairs can be hidden; the others keep a state that every token is "
                    f"written into. Name one of the layers {_listed(layers)} in the edit."
                )
            if edit in self._hidden:
                continue
            if edit.layer is not None and edit.layer not in layers:
                raise AttnvizError(
                    f"Layer {edit.layer} of {title} has no attention in which pairs can be "
                    f"hidden; layers with one: {_listed(layers)}."
                )
            raise AttnvizError(
                f"Nothing to hide: {edit} already, the masks of {title} being what they are. "
                "In a causal model a token reads itself and earlier ones only."
            )


def _listed(layers: Sequence[int | None]) -> str:
    numbers = sorted({layer for layer in layers if layer is not None})
    if numbers == list(range(len(numbers))) and len(numbers) > 2:
        return f"0 to {numbers[-1]}"
    return ", ".join(map(str, numbers)) or "none"


@contextmanager
def hiding(model: LoadedModel, edits: Sequence[Edit]) -> Iterator[None]:
    """Run under these hidden pairs.

    Raises ModelError for attention code of a model's own, and AttnvizError or ModelError after
    the run for an edit by which no query lost a key.
    """
    own = [edit for edit in edits if isinstance(edit, Hide)]
    if not own:
        yield
        return
    if not reachable(model.model):
        raise ModelError(
            f"{model.title} computes attention in code of its own, where single pairs cannot be "
            "hidden; remove heads instead, or choose another model."
        )
    hider = Hider(model, own)
    with listening(model.model, hider):
        yield
    hider.require_hidden()


def _plain_attention(module: nn.Module, options: dict[str, Any]) -> Any:
    """SDPA, or the model's own eager code for what SDPA cannot do."""
    if all(options.get(word) is None for word in ("softcap", "s_aux", "sinks")):
        return sdpa_attention_forward
    own = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    if own is None:
        raise ModelError(
            f"{type(module).__name__} has soft-capping or sinks, and no plain "
            "form in which pairs can be hidden; remove heads instead."
        )
    return own


def _causal(module: nn.Module, options: dict[str, Any]) -> bool:
    causal = options.get("is_causal")
    return bool(getattr(module, "is_causal", True) if causal is None else causal)


def _allowed(
    mask: Tensor | None, shape: tuple[int, int, int], causal: bool, device: torch.device
) -> Tensor:
    """(heads, queries, keys), True where this layer may look without any edit."""
    heads, queries, keys = shape
    if mask is None:
        allowed = torch.ones(queries, keys, dtype=torch.bool, device=device)
        return (allowed.tril() if causal else allowed).expand(heads, -1, -1).clone()
    table = mask[0]
    if table.dtype != torch.bool:
        table = table > torch.finfo(table.dtype).min / 2
    return table.expand(heads, queries, keys).clone()


def _forbid(edit: Hide, allowed: Tensor, before: Tensor, *, across: bool) -> bool:
    """Hide it in the table, (heads, queries, keys); whether it could be read before any edit.

    across: queries and keys are two texts' tokens, where none is both.
    """
    heads, queries, keys = allowed.shape
    if edit.head is not None and not 0 <= edit.head < heads:
        raise AttnvizError(f"There are heads 0 to {heads - 1}; head {edit.head} is not there.")
    which = slice(None) if edit.head is None else edit.head
    if isinstance(edit, HideEdge):
        if not (0 <= edit.query < queries and 0 <= edit.key < keys):
            raise AttnvizError(
                f"The map has {queries} queries and {keys} keys; {edit} lies outside it."
            )
        allowed[which, edit.query, edit.key] = False
        return bool(before[which, edit.query, edit.key].any())
    if not 0 <= edit.position < keys:
        raise AttnvizError(f"There are tokens 0 to {keys - 1}; {edit.position} is not there.")
    readers = before[which, :, edit.position].clone()
    if not across:  # a token still reads itself
        readers[..., edit.position] = False
    allowed[which, :, edit.position] &= ~readers
    return bool(readers.any())


def _require_a_key(allowed: Tensor, layer: int | None) -> None:
    empty = ~allowed.any(-1)
    if bool(empty.any()):
        head, query = (int(it) for it in empty.nonzero()[0])
        raise AttnvizError(
            f"Token {query} would have nothing left to read in layer {layer}, head {head}; leave "
            "it one key."
        )


def _joined(mask: Tensor | None, allowed: Tensor, dtype: torch.dtype) -> Tensor:
    """An additive mask (1, heads, queries, keys): what was added before, and the hidden pairs."""
    added = torch.zeros(allowed.shape, dtype=dtype, device=allowed.device)
    if mask is not None and mask.dtype != torch.bool:
        added = added + mask[0]
    return added.masked_fill(~allowed, torch.finfo(dtype).min)[None]

"""What attention starts from: tokens and their embeddings, random or from a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz import seeded
from attnviz.embeddings import drawn, trained
from attnviz.errors import AttnvizError
from attnviz.input_checks import listed, require_embeddings, require_room, require_size
from attnviz.positions import sinusoidal

Positions = Literal["none", "sinusoidal", "rotary"]
TEXT_MODEL = "smollm2-135m"
"""The bundled model whose tokenizer splits texts, and whose embedding table can be used."""


@dataclass(frozen=True, init=False)
class Inputs:
    """A sequence of embeddings, and what its tokens are called on screen.

    tokens default to positions: "0", "1", .. Positions "sinusoidal" are in the embeddings
    already (summands then holds token and position vectors apart); "rotary" ones are applied to
    queries and keys by the variant that runs. notes tell, in plain sentences, every choice made.
    """

    embeddings: Float[Tensor, "batch length d_model"]
    tokens: tuple[str, ...]
    token_details: tuple[str, ...]  # hover texts, one a token; may be empty
    notes: tuple[str, ...]
    positions: Positions
    summands: tuple[Tensor, Tensor] | None
    grid: tuple[int, int] | None  # rows and columns of an image's patches

    def __init__(
        self,
        embeddings: Tensor,
        tokens: Sequence[str] | None = None,
        *,
        token_details: Sequence[str] = (),
        notes: Sequence[str] = (),
        positions: str = "none",
        summands: tuple[Tensor, Tensor] | None = None,
        grid: tuple[int, int] | None = None,
    ) -> None:
        require_embeddings(embeddings)
        length = embeddings.shape[1]
        if tokens is not None and not all(isinstance(token, str) for token in listed(tokens)):
            raise AttnvizError(f"tokens must be a list of words; received {tokens!r}.")
        if tokens is not None and len(tokens) != length:
            raise AttnvizError(
                f"There must be one token for each of the {length} embeddings; received "
                f"{len(tokens)}."
            )
        if positions not in get_args(Positions):
            known = ", ".join(get_args(Positions))
            raise AttnvizError(f"positions must be one of {known}; received {positions!r}.")
        if grid is not None and grid[0] * grid[1] != length:
            raise AttnvizError(
                f"A grid must have a place for each of the {length} embeddings; received "
                f"{grid[0]} rows and {grid[1]} columns."
            )
        words = tuple(map(str, range(length))) if tokens is None else tuple(tokens)
        object.__setattr__(self, "embeddings", embeddings)
        object.__setattr__(self, "tokens", words)
        object.__setattr__(self, "token_details", tuple(token_details))
        object.__setattr__(self, "notes", tuple(notes))
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "summands", summands)
        object.__setattr__(self, "grid", grid)

    @property
    def length(self) -> int:
        return self.embeddings.shape[1]

    @property
    def d_model(self) -> int:
        return self.embeddings.shape[2]


def random_inputs(
    length: int, d_model: int, batch: int = 1, seed: int = 0, positions: str = "none"
) -> Inputs:
    """Embeddings whose components are drawn from N(0, 1), fixed by the seed.

    Token t has the same vector in a longer sequence with the same seed.
    """
    for word, size in (("length", length), ("d_model", d_model), ("batch", batch)):
        require_size(word, size)
    require_room(length, d_model, batch)
    rows = [seeded.normal((batch, d_model), seed, "row", t) for t in range(length)]
    return placed(
        torch.stack(rows, dim=1),
        [f"x{t}" for t in range(length)],
        positions=positions,
        notes=[f"Embeddings: each component drawn from N(0, 1), seed {seed}."],
    )


@dataclass(frozen=True)
class Tokens:
    """A text as the tokenizer sees it."""

    ids: tuple[int, ...]
    labels: tuple[str, ...]  # as shown
    details: tuple[str, ...]  # hover texts


def tokenize(text: str, max_tokens: int | None = None) -> Tokens:
    """The tokens of a text, with the bundled SmolLM2 tokenizer.

    Raises AttnvizError for a text without tokens, or with more than max_tokens.
    """
    if not isinstance(text, str):
        raise AttnvizError(f"The text must be a str; received {type(text).__name__}.")
    if not text:
        raise AttnvizError("The text is empty; type at least one character.")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise AttnvizError("The text holds half of a character (a lone surrogate); delete it.")
    return _tokens(text, max_tokens)


@lru_cache(maxsize=32)  # a page asks again at every change of any control
def _tokens(text: str, max_tokens: int | None) -> Tokens:
    from attnviz.models.loading import load_tokenizer
    from attnviz.models.tokens import screen_tokens

    tokenizer = load_tokenizer(TEXT_MODEL)
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids = encoded["input_ids"]
    if max_tokens is not None and len(ids) > max_tokens:
        raise AttnvizError(
            f"The text makes {len(ids):,} tokens and at most {max_tokens} are taken here, where "
            f"every number is shown; shorten it."
        )
    labels, details = screen_tokens(tokenizer, ids, text, encoded["offset_mapping"])
    return Tokens(tuple(ids), tuple(labels), tuple(details))


def text_inputs(
    text: str,
    d_model: int = 64,
    seed: int = 0,
    embedding: str = "random",
    positions: str = "none",
    *,
    beside: str = "",
    max_tokens: int | None = None,
) -> Inputs:
    """The tokens of a text and a vector of d_model components for each; batch 1.

    embedding "random" draws one vector a token id from N(0, 1): the same token has the same
    vector, and no two words are related. "model" takes the rows of SmolLM2's embedding table, so
    that related words are near, and reduces them (embeddings.near_preserving); give the other
    text of cross-attention as `beside`, so that both are reduced together and share one space;
    d_model is then at most the table's own width, 576. positions: none, sinusoidal or rotary.
    Raises AttnvizError for an empty text.
    """
    require_size("d_model", d_model)
    tokens = tokenize(text, max_tokens)
    require_room(len(tokens.ids), d_model, 1)
    if embedding == "random":
        vectors = drawn(tokens.ids, d_model, seed)
        note = f"Embeddings: one vector drawn from N(0, 1) for each token, seed {seed}."
    elif embedding == "model":
        from attnviz.models.loading import embedding_table

        table = embedding_table(TEXT_MODEL)
        if d_model > table.shape[1]:
            raise AttnvizError(
                f"d_model must be at most {table.shape[1]} with embedding='model', the width of "
                f"SmolLM2's own table; received {d_model:,}."
            )
        others = tokenize(beside, max_tokens).ids if beside else ()
        vectors = trained(table, tokens.ids, others, d_model, seed)
        note = (
            f"Embeddings: rows of SmolLM2's own table, reduced to the {d_model} directions in "
            f"which the text's tokens differ most, turned at random (seed {seed}) and scaled to "
            f"a mean square of 1."
        )
    else:
        raise AttnvizError(f"embedding must be 'random' or 'model'; received {embedding!r}.")
    return placed(
        vectors[None],
        tokens.labels,
        positions=positions,
        token_details=tokens.details,
        notes=[f"Tokens: SmolLM2's tokenizer, {len(tokens.ids)} of them.", note],
    )


def placed(
    vectors: Float[Tensor, "batch length d_model"],
    tokens: Sequence[str],
    *,
    positions: str,
    notes: Sequence[str],
    token_details: Sequence[str] = (),
) -> Inputs:
    """Inputs in float32 from token vectors, with positions told in the chosen way."""
    summands = None
    if positions == "sinusoidal":
        added = sinusoidal(*vectors.shape[1:]).expand_as(vectors)
        summands = (vectors.float(), added.float())
        vectors = vectors + added
    return Inputs(
        vectors.float(),
        tokens,
        token_details=token_details,
        notes=[*notes, POSITION_NOTES.get(positions, "")],
        positions=positions,
        summands=summands,
    )


POSITION_NOTES = {
    "none": "Positions: none, so the order of the tokens shows only through the mask.",
    "sinusoidal": "Positions: sinusoids added to the embeddings (Vaswani et al. 2017, section "
    "3.5).",
    "rotary": "Positions: queries and keys turned by rotary embeddings (Su et al. 2021), base "
    "10,000.",
}

"""A mask put together from a few choices, as a page or a form offers them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from attnviz.errors import AttnvizError
from attnviz.masks.bidirectional import bidirectional
from attnviz.masks.blocks import big_bird, block_local
from attnviz.masks.causal import causal
from attnviz.masks.dilated_window import dilated_window
from attnviz.masks.documents import document_ids
from attnviz.masks.global_tokens import global_tokens
from attnviz.masks.mask import Mask
from attnviz.masks.padding import padding
from attnviz.masks.prefix import prefix
from attnviz.masks.sliding_window import sliding_window


@dataclass(frozen=True)
class Sizes:
    """The numbers that the families take."""

    window: int = 3  # keys
    prefix: int = 2  # keys
    length: int = 1  # real tokens; the rest is padding
    n_tokens: int = 1  # all of them
    dilation: int = 2  # from one key of the window to the next
    globals: int = 1  # tokens, at the start
    block: int = 2  # tokens
    random: int = 1  # blocks of keys for each block of queries
    document: int = 4  # tokens of each document but perhaps the last
    seed: int = 0  # of the random blocks


FAMILIES: dict[str, Callable[[Sizes], Mask]] = {
    "causal": lambda sizes: causal(),
    "bidirectional": lambda sizes: bidirectional(),
    "window": lambda sizes: sliding_window(sizes.window),
    "dilated": lambda sizes: dilated_window(sizes.window, sizes.dilation),
    "global": lambda sizes: global_tokens(range(min(sizes.globals, sizes.n_tokens))),
    "block": lambda sizes: block_local(sizes.block),
    "big_bird": lambda sizes: big_bird(sizes.block, sizes.random, sizes.seed),
    "documents": lambda sizes: document_ids(
        token // sizes.document for token in range(sizes.n_tokens)
    ),
    "prefix": lambda sizes: prefix(sizes.prefix),
    "padding": lambda sizes: padding([sizes.length]),
}


def choose(
    families: Sequence[str],
    sizes: Sizes,
    *,
    join: str = "and",
    invert: bool = False,
) -> Mask:
    """The named families joined by "and" or "or", in the order of FAMILIES; none: bidirectional.

    >>> choose(["window", "causal"], Sizes(window=2))
    causal() & sliding_window(2)
    """
    unknown = [word for word in families if word not in FAMILIES]
    if unknown:
        raise AttnvizError(f"There is no mask {unknown[0]!r}; the masks are {', '.join(FAMILIES)}.")
    if join not in ("and", "or"):
        raise AttnvizError(f"Masks are joined by 'and' or 'or'; received {join!r}.")
    chosen = [build(sizes) for word, build in FAMILIES.items() if word in families]
    mask = reduce(and_ if join == "and" else or_, chosen) if chosen else bidirectional()
    return ~mask if invert else mask

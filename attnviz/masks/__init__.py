"""Attention masks: which query may look at which key.

A mask is boolean and True means allowed. Build one from predicates and compose them:

>>> from attnviz import masks
>>> local = masks.causal() & masks.sliding_window(2)
>>> local.name
'causal and sliding window 2'
>>> local.allowed(3, 3)[0, 0].int()
tensor([[1, 0, 0],
        [1, 1, 0],
        [0, 1, 1]], dtype=torch.int32)

The other conventions (0/1, additive, PyTorch's two polarities) are converted in
`attnviz.masks.conventions`, and nowhere else.
"""

from attnviz.masks.bidirectional import Bidirectional, bidirectional
from attnviz.masks.blocks import big_bird, block_local, edge_blocks, random_blocks
from attnviz.masks.causal import Causal, causal
from attnviz.masks.conventions import (
    from_additive,
    from_key_padding,
    from_multihead,
    from_sdpa,
    from_zero_one,
    to_additive,
    to_finite_additive,
    to_key_padding,
    to_multihead,
    to_sdpa,
    to_zero_one,
)
from attnviz.masks.dilated_window import dilated_window
from attnviz.masks.documents import document_ids, documents
from attnviz.masks.global_tokens import global_tokens, longformer
from attnviz.masks.mask import And, Mask, Not, Or
from attnviz.masks.padding import Padding, padding
from attnviz.masks.prefix import Prefix, prefix
from attnviz.masks.receptive_field import receptive_field
from attnviz.masks.resolve import as_allowed, empty_rows, require_no_empty_rows
from attnviz.masks.sliding_window import SlidingWindow, sliding_window
from attnviz.masks.tensor import FromTensor, from_tensor

__all__ = [
    "And",
    "Bidirectional",
    "Causal",
    "FromTensor",
    "Mask",
    "Not",
    "Or",
    "Padding",
    "Prefix",
    "SlidingWindow",
    "as_allowed",
    "bidirectional",
    "big_bird",
    "block_local",
    "causal",
    "dilated_window",
    "document_ids",
    "documents",
    "edge_blocks",
    "empty_rows",
    "from_additive",
    "from_key_padding",
    "from_multihead",
    "from_sdpa",
    "from_tensor",
    "from_zero_one",
    "global_tokens",
    "longformer",
    "padding",
    "prefix",
    "random_blocks",
    "receptive_field",
    "require_no_empty_rows",
    "sliding_window",
    "to_additive",
    "to_finite_additive",
    "to_key_padding",
    "to_multihead",
    "to_sdpa",
    "to_zero_one",
]

"""Masks put together from a page's choices."""

from __future__ import annotations

import pytest

from attnviz import masks
from attnviz.errors import AttnvizError
from attnviz.masks.choice import FAMILIES, Sizes, choose

SIZES = Sizes(window=3, prefix=2, length=4, n_tokens=5, document=3)


@pytest.mark.parametrize(
    ("families", "options", "expected"),
    [
        ([], {}, masks.bidirectional()),
        (["causal"], {}, masks.causal()),
        (["window", "causal"], {}, masks.causal() & masks.sliding_window(3)),
        (["causal", "prefix"], {"join": "or"}, masks.causal() | masks.prefix(2)),
        (["dilated"], {}, masks.dilated_window(3, 2)),
        (
            ["window", "global"],
            {"join": "or"},
            masks.sliding_window(3) | masks.global_tokens([0]),
        ),
        (["big_bird"], {}, masks.big_bird(2, 1)),
        (["block"], {}, masks.block_local(2)),
        (["documents"], {}, masks.document_ids([0, 0, 0, 1, 1])),
        (["padding"], {"invert": True}, ~masks.padding([4])),
        (
            ["causal", "window", "padding"],
            {"join": "and", "invert": True},
            ~(masks.causal() & masks.sliding_window(3) & masks.padding([4])),
        ),
    ],
)
def test_choices_become_the_mask_that_python_would_build(families, options, expected):
    assert choose(families, SIZES, **options) == expected


def test_every_family_can_be_chosen():
    for word in FAMILIES:
        assert choose([word], SIZES).allowed(5, 5).shape == (1, 1, 5, 5)


def test_what_is_not_on_offer_is_refused():
    with pytest.raises(AttnvizError, match="no mask 'wavy'; the masks are causal"):
        choose(["wavy"], SIZES)
    with pytest.raises(AttnvizError, match="'and' or 'or'; received 'xor'"):
        choose(["causal"], SIZES, join="xor")

"""Changes as they are typed: each form, and a sentence for what is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from attnviz.errors import AttnvizError
from attnviz.interventions import HideEdge, HideToken, Knockout, Patch, Scale
from attnviz.interventions.written import (
    parse_edges,
    parse_heads,
    parse_patches,
    parse_scales,
    parse_tokens,
)


def test_every_form_is_read() -> None:
    assert parse_heads("17.3, cross:0.2  17.3", "mean") == (
        Knockout(17, 3, "mean"),
        Knockout(0, 2, "mean", "cross"),
    )
    assert parse_scales("17.3 x 2; 1.0*-0.5,encoder:2.1×0") == (
        Scale(17, 3, 2.0),
        Scale(1, 0, -0.5),
        Scale(2, 1, 0.0, "encoder"),
    )
    assert parse_patches("1.2 3.4", "b") == (Patch(1, 2, "b"), Patch(3, 4, "b"))
    assert parse_tokens("2, cross:3 2") == (HideToken(2), HideToken(3, group="cross"))
    assert parse_edges("9>3, 9 > 4 in 17, decoder:5>0 in 17.3") == (
        HideEdge(9, 3),
        HideEdge(9, 4, 17),
        HideEdge(5, 0, 17, 3, "decoder"),
    )
    for parse in (parse_heads, parse_scales, parse_tokens, parse_edges):
        assert parse(" , ") == ()
    assert parse_patches("", "") == ()
    assert str(Scale(2, 1, 0.5, "encoder")) == "encoder layer 2, head 1 times 0.5"
    assert str(HideEdge(5, 0, 17, 3)) == "token 5 cannot read 0 in layer 17, head 3"


@pytest.mark.parametrize(
    ("parse", "typed", "words"),
    [
        (parse_heads, "17", "written layer.head"),
        (parse_heads, "side:1.2", "written layer.head"),
        (parse_heads, "1.2 " * 65, "At most 64 changes"),
        (parse_scales, "17.3", "as in 17.3 x 2"),
        (parse_scales, "17.3 x nan", "as in 17.3 x 2"),
        (parse_tokens, "-1", "by position"),
        (parse_tokens, "²", "by position"),
        (parse_edges, "3", "query>key"),
        (parse_edges, "9>3 in head 2", "query>key"),
        (lambda words: parse_patches(words, ""), "1.2", "type it"),
    ],
)
def test_what_is_none_is_said(parse: Callable[[str], object], typed: str, words: str) -> None:
    with pytest.raises(AttnvizError, match=words):
        parse(typed)

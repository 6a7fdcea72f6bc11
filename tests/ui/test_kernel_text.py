"""A kernel that a visitor types."""

from __future__ import annotations

import pytest
import torch

import attnviz as av
from attnviz.ui.kernel_text import options, rows_of


def test_what_is_typed_is_what_slides_over_the_map() -> None:
    x = av.random_inputs(6, 16)
    plain = av.run("multi_head", x)
    given = {"convolution": "before", "head_mixing": "none"}
    same = av.run("multi_token", x, **given | options("0 0 0; 0 1 0", given))
    assert torch.allclose(same.weights, plain.weights, atol=1e-6)
    moved = av.run("multi_token", x, **given | options("0,0,0;0,0,1", given))
    wanted = torch.nn.functional.pad(plain["scaled"].tensor, (0, 1))[..., 1:].softmax(-1)
    assert torch.allclose(moved.weights, wanted, atol=1e-6)
    earlier = av.run("multi_token", x, **given | options("1; 0", given))
    shifted = torch.nn.functional.pad(plain["scaled"].tensor, (0, 0, 1, 0))[..., :-1, :]
    assert torch.allclose(earlier["convolved_before"].tensor, shifted, atol=1e-6)
    assert options("  ", given) == {}
    assert options("1", {"convolution": "none"})["parameters"] == {}
    assert set(options("1", {"convolution": "both"})["parameters"]) == {
        "kernel_before", "kernel_after",
    }  # fmt: skip


BAD = {
    "words": "a b",
    "ragged": "1 2 3; 1 2",
    "empty row": "1 0 1;",
    "too long": " ".join(["1"] * 33),
    "too many": ";".join(["1"] * 17),
    "infinite": "inf",
    "not a number": "0 nan 0",
    "huge": "1e9",
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_what_is_no_kernel_is_told(text: str) -> None:
    with pytest.raises(av.AttnvizError, match="The kernel"):
        rows_of(text)


def test_an_even_row_and_weights_that_do_not_fit_are_told_by_the_run() -> None:
    x = av.random_inputs(4, 16)
    with pytest.raises(av.AttnvizError, match="key_window must be odd"):
        av.run("multi_token", x, **options("1 2", {}))
    with pytest.raises(av.AttnvizError, match="no weight 'W_x' in this run; its weights are W_q"):
        av.run("multi_head", x, parameters={"W_x": [1.0]})
    with pytest.raises(av.AttnvizError, match=r"W_q must have the shape \(16, 16\).*\(2, 2\)"):
        av.run("multi_head", x, parameters={"W_q": torch.eye(2)})
    with pytest.raises(av.AttnvizError, match="rows of one length"):
        av.run("multi_head", x, parameters={"W_q": [[1.0], [1.0, 2.0]]})
    with pytest.raises(av.AttnvizError, match="finite"):
        av.run("multi_head", x, parameters={"W_q": torch.full((16,), torch.inf)})
    ones = av.run("multi_head", x, parameters={"W_q": torch.zeros(16)})
    assert torch.allclose(ones.weights, torch.full((), 0.25))

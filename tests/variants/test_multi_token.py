"""Multi-token attention against the paper's sums, written out loop by loop."""

from __future__ import annotations

import pytest
import torch

import attnviz as av
from attnviz import masks
from attnviz.variants.multi_token import convolve, mix_heads
from tests.variants.cases import TOLERANCE, answering, asking, largest_difference

OPTIONS = [
    {"convolution": "before", "head_mixing": "none"},
    {"convolution": "after", "head_mixing": "none"},
    {"convolution": "none", "head_mixing": "before"},
    {"convolution": "none", "head_mixing": "after"},
    {"convolution": "both", "head_mixing": "both"},
]


def summed(map_, kernel) -> torch.Tensor:
    """Equation 4's double sum: theta_{i', j'} times the score of query i - i' and key j - j'."""
    H, c_q, c_k = kernel.shape
    n_queries, n_keys = map_.shape[-2:]
    out = torch.zeros_like(map_)
    for h in range(H):
        for i in range(n_queries):
            for j in range(n_keys):
                for di in range(c_q):
                    for dj in range(-(c_k // 2), c_k // 2 + 1):
                        if i - di >= 0 and 0 <= j - dj < n_keys:
                            theta = kernel[h, c_q - 1 - di, c_k // 2 - dj]
                            out[:, h, i, j] += theta * map_[:, h, i - di, j - dj]
    return out


def blended(map_, W, place: str, allowed) -> torch.Tensor:
    if f"kernel_{place}" in W:
        map_ = summed(torch.where(allowed, map_, 0.0), W[f"kernel_{place}"])
    if f"mixing_{place}" in W:
        mixing = torch.block_diag(*W[f"mixing_{place}"])  # (H, H)
        map_ = torch.einsum("gh,bhij->bgij", mixing, map_)
    return map_


def of_the_paper(trace: av.Trace, mask: masks.Mask | None) -> tuple[torch.Tensor, torch.Tensor]:
    """(weights, heads), equations 5 to 7."""
    W = trace.parameters
    query, key, value = (trace[f"{word}_heads"].tensor for word in ("query", "key", "value"))
    mask = masks.bidirectional() if mask is None else mask
    allowed = mask.allowed(query.shape[2], key.shape[2])
    scores = torch.einsum("bhid,bhjd->bhij", query, key) / query.shape[-1] ** 0.5
    scores = blended(scores, W, "before", allowed)
    shares = scores.masked_fill(~allowed, -torch.inf).softmax(-1)
    weights = torch.where(allowed, blended(shares, W, "after", allowed), 0.0)
    return weights, weights @ value


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("mask", [None, masks.causal(), masks.padding([7, 4])], ids=str)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_is_the_papers(options: dict, mask: masks.Mask | None, dtype: str) -> None:
    trace = av.run("multi_token", asking(dtype), mask=mask, query_window=2, key_window=3, **options)
    weights, heads = of_the_paper(trace, mask)
    assert largest_difference(trace.weights, weights) < 2 * TOLERANCE[dtype]
    assert largest_difference(trace["heads"].tensor, heads) < 5 * TOLERANCE[dtype]
    after = {"after", "both"} & set(options.values())
    assert trace.weights_kind == ("effective" if after else "softmax")


def test_the_paper_windows_and_cross_attention() -> None:
    trace = av.run(
        "multi_token", asking("float64"), context=answering("float64"), n_heads=4,
        query_window=6, key_window=11, head_group=4, convolution="both", head_mixing="both",
    )  # fmt: skip
    weights, heads = of_the_paper(trace, None)
    assert largest_difference(trace.weights, weights) < 1e-12
    assert largest_difference(trace["heads"].tensor, heads) < 1e-12


def test_nothing_asked_for_is_multi_head() -> None:
    x = asking("float64")
    plain = av.run("multi_head", x, mask=masks.causal())
    trace = av.run("multi_token", x, mask=masks.causal(), convolution="none", head_mixing="none")
    assert torch.equal(trace.weights, plain.weights)
    assert torch.equal(trace.output, plain.output)


def test_the_identity_kernel_changes_nothing() -> None:
    map_ = torch.rand(2, 4, 5, 6, dtype=torch.float64)
    kernel = torch.zeros(4, 3, 5, dtype=torch.float64)
    kernel[:, -1, 2] = 1.0
    assert torch.equal(convolve(map_, kernel), map_)
    eye = torch.eye(2, dtype=torch.float64).expand(2, -1, -1)
    assert torch.equal(mix_heads(map_, eye), map_)


def test_without_the_first_mask_the_future_would_leak() -> None:
    """A changed last token moves no earlier score, but would if hidden scores were blended in."""
    x = asking("float64")
    changed = x.embeddings.clone()
    changed[:, -1] += 1.0
    runs = [
        av.run("multi_token", av.Inputs(e), mask=masks.causal()) for e in (x.embeddings, changed)
    ]
    before, after = (trace.weights[:, :, :-1] for trace in runs)
    assert largest_difference(before, after) == 0
    kernel = runs[0].parameters["kernel_before"]
    unmasked = [convolve(trace["scaled"].tensor, kernel)[:, :, :-1] for trace in runs]
    seen = masks.causal().allowed(7, 7)[..., :-1, :]
    leak = (unmasked[0] - unmasked[1]).masked_fill(~seen, 0.0)
    assert float(leak.abs().max()) > 0.1


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("layer", "rest"), [(1, 0.8), (4, 0.2 + 0.6 * 2.718281828**-0.9)])
def test_the_norm_of_each_head_is_torchs_and_falls_with_depth(
    layer: int, rest: float, dtype: str
) -> None:
    trace = av.run("multi_token", asking(dtype), head_norm="group", layer=layer)
    plain = av.run("multi_token", asking(dtype))
    heads, normed = trace["heads"].tensor, trace["heads_normed"].tensor
    assert torch.equal(heads, plain["heads"].tensor)
    wanted = rest * torch.nn.functional.rms_norm(heads, heads.shape[-1:], eps=1e-5)
    assert largest_difference(normed, wanted) < max(1e-8, TOLERANCE[dtype])
    joined = normed.transpose(1, 2).flatten(2) @ trace.parameters["W_o"]
    assert largest_difference(trace.output, joined) < 5 * TOLERANCE[dtype]
    assert largest_difference(trace.output, plain.output) > 0.1
    double = normed.double()
    assert float((double.square().mean(-1).sqrt() - rest).abs().max()) < 1e-3


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ({"key_window": 4}, "key_window must be odd.*received 4"),
        ({"head_group": 3}, "groups of head_group = 3; choose a size that divides it"),
    ],
)
def test_bad_windows_are_told(sizes: dict, sentence: str) -> None:
    with pytest.raises(av.AttnvizError, match=sentence):
        av.run("multi_token", asking(), **sizes)

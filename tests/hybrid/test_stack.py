"""A stack against the same layers put together from other people's parts."""

from __future__ import annotations

from inspect import unwrap

import pytest
import torch
from torch.nn import functional as F
from transformers.models.qwen3_next.modeling_qwen3_next import torch_recurrent_gated_delta_rule

import attnviz as av
from attnviz.errors import TooLargeError
from attnviz.hybrid import Decoder, Pattern, run, step_seconds
from attnviz.hybrid.patterns import linear_mixers
from tests.variants.cases import largest_difference

H, D = 2, 16


def heads(x: torch.Tensor, n: int) -> torch.Tensor:
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


def theirs(name: str, x: torch.Tensor, seed: int) -> torch.Tensor:
    """One layer with torch's or transformers' own attention, and our weights."""
    sizes = {"n_heads": H} | ({"n_kv_heads": 1} if name == "grouped_query" else {})
    W = {word: m.float() for word, m in av.variants.parameters(name, D, seed, **sizes).items()}
    q, k, v = (x @ W[word] for word in ("W_q", "W_k", "W_v"))
    if name == "grouped_query":
        y = F.scaled_dot_product_attention(
            heads(q, H), heads(k, 1), heads(v, 1), is_causal=True, enable_gqa=True
        ).transpose(1, 2)
    else:
        g = -W["A_log"].exp() * F.softplus(x @ W["W_dt"] + W["dt_bias"])
        y, _ = unwrap(torch_recurrent_gated_delta_rule)(
            *(heads(part, H).transpose(1, 2) for part in (q, k, v)),
            g=g,
            beta=(x @ W["W_beta"]).sigmoid(),
            initial_state=None,
            output_final_state=False,
            use_qk_l2norm_in_kernel=True,
        )
    return y.flatten(2) @ W["W_o"]


def test_every_layer_reads_what_the_layers_before_made() -> None:
    x = av.random_inputs(12, D, seed=3)
    pattern = Pattern.of("2L F", n_layers=6)
    stack = run(pattern, x, n_heads=H, seed=5)
    stream = x.embeddings.float()
    for index, name in enumerate(pattern.mixers):
        rms = stream.pow(2).mean(-1, keepdim=True).add(1e-6).sqrt()
        stream = stream + theirs(name, stream / rms, 5 + index)
    assert largest_difference(stack.output, stream) < 1e-5
    assert stack.maps.shape == (6, H, 12, 12)
    assert [layer.weights_kind for layer in stack.layers] == [
        "effective",
        "effective",
        "softmax",
    ] * 2


PAIRS = [(name, "grouped_query") for name in linear_mixers()] + [("kimi_delta", "latent")]


@pytest.mark.parametrize(("linear", "full"), PAIRS)
def test_token_by_token_is_the_whole_at_once(linear: str, full: str) -> None:
    x = av.random_inputs(20, D, seed=1)
    x = av.Inputs(x.embeddings.double())
    pattern = Pattern("LFLLF", linear, full)
    whole = run(pattern, x, n_heads=H).output
    decoder = Decoder.of(pattern, D, n_heads=H, dtype=torch.float64)
    steps = [decoder.step(x.embeddings[:, t : t + 1]) for t in range(20)]
    assert largest_difference(torch.cat(steps, dim=1), whole) < 1e-10


def test_a_state_keeps_its_size_and_a_cache_grows() -> None:
    rows = list(step_seconds(Pattern("LF"), 32, [10, 1000], repeats=2, n_heads=2, n_kv_heads=1))
    state = 2 * 16 * 16 * 4
    assert [kept for _, _, kept in rows] == [state + n * 2 * 16 * 4 for n in (10, 1000)]
    assert all(seconds > 0 for _, seconds, _ in rows)


def test_a_step_after_a_long_prefix_costs_a_cache_more_and_a_state_nothing() -> None:
    """Sizes at which the keys read are much more work than everything else."""
    times = {}
    for letters in ("L", "F"):
        rows = step_seconds(Pattern(letters * 2), 256, [256, 65_536], n_kv_heads=4, repeats=5)
        times[letters] = [seconds for _, seconds, _ in rows]
    assert times["F"][1] > 4 * times["F"][0]
    assert times["L"][1] < 2 * times["L"][0]


def test_what_does_not_fit_is_told() -> None:
    with pytest.raises(TooLargeError, match=r"maps of 2 layers for 1,000,000 tokens.*shorten"):
        run(Pattern("LF"), av.Inputs(torch.zeros(1, 1_000_000, 2)), n_heads=H)
    with pytest.raises(TooLargeError, match=r"cache of 1,000,000,000 tokens.*shorter prefix"):
        list(step_seconds(Pattern("LF"), D, [10**9], n_heads=H))


def test_groups_that_do_not_divide_are_told() -> None:
    with pytest.raises(av.AttnvizError, match="n_heads = 4 heads cannot share n_kv_heads = 3"):
        run(Pattern("F"), av.random_inputs(3, D), n_heads=4, n_kv_heads=3)

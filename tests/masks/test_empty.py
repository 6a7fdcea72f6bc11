"""What each convention makes of a query with no key, as run here."""

from __future__ import annotations

import pytest
import torch
from transformers.models.llama.modeling_llama import eager_attention_forward

from attnviz import masks
from attnviz.errors import AttnvizError
from attnviz.masks.empty import empty_row_outcomes, verdict_of


def head(queries: int = 5, keys: int = 7) -> tuple[torch.Tensor, ...]:
    random = torch.manual_seed(0)
    return (
        torch.randn(queries, 4, generator=random),
        torch.randn(keys, 4, generator=random),
        torch.randn(keys, 4, generator=random),
    )


def outcomes() -> dict[str, object]:
    q, k, v = head()
    allowed = masks.causal().allowed(5, 7)[0, 0].clone()
    allowed[3] = False
    return {outcome.convention: outcome for outcome in empty_row_outcomes(q, k, v, allowed, 3)}


def test_the_formula_says_nan_sdpa_zeros_and_the_finite_form_uniform():
    verdicts = {name: outcome.verdict for name, outcome in outcomes().items()}
    assert verdicts == {
        "The formula: softmax with −∞ added": "nan",
        "PyTorch SDPA, boolean mask": "zeros",
        "PyTorch SDPA, −∞ added": "zeros",
        "nn.MultiheadAttention, with weights": "nan",
        "nn.MultiheadAttention, without weights": "zeros",
        "transformers, eager: lowest finite number added": "uniform",
    }


def test_the_finite_form_is_what_transformers_computes():
    q, k, v = head()
    allowed = masks.causal().allowed(5, 7).clone()
    allowed[0, 0, 3] = False
    module = torch.nn.Module().eval()
    module.num_key_value_groups = 1
    output, weights = eager_attention_forward(
        module,
        q[None, None],
        k[None, None],
        v[None, None],
        masks.to_finite_additive(allowed),
        scaling=0.5,
    )
    ours = outcomes()["transformers, eager: lowest finite number added"]
    assert torch.allclose(ours.weights, weights[0, 0, 3], atol=1e-7)
    assert torch.allclose(ours.output, output[0, 3, 0], atol=1e-6)


def test_a_uniform_row_averages_every_value_even_the_hidden_ones():
    uniform = outcomes()["transformers, eager: lowest finite number added"]
    assert torch.allclose(uniform.output, head()[2].mean(0), atol=1e-6)


def test_a_row_with_a_key_is_refused():
    q, k, v = head()
    with pytest.raises(AttnvizError, match="Query 2 may look at some key"):
        empty_row_outcomes(q, k, v, torch.ones(5, 7, dtype=torch.bool), 2)


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        ([0.0, 0.0], "zeros"),
        ([0.5, 0.5], "uniform"),
        ([0.4, 0.6], "weighted"),
        ([float("nan"), 0.0], "nan"),
    ],
)
def test_verdicts(row, verdict):
    assert verdict_of(torch.tensor(row)) == verdict

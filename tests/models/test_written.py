"""The recorded generation on Home is a real one: written again here, its rows to 1e-5."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.figures.written import written_figure
from attnviz.models import LoadedModel, written

kept = written.load("smollm2-135m")


@pytest.mark.models
def test_the_model_writes_these_tokens_again(smollm2: LoadedModel) -> None:
    # All positions in one run, without a cache: another path than the one that was recorded.
    with torch.no_grad():
        logits = smollm2.model(torch.tensor([kept.token_ids])).logits[0]
    likeliest = logits.argmax(-1).tolist()
    assert len(kept.token_ids) - kept.n_prompt == 24
    assert list(kept.token_ids[kept.n_prompt :]) == likeliest[kept.n_prompt - 1 : -1]


@pytest.mark.models
def test_every_row_is_computed_again(smollm2: LoadedModel) -> None:
    capture = av.capture(smollm2, smollm2.tokenizer.decode(kept.token_ids))
    assert kept.token_ids == capture.token_ids
    assert kept.tokens == capture.tokens
    again = capture.weights(kept.layer, kept.head)
    np.testing.assert_allclose(kept.weights, again, rtol=0, atol=1e-5)
    np.testing.assert_allclose(kept.weights.sum(1), 1, atol=1e-5)


def test_its_figure_grows_by_a_token_a_step() -> None:
    figure = written_figure(kept)
    (panel,) = figure.panels
    assert panel.grows_from == kept.n_prompt
    assert figure.n_steps == 25
    assert panel.values is kept.weights
    assert not kept.weights[panel.blocked].any()
    assert "Recorded, not computed now" in kept.caption


def test_it_needs_no_torch_and_cannot_be_changed() -> None:
    code = (
        "import sys; from attnviz.models import written; written.load('smollm2-135m').caption; "
        "print(sorted({'torch', 'transformers', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    with pytest.raises(ValueError, match="read-only"):
        kept.weights[0, 0] = 2


def test_a_generation_that_is_not_there_is_named() -> None:
    with pytest.raises(AttnvizError, match=r"record_generation\.py"):
        written.load("gpt9")

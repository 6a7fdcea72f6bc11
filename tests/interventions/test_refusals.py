"""What is not there, or would not be true, is refused in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from attnviz.corpus.measuring import change_over, metrics_over
from attnviz.errors import AttnvizError, ModelError
from attnviz.interventions import head_logits, intervene
from attnviz.models import LoadedModel
from tests.models.shrink import shrink
from tests.models.tiny import TEXT, build, llama


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return llama()


ASKED: dict[str, Callable[[LoadedModel], Any]] = {
    "tokens 0 to 63; 64 is": lambda model: head_logits(model, TEXT, 64),
    "tokens 0 to 63; -1 is": lambda model: head_logits(model, TEXT, -1),
    "; 99 is not there": lambda model: intervene(model, TEXT, []).divergence(99),
    "; -9 is not there": lambda model: intervene(model, TEXT, []).next_tokens(3, -9),
    r"one or more strings; received \[\]": lambda model: metrics_over(model, []),
    r"one or more strings; received \(\)": lambda model: change_over(model, (), []),
}


@pytest.mark.parametrize("said", ASKED)
def test_what_is_not_there(model: LoadedModel, said: str) -> None:
    with pytest.raises(AttnvizError, match=said):
        ASKED[said](model)


def test_where_nothing_moved_the_likeliest_tokens_come_first(model: LoadedModel) -> None:
    table = intervene(model, TEXT, []).next_tokens(5)
    assert (table["change"] == 0).all()
    assert table["rank_before"].tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("family", "changes"),
    [
        ("gemma2", {}),  # a norm behind the heads
        ("granite", {"residual_multiplier": 0.25}),
    ],
)
def test_a_logit_is_not_split_where_heads_are_not_simply_added(
    family: str, changes: dict[str, float]
) -> None:
    with pytest.raises(ModelError, match="does more to what its heads write"):
        head_logits(build(shrink(family, **changes)), TEXT)


def test_parts_are_multiplied_as_the_logits_are() -> None:
    one, half = (
        head_logits(build(shrink("granite", logits_scaling=by)), TEXT, 7) for by in (1.0, 2.0)
    )
    assert half.logit == pytest.approx(one.logit / 2, rel=1e-4)
    np.testing.assert_allclose(half.parts, one.parts / 2, rtol=1e-4, atol=1e-7)
    capped = build(shrink("vaultgemma", final_logit_softcapping=0.05))
    with pytest.raises(ModelError, match="more to its logits than multiply"):
        head_logits(capped, TEXT)

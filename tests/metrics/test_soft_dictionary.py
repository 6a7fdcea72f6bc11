"""A soft dictionary: exact at temperature 0, and an answer to every question."""

from __future__ import annotations

import pytest
import torch

from attnviz.errors import AttnvizError
from attnviz.metrics.soft_dictionary import LEGS, look_up, look_up_word


def entries() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    keys = torch.randn(5, 8, dtype=torch.float64)
    return keys / keys.norm(dim=1, keepdim=True), torch.randn(5, 3, dtype=torch.float64)


@pytest.mark.parametrize("entry", range(5))
def test_temperature_to_zero_is_the_exact_lookup(entry: int) -> None:
    keys, values = entries()
    distances = []
    for temperature in (1.0, 0.1, 0.01):
        found = look_up(keys[entry], keys, values, temperature)
        assert found.best == entry
        assert torch.equal(found.exact, values[entry])
        distances.append(float((found.answer - values[entry]).norm()))
    assert distances[0] > distances[1] > distances[2]
    assert distances[2] < 1e-6


def test_an_absent_key_still_gets_an_answer() -> None:
    keys, values = entries()
    absent = torch.linalg.qr(torch.cat([keys, torch.randn(3, 8).double()]).T)[0][:, 6]
    assert float((keys @ absent).abs().max()) < 1e-9  # it fits no key at all
    found = look_up(absent, keys, values, 0.1)
    assert torch.allclose(found.answer, values.mean(dim=0))  # and gets a bit of everything
    assert float(found.weights.sum()) == pytest.approx(1)


def test_towards_infinity_it_is_the_mean() -> None:
    keys, values = entries()
    assert torch.allclose(look_up(keys[0], keys, values, 1e9).answer, values.mean(dim=0))


def test_temperature_zero_is_refused() -> None:
    keys, values = entries()
    with pytest.raises(AttnvizError, match="temperature must be above 0; received 0"):
        look_up(keys[0], keys, values, 0.0)


@pytest.mark.models
def test_legs() -> None:
    for word, legs in LEGS.items():
        found = look_up_word(word, LEGS, 0.02)
        assert float(found.fits.max()) == pytest.approx(1)
        assert float(found.answer) == pytest.approx(legs, abs=1e-3)
    dog = look_up_word("dog", LEGS, 0.05)
    assert list(LEGS)[dog.best] == "cat"
    assert 3.5 < float(dog.answer) < 4
    with pytest.raises(AttnvizError, match="word to look up is empty"):
        look_up_word("  ", LEGS, 0.1)

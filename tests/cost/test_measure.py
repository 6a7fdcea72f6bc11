"""Measured cost: forms that agree with each other, exponents, memory, refusals, stopping."""

from __future__ import annotations

import os
import pickle

import pandas as pd
import pytest
import torch

import attnviz as av
from attnviz import masks
from attnviz.cost.forms import Form, find, forms
from attnviz.cost.measure import CostJob, fits
from attnviz.cost.peak import peak_bytes
from attnviz.cost.windowed import windowed
from attnviz.errors import AttnvizError, TooLargeError
from attnviz.settings import settings
from attnviz.variants.softmax import attend

CPU = torch.device("cpu")


@pytest.mark.parametrize(("length", "window"), [(70, 16), (64, 16), (5, 16), (33, 1)])
def test_a_window_in_blocks_is_softmax_under_the_windows_mask(length: int, window: int) -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, length, 8, dtype=torch.float64) for _ in range(3))
    allowed = (masks.causal() & masks.sliding_window(window)).allowed(length, length)
    wanted = attend(q, k, v, allowed=allowed, scale=8**-0.5)["output"]
    assert torch.allclose(windowed(q, k, v, window), wanted, atol=1e-12)


@pytest.mark.parametrize("variant", av.variants.names())
def test_the_forms_of_a_variant_agree(variant: str) -> None:
    own = [form for form in forms().values() if form.variant == variant]
    outputs = {form.kernel: form.prepare(70, 2, seed=1)() for form in own}
    assert len(outputs) >= 2 or not av.variants.find(variant).fast
    outputs.pop("windowed", None)
    first, *others = outputs.values()
    for other in others:
        assert torch.allclose(first, other, atol=1e-4, rtol=1e-4)


def test_every_variant_has_its_forms() -> None:
    assert {form.variant for form in forms().values()} == set(av.variants.names())
    with pytest.raises(AttnvizError, match="There is no form 'x'"):
        find("x")


def test_peak_memory_is_that_of_tensors_alive_together() -> None:
    def three_at_once() -> torch.Tensor:
        a = torch.zeros(1000)
        b = a + 1  # two
        c = a.view(10, 100) * b.view(10, 100)  # three, and two views
        del a, b
        return c + c  # the first two are gone: never more than three

    assert peak_bytes(three_at_once, CPU) == 3 * 4000
    assert peak_bytes(lambda: torch.zeros(1000).add_(1), CPU) == 4000


def test_the_naive_form_holds_maps_and_the_estimate_is_above_what_is_held() -> None:
    held = {}
    for word in ("multi_head/naive", "multi_head/sdpa", "linear/chunked"):
        for length in (256, 1024):
            compute = find(word).prepare(length, 2, seed=0)
            held[word, length] = peak_bytes(compute, CPU)
            assert held[word, length] < find(word).estimate(length, 2)
    one_map = 2 * 1024**2 * 4
    assert 3 * one_map < held["multi_head/naive", 1024] < 8 * one_map
    assert held["multi_head/sdpa", 1024] < one_map / 4
    assert held["linear/chunked", 1024] < one_map


def test_fitted_exponents_are_those_of_power_laws() -> None:
    lengths = [512, 1024, 2048, 4096]
    rows = [
        {
            "form": "a",
            "title": "A",
            "length": n,
            "seconds": 3e-9 * n**2,
            "cpu_seconds": 5e-9 * n**2,
            "bytes": 7 * n,
        }
        for n in lengths
    ]
    rows[0]["seconds"] = 1.0  # below what is fitted
    (fit,) = fits(pd.DataFrame(rows)).to_dict(orient="records")
    assert fit["time"] == pytest.approx(2)
    assert fit["memory"] == pytest.approx(1)


def test_it_measures_and_reports() -> None:
    told: list[float] = []
    job = CostJob(("multi_head/naive", "delta_rule/chunked"), (256, 512))
    table = job.run(lambda fraction, text: told.append(fraction))
    assert len(table) == 4
    assert (table["seconds"] > 0).all()
    assert (table["bytes"] > 0).all()
    assert told == sorted(told)
    assert pickle.loads(pickle.dumps(job)) == job  # noqa: S301 - our own bytes


def test_stopping_ends_it_between_two_repeats() -> None:
    def stop(fraction: float, text: str) -> None:
        if fraction > 0.1:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        CostJob(("multi_head/sdpa",), (256, 512)).run(stop)


def test_what_would_not_fit_is_refused_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNVIZ_MEMORY_GIB", "0.5")
    settings.cache_clear()
    began: list[str] = []
    monkeypatch.setattr(Form, "prepare", lambda *_: began.append("computed"))
    try:
        with pytest.raises(TooLargeError, match=r"every map written, at 16,384 tokens and 1 head"):
            CostJob(("multi_head/sdpa", "multi_head/naive"), (256, 16384)).run(lambda *_: None)
    finally:
        settings.cache_clear()
    assert not began


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"forms": ()}, "No form is chosen"),
        ({"forms": ("x",)}, "There is no form 'x'"),
        ({"lengths": (1000, 2000)}, "received 1000, 2000"),
        ({"lengths": (1024,)}, "At least two lengths"),
        ({"n_heads": 99}, "n_heads must be from 1 to 16; received 99"),
    ],
)
def test_what_is_not_on_offer_is_a_sentence(options: dict, words: str) -> None:
    with pytest.raises(AttnvizError, match=words):
        CostJob(**({"forms": ("linear/chunked",)} | options)).run(lambda *_: None)


def test_exponents_tell_square_from_linear() -> None:
    """Measured: on a machine that is busy with other things the clock tells nothing, so there it
    is processor time that must fit; and another try is allowed."""
    wanted = {
        "multi_head/naive": (1.8, 2.5),
        "linear/chunked": (0.8, 1.35),
        "multi_head/windowed": (0.8, 1.35),
    }
    seen: dict[str, list[float]] = {word: [] for word in wanted}

    def left() -> list[str]:
        return [
            word
            for word, (low, high) in wanted.items()
            if not any(low <= exponent <= high for exponent in seen[word])
        ]

    for _ in range(3):
        busy = os.getloadavg()[0] > 0.75 * (os.cpu_count() or 1)
        found = fits(CostJob(tuple(left())).run(lambda *_: None))
        for word, exponent in zip(found["form"], found["cpu" if busy else "time"], strict=True):
            seen[word].append(exponent)
        if not left():
            return
    raise AssertionError(f"{left()} had exponents {seen}")

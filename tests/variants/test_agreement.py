"""What is said of a kernel beside the reference: measured, or the reason why it is not."""

from __future__ import annotations

import re
from functools import partial

import pytest
import torch

import attnviz as av
from attnviz.variants import agreement, kernels
from attnviz.variants.agreement import CHOICES, unavailable
from tests.variants.cases import fitting_mask


@pytest.mark.parametrize("kernel", [word for word in CHOICES if word != "flex"])
@pytest.mark.parametrize("name", ["multi_head", "linear", "hyena", "shifted_window", "linformer"])
def test_one_sentence_for_every_kernel(name: str, kernel: str) -> None:
    again = partial(av.run, name, av.random_inputs(9, 16), mask=fitting_mask(name))
    trace = again()
    said = agreement.agreement(trace, kernel, again)
    assert said.startswith("Computed on cpu in float32, every step kept")
    word = av.variants.find(name).fast if kernel == "fast" else kernel
    if word == "reference":
        assert said.endswith("(kernel: reference).")
    elif not word:
        assert said.endswith("has no other kernel.")
    elif word not in kernels.of(av.variants.find(name)):
        assert said.endswith(f"and {word!r} is none of them.")
    elif match := re.search(r"within ([\d.e-]+), of numbers", said):
        apart = float((again(kernel=word).output - trace.output).abs().max())
        assert float(match[1]) == pytest.approx(apart, rel=0.06, abs=1e-12)
        assert apart < 1e-5
    else:
        assert f"The kernel {word!r} cannot compute this" in said


def test_a_kernel_that_differs_would_be_told() -> None:
    again = partial(av.run, "multi_head", av.random_inputs(9, 16))
    said = agreement.agreement(again(), "fast", lambda **given: again(seed=1, **given))
    assert float(re.findall(r"within ([\d.e+-]+),", said)[0]) > 0.1


def test_what_is_not_here_has_a_reason() -> None:
    reasons = unavailable(torch.device("cpu"))
    assert {"cudnn", "fla"} <= set(reasons)
    assert set(reasons) < set(CHOICES)
    assert all(len(reason) > 20 for reason in reasons.values())

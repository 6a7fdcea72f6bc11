"""Every kernel that this machine has agrees with the readable reference; the others say why not."""

from __future__ import annotations

import shutil
import sys
from types import ModuleType
from typing import Any

import pytest
import torch

import attnviz as av
from attnviz.variants import kernels
from attnviz.variants.fla_kernels import KERNELS, in_triton, kind_of
from attnviz.variants.recurrence import Recurrence, recur
from tests.oracles import fla
from tests.variants.cases import largest_difference
from tests.variants.recurrent_cases import driven

RUNS = {
    "one head": ("scaled_dot_product", {}),
    "heads": ("multi_head", {}),
    "shared heads": ("grouped_query", {"n_kv_heads": 2}),
    "values of another width": ("multi_head", {"head_dim": 16, "v_head_dim": 8}),
    "latent": ("latent", {}),
}
MASKS = {"all": None, "causal": av.masks.causal(), "window": av.masks.sliding_window(5)}
NO_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
GPU = pytest.param("cuda", marks=[pytest.mark.gpu, NO_GPU])


def agrees(kernel: str, name: str, mask: Any, given: dict, place: str = "cpu") -> None:
    x = av.random_inputs(40, 64, batch=2, seed=1)
    dtype = "float32" if place == "cpu" else "bfloat16"
    options = {"mask": mask, "device": place, "dtype": dtype, **given}
    trace = av.run(name, x, **options)
    wanted, sizes = trace.output, (trace.dimensions["head_dim"], trace.dimensions["v_head_dim"])
    variant, kind = av.variants.find(name), getattr(torch, dtype)
    if why := kernels.why_not(kernel, variant, torch.device(place), kind, sizes, mask is not None):
        with pytest.raises(av.AttnvizError, match=f"The kernel '{kernel}' cannot compute this"):
            av.run(name, x, kernel=kernel, **options)
        pytest.skip(why)
    made = av.run(name, x, kernel=kernel, **options)
    close = 1e-5 if place == "cpu" else 0.05
    assert largest_difference(made.output, wanted) < close
    assert made.kernel == kernel


@pytest.mark.parametrize("place", ["cpu", GPU])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize(("name", "given"), RUNS.values(), ids=RUNS.keys())
@pytest.mark.parametrize("kernel", ["sdpa", *kernels.BACKENDS])
def test_pytorchs_kernels_agree(kernel: str, name: str, given: dict, mask: Any, place: str) -> None:
    agrees(kernel, name, mask, given, place)


@pytest.mark.parametrize("place", ["cpu", GPU])
def test_flex_attention_agrees(place: str) -> None:
    """Once: compiling takes most of ten seconds."""
    if not shutil.which("g++"):
        pytest.skip("no C++ compiler")
    agrees("flex", "grouped_query", av.masks.causal(), {"n_kv_heads": 2}, place)


def test_a_cpu_has_two_of_pytorchs_kernels() -> None:
    """Or the tests above would skip everything."""
    variant = av.variants.find("multi_head")
    cpu, sizes = torch.device("cpu"), (16, 16)
    had = {
        kernel: kernels.why_not(kernel, variant, cpu, torch.float32, sizes, True)
        for kernel in kernels.BACKENDS
    }
    assert had["flash"] == had["math"] == ""
    for kernel in ("efficient", "cudnn"):
        assert "PyTorch has no such kernel for float32, head sizes 16 and 16, a mask" in had[kernel]
        assert "choose kernel='sdpa'" in had[kernel]


def test_a_forced_kernel_is_the_one_that_computes() -> None:
    """Flash cannot take values of another width, which math can."""
    x = av.random_inputs(6, 16)
    av.run("multi_head", x, kernel="math", head_dim=4, v_head_dim=8)
    with pytest.raises(av.AttnvizError, match="no such kernel for float32, head sizes 4 and 8"):
        av.run("multi_head", x, kernel="flash", head_dim=4, v_head_dim=8)


REFUSED = {
    "unknown": ("multi_head", "fast", {}, "kernel must be 'reference' or 'sdpa' or 'flash'"),
    "another variant's": ("multi_head", "chunked", {}, "received 'chunked'"),
    "double flex": ("multi_head", "flex", {"dtype": "float64"}, "has no float64; choose"),
    "no GPU": ("delta_rule", "fla", {}, "need an NVIDIA GPU and this run is on cpu"),
}


@pytest.mark.parametrize(("name", "kernel", "given", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_run_says_why(name: str, kernel: str, given: dict, sentence: str) -> None:
    with pytest.raises(av.AttnvizError, match=sentence):
        av.run(name, av.random_inputs(4, 16), kernel=kernel, device="cpu", **given)


def naive(kind: tuple[str, str]) -> Any:
    """flash-linear-attention's readable torch form with its Triton kernel's own arguments."""

    def delta(q, k, v, beta, scale, initial_state, output_final_state):
        assert scale == q.shape[-1] ** -0.5  # the naive form knows no other
        heads_first = (x.transpose(1, 2) for x in (q, k, v, beta))
        rule = fla("delta_rule").delta_rule_recurrence
        out, state = rule(*heads_first, initial_state=initial_state)
        return out.transpose(1, 2), state

    def gla(q, k, v, gk, scale, initial_state, output_final_state):
        assert scale == q.shape[-1] ** -0.5
        return fla("gla").naive_recurrent_gla(q, k, v, gk, initial_state, output_final_state)

    return {
        ("erases", "no decay"): lambda: delta,
        ("erases", "head"): lambda: fla("gated_delta_rule").naive_recurrent_gated_delta_rule,
        ("erases", "channel"): lambda: fla("kda").naive_recurrent_kda,
        ("adds", "head"): lambda: fla("simple_gla").naive_recurrent_simple_gla,
        ("adds", "channel"): lambda: gla,
    }[kind]()


DRIVEN = {
    ("erases", "no decay"): driven(torch.float32, fastest=0.0, strongest=2.0),
    ("erases", "head"): driven(torch.float32, strongest=2.0),
    ("erases", "channel"): driven(torch.float32, channels=8),
    ("adds", "head"): driven(torch.float32, erases=False),
    ("adds", "channel"): driven(torch.float32, channels=8, erases=False),
}


@pytest.mark.parametrize(("kind", "recurrence"), DRIVEN.items(), ids=map(" ".join, DRIVEN))
def test_triton_kernels_are_given_what_they_need(
    kind: tuple[str, str], recurrence: Recurrence, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each replaced by the readable form with the same arguments: no GPU is needed for that."""
    module, name = KERNELS[kind]
    stand_in = ModuleType(module)
    setattr(stand_in, name, naive(kind))
    monkeypatch.setitem(sys.modules, module, stand_in)
    start = torch.rand(2, 3, 8, 5, generator=torch.Generator().manual_seed(0))
    wanted = recur(recurrence, start)
    output, state = in_triton(recurrence, start)
    assert kind_of(recurrence) == kind
    assert largest_difference(output, wanted.output) < 1e-5
    assert largest_difference(state, wanted.state) < 1e-5


@NO_GPU
@pytest.mark.gpu
@pytest.mark.parametrize("name", ["linear", "retention", "delta_rule", "gated_delta_rule"])
def test_triton_agrees(name: str) -> None:
    pytest.importorskip("fla")
    x = av.random_inputs(100, 256, seed=1)
    options: dict[str, Any] = {"device": "cuda", "dtype": "bfloat16", "n_heads": 4}
    wanted = av.run(name, x, kernel="chunked", **options).output
    made = av.run(name, x, kernel="fla", **options).output
    assert largest_difference(made, wanted) < 0.05 * float(wanted.abs().max())

"""What run() promises beyond the numbers: seeds, devices, and sentences for bad arguments."""

from __future__ import annotations

import pytest
import torch

import attnviz as av
from attnviz import masks
from attnviz.errors import EmptyRowError, TooLargeError
from tests.variants.cases import QUERIES, asking, fitting_mask
from tests.variants.recurrent_cases import RECURRENT

SOFTMAX = ("scaled_dot_product", "multi_head", "grouped_query")
OTHERS = (
    "additive",
    "latent",
    "gated_latent",
    "multi_token",
    "sparse_topk",
    "linformer",
    "shifted_window",
    "object_query",
)


def test_names_and_public_door() -> None:
    assert av.variants.names() == (*SOFTMAX, *OTHERS, *RECURRENT, "hyena")
    assert av.run is av.variants.run


@pytest.mark.parametrize("name", av.variants.names())
def test_seed_fixes_the_weights(name: str) -> None:
    x = asking()
    first, again = av.run(name, x, seed=1), av.run(name, x, seed=1)
    assert torch.equal(first.output, again.output)
    assert not torch.equal(first.output, av.run(name, x, seed=2).output)


def test_numbers_that_links_rely_on() -> None:
    """Changing how seeds become numbers would change the figure of every link ever shared."""
    trace = av.run("scaled_dot_product", av.random_inputs(4, 8, seed=0), mask=masks.causal())
    assert trace.weights[0, 0, -1].tolist() == pytest.approx(STORED, abs=1e-6)


STORED = [0.608256, 0.025875, 0.007681, 0.358188]


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", av.variants.names())
def test_number_formats(name: str, dtype: str) -> None:
    trace = av.run(name, asking(), mask=fitting_mask(name), dtype=dtype)
    assert trace.dtype == dtype
    assert {step.tensor.dtype for step in trace.steps} == {getattr(torch, dtype)}
    exact = av.run(name, asking(), mask=fitting_mask(name), dtype=torch.float64)
    assert torch.allclose(trace.weights.double(), exact.weights, atol=0.02, rtol=0.02)


@pytest.mark.parametrize("kernel", ["reference", "sdpa"])
@pytest.mark.parametrize("name", SOFTMAX)
def test_a_query_without_keys(name: str, kernel: str) -> None:
    mask = masks.causal() & ~masks.prefix(2)  # queries 0 and 1 see nothing
    batch_of_two = torch.cat([mask.allowed(QUERIES, QUERIES)] * 2)
    with pytest.raises(EmptyRowError, match=r"Query 0 .* and 3 more like it.*empty_rows"):
        av.run(name, asking(), mask=batch_of_two, kernel=kernel)
    trace = av.run(name, asking(), mask=mask, kernel=kernel, empty_rows="zero")
    assert bool((trace.output[:, :2] == 0).all())
    assert bool(trace.output.isfinite().all())
    if kernel == "reference":
        sums = trace.weights.sum(-1)
        assert bool((sums[..., :2] == 0).all())
        assert torch.allclose(sums[..., 2:], torch.ones(()))


BAD = {
    "unknown variant": (
        {"name": "flash"},
        "There is no variant 'flash'; the variants are scaled_dot_product, multi_head, "
        "grouped_query, additive",
    ),
    "unknown dimension": (
        {"name": "multi_head", "heads": 4},
        "multi_head has no dimension 'heads'; its dimensions are n_heads, head_dim, v_head_dim",
    ),
    "one head has no n_heads": ({"n_heads": 4}, "scaled_dot_product has no dimension 'n_heads'"),
    "zero dimension": ({"head_dim": 0}, "head_dim must be 1 or more; received 0"),
    "fractional dimension": ({"head_dim": 2.5}, "head_dim must be a whole number; received 2.5"),
    "indivisible model": (
        {"name": "multi_head", "n_heads": 5},
        "d_model = 24 cannot be dealt out evenly to n_heads = 5",
    ),
    "indivisible groups": (
        {"name": "grouped_query", "n_heads": 6, "n_kv_heads": 4},
        "n_heads = 6 query heads cannot share n_kv_heads = 4 .* choose one of 1, 2, 3, 6",
    ),
    "dtype": ({"dtype": "int8"}, "dtype must be one of float64, float32, .*; received 'int8'"),
    "torch dtype": ({"dtype": torch.int64}, "received torch.int64"),
    "kernel": ({"kernel": "chunked"}, "kernel must be 'reference' or 'sdpa' or 'flash'"),
    "empty rows": ({"empty_rows": "nan"}, "empty_rows must be 'error' or 'zero'"),
    "temperature": ({"temperature": 0.0}, "temperature must be a finite number above 0"),
    "scale": ({"scale": float("inf")}, "scale must be True, False or a finite number"),
    "device": ({"device": "abacus"}, "device must be auto, cpu"),
    "mask shape": ({"mask": torch.ones(3, 3, dtype=torch.bool)}, "The mask must fit"),
    "context width": ({"context": av.random_inputs(5, 8, batch=2)}, "same d_model.*24 and 8"),
    "context batch": ({"context": av.random_inputs(5, 24)}, "same batch size; received 2 and 1"),
    "context positions": (
        {"context": av.random_inputs(5, 24, batch=2, positions="rotary")},
        "positions in the same way; received 'none' and 'rotary'",
    ),
}


@pytest.mark.parametrize(("change", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_arguments_are_told_in_a_sentence(change: dict, sentence: str) -> None:
    arguments = {"name": "scaled_dot_product", "inputs": asking(), **change}
    with pytest.raises(av.AttnvizError, match=sentence) as caught:
        av.run(**arguments)
    assert str(caught.value).endswith((".", ".)"))


def test_odd_heads_cannot_be_turned() -> None:
    x = av.random_inputs(4, 9, positions="rotary")
    with pytest.raises(av.AttnvizError, match="head_dim must be even; received 9"):
        av.run("scaled_dot_product", x)


def test_leaving_the_range_of_numbers_is_told() -> None:
    with pytest.raises(av.AttnvizError, match="left the range of float16"):
        av.run("scaled_dot_product", asking(), scale=1e5, dtype="float16")


def test_memory_is_asked_for_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnviz.models.memory.available", lambda: 10**6)
    long = av.Inputs(torch.zeros(1, 200, 8))
    with pytest.raises(TooLargeError, match=r"Keeping every map of 4 heads.*kernel='sdpa'"):
        av.run("multi_head", long)
    av.run("multi_head", long, kernel="sdpa")
    with pytest.raises(TooLargeError, match=r"Drawing weights for d_model = 8, head_dim = 1,000"):
        av.run("multi_head", long, kernel="sdpa", head_dim=1_000)


@pytest.mark.parametrize("name", av.variants.names())
def test_sinusoidal_positions_are_steps_of_their_own(name: str) -> None:
    x = av.random_inputs(4, 16, positions="sinusoidal")
    trace = av.run(name, x)
    assert trace.names[:3] == ("inputs_tokens", "inputs_positions", "inputs")
    total = trace["inputs_tokens"].tensor + trace["inputs_positions"].tensor
    assert torch.allclose(total, trace["inputs"].tensor, atol=1e-6)


@pytest.mark.gpu
@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", av.variants.names())
def test_gpu_agrees_with_cpu(name: str, fast: bool) -> None:
    kernel = (av.variants.find(name).fast if fast else "") or "reference"
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    x = asking()
    here = av.run(name, x, mask=fitting_mask(name), device="cpu")
    there = av.run(name, x, mask=fitting_mask(name), device="cuda", kernel=kernel)
    assert there.device.startswith("cuda")
    assert torch.allclose(here.output, there.output.cpu(), atol=1e-5)


@pytest.mark.parametrize("name", SOFTMAX)
def test_source_is_what_ran(name: str) -> None:
    source = av.variants.source(name)
    for function in ("def compute(", "def attend(", "def hide(", "def softmax("):
        assert function in source

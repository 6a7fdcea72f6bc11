"""Linear and state-space layers: A V is what the layer's own kernel or norm was given.

The oracle is the tensor that the model itself puts into the norm (or output projection) after its
mixer, caught by a hook that knows nothing of our capture.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import attnviz as av
from attnviz.errors import AttnvizError, ModelError
from attnviz.models import Capture, LoadedModel
from attnviz.models.mixers.kernels import NAMES
from tests.models.mixers.families import FAMILIES
from tests.models.tiny import TEXT, build, eager, llama

AFTER = {"qwen3_next": "norm", "olmo_hybrid": "o_norm", "kimi_linear": "o_norm", "minimax": "norm"}
AFTER |= {"bamba": "norm", "mamba2": "norm", "zamba2": "norm"}
AFTER |= dict.fromkeys(("jamba", "mamba", "falcon_mamba", "falcon_h1"), "out_proj")
# A V times SiLU(z) goes to the output projection; where z stands in what the first one gives.
GATED = dict.fromkeys(("jamba", "mamba", "falcon_mamba"), slice(64, 128))
GATED |= {"falcon_h1": slice(0, 32)}
KIND = dict.fromkeys(("qwen3_next", "olmo_hybrid", "kimi_linear", "minimax", "rwkv"), "linear")

_MADE: dict[str, tuple[LoadedModel, Capture]] = {}


def made(family: str) -> tuple[LoadedModel, Capture]:
    if family not in _MADE:
        model = build(FAMILIES[family]())
        _MADE[family] = model, av.capture(model, TEXT)
    return _MADE[family]


def mixer_of(model: LoadedModel, layer: int, mixer: str) -> nn.Module:
    return next(
        module
        for name, module in model.model.named_modules()
        if f".{layer}." in name and type(module).__name__ == mixer
    )


def given_after(model: LoadedModel, module: nn.Module, part: str, ids: tuple[int, ...]) -> Any:
    """What a plain run hands to that part of the mixer, (T, features), and what the first
    projection of a gated one gives."""
    kept: dict[str, torch.Tensor] = {}
    hooks = [
        getattr(module, part).register_forward_pre_hook(
            lambda _, args: kept.__setitem__("in", args[0].detach())
        )
    ]
    if part == "out_proj":
        hooks.append(
            module.in_proj.register_forward_hook(  # type: ignore[union-attr]
                lambda _, __, out: kept.__setitem__("projected", out[0])
            )
        )
    with torch.no_grad():
        model.model(torch.tensor([ids]), use_cache=False)
    for hook in hooks:
        hook.remove()
    return kept["in"].reshape(len(ids), -1), kept.get("projected")


@pytest.mark.parametrize("family", AFTER)
def test_a_times_v_is_what_the_layer_itself_computes(family: str) -> None:
    model, capture = made(family)
    assert capture.check.passed
    assert capture.mixers
    for index, record in capture.mixers.items():
        module = mixer_of(model, index, record.layer.mixer)
        wanted, projected = given_after(model, module, AFTER[family], capture.token_ids)
        (drive,) = record.drives
        outputs = []
        for head in range(record.n_heads):
            A = capture.weights(index, head, kind=record.layer.kind)
            outputs.append(torch.from_numpy(A) @ drive.value[head].float())
        got = torch.cat(outputs, -1)
        if family in GATED:
            got = got * F.silu(projected[:, GATED[family]])
        torch.testing.assert_close(got, wanted, rtol=0, atol=1e-4)
        assert wanted.abs().max() > 1e-2  # not a comparison of nothing with nothing


@pytest.mark.parametrize("family", FAMILIES)
def test_every_layer_is_listed_by_its_true_number(family: str) -> None:
    model, capture = made(family)
    layers = capture.layers
    assert sorted({layer.index for layer in layers}) == list(range(model.n_layers))
    assert all(layer.captured for layer in layers)
    for layer in layers:
        if layer.effective:
            assert layer.kind == KIND.get(family, "state_space")
            assert layer.n_heads == capture.mixers[layer.index].n_heads
    twice = {"falcon_h1": [0, 1, 2], "zamba2": [1]}.get(family, [])
    indices = [layer.index for layer in layers]
    assert [index for index in range(model.n_layers) if indices.count(index) == 2] == twice
    view = capture.effective
    assert view is not None
    assert [layer.index for layer in view.layers] == list(capture.mixers)


@pytest.mark.parametrize("family", ["kimi_linear", "minimax", "jamba", "bamba"])
def test_any_part_is_the_same_as_that_part_of_the_whole(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, capture = made(family)
    view = capture.effective
    assert view is not None
    index = view.layers[-1].index
    whole = view.weights(index, 1)
    assert whole.min() < 0  # signed
    assert np.all(np.triu(whole, 1) == 0)
    assert np.array_equal(view.blocked(index), np.triu(np.ones_like(whole), 1) > 0)
    monkeypatch.setattr("attnviz.models.mixers.tiles.COLUMNS", 3)
    monkeypatch.setattr("attnviz.models.mixers.tiles.CELLS", 20)
    for rows, cols in [
        (slice(0, 13), slice(0, 13)),
        (slice(5, 12), slice(2, 7)),
        (slice(2, 5), slice(9, 13)),
        (slice(1, 13, 4), slice(0, 13, 3)),
        (slice(12, 13), slice(0, 13)),
        (slice(3, 3), slice(0, 4)),
    ]:
        part = view.weights(index, 1, rows, cols)
        np.testing.assert_allclose(part, whole[rows, cols], rtol=0, atol=1e-5)
    # Made smaller for the eye: largest magnitudes with their signs, and means.
    monkeypatch.setattr("attnviz.models.mixers.view.COLUMNS", 6)
    values, masked = view.largest(index, 1, 3)
    for a, b in [(0, 0), (2, 1), (4, 4), (1, 3)]:
        cells = whole[3 * a : 3 * a + 3, 3 * b : 3 * b + 3].ravel()
        assert values[a, b] == pytest.approx(cells[np.abs(cells).argmax()], abs=1e-6)
        assert masked[a, b] == (b > a)
    np.testing.assert_allclose(view.tops(index, 1), np.abs(whole).max(1), atol=1e-6)
    np.testing.assert_allclose(view.overview()[-1, 1], whole, atol=1e-5)
    bins = np.arange(13) * 4 // 13
    pool = (bins[:, None] == np.arange(4)).astype(np.float32)
    pool /= pool.sum(0)
    np.testing.assert_allclose(view.overview(4)[-1, 1], pool.T @ whole @ pool, atol=1e-5)


@pytest.mark.parametrize("family", ["qwen3_next", "bamba", "mamba"])
def test_gates_and_state_norms_token_by_token(family: str) -> None:
    """Against a walk through the tokens, one at a time (attnviz.variants.recurrence)."""
    from attnviz.variants.recurrence import recur

    _, capture = made(family)
    index, record = next(iter(capture.mixers.items()))
    strips = capture.strips(index, 2)
    walk = recur(record.drives[0].recurrence(slice(2, 3)))
    np.testing.assert_allclose(strips.state_norm, walk.state_norm[0, 0], rtol=1e-4, atol=1e-6)
    assert strips.places.tolist() == list(range(13))
    assert ((strips.decay > 0) & (strips.decay <= 1)).all()
    table = capture.effective.metrics()  # type: ignore[union-attr]
    chosen = table[(table["layer"] == index) & (table["head"] == 2)]
    assert float(chosen["state"].iloc[0]) == pytest.approx(float(strips.state_norm.mean()))


def test_two_mixers_of_one_layer_are_told_apart_by_kind() -> None:
    model, capture = made("falcon_h1")
    softmax, effective = capture.weights(1, 0), capture.weights(1, 0, kind="state_space")
    np.testing.assert_allclose(softmax.sum(-1), 1, atol=1e-5)
    own = eager(model, capture.token_ids).attentions  # of the attention that runs beside Mamba
    for layer in range(3):
        for head in range(4):
            got = capture.weights(layer, head)
            np.testing.assert_allclose(got, own[layer][0, head], rtol=0, atol=1e-5)
    assert effective.min() < 0
    with pytest.raises(ModelError, match="not linear"):
        capture.weights(1, 0, kind="linear")
    with pytest.raises(AttnvizError, match="heads 0 to 3"):
        capture.weights(1, 9, kind="state_space")


def test_a_model_of_channels_lists_its_first_sixteen() -> None:
    _, capture = made("mamba")
    view = capture.effective
    assert view is not None
    assert capture.captured == ()
    assert [layer.n_heads for layer in capture.layers] == [64, 64]
    assert [layer.n_heads for layer in view.layers] == [16, 16]
    assert "first 16 of 64 channels" in view.note
    assert "not" not in capture.check.sentence.partition("rows")[0]
    assert "effective maps" in capture.check.sentence
    assert view.weights(1, 63).shape == (13, 13)
    with pytest.raises(AttnvizError, match="no effective map of layer 5"):
        view.weights(5, 0)
    with pytest.raises(ModelError, match="effective"):
        capture.blocked(0)


def test_a_wrong_drive_fails_the_runs_own_check(monkeypatch: pytest.MonkeyPatch) -> None:
    from attnviz.models.mixers import readers

    right = readers.state_space
    reader = lambda call: right({**call, "dt_bias": None})  # noqa: E731
    monkeypatch.setitem(readers.KERNELS, "mamba2_chunk_scan", (reader, True))
    with pytest.raises(ModelError, match="did not pass"):
        av.capture(made("bamba")[0], TEXT)


def test_kernels_are_put_back_and_other_threads_are_not_heard() -> None:
    """A run of the same family beside it keeps its result, and the globals are as they were."""
    import sys

    model, before = made("qwen3_next")
    other = build(FAMILIES["qwen3_next"](), seed=1)
    file = vars(sys.modules[type(model.model).__module__])
    originals = {name: file[name] for name in NAMES if name in file}
    ids = torch.tensor([before.token_ids])
    with torch.no_grad():
        wanted = other.model(ids, use_cache=False).logits
    stop, results = threading.Event(), []

    def run() -> None:
        while not stop.is_set():
            with torch.no_grad():
                results.append(other.model(ids, use_cache=False).logits)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        captures = [av.capture(model, TEXT) for _ in range(3)]
    finally:
        stop.set()
        thread.join()
    assert results
    assert all(torch.equal(each, wanted) for each in results)
    for each in captures:
        assert len(each.mixers) == 2
        np.testing.assert_array_equal(each.weights(0, 1), before.weights(0, 1))

    def stopped(fraction: float, text: str) -> None:
        if fraction > 0.1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        av.capture(model, TEXT, progress=stopped)
    assert {name: file[name] for name in originals} == originals
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.model.modules())


def test_a_model_without_linear_layers_has_no_effective_maps() -> None:
    capture = av.capture(llama(), TEXT)
    assert capture.effective is None
    with pytest.raises(ModelError, match="not linear"):
        capture.strips(0, 0)

"""RWKV's WKV: each channel's softmax, against the sums of its definition, term by term."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import attnviz as av
from attnviz.figures import capture as figures
from attnviz.models import Capture, LoadedModel
from attnviz.models.mixers.wkv import WkvDrive
from tests.models.mixers.families import FAMILIES
from tests.models.tiny import TEXT, build

Kept = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return build(FAMILIES["rwkv"]())


@pytest.fixture(scope="module")
def capture(model: LoadedModel) -> Capture:
    return av.capture(model, TEXT)


def run(model: LoadedModel, module: Any, ids: tuple[int, ...]) -> Kept:
    """What a plain run makes in one layer's projections, (T, channels), and its logits."""
    kept: Kept = {}
    hooks = [
        getattr(module, part).register_forward_hook(
            lambda _, args, out, part=part: kept.update({part: out[0], f"into {part}": args[0][0]})
        )
        for part in ("key", "value", "receptance", "output")
    ]
    with torch.no_grad():
        kept["logits"] = model.model(torch.tensor([ids]), use_cache=False).logits
    for hook in hooks:
        hook.remove()
    return kept


def by_definition(key: list[float], decay: float, bonus: float) -> np.ndarray:
    """Peng et al. 2023, equation 16, in plain sums; decay is above 0."""
    length = len(key)
    table = np.zeros((length, length))
    for t in range(length):
        terms = [math.exp(-(t - 1 - i) * decay + key[i]) for i in range(t)]
        terms.append(math.exp(bonus + key[t]))
        table[t, : t + 1] = np.array(terms) / sum(terms)
    return table


def test_every_channel_s_map_is_the_definition_s_and_gives_the_output(
    model: LoadedModel, capture: Capture
) -> None:
    layers = [m for m in model.model.modules() if type(m).__name__ == "RwkvSelfAttention"]
    assert [layer.index for layer in capture.layers] == [0, 1]
    for index, module in enumerate(layers):
        kept = run(model, module, capture.token_ids)
        maps = [capture.weights(index, channel) for channel in range(32)]
        for channel in range(0, 32, 5):
            wanted = by_definition(
                kept["key"][:, channel].tolist(),
                math.exp(module.time_decay[channel].item()),
                module.time_first[channel].item(),
            )
            np.testing.assert_allclose(maps[channel], wanted, rtol=0, atol=1e-6)
        output = torch.einsum("cij,jc->ic", torch.from_numpy(np.stack(maps)), kept["value"])
        gated = output * kept["receptance"].sigmoid()
        torch.testing.assert_close(gated, kept["into output"], rtol=0, atol=1e-4)
        assert np.stack(maps).min() >= 0
        np.testing.assert_allclose(np.stack(maps).sum(-1), 1, atol=1e-5)


def test_the_run_is_the_plain_one(model: LoadedModel, capture: Capture) -> None:
    assert capture.check.logits_error == 0.0
    view = capture.effective
    assert view is not None
    assert "rows add up to 1" in view.note
    assert "rows sum to 1 within" in capture.check.sentence
    assert "first 16 of 32 channels" in view.note
    figure = figures.capture_figure(view, 1, 3)
    assert figure.grid is not None
    assert figure.grid.kv_heads == 16
    np.testing.assert_array_equal(figure.panels[0].values, view.weights(1, 3))


def test_parts_and_means_are_those_of_the_whole(
    capture: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = capture.effective
    assert view is not None
    whole = view.weights(1, 3)
    monkeypatch.setattr("attnviz.models.mixers.wkv.CELLS", 20)
    for rows, cols in [
        (slice(5, 12), slice(2, 7)),
        (slice(2, 5), slice(9, 13)),
        (slice(1, 13, 4), slice(0, 13, 3)),
        (slice(3, 3), slice(0, 4)),
    ]:
        np.testing.assert_allclose(view.weights(1, 3, rows, cols), whole[rows, cols], atol=1e-7)
    bins = np.arange(13) * 4 // 13
    pool = (bins[:, None] == np.arange(4)).astype(np.float32)
    pool /= pool.sum(0)
    np.testing.assert_allclose(view.overview(4)[1, 3], pool.T @ whole @ pool, atol=1e-6)
    values, masked = view.largest(1, 3, 5)
    assert values[2, 0] == pytest.approx(whole[10:, :5].max())
    assert masked[0].tolist() == [False, True, True]


def test_a_state_is_the_weighted_mean_of_its_values(capture: Capture) -> None:
    drive = capture.mixers[0].drives[0]
    assert isinstance(drive, WkvDrive)
    strips = capture.strips(0, 7)
    key, rate = drive.key[7].double(), float(drive.rate[7])
    place = torch.arange(13)
    weights = (key - (12 - place) * rate).softmax(-1)  # of the state after the last token
    assert float(strips.state_norm[-1]) == pytest.approx(
        abs(float(weights @ drive.value[7, :, 0].double())), abs=1e-6
    )
    assert float(strips.strength[-1]) == pytest.approx(float(weights[-1]), abs=1e-6)
    torch.testing.assert_close(strips.decay, 1 - strips.strength)


def test_large_keys_fast_decays_and_long_texts_stay_finite() -> None:
    length = 3000
    key = 40 * torch.randn(3, length, generator=torch.Generator().manual_seed(0))
    rate, bonus = torch.tensor([1e-4, 1.0, 400.0]), torch.tensor([-50.0, 0.0, 50.0])
    drive = WkvDrive(torch.ones(3, length, 1), key=key, rate=rate, bonus=bonus)
    rows, cols = torch.tensor([0, 1500, length - 1]), torch.arange(length)
    maps = drive.tile(slice(None), rows, cols)
    torch.testing.assert_close(maps.sum(-1), torch.ones(3, 3), rtol=0, atol=1e-5)
    asked = key[1].double() - (length - 2 - cols) * 1.0
    asked[-1] = key[1, -1]
    torch.testing.assert_close(maps[1, 2], asked.softmax(-1).float(), rtol=0, atol=1e-6)
    pooled = drive.pooled(slice(None), cols * 8 // length, 8)
    sums = pooled.sum(-1) * length / 8  # a row of means times the width of a block
    torch.testing.assert_close(sums, torch.ones(3, 8), rtol=0, atol=1e-4)

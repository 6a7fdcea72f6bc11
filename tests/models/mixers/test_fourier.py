"""FNet: its two fixed maps, against what the model's own module returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import attnviz as av
from attnviz.errors import ModelError
from attnviz.figures import capture as figures
from attnviz.figures.capture_words import words_of
from tests.models.tiny import TEXT, tokenizer


def fnet(**changes: Any) -> av.models.LoadedModel:
    torch.manual_seed(0)
    config = hf.FNetConfig(
        vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, **changes
    )
    return av.from_transformers(hf.FNetForMaskedLM(config).eval(), tokenizer())


@pytest.mark.parametrize(
    "changes", [{}, {"use_tpu_fourier_optimizations": True, "tpu_short_seq_length": 13}]
)
def test_cosines_and_sines_give_what_the_layer_gives(changes: dict[str, Any]) -> None:
    model = fnet(**changes)
    kept: list[tuple[torch.Tensor, torch.Tensor]] = []
    for module in model.model.modules():
        if type(module).__name__ == "FNetBasicFourierTransform":
            module.register_forward_hook(lambda _, args, out: kept.append((args[0][0], out[0][0])))
    capture = av.capture(model, TEXT)
    assert capture.check.logits_error == 0.0
    assert [layer.index for layer in capture.layers] == [0, 1]
    assert all(layer.effective and layer.n_heads == 2 for layer in capture.layers)
    for index, (hidden, output) in enumerate(kept[:2]):
        Z = torch.fft.fft(hidden, dim=-1)
        cosine, sine = (torch.from_numpy(capture.weights(index, head)) for head in (0, 1))
        got = cosine @ Z.real + sine @ Z.imag
        torch.testing.assert_close(got, output, rtol=0, atol=1e-4)
        assert output.abs().max() > 1
    place = np.outer(np.arange(13), np.arange(13)) * 2 * np.pi / 13
    np.testing.assert_allclose(capture.weights(0, 0), np.cos(place), atol=1e-5)
    np.testing.assert_allclose(capture.weights(1, 1), np.sin(place), atol=1e-5)


def test_nothing_is_masked_and_no_state_is_shown() -> None:
    capture = av.capture(fnet(), TEXT)
    view = capture.effective
    assert view is not None
    assert "the same for every text" in view.note
    assert not view.blocked(0).any()
    whole = view.weights(0, 1)
    values, masked = view.largest(0, 1, 5)
    assert not masked.any()
    part = whole[:5, 10:].ravel()
    assert values[0, 2] == pytest.approx(part[np.abs(part).argmax()])
    bins = np.arange(13) * 4 // 13
    pool = (bins[:, None] == np.arange(4)).astype(np.float32)
    pool /= pool.sum(0)
    np.testing.assert_allclose(view.overview(4)[0, 1], pool.T @ whole @ pool, atol=1e-6)
    assert list(view.metrics()) == ["layer", "head"]
    with pytest.raises(ModelError, match="no state"):
        view.strips(0, 0)
    for maps in (view, view.by_words()):
        assert "state" not in words_of(maps)["rows"]
        figure = figures.capture_figure(maps, 0, 1)
        assert figure.panels[0].blocked is None

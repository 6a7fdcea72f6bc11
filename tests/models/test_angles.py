"""YOSO's weights against the definition: the chance that random hyperplanes part neither."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import attnviz as av
from attnviz.errors import ModelError
from tests.models.test_own_code import ids, loaded


def test_yoso_weighs_by_angles() -> None:
    """Zeng et al. 2021, section 3.2. The weights read the values as the layer itself does: made
    one long, what each query reads is what the layer gives on, whatever its row adds up to."""
    model = loaded("MASKED_LM", "yoso", hash_code_len=6)
    config = model.model.config
    modules = [m for m in model.model.modules() if type(m).__name__ == "YosoSelfAttention"]
    entered, left = [], []

    def keep(module: nn.Module, args: tuple[Tensor, ...], output: tuple[Tensor, ...]) -> None:
        entered.append(args[0])
        left.append(output[0])

    for module in modules:
        module.register_forward_hook(keep)
    plain = model.model(ids()).logits.detach().numpy()
    capture = av.capture(model, inputs={"input_ids": ids()}, check=True)
    assert [layer.index for layer in capture.layers] == list(range(config.num_hidden_layers))
    np.testing.assert_array_equal(model.model(ids()).logits.detach().numpy(), plain)
    for layer, (module, states, output) in enumerate(zip(modules, entered, left, strict=False)):
        with torch.no_grad():
            q, k, v = (
                part(states[0]).view(len(states[0]), config.num_attention_heads, -1).transpose(0, 1)
                for part in (module.query, module.key, module.value)
            )
        cosine = F.cosine_similarity(q[:, :, None], k[:, None], dim=-1).double()
        chance = (1 - cosine.arccos() / torch.pi) ** config.hash_code_len
        for head in range(config.num_attention_heads):
            got = capture.weights(layer, head)
            expected = (chance / chance.sum(-1, keepdim=True))[head].numpy()
            np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5)
            read = F.normalize(torch.from_numpy(got) @ v[head], dim=-1)
            given = output[0].unflatten(-1, (config.num_attention_heads, -1))[:, head]
            torch.testing.assert_close(read, given.detach(), rtol=0, atol=1e-5)
        assert np.ptp(chance.numpy(), axis=0).max() > 0.02, "heads differ"


def test_sampled_hashes_are_refused() -> None:
    model = loaded("MASKED_LM", "yoso")
    for module in model.model.modules():
        if type(module).__name__ == "YosoSelfAttention":
            module.forward = lambda states, *_: (states, states)  # sampling needs a GPU's kernel
    with pytest.raises(ModelError, match="samples its weights by hashes"):
        av.capture(model, inputs={"input_ids": ids()})

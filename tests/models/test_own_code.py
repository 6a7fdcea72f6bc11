"""Attention code of a model's own: maps in true coordinates, against the definition of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import attnviz as av
from attnviz.errors import ModelError
from attnviz.models.own_code.windows import window_places
from tests.models.shrink import build
from tests.models.tiny import tokenizer

LENGTH = 13


def loaded(task: str, model_type: str, **changes: Any) -> av.models.LoadedModel:
    torch.manual_seed(0)
    model = build(task, model_type, **changes)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 0.2)
    return av.from_transformers(model, tokenizer())


def ids(length: int = LENGTH) -> Tensor:
    return torch.randint(3, 59, (1, length), generator=torch.Generator().manual_seed(1))


class Inputs:
    """What goes into the first module of a class, kept by a hook."""

    def __init__(self, model: nn.Module, name: str) -> None:
        self.module = next(m for m in model.modules() if type(m).__name__ == name)
        self.seen: Tensor | None = None
        self.module.register_forward_pre_hook(self._keep, with_kwargs=True)

    def _keep(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        self.seen = (args[0] if args else kwargs["hidden_states"]).detach()

    def heads(self, projection: str, n_heads: int) -> Tensor:
        """(heads, tokens, dim) of a projection of what went in."""
        assert self.seen is not None
        with torch.no_grad():
            out = getattr(self.module, projection)(self.seen)[0]
        return out.view(out.shape[0], n_heads, -1).transpose(0, 1)


def test_cvt_s_keys_are_a_coarser_grid_than_its_queries() -> None:
    """Softmax of what the projections behind its convolutions give, the class token in front."""
    model = loaded("IMAGE_CLASSIFICATION", "cvt")
    modules = [m for m in model.model.modules() if type(m).__name__ == "CvtSelfAttention"]
    made: dict[tuple[int, str], Tensor] = {}
    for place, module in enumerate(modules):
        for part in ("projection_query", "projection_key"):
            getattr(module, part).register_forward_hook(
                lambda m, args, out, at=(place, part): made.__setitem__(at, out[0].detach())
            )
    pixels = torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    capture = av.capture(model, inputs={"pixel_values": pixels}, check=False)
    found = [(capture.of(g), layer) for g in capture.groups for layer in capture.of(g).captured]
    assert len(found) == len(modules) == 6
    for place, (part, layer) in enumerate(found):
        q, k = (
            made[place, name].unflatten(-1, (layer.n_heads, -1)).transpose(0, 1)
            for name in ("projection_query", "projection_key")
        )
        expected = (q @ k.mT / modules[place].embed_dim ** 0.5).softmax(-1).numpy()
        for head in range(layer.n_heads):
            got = part.weights(layer.index, head)
            np.testing.assert_allclose(got, expected[head], rtol=0, atol=1e-5)


def test_led_reads_in_a_band() -> None:
    """The encoder's dense softmax over two tokens each side of the query."""
    model = loaded("SEQ_TO_SEQ_CAUSAL_LM", "led")
    kept = Inputs(model.model, "LEDEncoderSelfAttention")
    given = {"input_ids": ids(), "decoder_input_ids": torch.tensor([[0, 5, 7]])}
    capture = av.capture(model, inputs=given)
    q, k = kept.heads("query", 4)[:, :LENGTH], kept.heads("key", 4)[:, :LENGTH]
    place = torch.arange(LENGTH)
    allowed = (place[:, None] - place[None]).abs() <= 2
    expected = (q @ k.mT / 8**0.5).masked_fill(~allowed, -torch.inf).softmax(-1)
    for head in range(4):
        got = capture.of("encoder").weights(0, head)
        np.testing.assert_allclose(got, expected[head].numpy(), atol=1e-5)


@pytest.mark.parametrize("chosen", [[], [0], [0, 5]])
def test_longformer_s_bands_and_global_tokens(chosen: list[int]) -> None:
    """Softmax over the window and the global tokens; global rows see all, by other weights."""
    model = loaded("MASKED_LM", "longformer")
    kept = Inputs(model.model, "LongformerSelfAttention")
    seen = torch.zeros(1, LENGTH, dtype=torch.long)
    seen[0, chosen] = 1
    capture = av.capture(model, inputs={"input_ids": ids(), "global_attention_mask": seen})
    q, k = kept.heads("query", 4)[:, :LENGTH], kept.heads("key", 4)[:, :LENGTH]
    place = torch.arange(LENGTH)
    allowed = (place[:, None] - place[None]).abs() <= 2  # attention_window 4: two each side
    allowed[:, chosen] = True
    scores = (q @ k.transpose(1, 2) / 8**0.5).masked_fill(~allowed, -torch.inf)
    expected = scores.softmax(-1)
    if chosen:
        own = kept.heads("query_global", 4)[:, :LENGTH] @ kept.heads("key_global", 4).transpose(
            1, 2
        )
        expected[:, chosen] = (own[:, chosen, :LENGTH] / 8**0.5).softmax(-1)
    for head in range(4):
        np.testing.assert_allclose(capture.weights(0, head), expected[head].numpy(), atol=1e-5)
    allowed[chosen] = True
    np.testing.assert_array_equal(capture.blocked(0), ~allowed.numpy())


def test_big_bird_in_evaluation_counts_block_0_as_often_as_it_stands_there() -> None:
    """The library's attentions keep one place of several: rows of 0.5. The sum is the weight."""
    side, n = 4, 9
    model = loaded("MASKED_LM", "big_bird", block_size=side, num_random_blocks=1)
    kept = Inputs(model.model, "BigBirdBlockSparseAttention")
    length = side * n
    capture = av.capture(model, inputs={"input_ids": ids(length)})
    q, k = kept.heads("query", 4), kept.heads("key", 4)
    times = torch.zeros(n, n)  # how often a block of keys stands in a block of queries' softmax
    times[[0, n - 1]] = 1
    for block in range(1, n - 1):
        near = {1: [0, 1, 2, n - 1], n - 2: [0, n - 3, n - 2, n - 1]}
        for key in near.get(block, [0, block - 1, block, block + 1, n - 1]):
            times[block, key] += 1
        times[block, 0] += 1  # the block drawn at random, which in evaluation is block 0
    counts = times.repeat_interleave(side, 0).repeat_interleave(side, 1)
    scores = q @ k.transpose(1, 2) / 8**0.5
    weights = scores.exp() * counts
    expected = weights / weights.sum(-1, keepdim=True)
    for head in range(4):
        got = capture.weights(0, head)
        np.testing.assert_allclose(got, expected[head].numpy(), atol=1e-5)
        np.testing.assert_allclose(got.sum(-1), 1, atol=1e-5)
    with torch.no_grad():
        returned = model.model(ids(length), output_attentions=True).attentions[0]
    assert float(returned.sum(-1).min()) < 0.9


def test_a_short_text_leaves_big_bird_sparse() -> None:
    model = loaded("MASKED_LM", "big_bird", block_size=4, num_random_blocks=1)
    assert av.capture(model, inputs={"input_ids": ids(8)}).n_tokens == 8
    kinds = [type(m).__name__ for m in model.model.modules()]
    assert "BigBirdBlockSparseAttention" in kinds


def position_bias(attention: nn.Module, gap: Tensor, side: int) -> Tensor:
    """(heads, patches, patches) from the places of the pair within their window.

    A number of its own for each (Swin: Liu et al. 2021, section 3.2), or Swin v2's small network
    of log-spaced distances (Liu et al. 2022, section 3.3).
    """
    named = dict(attention.named_parameters())
    table = next((p for n, p in named.items() if "relative" in n or "bias_table" in n), None)
    if table is not None:
        return table[(gap[0] + side - 1) * (2 * side - 1) + gap[1] + side - 1].permute(2, 0, 1)
    network = next(m for m in attention.modules() if isinstance(m, nn.Sequential))
    far = gap.float() / (side - 1) * 8
    far = far.sign() * (far.abs() + 1).log2() / 3
    return 16 * network(far.permute(1, 2, 0)).sigmoid().permute(2, 0, 1)


@pytest.mark.parametrize("name", ["swin", "swinv2", "donut-swin"])
def test_swin_s_windows_lie_where_they_are_on_the_picture(name: str) -> None:
    """Dense attention over all patches, masked to the windows, gives each layer's maps."""
    model = loaded("IMAGE_CLASSIFICATION", name)
    later = name == "swinv2"  # it normalises behind the attention, and compares directions only
    layers = [m for m in model.model.modules() if type(m).__name__.endswith("SwinLayer")]
    layers = layers or [m for m in model.model.modules() if type(m).__name__ == "Swinv2Layer"]
    seen: list[Tensor] = []
    for layer in layers[:2]:
        if later:
            layer.register_forward_pre_hook(lambda m, args: seen.append(args[0].detach()))
        else:
            layer.layernorm_before.register_forward_hook(
                lambda m, args, out: seen.append(out.detach())
            )
    pixels = torch.randn(1, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    capture = av.capture(model, inputs={"pixel_values": pixels})
    assert capture.of("stage 1").grid == (16, 16)
    side = 4
    for index, shift in ((0, 0), (1, 2)):
        row, column = torch.meshgrid(torch.arange(16), torch.arange(16), indexing="ij")
        # The window of a patch, and the part of it that a shift has not joined from elsewhere.
        window = torch.stack([((row - shift) % 16) // side, ((column - shift) % 16) // side])
        torn = torch.stack([row < shift, column < shift]) & bool(shift)
        where = torch.cat([window, torn.long()]).reshape(4, -1)
        together = (where[:, :, None] == where[:, None, :]).all(0)
        maps = np.stack([capture.of("stage 1").weights(index, head) for head in range(2)])
        assert np.all(maps[:, ~together.numpy()] == 0)
        np.testing.assert_allclose(maps.sum(-1), 1, atol=1e-5)
        attention = layers[index].attention
        x = seen[index].reshape(256, -1)
        with torch.no_grad():
            parts = dict(attention.named_modules())
            query = next(m for n, m in parts.items() if n.endswith(("query", "q_proj")))
            key = next(m for n, m in parts.items() if n.endswith(("key", "k_proj")))
            q, k = (p(x).view(256, 2, -1).transpose(0, 1) for p in (query, key))
            inside = torch.stack([(row - shift) % 16 % side, (column - shift) % 16 % side])
            inside = inside.reshape(2, -1)
            gap = inside[:, :, None] - inside[:, None]
            scores = q @ k.mT / q.shape[-1] ** 0.5
            if later:
                sharp = next(p for n, p in attention.named_parameters() if "logit_scale" in n)
                lengths = q.norm(dim=-1)[:, :, None] * k.norm(dim=-1)[:, None]
                scores = q @ k.mT / lengths * sharp.exp().clamp(max=100)
            scores = scores + position_bias(attention, gap, side)
            expected = scores.masked_fill(~together, -torch.inf).softmax(-1)
        np.testing.assert_allclose(maps, expected.numpy(), atol=1e-5)


def test_windows_pad_a_picture_that_they_do_not_divide() -> None:
    places = window_places(3, 3, 2, 0)
    assert places.tolist() == [[0, 1, 3, 4], [2, -1, 5, -1], [6, 7, -1, -1], [8, -1, -1, -1]]


def test_scores_are_not_taken_for_weights() -> None:
    """SqueezeBERT returns its scores under the name attentions; what it uses is their softmax."""
    model = loaded("MASKED_LM", "squeezebert")
    capture = av.capture(model, inputs={"input_ids": ids()})
    with torch.no_grad():
        returned = model.model(ids(), output_attentions=True).attentions[1][0]
    assert float(returned.min()) < 0
    np.testing.assert_allclose(capture.weights(1, 2), returned.softmax(-1)[2].numpy(), atol=1e-5)


@pytest.mark.parametrize("changes", [{}, {"separate_cls": False}, {"truncate_seq": False}])
def test_funnel_s_pooled_stages_are_groups_of_their_own(changes: dict[str, bool]) -> None:
    """Each pooled position is named by the tokens that the model's own pooling mixes in it."""
    model = loaded("MASKED_LM", "funnel", **changes)
    capture = av.capture(model, inputs={"input_ids": ids()})
    tokens, mixed = capture.tokens, [torch.eye(13)]
    for _ in range(2):
        mixed.append(model.model.funnel.encoder.attention_structure.pool_tensor(mixed[-1][None])[0])
    names = []
    for level in mixed:
        held = [row.nonzero().flatten().tolist() for row in level]
        assert all(one == list(range(one[0], one[-1] + 1)) for one in held)
        spans = [(tokens[one[0]], tokens[one[-1]], len(one)) for one in held]
        names.append(tuple(a if n == 1 else f"{a}…{b}" for a, b, n in spans))
    sides = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2)]
    for group, (queries, keys) in zip(capture.groups, sides, strict=True):
        part = capture.of(group)
        assert (part.tokens, part.key_tokens) == (names[queries], names[keys])


class Mute(nn.Module):
    """A model that takes output_attentions and has none."""

    main_input_name = "input_ids"
    _supports_sdpa = False

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Embedding(64, 8)

    def forward(self, input_ids: Tensor, output_attentions: bool = False, **_: Any) -> Any:
        from transformers.modeling_outputs import BaseModelOutput

        return BaseModelOutput(last_hidden_state=self.embed(input_ids), attentions=None)


class Plain(Mute):
    """Code from elsewhere that makes its own softmax and returns nothing of it."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.self_attention = SelfAttention()

    def forward(self, input_ids: Tensor, output_attentions: bool = False, **_: Any) -> Any:
        from transformers.modeling_outputs import BaseModelOutput

        return BaseModelOutput(last_hidden_state=self.self_attention(self.embed(input_ids)))


class SelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(8, 8), nn.Linear(8, 8)

    def weights(self, x: Tensor) -> Tensor:
        q, k = (p(x).view(1, -1, 2, 4).transpose(1, 2) for p in (self.query, self.key))
        return (q @ k.transpose(2, 3)).softmax(-1)

    def forward(self, x: Tensor) -> Tensor:
        v = x.view(1, -1, 2, 4).transpose(1, 2)
        return (self.weights(x) @ v).transpose(1, 2).reshape(x.shape)


def test_code_that_exposes_nothing_says_so() -> None:
    from transformers import BertConfig

    model = av.from_transformers(Mute(BertConfig(num_hidden_layers=1)), tokenizer())
    with pytest.raises(ModelError, match="does not expose its attention"):
        av.capture(model, "the cat sat")


def test_code_that_returns_nothing_is_read_where_it_happens() -> None:
    from transformers import BertConfig

    torch.manual_seed(0)
    module = Plain(BertConfig(num_hidden_layers=1)).eval()
    capture = av.capture(av.from_transformers(module, tokenizer()), inputs={"input_ids": ids()})
    with torch.no_grad():
        expected = module.self_attention.weights(module.embed(ids()))[0]
    for head in range(2):
        np.testing.assert_allclose(capture.weights(0, head), expected[head].numpy(), atol=1e-6)

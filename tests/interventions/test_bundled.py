"""Edits on the two bundled models, against hooks and masks written here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from attnviz.interventions import (
    Edit,
    HideEdge,
    HideToken,
    Knockout,
    Patch,
    Scale,
    Sweep,
    intervene,
    sweep,
)
from attnviz.models import LoadedModel
from tests.interventions.test_edges import LEAST
from tests.interventions.test_edges import by_hand as masked_by_hand
from tests.interventions.test_heads import by_hand

TEXT = "The keys to the cabinet are on the table."
OTHER = "The dogs of my neighbour sat on the grass."  # as many tokens, in both vocabularies
DURSLEY = "Mr and Mrs Dursley were perfectly normal, thank you. Mr and Mrs Durs"
WHERE = {  # the projection of a layer, layer, head, features of a head
    "smollm2": ("model.layers.17.self_attn.o_proj", 17, 3, slice(3 * 64, 4 * 64)),
    "minilm": ("encoder.layer.4.attention.output.dense", 4, 7, slice(7 * 32, 8 * 32)),
}

pytestmark = pytest.mark.models


@pytest.fixture(params=WHERE)
def bundled(request: pytest.FixtureRequest) -> tuple[LoadedModel, str, int, int, slice]:
    return (request.getfixturevalue(request.param), *WHERE[request.param])


def rows_of(model: LoadedModel, text: str) -> Tensor:
    """A plain run of the model."""
    with torch.no_grad():
        ids = torch.tensor([model.tokenizer(text)["input_ids"]])
        out = model.model(input_ids=ids, use_cache=False)
    return (out.logits if hasattr(out, "logits") else out.last_hidden_state)[0]


def test_a_knock_out_is_the_heads_slice_at_zero(
    bundled: tuple[LoadedModel, str, int, int, slice],
) -> None:
    model, name, layer, head, own = bundled

    def zero(heads: Tensor) -> Tensor:
        heads[..., own] = 0
        return heads

    found = intervene(model, TEXT, [Knockout(layer, head)])
    wanted = by_hand(model, name, zero, TEXT)
    assert (found.after.rows - wanted).abs().max() <= 1e-6
    assert (found.after.rows - found.before.rows).abs().max() > 1e-3


def test_nothing_changed_is_a_plain_run_to_the_bit(
    bundled: tuple[LoadedModel, str, int, int, slice],
) -> None:
    model = bundled[0]
    found = intervene(model, TEXT, [])
    assert torch.equal(found.before.rows, found.after.rows)
    assert torch.equal(found.after.rows, rows_of(model, TEXT))


def test_mean_scale_and_patch_equal_hooks(
    bundled: tuple[LoadedModel, str, int, int, slice],
) -> None:
    model, name, layer, head, own = bundled
    kept: list[Tensor] = []
    handle = model.model.get_submodule(name).register_forward_pre_hook(
        lambda _, inputs: kept.append(inputs[0].clone())
    )
    rows_of(model, OTHER)
    handle.remove()

    def mean(heads: Tensor) -> Tensor:
        heads[..., own] = heads[0, :, own].mean(0)
        return heads

    def double(heads: Tensor) -> Tensor:
        heads[..., own] *= 2
        return heads

    def other(heads: Tensor) -> Tensor:
        heads[..., own] = kept[0][..., own]
        return heads

    edits: list[tuple[Edit, Callable[[Tensor], Tensor]]] = [
        (Knockout(layer, head, "mean"), mean),
        (Scale(layer, head, 2.0), double),
        (Patch(layer, head, OTHER), other),
    ]
    for edit, change in edits:
        found = intervene(model, TEXT, [edit])
        wanted = by_hand(model, name, change, TEXT)
        torch.testing.assert_close(found.after.rows, wanted, atol=1e-5, rtol=1e-5)
        assert found.moved().max() > 1e-4


def test_a_hidden_edge_and_a_hidden_token_equal_masks(
    bundled: tuple[LoadedModel, str, int, int, slice],
) -> None:
    model, _, layer, head, _ = bundled

    def edge(number: int, mask: Tensor) -> None:
        if number == layer:
            mask[:, head, 6, 0] = LEAST

    def token(_: int, mask: Tensor) -> None:
        own = mask[..., 3, 3].clone()
        mask[..., 3] = LEAST
        mask[..., 3, 3] = own

    for edit, hide in ((HideEdge(6, 0, layer, head), edge), (HideToken(3), token)):
        found = intervene(model, TEXT, [edit])
        wanted = masked_by_hand(model, hide, TEXT)
        # SDPA against eager code, through up to 30 layers: float32 sums in another order.
        moved = (found.after.rows - found.before.rows).norm()
        assert moved > 1e-3 * wanted.norm()
        assert (found.after.rows - wanted).norm() <= 1e-3 * moved


@pytest.fixture(scope="module")
def dursley(smollm2: LoadedModel) -> Sweep:
    return sweep(smollm2, DURSLEY)


def test_the_sweep_finds_heads_that_the_repeated_name_needs(
    smollm2: LoadedModel, dursley: Sweep
) -> None:
    """The name's second half is followed; hooks of torch's own lower it by the same numbers."""
    assert smollm2.tokenizer.decode([dursley.token_id]) == "ley"
    plain = rows_of(smollm2, DURSLEY)[-1].softmax(-1)[dursley.token_id]
    assert dursley.probability == pytest.approx(float(plain), rel=1e-5)
    table = dursley.table()
    assert len(table) == 270

    def without(layer: int, head: int) -> float:
        module: nn.Module = smollm2.model.model.layers[layer].self_attn.o_proj

        def zero(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
            heads = inputs[0].clone()
            heads[..., 64 * head : 64 * (head + 1)] = 0
            return (heads,)

        handle = module.register_forward_pre_hook(zero)
        try:
            return float(rows_of(smollm2, DURSLEY)[-1].softmax(-1)[dursley.token_id])
        finally:
            handle.remove()

    for place in (0, 1, 2, len(table) // 2, len(table) - 1):
        row = table.iloc[place]
        alone = without(int(row["layer"]), int(row["head"]))
        assert row["probability"] == pytest.approx(alone, rel=1e-4)
    worst, middle = table.iloc[0], table.iloc[len(table) // 2]
    assert worst["log_ratio"] < -0.02
    assert abs(middle["log_ratio"]) < 0.1 * abs(worst["log_ratio"])
    assert worst["probability"] == np.nanmin(dursley.probabilities)

"""Train shapes-detr, a small image model with object queries, on generated pictures of shapes.

    .venv/bin/python -m attnviz.models.teaching.train_shapes_detr

Writes assets/models/shapes-detr/ in transformers' format, with its card. Mean average precision
is 0.43 after the first cycle, where boxes are right and kinds are not yet, then 0.85, then 0.97.
"""

from __future__ import annotations

import json
import time
from itertools import permutations
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F
from transformers import (
    DetrConfig,
    DetrForObjectDetection,
    DetrImageProcessorPil,
    ResNetConfig,
)

from attnviz.models.catalog import ASSETS
from attnviz.models.teaching.shapes import KINDS, MOST, SIDE, Picture, covered, draw, overlap
from attnviz.models.teaching.shapes_detr import CELLS, judge

FOLDER = ASSETS / "shapes-detr"
SEED, CYCLES, BATCH, RATE = 0, (2400, 1200, 700), 16, 1e-3
N_PICTURES = 4000
GRID, DECODER_LAYERS, WIDTH, HEADS = 3, 2, 64, 4
QUERIES = GRID**2
SLOTS = (torch.cartesian_prod(torch.arange(GRID), torch.arange(GRID)).flip(1) + 0.5) / GRID
"""A place (x, y) for each query. Matching prefers shapes near it: without that two queries go on
claiming one shape for many more steps than a small machine has time for."""
WAYS = torch.tensor(list(permutations(range(QUERIES), MOST)))
"""Every assignment of queries to shapes."""
LOOKING = 1.0
"""Weight of the loss that keeps a query's attention inside the box it is matched with."""


def untrained() -> Any:
    torch.manual_seed(SEED)
    resnet: Any = ResNetConfig
    detr: Any = DetrConfig
    backbone = resnet(
        embedding_size=16,
        hidden_sizes=[32, 64],
        depths=[1, 1],
        layer_type="basic",
        out_features=["stage2"],
    )
    model: Any = DetrForObjectDetection(
        detr(
            use_timm_backbone=False,
            use_pretrained_backbone=False,
            backbone=None,
            backbone_config=backbone,
            d_model=WIDTH,
            encoder_layers=1,
            decoder_layers=DECODER_LAYERS,
            encoder_attention_heads=HEADS,
            decoder_attention_heads=HEADS,
            encoder_ffn_dim=2 * WIDTH,
            decoder_ffn_dim=2 * WIDTH,
            num_queries=QUERIES,
            id2label=dict(enumerate(KINDS)),
            label2id={kind: number for number, kind in enumerate(KINDS)},
            dropout=0.0,
            auxiliary_loss=True,
        )
    )
    model.set_attn_implementation("eager")
    # DETR's decoder starts from zeros, where the first layer norm would multiply gradients by 300.
    torch.nn.init.normal_(model.model.decoder.layers[0].self_attn.o_proj.bias)
    return model.requires_grad_(True)  # transformers freezes the first part of a backbone


def matched(
    chances: Float[Tensor, "n queries kinds_and_none"],
    boxes: Float[Tensor, "n queries 4"],
    kinds: Int[Tensor, "n shapes"],
    true: Float[Tensor, "n shapes 4"],
) -> Int[Tensor, "n shapes"]:
    """The query for each shape, so that all costs together are least (Carion et al., equation 1,
    and the distance from the query's own place).

    With three shapes at most, all assignments can be tried. Of a shape that is not there (kind
    -1) the answer means nothing.
    """
    cost = (
        -chances.gather(2, kinds.clamp(min=0)[:, None].expand(-1, QUERIES, -1))
        + 5 * torch.cdist(boxes, true, p=1)
        - 2 * overlap(boxes, true)[1]
        + 10 * torch.cdist(SLOTS.expand(len(true), -1, -1), true[..., :2])
    ).masked_fill((kinds < 0)[:, None], 0.0)
    best = cost[:, WAYS, torch.arange(MOST)].sum(-1).argmin(1)
    return WAYS[best]


def loss_of(model: Any, pixels: Tensor, kinds: Tensor, true: Tensor) -> Tensor:
    """Kinds, boxes and looking, for every decoder layer, with the last layer's matching."""
    out = model.model(pixel_values=pixels, output_attentions=True)
    logits = model.class_labels_classifier(out.intermediate_hidden_states)  # (layers, n, Q, K+1)
    boxes = model.bbox_predictor(out.intermediate_hidden_states).sigmoid()
    with torch.no_grad():
        queries = matched(logits[-1].softmax(-1), boxes[-1], kinds, true)
    rows, shapes = (kinds >= 0).nonzero(as_tuple=True)
    columns, true = queries[rows, shapes], true[rows, shapes]
    wanted = torch.full(logits.shape[1:3], len(KINDS))  # "no object"
    wanted[rows, columns] = kinds[rows, shapes]
    inside = covered(true, CELLS)
    weight = torch.tensor([1.0] * len(KINDS) + [0.2])
    total = torch.zeros(())
    for layer, maps in enumerate(out.cross_attentions):
        found = boxes[layer, rows, columns]
        mass = (maps.mean(dim=1)[rows, columns] * inside).sum(-1)
        total = (
            total
            + F.cross_entropy(logits[layer].flatten(0, 1), wanted.flatten(), weight=weight)
            + 5 * (found - true).abs().sum(-1).mean()
            + 2 * (1 - overlap(found, true)[1].diagonal()).mean()
            - LOOKING * (mass + 1e-6).log().mean()
        )
    return total


def stacked(pictures: list[Picture]) -> tuple[Tensor, Tensor, Tensor]:
    """(pixels, kinds, boxes); a picture with fewer shapes than MOST has kind -1 for the rest."""
    kinds = torch.full((len(pictures), MOST), -1)
    boxes = torch.full((len(pictures), MOST, 4), 0.5)
    for row, picture in enumerate(pictures):
        kinds[row, : len(picture.kinds)] = picture.kinds
        boxes[row, : len(picture.kinds)] = picture.boxes
    return torch.stack([picture.pixels for picture in pictures]), kinds, boxes


def train() -> Any:
    torch.set_num_threads(1)  # as quick on such small matrices, and the same sums each time
    model, generator = untrained(), torch.Generator().manual_seed(SEED)
    known, unseen = pictures(generator)
    for steps in CYCLES:
        cycle(model, steps, known, unseen, generator)
    return model


def pictures(generator: torch.Generator) -> tuple[tuple[Tensor, Tensor, Tensor], list[Picture]]:
    """(those to learn from, a few others to watch the training by)."""
    known = stacked([draw(generator) for _ in range(N_PICTURES)])
    return known, [draw(generator) for _ in range(100)]


def cycle(
    model: Any,
    steps: int,
    known: tuple[Tensor, Tensor, Tensor],
    unseen: list[Picture],
    generator: torch.Generator,
) -> None:
    """So many steps, the rate going up to RATE and down to nothing."""
    optimiser = torch.optim.AdamW(model.train().parameters(), lr=RATE, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, RATE, total_steps=steps, pct_start=0.05
    )
    begin = time.time()
    for step in range(steps):
        chosen = torch.randint(N_PICTURES, (BATCH,), generator=generator)
        loss = loss_of(model, *(part[chosen] for part in known))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 50 == 0:
            print(f"{step:5} loss {loss.item():.3f} {time.time() - begin:.0f} s", flush=True)
        if step % 400 == 399:
            print(judge(model.eval(), unseen), flush=True)
            model.train()
    model.eval()


def main() -> None:
    model = train()
    model.save_pretrained(FOLDER)
    half = [0.5, 0.5, 0.5]  # pixels go from -1 to 1
    DetrImageProcessorPil(
        size={"height": SIDE, "width": SIDE}, image_mean=half, image_std=half, do_pad=False
    ).save_pretrained(FOLDER)
    unseen = torch.Generator().manual_seed(SEED + 1)
    card = {
        "data": f"{N_PICTURES:,} generated pictures of 1 to 3 circles, squares and triangles; "
        "judged are 500 others.",
        "attention": "The loss has a term that keeps the attention of each matched query inside "
        f"its box, -{LOOKING} log(weight inside).",
        "matching": f"Each query has a place on a grid of {GRID} x {GRID}, and matching prefers "
        "the shapes near it.",
        "script": "python -m attnviz.models.teaching.train_shapes_detr",
        "seed": SEED,
        "steps": CYCLES,
        "batch": BATCH,
        "judged": judge(model, [draw(unseen) for _ in range(500)]),
    }
    (FOLDER / "card.json").write_text(json.dumps(card, indent=1) + "\n")
    print(json.dumps(card["judged"], indent=1))


if __name__ == "__main__":
    main()

"""Train shapes-detr, a small image model with object queries, on generated pictures of shapes.

    .venv/bin/python -m attnviz.models.teaching.train_shapes_detr

Writes assets/models/shapes-detr/ in transformers' format, with its card.
"""

from __future__ import annotations

import json
import time
from itertools import permutations
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from transformers import DetrConfig, DetrForObjectDetection, ResNetConfig

from attnviz.models.catalog import ASSETS
from attnviz.models.teaching.shapes import KINDS, Picture, covered, draw, overlap
from attnviz.models.teaching.shapes_detr import CELLS, judge

FOLDER = ASSETS / "shapes-detr"
SEED, STEPS, BATCH, RATE = 0, 2200, 16, 8e-4
N_PICTURES = 4000
QUERIES, WIDTH, HEADS = 10, 64, 4
LOOKING = 1.0
"""Weight of the loss that keeps a query's attention inside the box it is matched with."""


def untrained() -> Any:
    torch.manual_seed(SEED)
    resnet: Any = ResNetConfig
    detr: Any = DetrConfig
    backbone = resnet(
        embedding_size=24,
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
            decoder_layers=2,
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


def matched(chances: Tensor, boxes: Tensor, picture: Picture) -> Tensor:
    """The query for each shape, so that all costs together are least (Carion et al., equation 1).

    With three shapes at most, all assignments can be tried.
    """
    cost = (
        -chances[:, picture.kinds]
        + 5 * torch.cdist(boxes, picture.boxes, p=1)
        - 2 * overlap(boxes, picture.boxes)[1]
    )
    shapes = torch.arange(len(picture.kinds))
    ways = torch.tensor(list(permutations(range(len(boxes)), len(shapes))))
    return ways[cost[ways, shapes].sum(1).argmin()]


def loss_of(model: Any, pictures: list[Picture]) -> Tensor:
    """Kinds, boxes and looking, for both decoder layers, with the last layer's matching."""
    out = model.model(
        pixel_values=torch.stack([picture.pixels for picture in pictures]), output_attentions=True
    )
    logits = model.class_labels_classifier(out.intermediate_hidden_states)  # (layers, n, Q, K+1)
    boxes = model.bbox_predictor(out.intermediate_hidden_states).sigmoid()
    with torch.no_grad():
        queries = [
            matched(chances, box, picture)
            for chances, box, picture in zip(
                logits[-1].softmax(-1), boxes[-1], pictures, strict=True
            )
        ]
    rows = torch.cat([torch.full_like(q, n) for n, q in enumerate(queries)])
    columns, true = torch.cat(queries), torch.cat([picture.boxes for picture in pictures])
    kinds = torch.full(logits.shape[1:3], len(KINDS))  # "no object"
    kinds[rows, columns] = torch.cat([picture.kinds for picture in pictures])
    weight = torch.tensor([1.0] * len(KINDS) + [0.2])
    total = torch.zeros(())
    for layer, maps in enumerate(out.cross_attentions):
        found = boxes[layer, rows, columns]
        looked = maps.mean(dim=1)[rows, columns]
        mass = (looked * covered(true, CELLS)).sum(-1)
        total = (
            total
            + F.cross_entropy(logits[layer].flatten(0, 1), kinds.flatten(), weight=weight)
            + 5 * (found - true).abs().sum(-1).mean()
            + 2 * (1 - overlap(found, true)[1].diagonal()).mean()
            - LOOKING * (mass + 1e-6).log().mean()
        )
    return total


def train() -> Any:
    torch.set_num_threads(1)  # as quick on such small matrices, and the same sums each time
    model, generator = untrained().train(), torch.Generator().manual_seed(SEED)
    known = [draw(generator) for _ in range(N_PICTURES)]
    unseen = [draw(generator) for _ in range(100)]
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, RATE, total_steps=STEPS, pct_start=0.05
    )
    begin = time.time()
    for step in range(STEPS):
        chosen = torch.randint(N_PICTURES, (BATCH,), generator=generator).tolist()
        loss = loss_of(model, [known[number] for number in chosen])
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 50 == 0:
            print(f"{step:5} loss {loss.item():.3f} {time.time() - begin:.0f} s", flush=True)
        if step % 500 == 499:
            print(judge(model.eval(), unseen), flush=True)
            model.train()
    return model.eval()


def main() -> None:
    model = train()
    model.save_pretrained(FOLDER)
    unseen = torch.Generator().manual_seed(SEED + 1)
    card = {
        "data": f"{N_PICTURES:,} generated pictures of 1 to 3 circles, squares and triangles; "
        "judged are 500 others.",
        "attention": "The loss has a term that keeps the attention of each matched query inside "
        f"its box, -{LOOKING} log(weight inside).",
        "script": "python -m attnviz.models.teaching.train_shapes_detr",
        "seed": SEED,
        "steps": STEPS,
        "batch": BATCH,
        "judged": judge(model, [draw(unseen) for _ in range(500)]),
    }
    (FOLDER / "card.json").write_text(json.dumps(card, indent=1) + "\n")
    print(json.dumps(card["judged"], indent=1))


if __name__ == "__main__":
    main()

"""How shapes-detr is judged: mean average precision, and where its queries look.

The model is transformers' DetrForObjectDetection (Carion et al. 2020) with a small convolutional
backbone; its memory is a grid of 8 x 8 cells of 8 pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attnviz.models.teaching.shapes import KINDS, Picture, covered, overlap

CELLS = 8
SURE = 0.5
"""A query that is surer than this of a kind is a detection."""


@torch.no_grad()
def detect(
    model: Any, pictures: Sequence[Picture]
) -> tuple[Float[Tensor, "n queries kinds"], Float[Tensor, "n queries 4"], Tensor]:
    """(probability of each kind, boxes, weights over the memory) of every query.

    The weights (n, queries, cells) are the mean over the heads of the last decoder layer's
    cross-attention; the model's attention must be "eager".
    """
    pixels = torch.stack([picture.pixels for picture in pictures])
    out = model(pixel_values=pixels, output_attentions=True)
    looked = out.cross_attentions[-1].mean(dim=1)
    return out.logits.softmax(-1)[..., : len(KINDS)], out.pred_boxes, looked


def average_precision(found: Sequence[tuple[float, bool]], n_true: int) -> float:
    """Area under the precision-recall curve, every point used (VOC 2010 and later).

    found: (score, is it a true positive) of each detection.
    """
    hits = torch.tensor([hit for _, hit in sorted(found, key=lambda pair: -pair[0])]).double()
    if not len(hits):
        return 0.0
    precision = hits.cumsum(0) / torch.arange(1, len(hits) + 1)
    best = precision.flip(0).cummax(0).values.flip(0)  # the best at this recall or more
    return float((best * hits).sum() / n_true)


def judge(model: Any, pictures: Sequence[Picture], least: float = 0.5) -> dict[str, float]:
    """map: mean over the kinds of the average precision at an intersection over union of `least`.

    looks_inside: of the detections (surer than SURE) that are right, the share whose weights lie
    by more than half inside the box of the shape that they found; cells that the box covers in
    part count in part.
    """
    probabilities, boxes, looked = detect(model, pictures)
    found: list[list[tuple[float, bool]]] = [[] for _ in KINDS]
    inside = []
    for picture, chances, where, weights in zip(
        pictures, probabilities, boxes, looked, strict=True
    ):
        shared = overlap(where, picture.boxes)[0]  # (queries, shapes)
        masses = weights @ covered(picture.boxes, CELLS).T  # (queries, shapes)
        for kind in range(len(KINDS)):
            free = picture.kinds == kind
            for query in chances[:, kind].argsort(descending=True).tolist():
                fits = torch.where(free, shared[query], 0.0)
                hit = bool(fits.max() >= least)
                score = float(chances[query, kind])
                found[kind].append((score, hit))
                if hit:
                    shape = int(fits.argmax())
                    free[shape] = False  # a second box for one shape is wrong
                    if score > SURE:
                        inside.append(float(masses[query, shape]) > 0.5)
    kinds = torch.cat([picture.kinds for picture in pictures])
    precisions = [
        average_precision(pairs, int((kinds == kind).sum())) for kind, pairs in enumerate(found)
    ]
    return {
        "map": sum(precisions) / len(KINDS),
        "looks_inside": sum(inside) / max(1, len(inside)),
        "detections": len(inside),
    }

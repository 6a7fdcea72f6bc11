"""The pictures that shapes-detr learns from, and the figures by which it is judged."""

from __future__ import annotations

import pytest
import torch

import attnviz as av
from attnviz.models import catalog
from attnviz.models.teaching.shapes import SIDE, Picture, covered, draw, mask, overlap
from attnviz.models.teaching.shapes_detr import average_precision, judge


def test_it_finds_unseen_shapes_and_looks_inside_their_boxes() -> None:
    loaded = av.load_model("shapes-detr")
    assert loaded.kind == "vision"
    loaded.model.set_attn_implementation("eager")
    generator = torch.Generator().manual_seed(77)
    told = judge(loaded.model, [draw(generator) for _ in range(200)])
    assert told["map"] >= 0.9
    assert told["looks_inside"] >= 0.9
    assert told["detections"] > 200
    weights = catalog.ASSETS / "shapes-detr" / "model.safetensors"
    assert weights.stat().st_size < 3_000_000


def test_a_box_is_where_its_shape_is() -> None:
    generator = torch.Generator().manual_seed(1)
    for _ in range(30):
        picture = draw(generator)
        bright = picture.pixels.amin(dim=0) > -0.1  # backgrounds are dark in some channel
        y, x = bright.nonzero().T
        low = picture.boxes[:, :2] - picture.boxes[:, 2:] / 2
        high = picture.boxes[:, :2] + picture.boxes[:, 2:] / 2
        assert x.min() == pytest.approx(float(low[:, 0].min()) * SIDE, abs=1)
        assert x.max() + 1 == pytest.approx(float(high[:, 0].max()) * SIDE, abs=1)
        assert y.max() + 1 == pytest.approx(float(high[:, 1].max()) * SIDE, abs=1)


def test_shapes_fill_their_boxes() -> None:
    shares = [float(mask(kind, 200).float().mean()) for kind in ("circle", "square", "triangle")]
    assert shares == pytest.approx([torch.pi / 4, 1.0, 0.5], abs=0.01)


def test_overlaps_and_covered_cells_by_hand() -> None:
    left = torch.tensor([[0.25, 0.5, 0.5, 1.0]])  # the left half
    right = torch.tensor([[0.5, 0.5, 0.5, 1.0], [0.9, 0.5, 0.2, 1.0]])
    shared, generalised = overlap(left, right)
    assert shared[0].tolist() == pytest.approx([1 / 3, 0.0])
    assert generalised[0].tolist() == pytest.approx([1 / 3, -0.3])  # 0.3 of the hull is neither's
    assert covered(left, 2)[0].tolist() == pytest.approx([1, 0, 1, 0])
    assert covered(right[:1], 2)[0].tolist() == pytest.approx([0.5] * 4)


def test_average_precision_by_hand() -> None:
    assert average_precision([(0.9, True), (0.8, True)], 2) == 1.0
    assert average_precision([(0.9, False), (0.8, True)], 1) == 0.5
    assert average_precision([(0.9, True), (0.8, False), (0.7, True)], 4) == pytest.approx(5 / 12)
    assert average_precision([], 3) == 0.0


def test_a_model_that_finds_nothing_scores_nothing_and_one_that_knows_scores_one() -> None:
    generator = torch.Generator().manual_seed(2)
    pictures: list[Picture] = [draw(generator) for _ in range(20)]

    class Knows(torch.nn.Module):
        """Says what the pictures hold: wrong kinds if it is told to lie."""

        lies = False

        def forward(self, pixel_values: torch.Tensor, output_attentions: bool):
            logits, boxes = torch.full((len(pictures), 3, 4), -9.0), torch.full((20, 3, 4), 0.01)
            maps = torch.zeros(len(pictures), 1, 3, 64)
            logits[..., 3] = 0.0
            for n, picture in enumerate(pictures):
                for q, kind in enumerate(picture.kinds.tolist()):
                    logits[n, q, (kind + self.lies) % 3] = 9.0
                    boxes[n, q] = picture.boxes[q]
                    maps[n, 0, q] = covered(picture.boxes, 8)[q]
            maps = maps / maps.sum(-1, keepdim=True).clamp(min=1e-6)
            return type(
                "Out", (), {"logits": logits, "pred_boxes": boxes, "cross_attentions": [maps]}
            )

    known = judge(Knows(), pictures)
    assert (known["map"], known["looks_inside"]) == (pytest.approx(1.0), 1.0)
    liar = Knows()
    liar.lies = True
    assert judge(liar, pictures)["map"] < 0.3

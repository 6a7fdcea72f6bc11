"""A visitor's model in the jobs of the pages: its own numbers, its kind before it is loaded."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from attnviz.corpus.jobs import MetricsJob
from attnviz.errors import ModelError
from attnviz.interventions import Knockout
from attnviz.interventions.jobs import ChangeJob, SweepJob
from attnviz.models import LoadedModel
from attnviz.models.catalog import ASSETS
from attnviz.models.choice import ONE_TEXT, KindJob, ModelChoice
from attnviz.models.progress import silent
from tests.interventions.test_heads import by_hand, t5
from tests.models.shrink import shrink
from tests.models.tiny import TEXT, build, llama

LAYER, HEAD = 1, 2


def saved(model: LoadedModel, folder: Path) -> ModelChoice:
    model.model.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return ModelChoice(str(folder))


def knocked_out_by_hand(model: LoadedModel) -> Tensor:
    """Logits of Falcon, whose four heads stand side by side before its projection."""

    def zero(heads: Tensor) -> Tensor:
        heads.unflatten(-1, (4, -1))[..., HEAD, :] = 0
        return heads

    return by_hand(model, f"transformer.h.{LAYER}.self_attention.dense", zero)


def test_a_knock_out_in_a_folder_is_of_what_the_folder_holds_now(
    tmp_path: Path, environment: Callable[..., None]
) -> None:
    """Attention in code of its own; then another checkpoint saved in the same place."""
    environment(MODEL_DIRS=str(tmp_path))
    jobs = []
    for seed in (0, 1):
        model = build(shrink("falcon"), seed=seed)
        choice = saved(model, tmp_path / "falcon")
        job = ChangeJob(choice, TEXT, (Knockout(LAYER, HEAD),))
        jobs.append(job)
        expected = knocked_out_by_hand(model)
        torch.testing.assert_close(job.run(silent).after.rows, expected, atol=1e-6, rtol=1e-5)
        swept = SweepJob(choice, TEXT).run(silent)
        wanted = expected[-1].softmax(-1)[swept.token_id]
        assert swept.probabilities[LAYER, HEAD] == pytest.approx(float(wanted), abs=1e-6)
    assert jobs[0] != jobs[1], "what was kept of the first would be shown of the second"
    half = ChangeJob(ModelChoice(str(tmp_path / "falcon"), "bfloat16"), TEXT, ())
    assert half.run(silent).before.rows.sub(jobs[1].run(silent).before.rows).abs().max() > 1e-3


def test_kinds_are_known_ahead_and_those_not_taken_refused(
    tmp_path: Path, environment: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment(MODEL_DIRS=str(tmp_path))
    bert = build(shrink("bert"), kind="encoder")
    made = {"decoder": llama(), "encoder": bert, "encoder_decoder": t5()}
    choices = {kind: saved(model, tmp_path / kind) for kind, model in made.items()}
    shutil.copytree(ASSETS / "shapes-detr", tmp_path / "vision")
    with pytest.raises(ModelError, match="reads one text and writes another"):
        MetricsJob(choices["encoder_decoder"], ((1, TEXT),)).run(silent)
    library: Any = transformers
    for factory in ("AutoModel", "AutoModelForCausalLM", "AutoModelForSeq2SeqLM"):
        monkeypatch.setattr(
            getattr(library, factory), "from_pretrained", lambda *a, **k: pytest.fail("loaded")
        )
    for kind, choice in choices.items():
        assert KindJob(choice).run(silent) == kind
    with pytest.raises(ModelError, match="encoder_decoder reads one text and writes another"):
        KindJob(choices["encoder_decoder"], ONE_TEXT).run(silent)
    with pytest.raises(ModelError, match="vision sees pictures and reads no text here"):
        KindJob(ModelChoice(str(tmp_path / "vision"))).run(silent)
    with pytest.raises(ModelError, match="ATTNVIZ_MODEL_DIRS"):
        KindJob(ModelChoice(str(tmp_path.parent))).run(silent)

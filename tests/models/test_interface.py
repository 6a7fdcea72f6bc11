"""A run restores whatever it had to set, and nobody else's run notices it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

import attnviz as av
from attnviz.errors import Cancelled, ModelError
from attnviz.models import LoadedModel
from attnviz.models.check import CheckResult
from attnviz.models.interface import running
from tests.models.mixers.families import FAMILIES
from tests.models.tiny import TEXT, build, llama


class Stopped(BaseException):
    """Like Streamlit's own: not an Exception."""


def state(model: LoadedModel) -> Any:
    return (
        model.model.config._attn_implementation,
        model.model.config.to_dict(),
        [module.training for module in model.model.modules()],
        torch.is_grad_enabled(),
    )


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_a_run_leaves_no_trace(implementation: str) -> None:
    model = llama()
    model.model.set_attn_implementation(implementation)
    model.model.train()
    model.model.model.layers[1].eval()  # mixed on purpose
    before = state(model)
    assert av.capture(model, TEXT).check.passed
    assert state(model) == before


@pytest.mark.parametrize("problem", [Stopped, Cancelled, RuntimeError])
@pytest.mark.parametrize("at", [1, 2, 4])
def test_stopping_anywhere_leaves_no_trace(problem: type[BaseException], at: int) -> None:
    model = llama()
    model.model.train()
    before, seen = state(model), []

    def progress(fraction: float, text: str) -> None:
        seen.append(fraction)
        if len(seen) == at:
            raise problem

    with pytest.raises(problem):
        av.capture(model, TEXT, progress=progress)
    assert state(model) == before
    assert model.lock.acquire(timeout=1)
    model.lock.release()
    assert av.capture(model, TEXT).check.passed


def test_progress_runs_from_0_to_1() -> None:
    seen: list[tuple[float, str]] = []
    av.capture(llama(), TEXT, progress=lambda done, text: seen.append((done, text)))
    fractions = [done for done, _ in seen]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1
    assert "Layer 2 of 3" in [text for _, text in seen]


def test_a_config_that_asks_for_attentions_is_left_alone() -> None:
    model = llama()
    model.model.set_attn_implementation("eager")
    model.model.config.output_attentions = True
    assert av.capture(model, TEXT).check.passed
    assert model.model.config.output_attentions is True


def test_ten_threads_get_what_one_at_a_time_gets() -> None:
    model = llama()
    texts = [" ".join(TEXT.split()[: 3 + n]) for n in range(10)]
    alone = [av.capture(model, text) for text in texts]
    with ThreadPoolExecutor(10) as pool:
        together = list(pool.map(lambda text: av.capture(model, text), texts))
    for one, other in zip(alone, together, strict=True):
        assert one.token_ids == other.token_ids
        for layer in range(3):
            for head in range(4):
                np.testing.assert_array_equal(one.weights(layer, head), other.weights(layer, head))
        np.testing.assert_array_equal(one.overview(), other.overview())
    assert model.model.config._attn_implementation == "sdpa"


@pytest.mark.parametrize("hybrid", [False, True])
def test_ten_threads_with_backends_and_stopped_runs_among_them(hybrid: bool) -> None:
    """Different texts, some stopped part way as Streamlit stops them, others asking for a backend
    under the lock, in between: the same bits as one at a time."""
    model = build(FAMILIES["qwen3_next"]()) if hybrid else llama()
    texts = [" ".join(TEXT.split()[: 3 + n]) for n in range(10)]
    alone = [av.capture(model, text) for text in texts]
    before = state(model)
    starting = threading.Barrier(10)

    def visit(number: int) -> Any:
        starting.wait(20)
        at, seen = number % 3, []

        def stop(fraction: float, text: str) -> None:
            seen.append(text)
            if len([text for text in seen if "Waiting" not in text]) > at:
                raise Stopped

        with pytest.raises(Stopped):
            av.capture(model, texts[number - 1], progress=stop)
        if number % 3 == 0:  # a reader who looks at the model's own attentions
            ids = torch.tensor([alone[number].token_ids])
            with model.lock, running(model.model, "eager"):
                assert model.model(ids, output_attentions=True, use_cache=False).attentions
        return av.capture(model, texts[number])

    with ThreadPoolExecutor(10) as pool:
        together = list(pool.map(visit, range(10)))
    for one, other in zip(alone, together, strict=True):
        assert one.token_ids == other.token_ids
        for layer in one.layers:
            for head in range(layer.n_heads):
                maps = [each.weights(layer.index, head, kind=layer.kind) for each in (one, other)]
                np.testing.assert_array_equal(*maps)
        np.testing.assert_array_equal(one.overview(), other.overview())
        np.testing.assert_array_equal(one.probabilities, other.probabilities)
    assert state(model) == before
    assert model.lock.acquire(timeout=1)
    model.lock.release()


def test_a_plain_run_beside_a_capture_gets_its_own_result() -> None:
    """Somebody who runs the model without the lock, in the middle of a capture."""
    model = llama()
    ids = torch.tensor([[1, 2, 3, 4]])
    with torch.no_grad():
        expected = model.model(ids).logits
    results: list[torch.Tensor] = []

    def interrupt(fraction: float, text: str) -> None:
        def run() -> None:
            with torch.no_grad():
                results.append(model.model(ids).logits)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()

    capture = av.capture(model, TEXT, progress=interrupt)
    assert capture.n_tokens == 13
    assert len(results) >= 3
    for result in results:
        torch.testing.assert_close(result, expected)


def test_a_visitor_who_waits_is_told_and_may_leave() -> None:
    model = llama()
    told: list[str] = []

    def leave(fraction: float, text: str) -> None:
        told.append(text)
        raise Cancelled

    held = threading.Event()
    done = threading.Event()

    def hold() -> None:
        with model.lock:
            held.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    with pytest.raises(Cancelled):
        av.capture(model, TEXT, progress=leave)
    done.set()
    thread.join()
    assert "Waiting" in told[0]


def test_one_model_wrapped_twice_has_one_lock() -> None:
    model = llama()
    again = av.from_transformers(model.model, model.tokenizer)
    assert again.lock is model.lock


@pytest.mark.parametrize("fault", ["scale", "mask", "output"])
def test_a_wrong_map_is_never_returned(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Break one thing at a time: the run's own check has to notice."""
    from dataclasses import replace

    from attnviz.models import recorder
    from attnviz.models.mask_rule import MaskRule

    original = recorder.Recorder._record
    sdpa = recorder.sdpa_attention_forward

    def broken(self: Any, *args: Any) -> Any:
        record = original(self, *args)
        if fault == "scale":
            return replace(record, scale=1.0)
        return replace(record, rule=MaskRule(causal=False))

    def noisy(*args: Any, **options: Any) -> Any:
        output, none = sdpa(*args, **options)
        return output + 0.01, none

    if fault == "output":
        monkeypatch.setattr(recorder, "sdpa_attention_forward", noisy)
    else:
        monkeypatch.setattr(recorder.Recorder, "_record", broken)
    with pytest.raises(ModelError, match="did not pass their own check"):
        av.capture(llama(), TEXT)


def test_a_run_that_changes_the_model_s_answer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Consistent maps of a wrong computation: only the plain run can tell."""
    from attnviz.models import interface, recorder

    attend = recorder.Recorder.attend

    def without_position(self: Any, module: Any, query: Any, key: Any, *rest: Any, **options: Any):
        return attend(self, module, query, key.flip(2), *rest, **options)

    monkeypatch.setattr(recorder.Recorder, "attend", without_position)
    with pytest.raises(ModelError, match="logits equal those of a plain sdpa run within"):
        av.capture(llama(), TEXT)
    assert interface.NAME == "attnviz"


def test_numbers_out_of_range_are_noticed() -> None:
    model = llama()
    with torch.no_grad():
        model.model.model.layers[2].self_attn.v_proj.weight[0, 0] = torch.nan
    for check in (True, False):
        with pytest.raises(ModelError, match="did not pass their own check"):
            av.capture(model, TEXT, check=check)


def test_the_comparison_can_be_asked_for_or_left_out() -> None:
    model = llama()
    without: CheckResult = av.capture(model, TEXT, check=False).check
    assert without.passed
    assert without.logits_error is None
    assert "plain" not in without.sentence
    assert av.capture(model, TEXT, check=True).check.logits_error is not None

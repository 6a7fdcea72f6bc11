"""Heavy work runs once however often it is asked for, and ends when nobody waits."""

import pickle
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from attnviz import jobs
from attnviz.errors import AttnvizError, Cancelled
from attnviz.jobs import Board, CaptureJob
from attnviz.map_jobs import CompareJob
from attnviz.models.choice import ModelChoice


@dataclass(frozen=True)
class Sized:
    nbytes: int


@dataclass(frozen=True)
class Counting:
    """A job that reports in small steps until its gate opens, and counts its runs."""

    gate: threading.Event
    runs: list[int]
    result: object = "done"
    name: str = "job"

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counting) and self.name == other.name

    def run(self, progress: Callable[[float, str], None]) -> object:
        self.runs.append(1)
        while not self.gate.is_set():
            progress(0.5, "half way")
            time.sleep(0.01)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def test_the_same_job_asked_for_by_many_runs_once_and_is_kept() -> None:
    board, gate, runs = Board(budget_bytes=100), threading.Event(), []
    tickets = [board.submit(Counting(gate, runs)) for _ in range(5)]
    gate.set()
    assert [ticket.future.result(5) for ticket in tickets] == ["done"] * 5
    assert board.submit(Counting(gate, runs)).future.result(5) == "done"
    assert len(runs) == 1


def test_progress_is_seen_while_it_runs() -> None:
    board, gate = Board(budget_bytes=100), threading.Event()
    with board.submit(Counting(gate, [])) as ticket:
        deadline = time.monotonic() + 5
        while ticket.text != "half way" and time.monotonic() < deadline:
            time.sleep(0.01)
        assert (ticket.fraction, ticket.text) == (0.5, "half way")
        gate.set()
        ticket.future.result(5)


def test_a_run_that_everybody_left_ends_and_can_be_asked_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "ABANDONED_AFTER", 0.05)
    board, gate, runs = Board(budget_bytes=100), threading.Event(), []
    with board.submit(Counting(gate, runs)) as ticket:
        pass
    with pytest.raises(Cancelled):
        ticket.future.result(5)
    gate.set()
    assert board.submit(Counting(gate, runs)).future.result(5) == "done"
    assert len(runs) == 2


def test_one_who_leaves_does_not_take_it_from_one_who_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "ABANDONED_AFTER", 0.05)
    board, gate, runs = Board(budget_bytes=100), threading.Event(), []
    with board.submit(Counting(gate, runs)) as staying:
        with board.submit(Counting(gate, runs)):
            pass
        time.sleep(0.3)
        gate.set()
        assert staying.future.result(5) == "done"
    assert len(runs) == 1


def test_an_error_reaches_the_page_and_is_not_kept() -> None:
    board, gate, runs = Board(budget_bytes=100), threading.Event(), []
    gate.set()
    failing = Counting(gate, runs, result=AttnvizError("The text is empty: type something."))
    for _ in range(2):
        with pytest.raises(AttnvizError, match="type something"):
            board.submit(failing).future.result(5)
    assert len(runs) == 2


def test_results_are_dropped_oldest_first_when_the_budget_is_full() -> None:
    board, gate = Board(budget_bytes=100), threading.Event()
    gate.set()
    counts: dict[str, list[int]] = {"a": [], "b": [], "huge": []}
    sizes = {"a": 60, "b": 60, "huge": 1000}
    for name in ("a", "b", "huge", "huge", "b", "a"):
        job = Counting(gate, counts[name], Sized(sizes[name]), name)
        assert board.submit(job).future.result(5) == Sized(sizes[name])
    assert {name: len(runs) for name, runs in counts.items()} == {"a": 2, "b": 1, "huge": 2}


def test_what_is_kept_is_had_without_a_run() -> None:
    gate, runs = threading.Event(), []
    board, job = Board(budget_bytes=100), Counting(gate, runs)
    assert board.finished(job) is None
    gate.set()
    assert board.submit(job).future.result(timeout=5) == "done"
    assert board.finished(job) == "done"
    assert len(runs) == 1


def test_a_comparison_runs_the_captures_that_are_not_kept() -> None:
    sides = [CaptureJob(ModelChoice("induction-2l"), text) for text in ("abcabc", "abxabc")]
    found = CompareJob(*sides).run(lambda *told: None)
    assert len(found.table) == 8
    assert found.table["distance"].max() > 0
    assert found.nbytes >= found.thumbnails.nbytes


def test_a_job_can_be_sent_elsewhere() -> None:
    job = CaptureJob(ModelChoice("smollm2-135m"), "The cat")
    assert pickle.loads(pickle.dumps(job)) == job  # noqa: S301 - our own bytes

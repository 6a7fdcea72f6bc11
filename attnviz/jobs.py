"""One door to heavy work: a page hands in a small job and gets a result, or a reason.

A job is a frozen, picklable dataclass with a `run(progress)` method: it names its model, it
never holds one, so the same job could run on another machine. Here it runs in a thread of this
process. The same job asked for twice, by one visitor or by thirty, is one run; results are kept
while they are used, up to a budget in bytes.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from cachetools import LRUCache

from attnviz.errors import AttnvizError, Cancelled
from attnviz.models.choice import ModelChoice


@runtime_checkable
class Progress(Protocol):
    """How far a job is: a fraction, words, and what can be shown already, if anything."""

    def __call__(self, fraction: float, text: str, so_far: Any = None) -> None: ...


ABANDONED_AFTER = 1.5
"""Seconds without anybody waiting before a run stops: long enough for a rerun to come back.
Leaving is the only way to stop a run, so one visitor's stop never takes another's result."""


@runtime_checkable
class Job(Protocol):
    """Hashable work: equal jobs have equal results."""

    def __hash__(self) -> int: ...

    def run(self, progress: Progress) -> Any:
        """Do the work, reporting (fraction done, what is being done); raise AttnvizError."""
        ...


class Ticket:
    """A job on its way: how far it is, and its result when it has one."""

    def __init__(self) -> None:
        self.fraction = 0.0
        self.text = "Waiting for its turn"
        self.so_far: Any = None
        self.future: Future[Any] = Future()
        self._waiters = 0
        self._left_at = time.monotonic()

    def progress(self, fraction: float, text: str, so_far: Any = None) -> None:
        """Called by the work, often; raises Cancelled when the result is no longer wanted."""
        self.fraction, self.text = min(max(fraction, 0.0), 1.0), text
        if so_far is not None:
            self.so_far = so_far
        if self._waiters == 0 and time.monotonic() - self._left_at > ABANDONED_AFTER:
            raise Cancelled

    def __enter__(self) -> Ticket:
        self._waiters += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._waiters -= 1
        self._left_at = time.monotonic()


class Board:
    """The jobs of this process: running ones by their job, finished ones by last use."""

    def __init__(self, budget_bytes: int, workers: int = 2) -> None:
        self._lock = Lock()
        self._running: dict[Job, Ticket] = {}
        self._finished: LRUCache[Job, Any] = LRUCache(budget_bytes, getsizeof=_size)
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="attnviz-job")

    def submit(self, job: Job) -> Ticket:
        """The ticket of this job: a finished one, the one under way, or a new one."""
        with self._lock:
            if job in self._finished:
                ticket = Ticket()
                ticket.future.set_result(self._finished[job])
                return ticket
            ticket = self._running.get(job)
            if ticket is None:
                ticket = self._running[job] = Ticket()
                self._pool.submit(self._work, job, ticket)
            return ticket

    def _work(self, job: Job, ticket: Ticket) -> None:
        try:
            ticket.progress(0.0, "Starting")
            result = job.run(ticket.progress)
        except BaseException as problem:  # noqa: BLE001 - the waiting side's to handle
            with self._lock:
                self._forget(job, ticket)
            ticket.future.set_exception(problem)
            return
        with self._lock:
            if _size(result) <= self._finished.maxsize:
                self._finished[job] = result
            self._forget(job, ticket)
        ticket.future.set_result(result)

    def _forget(self, job: Job, ticket: Ticket) -> None:
        if self._running.get(job) is ticket:
            del self._running[job]

    def finished(self, job: Job) -> Any:
        """The result of this job, if it is still here; None otherwise."""
        with self._lock:
            return self._finished.get(job)


def _size(result: Any) -> int:
    return max(1, int(getattr(result, "nbytes", 1)))


@lru_cache(maxsize=1)
def board() -> Board:
    """The board of this process, holding at most a gibibyte of finished results."""
    return Board(budget_bytes=2**30)


@dataclass(frozen=True)
class CaptureJob:
    """Run a model once on a visitor's text and keep what its attention maps need."""

    model: ModelChoice
    text: str
    target: str = ""  # what an encoder-decoder is to write; it writes its own where empty
    chat: bool = False  # the text is what a user says, put through the model's template
    write: int = 0  # tokens that a decoder writes after the text, or an encoder-decoder as target
    picture: bytes = b""  # a PNG or JPEG file, of a model that sees

    def run(self, progress: Progress) -> Any:
        """Return the attnviz.models.Capture."""
        model = self.model.load(part_of(progress, 0.02, 0.6))
        from attnviz.models import capture
        from attnviz.pictures import read_picture

        given: dict[str, Any] = {"text": self.text}
        if model.kind == "encoder_decoder":
            given = {"source": self.text, "target": self.target or None}
            given |= {"max_new_tokens": self.write} if self.write else {}
        elif self.chat:
            given = {"messages": [{"role": "user", "content": self.text}]}
        elif model.kind == "vision":
            if not self.picture:
                raise AttnvizError(
                    f"{model.title} sees pictures and reads no text; upload a picture under "
                    "Inspect a model."
                )
            given = {"image": read_picture(self.picture)}
        if model.kind in ("decoder", "encoder"):
            given["generate"] = self.write
        return capture(model, **given, progress=part_of(progress, 0.6, 1.0))


def part_of(progress: Progress, start: float, end: float) -> Progress:
    """Reports of a part of the work, which begins and ends at these fractions of the whole."""

    def report(fraction: float, text: str, so_far: Any = None) -> None:
        progress(start + (end - start) * fraction, text, so_far)

    return report

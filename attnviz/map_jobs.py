"""Jobs on the maps of a capture that has been made, or is made again where it was dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from attnviz.jobs import CaptureJob, Progress, board, part_of


@dataclass(frozen=True)
class ValueJob:
    """The value-weighted maps of one group of a capture."""

    reading: CaptureJob
    group: str

    def run(self, progress: Progress) -> Any:
        """Return the attnviz.interventions.value_maps.ValueWeighted."""
        capture = captured(self.reading, progress, 0.5)
        from attnviz.interventions import value_weighted

        model = self.reading.model.load(part_of(progress, 0.5, 0.5)).reader()
        return value_weighted(model, capture, self.group, part_of(progress, 0.5, 1.0))


@dataclass(frozen=True)
class LikenessJob:
    """The distances between all heads of one group of a capture."""

    reading: CaptureJob
    group: str

    def run(self, progress: Progress) -> Any:
        """Return the attnviz.metrics.layout.Likeness."""
        capture = captured(self.reading, progress, 0.3)
        from attnviz.metrics.layout import likeness

        return likeness(capture, self.group, part_of(progress, 0.3, 1.0))


@dataclass(frozen=True)
class ChainsJob:
    """Attention through all layers of one group of a capture."""

    reading: CaptureJob
    group: str

    def run(self, progress: Progress) -> Any:
        """Return the attnviz.metrics.rollout.Chains."""
        capture = captured(self.reading, progress, 0.3)
        from attnviz.metrics.rollout import chains

        return chains(capture, self.group, part_of(progress, 0.3, 1.0))


@dataclass(frozen=True)
class CompareJob:
    """How far every head moved between two captures of the same shape."""

    a: CaptureJob
    b: CaptureJob
    group: str | None = None  # a stack that both have; None: the first of each
    effective: bool = False  # the linear and state-space layers

    def run(self, progress: Progress) -> Any:
        """Return the attnviz.comparing.Changes."""
        from attnviz.comparing import compare

        sides = [captured(job, progress, 0.5) for job in (self.a, self.b)]
        if self.effective:
            sides = [side.effective for side in sides]
        found = compare(*sides, group=self.group)
        return found.changes(progress=part_of(progress, 0.0, 1.0))


@dataclass(frozen=True)
class UnitsJob:
    """Overviews and metrics of a capture's maps by words, or without special tokens."""

    capture: CaptureJob
    group: str = ""  # which stack of maps; empty: the first
    signed: bool = False  # the effective maps of linear and state-space layers
    words: bool = False
    hide: bool = False
    renormalise: bool = False

    def regrouped(self, capture: Any) -> Any:
        """The maps of that capture, read in these units: an attnviz.models GroupedMaps."""
        from attnviz.models.grouped import grouped

        maps = capture.effective if self.signed else capture.of(self.group or None)
        return grouped(maps, words=self.words, hide=self.hide, renormalise=self.renormalise)

    def run(self, progress: Progress) -> Any:
        """Return the attnviz.models.grouped.Summary."""
        capture = captured(self.capture, progress, 0.4)
        return self.regrouped(capture).summarised(part_of(progress, 0.4, 1.0))


def captured(job: CaptureJob, progress: Progress, end: float) -> Any:
    """This job's capture, made again where it has been dropped meanwhile."""
    found = board().finished(job)
    if found is not None:
        return found
    return job.run(lambda fraction, text, so_far=None: progress(end * fraction, text))

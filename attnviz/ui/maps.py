"""A capture's figure on a page, and the door through which the browser asks for more of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from attnviz.figures import capture as figures
from attnviz.figures.figure import Figure, Selection
from attnviz.figures.parts import Source
from attnviz.jobs import CaptureJob, Job
from attnviz.ui import work


def figure_of(key: str, job: CaptureJob, capture: Any, chosen: Selection) -> Figure:
    """The figure of the job's capture, begun with the head chosen when it was first drawn.

    It stays the same object while the job does: the browser has it and asks for other heads, so
    a run for another reason neither builds nor sends it again.
    """
    kept = st.session_state.get(f"{key}:figure")
    if kept is None or kept[0] != job:
        figure = replace(
            figures.capture_figure(capture, chosen.layer or 0, chosen.head or 0),
            snippet=figures.capture_code(job.model, job.text),
        )
        kept = st.session_state[f"{key}:figure"] = (job, figure)
    return kept[1]


def source_of(job: Job) -> Source:
    """Answers from the job's capture, run again if it has been dropped meanwhile.

    The job and not the capture is kept by the page's fragment: a capture of a long text holds
    most of a gibibyte, and the board decides how many of them stay.
    """
    return lambda request: figures.part(work.result_of(job), request)

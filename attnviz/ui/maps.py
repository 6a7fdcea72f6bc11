"""A capture's figure on a page, and the door through which the browser asks for more of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from attnviz.figures import capture as figures
from attnviz.figures.capture_words import capture_code, expression
from attnviz.figures.figure import Figure, Selection
from attnviz.figures.parts import Part, Request, Source
from attnviz.jobs import CaptureJob, Job
from attnviz.map_jobs import ValueJob
from attnviz.ui import controls, work

PAIRED = ("encoder", "decoder", "cross")
"""The groups of maps of a model that reads one text and writes another."""


def shown(capture: Any) -> Any:
    """The maps that the page shows: of one stack of several, of softmax or of linear layers.

    Only a model that has more than one of them asks the reader.
    """
    if len(capture.groups) > 1:
        cross = "Cross: the decoder's tokens ask, the encoder's answer."
        help = cross if "cross" in capture.groups else None
        group = controls.segment("Stack", list(capture.groups), key="group", help=help)
        capture = capture.of(group)
    kinds = {"softmax": bool(capture.captured), "effective": capture.effective is not None}
    words = {"softmax": "Softmax layers", "effective": "Linear and state-space layers"}
    present = [word for word, there in kinds.items() if there]
    word = present[0]
    if len(present) > 1:
        word = controls.segment("Maps of the", present, key="maps", show=words.__getitem__)
    return capture.effective if word == "effective" else capture


def figure_of(key: str, job: CaptureJob | ValueJob, capture: Any, chosen: Selection) -> Figure:
    """The figure of these maps of the job's capture, begun with the head chosen at first.

    It stays the same object while the job does: the browser has it and asks for other heads, so
    a run for another reason neither builds nor sends it again.
    """
    kept = st.session_state.get(f"{key}:figure")
    told = (job, capture.signed, getattr(capture, "group", ""), getattr(capture, "code", ""))
    if kept is None or kept[0] != told:
        reading = job.reading if isinstance(job, ValueJob) else job
        figure = replace(
            figures.capture_figure(capture, chosen.layer or 0, chosen.head or 0),
            snippet=capture_code(
                reading.model,
                reading.text,
                of=expression(capture),
                norms=getattr(job, "group", None),
                chat=reading.chat,
                write=reading.write,
                target=reading.target if getattr(capture, "group", "") in PAIRED else None,
                picture=getattr(capture, "image", None) is not None,
            ),
            blocks=True,
        )
        kept = st.session_state[f"{key}:figure"] = (told, figure)
    return kept[1]


def source_of(
    job: Job,
    *,
    signed: bool = False,
    group: str | None = None,
    regroup: Callable[[Any], Any] | None = None,
) -> Source:
    """Answers from the job's capture, run again if it has been dropped meanwhile.

    The job and not the capture is kept by the page's fragment: a capture of a long text holds
    most of a gibibyte, and the board decides how many of them stay. signed: its effective maps.
    regroup: how its maps are read, where not by tokens.
    """

    def answer(request: Request) -> Part:
        capture = work.result_of(job)
        maps = capture.of(group)
        maps = maps.effective if signed and not maps.signed else maps
        return figures.part(maps if regroup is None else regroup(maps), request)

    return answer

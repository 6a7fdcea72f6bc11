"""Wait for a job on a page: progress, a stop button, and nothing lost when it is pressed."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import TimeoutError as NotYet
from typing import Any

import streamlit as st

from attnviz.errors import Cancelled
from attnviz.jobs import Job, Ticket, board

AT_ONCE = 0.25
"""Seconds to wait before showing progress: quick work should not flash a bar."""


def result_of(job: Job, slot: Any = None, draw: Callable[[Any], None] | None = None) -> Any:
    """The result of a job, waiting for it on the page where it is called.

    slot is an st.empty() for the bar. A page with a picture below makes one at every run: then
    the bar pushes nothing away, and the last picture stays in sight until the next one is there.

    draw shows what the job has so far, in the bar's place below it, each time there is more.

    Raises the job's own AttnvizError. While it runs, a bar says how far it is; the stop button
    leaves it (and what nobody waits for ends), and the page then offers to run it again.
    """
    if st.session_state.get("_stopped") == job:
        # In the bar's place: what stands beside it is left in sight while the job runs again.
        with (slot or st.empty()).container():
            st.markdown(":material/stop_circle: Stopped before it was done.")
            st.button("Run it again", on_click=st.session_state.pop, args=("_stopped", None))
        st.stop()
    while True:
        with board().submit(job) as ticket:
            try:
                return ticket.future.result(timeout=AT_ONCE)
            except NotYet:
                pass
            except Cancelled:
                continue  # joined a run just as it gave up: ask for a new one
            try:
                return _watch(slot or st.empty(), job, ticket, draw)
            except Cancelled:
                continue


def _watch(slot: Any, job: Job, ticket: Ticket, draw: Callable[[Any], None] | None = None) -> Any:
    with slot.container():
        # The words may hold a name that the visitor typed: plain text, not the bar's markdown.
        words, bar = st.empty(), st.progress(ticket.fraction)
        st.button(
            "Stop",
            icon=":material/stop:",
            key=f"stop_{type(job).__name__}_{hash(job)}",  # a page may wait for two of a kind
            on_click=lambda: st.session_state.update(_stopped=job),
        )
        picture, drawn = st.empty(), None
        while not ticket.future.done():
            if draw is not None and ticket.so_far is not drawn:
                drawn = ticket.so_far
                with picture:
                    draw(drawn)
            words.text(ticket.text)
            bar.progress(ticket.fraction)
            time.sleep(0.1)
    slot.empty()
    return ticket.future.result()

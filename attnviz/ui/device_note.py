"""Say which device the app computes on, without making a page wait for torch to find out.

A small process of its own asks; until it answers, the page says that it is being asked.
"""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache

import streamlit as st

FIRST_PAINT = 4.0
"""Seconds to leave the machine to the page: importing torch takes a core for a while."""

_ASK = "from attnviz.device import describe; print(describe())"


def _ask() -> str:
    time.sleep(FIRST_PAINT)
    answer = subprocess.run(
        [sys.executable, "-c", _ASK], capture_output=True, text=True, timeout=120, check=False
    )
    if answer.returncode:
        return "The device could not be determined: " + answer.stderr.strip().rpartition("\n")[2]
    return answer.stdout.strip()


@lru_cache(maxsize=1)
def _answer() -> Future[str]:
    return ThreadPoolExecutor(1, thread_name_prefix="attnviz-device").submit(_ask)


@st.fragment(run_every=2.0)
def _waiting() -> None:
    if _answer().done():
        st.rerun(scope="app")
    st.text("Device: being determined …")


def device_note() -> None:
    """One line: where models and variants run."""
    if _answer().done():
        st.text(f"Device: {_answer().result()}")
    else:
        _waiting()

"""Where everything is computed and with which kernel: one choice for the whole app, in the address.

The deployment's own device (ATTNVIZ_DEVICE) counts until a visitor chooses another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import streamlit as st

from attnviz.ui import address, controls, page
from attnviz.ui.folded import Folded

KERNELS = ("reference", "fast", "flash", "efficient", "cudnn", "math", "flex", "fla")
"""Those of variants/agreement.py, whose import would load PyTorch."""
DEPLOYMENT = "default"


@dataclass(frozen=True)
class Computing:
    """device is None for the deployment's own."""

    device: str | None
    kernel: str

    @property
    def options(self) -> dict[str, Any]:
        """What is given to a run."""
        return {} if self.device is None else {"device": self.device}


def chosen() -> Computing:
    """The choice, whether or not its controls are on the page."""
    address.seed("device", _device, DEPLOYMENT)
    address.seed("kernel", lambda word: word if word in KERNELS else None, KERNELS[0])
    device, kernel = str(st.session_state["device"]), str(st.session_state["kernel"])
    return Computing(None if device == DEPLOYMENT else device, kernel)


def _device(word: str) -> str | None:
    """Of an address: one that is not here is told by the run, in a sentence."""
    return word if re.fullmatch(r"cpu|mps|cuda(:\d{1,2})?", word) else None


def control() -> None:
    """The controls, folded at the foot of the sidebar; PyTorch is loaded when they are opened."""
    now = chosen()
    with st.sidebar:
        said = f"{now.device or 'Device'}, {now.kernel}" if now != FIRST else "Device and kernel"
        folded = Folded(said, key="computing", icon=":material/memory:")
    address.write("device", now.device)
    address.write("kernel", None if now.kernel == KERNELS[0] else now.kernel)
    if folded.open:
        with folded:
            _opened(now)
    else:  # what is not made would be forgotten
        for key in ("device", "kernel"):
            st.session_state[key] = st.session_state[key]


FIRST = Computing(None, KERNELS[0])


def _opened(now: Computing) -> None:
    with page.loading():
        from attnviz.device import absent, describe, device, present
        from attnviz.variants.agreement import CHOICES, unavailable
    here = present()
    devices = [DEPLOYMENT, *here]
    if now.device is not None and now.device not in here:
        st.session_state["device"] = DEPLOYMENT
    word = controls.segment("Device", devices, key="device")
    kernel = controls.pick("Kernel", list(CHOICES), key="kernel")
    st.text(f"{kernel}: {CHOICES[kernel]}.")
    st.text(f"The deployment's own device: {describe()}.")
    place = device(None if word == DEPLOYMENT else word)
    reasons = absent() | {name: why.split(" (Trigg")[0] for name, why in unavailable(place).items()}
    if reasons:
        st.markdown("Not available here:")
        st.text("\n".join(f"{name}: {why}" for name, why in reasons.items()))

"""A visitor's own picture: taken from an upload, read once, and kept while they look around."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO

import numpy as np
import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.pictures import LARGEST_FILE, SIDE, read_picture, shapes
from attnviz.ui import controls, page

PATCHES = (4, 8, 16)
"""Along the longer side."""
KINDS = ("shapes", "picture")
_KEPT = "own_picture"


@dataclass(frozen=True, eq=False)
class OwnPicture:
    """What is cut into patches: the visitor's pixels, or shapes drawn from the seed."""

    kind: str
    patches: int  # along the longer side
    upload: np.ndarray | None = None

    @property
    def patch(self) -> int:
        """Pixels along a side of one patch."""
        return SIDE // self.patches

    @property
    def missing(self) -> bool:
        return self.kind == "picture" and self.upload is None

    def pixels(self, seed: int) -> np.ndarray:
        """(height, width, 3), 0 to 255."""
        if self.missing:
            raise AttnvizError("There is no picture yet; upload a PNG or JPEG file.")
        return shapes(seed) if self.upload is None else self.upload

    def code(self, seed: int) -> str:
        """The Python that makes the same pixels, of a file by another name."""
        if self.kind == "shapes":
            return f"av.pictures.shapes(seed={seed})"
        return 'av.pictures.read_picture(open("your-picture.png", "rb").read())'


def upload_control() -> None:
    """Take a file. A bad one is told in a sentence, and the picture before it stays."""
    limit = LARGEST_FILE // 2**20
    given = st.file_uploader(
        f"A PNG or JPEG of at most {limit} MB. It stays with this visit, and no link holds it.",
        type=["png", "jpg", "jpeg"],
        key="upload",
    )
    if given is None:
        return
    try:
        known = st.session_state.get(_KEPT)
        if known is None or known[0] != given.file_id:
            st.session_state[_KEPT] = (given.file_id, np.asarray(read_picture(given.getvalue())))
    except AttnvizError as problem:
        page.error(problem)


def uploaded_file() -> bytes:
    """The picture that was taken, as a PNG file; empty where there is none."""
    picture = st.session_state.get(_KEPT, (None, None))[1]
    if picture is None:
        return b""
    from PIL import Image

    file = BytesIO()
    Image.fromarray(picture).save(file, format="PNG")
    return file.getvalue()


def own_picture(kind: str) -> OwnPicture:
    """Draw the folded control and return the choice."""
    patches = controls.ladder("Patches along the longer side", PATCHES, key="patches", default=8)
    upload = st.session_state.get(_KEPT, (None, None))[1] if kind == "picture" else None
    return OwnPicture(kind, patches, upload)

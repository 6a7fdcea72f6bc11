"""Arguments of the wrong kind, as a notebook gives them: a sentence each, never a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_every_odd_argument_is_refused_in_a_sentence() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.models.odd_arguments"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == ["55 calls"]

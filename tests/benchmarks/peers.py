"""Other tools at the same task on the same machine, for explorer_speed.

They are installed apart, by scripts/setup_bench.sh, into .venv/bench: neither the app nor the
tests may come to need them.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser

from tests.benchmarks.control_latency import FLOOR, answers
from tests.browser.chromium import wait_idle
from tests.browser.server import ROOT, Server

PACKAGES = ROOT / ".venv" / "bench"
WARM_UPS, KEPT = 2, 20


def _there() -> Path:
    if not PACKAGES.is_dir():
        raise SystemExit(f"The peers are not installed: run scripts/setup_bench.sh ({PACKAGES}).")
    return PACKAGES


def plotly(browser: Browser, n_tokens: int) -> dict[str, list[float]]:
    """A map of this size changed by a server-backed switch, as control_latency times it."""
    no_network = Path(__file__).parents[1] / "browser" / "no_network"
    path = f"{no_network}:{_there()}"
    with Server(script="tests/benchmarks/plotly_app.py", PYTHONPATH=path) as server:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{server.url}/?n={n_tokens}")
        wait_idle(page, timeout=60, settled=2)
        kept = KEPT if n_tokens < 1000 else 6
        taken = list(answers(page, FLOOR, WARM_UPS + kept))[WARM_UPS:]
        page.close()
    return {"changed map": taken}


def bertviz(n_tokens: int, n_layers: int = 12, n_heads: int = 12) -> str:
    """What BertViz' head view of a model of this shape weighs, and takes to write."""
    import torch

    sys.path.insert(0, str(_there()))
    from bertviz import head_view  # pyright: ignore[reportMissingImports]

    generator = np.random.default_rng(0)
    maps = [
        torch.from_numpy(generator.dirichlet(np.ones(n_tokens), size=(1, n_heads, n_tokens)))
        for _ in range(n_layers)
    ]
    tokens = [f"token{i}" for i in range(n_tokens)]
    start = time.perf_counter()
    page = head_view(maps, tokens, html_action="return").data
    seconds = time.perf_counter() - start
    return (
        f"BertViz' head view, {n_layers} layers x {n_heads} heads, {n_tokens} tokens: "
        f"{len(page.encode()) / 1e6:.0f} MB of HTML, written in {seconds:.1f} s "
        "(its scripts come from elsewhere, so its first paint is not timed)"
    )

"""How fast the explorer answers, in headless Chromium, with a real model's maps in it.

    .venv/bin/python -m tests.benchmarks.explorer_speed [--tokens 64 256 1024] [--alone]

Median of 20 each: another head, fetched or already here; the pointer to the words about a cell;
a frame of zooming; an exact part after deep zoom. Beside it in the same run, unless --alone:
Plotly in Streamlit and BertViz' head view (requirements-bench.txt). Server-backed controls are
control_latency's subject.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks import peers
from tests.benchmarks.texts import text_of
from tests.browser.chromium import launch, wait_idle
from tests.browser.server import Server

KEPT = 20
TIMERS = Path(__file__).with_name("explorer.js").read_text()
LIMITS = {
    "another head, here": 50,
    "another head, fetched": 150,
    "pointer to words": 16,
    "pointer to painted": None,
    "zoom or pan frame": 33,
    "exact part": 300,
}


def timed(page: Page, begin: str, act: Any) -> Any:
    """What window.__time's promise gives when `act` is done after it began to listen."""
    page.evaluate(f"() => {{ window.__taken = undefined; {begin}.then(t => window.__taken = t); }}")
    act()
    page.wait_for_function("() => window.__taken !== undefined", timeout=20_000, polling=20)
    return page.evaluate("window.__taken")


def put_on(page: Page, layer: int, head: int) -> None:
    """The grid's cursor on this head, as arrow keys would bring it there."""
    page.locator(".explorer .grid-view [role=grid]").first.focus()
    page.evaluate("([layer, head]) => window.__time.cursor(layer, head)", [layer, head])


def switch(page: Page, layer: int, head: int) -> tuple[bool, float]:
    """Whether this head's map was here, and the milliseconds until it was painted."""
    here = page.evaluate("([layer, head]) => window.__time.known(layer, head)", [layer, head])
    put_on(page, layer, head)
    begin = f"window.__time.head('Layer {layer}, head {head}')"
    taken = timed(page, begin, lambda: page.keyboard.press("Enter"))
    page.wait_for_timeout(200)
    return here, taken


def heads(page: Page) -> dict[str, list[float]]:
    """Heads never opened before, then the same ones again."""
    pairs = [(1 + i % 29, (i * 4) % 9) for i in range(KEPT + 6)]
    taken: dict[str, list[float]] = {"another head, fetched": [], "another head, here": []}
    for layer, head in [*pairs, *pairs]:
        here, milliseconds = switch(page, layer, head)
        taken["another head, here" if here else "another head, fetched"].append(milliseconds)
    return {name: times[2 : 2 + KEPT] for name, times in taken.items()}


def hovers(page: Page) -> dict[str, list[float]]:
    said, painted = [], []
    for i in range(KEPT + 2):
        x, y = page.evaluate("i => window.__time.spot(i)", i)
        words, picture = timed(
            page, "window.__time.hover()", lambda x=x, y=y: page.mouse.move(x, y)
        )
        said.append(words)
        painted.append(picture)
    return {"pointer to words": said[2:], "pointer to painted": painted[2:]}


def zooming(page: Page) -> dict[str, list[float]]:
    page.mouse.move(5, 5)
    frames = page.evaluate("window.__time.frames(60)")[10:]
    page.wait_for_timeout(600)
    tiles = []
    for i in range(KEPT):
        page.wait_for_timeout(300)
        page.locator(".explorer .panel [role=grid]").first.focus()
        page.evaluate("window.__time.near()")
        page.wait_for_timeout(300)
        if not page.evaluate("window.__time.deeper()"):
            break  # all numbers are here: no part is ever fetched
        tiles.append(timed(page, "window.__time.tile()", lambda: page.keyboard.press("+")))
        # Another head: this one's part is here now. Not zoomed, or the next one's would come too.
        page.evaluate("window.__time.whole()")
        page.wait_for_timeout(100)
        switch(page, 1 + i, (i * 4) % 9)
    return {"zoom or pan frame": frames, "exact part": tiles}


def measure(browser: Browser, server: Server, n_tokens: int) -> dict[str, list[float]]:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(f"{server.url}/inspect_model?{urlencode({'text': text_of(n_tokens)})}")
    page.locator(".explorer[data-generation]").wait_for(timeout=300_000)
    wait_idle(page, timeout=300, settled=1)
    page.evaluate(TIMERS)
    taken = {**heads(page), **hovers(page), **zooming(page)}
    page.close()
    return taken


def table(title: str, taken: dict[str, list[float]]) -> list[str]:
    """Prints the medians; returns what was over its limit."""
    print(f"\n{title}\n{'':<24} {'median':>8} {'p90':>8} {'limit':>8}")
    over = []
    for name, times in taken.items():
        if len(times) < 2:
            continue
        middle, p90 = statistics.median(times), statistics.quantiles(times, n=10)[-1]
        limit = LIMITS.get(name)
        print(f"{name:<24} {middle:>5.0f} ms {p90:>5.0f} ms " + (f"{limit:>5} ms" if limit else ""))
        if limit and middle > limit:
            over.append(f"{name} ({title})")
    return over


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tokens", type=int, nargs="+", default=[64, 256, 1024])
    parser.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    over = []
    with sync_playwright() as playwright:
        browser = launch(playwright)
        with Server() as server:
            for n_tokens in options.tokens:
                over += table(f"{n_tokens} tokens", measure(browser, server, n_tokens))
        if not options.alone:
            for n_tokens in options.tokens:
                table(f"Plotly in Streamlit, {n_tokens} tokens", peers.plotly(browser, n_tokens))
            print("\n" + peers.bertviz(128))
        browser.close()
    if over:
        raise SystemExit(f"\nOver the limit: {', '.join(over)}")


if __name__ == "__main__":
    main()

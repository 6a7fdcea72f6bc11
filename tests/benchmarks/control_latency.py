"""Changed control to changed picture, on every page, in headless Chromium.

    .venv/bin/python -m tests.benchmarks.control_latency [--default-gc] [--page masks ...]

The server has torch, transformers and a model in memory. A key changes one control of the page,
as a visitor finds it and, where it takes a text, with one of 64 tokens, the most;
the clock runs from that key event until the last visible change is painted (latency.js). The
first line is the floor on this machine at this moment: a switch and one line of text, in a
server with nothing else in it.
--default-gc adds the same with Streamlit's own garbage collection, for comparison.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from tests.benchmarks.texts import text_of
from tests.browser.chromium import launch, wait_idle
from tests.browser.server import Server

WARM_UPS = 4
KEPT = 20
LIMIT = 150
LONG = " 64 tokens"


@dataclass(frozen=True)
class Control:
    """What has the keyboard's focus, and the keys that change it to and fro (the last counts)."""

    name: str
    find: Callable[[Page], Locator]
    there: tuple[str, ...]
    back: tuple[str, ...]


def slider(name: str) -> Control:
    def find(page: Page) -> Locator:
        return page.get_by_test_id("stMain").get_by_role("slider").first

    return Control(name, find, ("ArrowRight",), ("ArrowLeft",))


def toggle(name: str) -> Control:
    def find(page: Page) -> Locator:
        return page.get_by_test_id("stCheckbox").filter(has_text=name).locator("input")

    return Control(name, find, ("Space",), ("Space",))


def head(name: str) -> Control:
    def find(page: Page) -> Locator:
        return page.locator(".explorer .grid-view [role=grid]").first

    return Control(name, find, ("ArrowLeft", "Enter"), ("ArrowRight", "Enter"))


CONTROLS = {
    "step_by_step": toggle("Divide by √d_k"),
    "masks": toggle("Invert (not)"),
    "heads": slider("Key/value heads"),
    "inspect_model": head("another head"),
    "variants?input=random&length=64&variant=multi_head": slider("Query heads"),
    "variants?input=random&length=64&variant=delta_rule": slider("Query heads"),
    "kv_cache": slider("Context in tokens"),
}
CONTROLS |= {f"{word}{LONG}": CONTROLS[word] for word in ("step_by_step", "masks", "heads")}
FLOOR = toggle("Switch")
WATCH = Path(__file__).with_name("latency.js").read_text()


def answers(page: Page, control: Control, n: int) -> Iterator[float]:
    """Milliseconds that each of n changes of the control took, to and fro."""
    focus = control.find(page)
    focus.focus()
    for turn in range(n):
        *before, last = control.back if turn % 2 else control.there
        for key in before:
            page.keyboard.press(key)
        page.wait_for_timeout(100)
        page.evaluate(WATCH)
        page.keyboard.press(last)
        for _ in range(600):
            taken = page.evaluate("window.__answered")
            if taken is not None:
                yield float(taken)
                break
            page.wait_for_timeout(20)
        else:
            raise TimeoutError(f"The picture on {page.url} did not change.")


def floor(browser: Browser) -> list[float]:
    with Server(script="tests/benchmarks/floor_app.py") as server:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(server.url)
        wait_idle(page, timeout=60, settled=1)
        taken = list(answers(page, FLOOR, WARM_UPS + KEPT))[WARM_UPS:]
        page.close()
    return taken


def measure(browser: Browser, server: Server, words: list[str]) -> dict[str, list[float]]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(f"{server.url}/inspect_model")  # loads the libraries and a model
    wait_idle(page, timeout=180)
    taken = {}
    for word in words:
        query = f"?{urlencode({'text': text_of(64)})}" if word.endswith(LONG) else ""
        page.goto(f"{server.url}/{word.removesuffix(LONG)}{query}")
        wait_idle(page, timeout=180, settled=1)
        taken[word] = list(answers(page, CONTROLS[word], WARM_UPS + KEPT))[WARM_UPS:]
    context.close()
    return taken


def table(title: str, taken: dict[str, list[float]]) -> None:
    print(f"\n{title}\n{'page':<24} {'control':<20} {'median':>8} {'p90':>8} {'slowest':>8}")
    for word, times in taken.items():
        middle, p90 = statistics.median(times), statistics.quantiles(times, n=10)[-1]
        row = f"{word:<24} {CONTROLS.get(word, FLOOR).name:<20}"
        print(f"{row} {middle:>5.0f} ms {p90:>5.0f} ms {max(times):>5.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--page", choices=list(CONTROLS), action="append")
    parser.add_argument("--default-gc", action="store_true")
    options = parser.parse_args()
    words = options.page or list(CONTROLS)
    default_gc = {
        "PYTHONPATH": str(Path(__file__).with_name("default_gc")),
        "STREAMLIT_RUNNER_POST_SCRIPT_GC": "true",
    }
    with sync_playwright() as playwright:
        browser = launch(playwright)
        least = floor(browser)
        with Server() as server:
            taken = measure(browser, server, words)
        table(
            f"Changed control to painted, median of {KEPT} (at most {LIMIT} ms wanted)",
            {"(floor)": least, **taken},
        )
        if options.default_gc:
            with Server(**default_gc) as server:
                table(
                    "The same with Streamlit's default collection", measure(browser, server, words)
                )
        browser.close()
    slow = [word for word, times in taken.items() if statistics.median(times) > LIMIT]
    if slow:
        raise SystemExit(f"\nOver {LIMIT} ms: {', '.join(slow)}")


if __name__ == "__main__":
    main()

"""Changed control to changed picture, on every page, in headless Chromium.

    .venv/bin/python -m tests.benchmarks.control_latency [--default-gc] [--page masks ...]

The server has torch, transformers and a model in memory. An arrow key moves the page's first
slider; the clock runs from that key event to the second animation frame after the last visible
change (latency.js). --default-gc adds the same with Streamlit's own garbage collection, for
comparison.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.chromium import launch, wait_idle
from tests.browser.server import Server

WARM_UPS = 4
KEPT = 20
LIMIT = 150
# A page, and its control: the slider whose thumb an arrow key moves.
PAGES = ("step_by_step", "masks", "heads", "inspect_model", "kv_cache")
WATCH = Path(__file__).with_name("latency.js").read_text()


def answers(page: Page, n: int) -> Iterator[float]:
    """Milliseconds that each of n changes of the page's first slider took, to and fro."""
    thumb = page.get_by_test_id("stMain").get_by_role("slider").first
    thumb.focus()
    for turn in range(n):
        before = thumb.get_attribute("aria-valuenow")
        page.evaluate(WATCH)
        page.keyboard.press("ArrowRight" if turn % 2 == 0 else "ArrowLeft")
        if thumb.get_attribute("aria-valuenow") == before:  # at its right end already
            page.keyboard.press("ArrowLeft" if turn % 2 == 0 else "ArrowRight")
        for _ in range(600):
            taken = page.evaluate("window.__answered")
            if taken is not None:
                yield float(taken)
                break
            page.wait_for_timeout(20)
        else:
            raise TimeoutError(f"The picture on {page.url} did not change.")


def measure(browser: Browser, server: Server, words: list[str]) -> dict[str, list[float]]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(f"{server.url}/inspect_model")  # loads the libraries and a model
    wait_idle(page, timeout=180)
    taken = {}
    for word in words:
        page.goto(f"{server.url}/{word}")
        wait_idle(page, timeout=180, settled=1)
        taken[word] = list(answers(page, WARM_UPS + KEPT))[WARM_UPS:]
    context.close()
    return taken


def table(title: str, taken: dict[str, list[float]]) -> None:
    print(f"\n{title}\n{'page':<15} {'median':>8} {'p90':>8} {'slowest':>8}")
    for word, times in taken.items():
        p90 = statistics.quantiles(times, n=10)[-1]
        print(
            f"{word:<15} {statistics.median(times):>5.0f} ms {p90:>5.0f} ms {max(times):>5.0f} ms"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--page", choices=PAGES, action="append")
    parser.add_argument("--default-gc", action="store_true")
    options = parser.parse_args()
    words = options.page or list(PAGES)
    default_gc = {
        "PYTHONPATH": str(Path(__file__).with_name("default_gc")),
        "STREAMLIT_RUNNER_POST_SCRIPT_GC": "true",
    }
    with sync_playwright() as playwright:
        browser = launch(playwright)
        with Server() as server:
            taken = measure(browser, server, words)
        table(f"Changed control to painted, median of {KEPT} (at most {LIMIT} ms wanted)", taken)
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

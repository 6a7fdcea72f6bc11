"""Photograph every page of the running app, at desk and phone size, light and dark.

    make screenshots                                        all of them, into screenshots/
    .venv/bin/python -m scripts.screenshots --page masks    one page
    .venv/bin/python -m scripts.screenshots --readme        the README's, into assets/readme/

A name ends in -full where the picture shows the page to its end, not just its first screen.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from attnviz.ui.pages import PAGES
from tests.browser.chromium import launch, wait_idle
from tests.browser.server import ROOT, Server

SIZES = ((1440, 900), (390, 844))
SCHEMES = ("light", "dark")
WORDS = [entry.word for entry in PAGES]
README = ("inspect_model", "step_by_step", "masks", "heads", "kv_cache")

_CONTENT_HEIGHT = """() => {
  const main = document.querySelector('[data-testid="stMain"]');
  return Math.ceil(main.scrollHeight + main.getBoundingClientRect().top);
}"""


def open_page(browser: Browser, url: str, size: tuple[int, int], scheme: str) -> Page:
    """A fresh context of that size and colour scheme, idle on the page."""
    viewport = {"width": size[0], "height": size[1]}
    page = browser.new_context(viewport=viewport, color_scheme=scheme).new_page()  # type: ignore[arg-type]
    page.goto(url)
    wait_idle(page, timeout=180, settled=1)
    return page


def shoot(page: Page, folder: Path, name: str) -> None:
    page.screenshot(path=folder / f"{name}.png")
    size = page.viewport_size
    assert size is not None
    page.set_viewport_size({**size, "height": min(page.evaluate(_CONTENT_HEIGHT), 12_000)})
    wait_idle(page, settled=0.6)
    page.screenshot(path=folder / f"{name}-full.png")


def save_small(picture: bytes, path: Path, limit: int = 400_000) -> None:
    """Write it as a PNG without loss (a colour here means something); refuse over `limit` bytes."""
    Image.open(io.BytesIO(picture)).convert("RGB").save(path, optimize=True)
    if path.stat().st_size > limit:
        raise SystemExit(f"{path} has {path.stat().st_size:,} bytes, more than {limit:,}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--page", choices=WORDS, action="append", help="only this page")
    parser.add_argument("--readme", action="store_true", help="the pictures of README.md")
    options = parser.parse_args()
    folder = ROOT / ("assets/readme" if options.readme else "screenshots")
    folder.mkdir(parents=True, exist_ok=True)

    with Server() as server, sync_playwright() as playwright:
        browser = launch(playwright)
        if options.readme:
            for word in README:
                page = open_page(browser, f"{server.url}/{word}", SIZES[0], "light")
                save_small(page.screenshot(), folder / f"{word}.png")
                page.context.close()
        else:
            for word in options.page or WORDS:
                path = "" if word == "home" else word
                for size in SIZES:
                    for scheme in SCHEMES:
                        page = open_page(browser, f"{server.url}/{path}", size, scheme)
                        shoot(page, folder, f"{word}-{size[0]}x{size[1]}-{scheme}")
                        page.context.close()
        browser.close()
    print(f"Pictures are in {folder.relative_to(ROOT)}/")


if __name__ == "__main__":
    main()

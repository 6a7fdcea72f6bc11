"""One tab that many tests use, each after the other, and what makes it as good as new."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.chromium import PATIENCE, WATCH

SIZE = {"width": 1440, "height": 900}
ANYTHING = "cache_storage,cookies,indexeddb,local_storage,service_workers"


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """One that is as patient, and followed as closely, as that of the tests' own tab."""
    context = browser.new_context(**{"viewport": SIZE, **options})
    context.set_default_timeout(PATIENCE * 1000)
    context.add_init_script(WATCH)
    return context


class Tab:
    """open() gives the page, of 1440 x 900; empty() or close() has to follow before the next."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._page: Page | None = None

    def open(self) -> Page:
        if self._page is None or self._page.is_closed():
            self._page = new_context(self._browser).new_page()
        return self._page

    def empty(self, origin: str) -> None:
        """Leave the page shown, and forget what a site of that origin has stored here.

        The heap is kept, and so is what the browser has compiled: that is the gain.
        """
        page = self._page
        if page is None or page.is_closed():
            return
        for other in page.context.pages:
            if other is not page:
                other.close()
        if page.url.startswith("http"):
            page.evaluate("sessionStorage.clear()")
        page.goto("about:blank")
        page.context.clear_permissions()
        page.context.set_offline(False)
        page.unroute_all()
        page.emulate_media(color_scheme="null", reduced_motion="null", media="null")
        page.set_viewport_size(SIZE)
        page.mouse.move(0, 0)
        session = page.context.new_cdp_session(page)
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": ANYTHING})
        session.detach()

    def close(self) -> None:
        if self._page is not None:
            self._page.context.close()
        self._page = None

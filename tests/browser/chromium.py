"""Finding and starting a headless Chromium, and knowing when Streamlit is done with a page."""

from __future__ import annotations

import os
import shutil
import time

from playwright.sync_api import Browser, Page, Playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
_FLAGS = (
    "--no-sandbox",  # containers and CI run as root
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    # No name resolves but the server's own address: nothing can leave this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
_IDLE = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  return Boolean(app)
    && app.dataset.testConnectionState === 'CONNECTED'
    && app.dataset.testScriptState === 'notRunning'
    && Boolean(app.querySelector('[data-testid="stMain"] [data-testid="stElementContainer"]'))
    && !app.querySelector('[data-testid="stSkeleton"], [data-testid="stSpinner"]');
}"""


def executable() -> str:
    """The browser to drive: ATTNVIZ_CHROMIUM, or the first Chromium or Chrome on the path."""
    wanted = os.environ.get("ATTNVIZ_CHROMIUM")
    found = shutil.which(wanted) if wanted else next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        where = f"ATTNVIZ_CHROMIUM={wanted}" if wanted else f"on the path ({', '.join(_NAMES)})"
        raise RuntimeError(
            f"Expected a Chromium or Chrome, found none {where}; install one or "
            "point ATTNVIZ_CHROMIUM at its executable."
        )
    return found


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=executable(), args=list(_FLAGS))


def wait_idle(page: Page, timeout: float = 60, settled: float = 0.2) -> None:
    """Wait until Streamlit is connected, has drawn something and ran nothing for `settled` s."""
    end = time.monotonic() + timeout
    since: float | None = None
    while time.monotonic() < end:
        if not page.evaluate(_IDLE):
            since = None
        elif since is None:
            since = time.monotonic()
        elif time.monotonic() - since >= settled:
            return
        page.wait_for_timeout(25)
    raise TimeoutError(f"The page was not idle within {timeout:.0f} s: {page.url}")

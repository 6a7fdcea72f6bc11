"""Finding and starting a headless Chromium, and knowing when Streamlit is done with a page."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

_NAMES = (
    "chromium-headless-shell",  # without a desktop browser's own panels, a quarter quicker
    "chromium",
    "google-chrome-stable",
    "google-chrome",
    "chromium-browser",
    "chrome",
)
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
  // A component of ours is empty until its modules have arrived.
  const empty = (host) => host.checkVisibility() && host.offsetHeight < 20;
  return Boolean(app)
    && app.dataset.testConnectionState === 'CONNECTED'
    && app.dataset.testScriptState === 'notRunning'
    && Boolean(app.querySelector('[data-testid="stMain"] [data-testid="stElementContainer"]'))
    && !app.querySelector('[data-testid="stSkeleton"], [data-testid="stSpinner"]')
    && ![...app.querySelectorAll('[data-testid^="stBidiComponent"]')].some(empty);
}"""


def _is_snap(path: str) -> bool:
    """Ubuntu's chromium is a snap, which cannot read the profile folder that Playwright makes."""
    file = Path(path).resolve()
    launcher = file.stat().st_size < 10_000 and b"/snap/bin" in file.read_bytes()
    return file.name == "snap" or file.is_relative_to("/snap") or launcher


def executable(playwright: Playwright) -> str:
    """The browser to drive: ATTNVIZ_CHROMIUM, the distribution's, or Playwright's own."""
    wanted = os.environ.get("ATTNVIZ_CHROMIUM")
    if wanted:
        candidates = [shutil.which(wanted)]
    else:
        installed = [path for path in map(shutil.which, _NAMES) if path and not _is_snap(path)]
        candidates = [*installed, shutil.which(playwright.chromium.executable_path)]
    for path in candidates:
        if path:
            return path
    raise RuntimeError(
        f"Expected a Chromium or Chrome, found none at {wanted or ', '.join(_NAMES)}; install one "
        "or point ATTNVIZ_CHROMIUM at its executable."
    )


def launch(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=executable(playwright), args=list(_FLAGS))


def wait_idle(page: Page, timeout: float = 60, settled: float = 0.2) -> None:
    """Wait until Streamlit is connected, has drawn all it has and ran nothing for `settled` s."""
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


if __name__ == "__main__":
    with sync_playwright() as driver:
        print(executable(driver))

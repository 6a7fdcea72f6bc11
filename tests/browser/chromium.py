"""Finding and starting a headless Chromium, and knowing when Streamlit is done with a page."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, Playwright, sync_playwright

PATIENCE = 90
"""Seconds for which a test waits for what has to come. Only a failure takes as long."""
STALLED = 10

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
# What Streamlit says of itself comes late on a busy machine: it still says notRunning while a
# click is on its way to the server. So its messages are followed: a run that was asked for (field
# 11 of BackMsg) and has not begun (4 of ForwardMsg), or has begun and not ended (6).
WATCH = """(() => {
  const runs = { wanted: false, on: false };
  const heard = new WeakSet();
  const { send } = WebSocket.prototype;
  const listen = ({ data }) => {
    if (!(data instanceof ArrayBuffer)) return;
    const bytes = new Uint8Array(data);
    let at = 0;
    while (bytes[at] === 0x0a || bytes[at] === 0x12) { // the hash and the metadata
      let [size, shift] = [0, 0];
      do {
        at += 1;
        size |= (bytes[at] & 127) << shift;
        shift += 7;
      } while (bytes[at] > 127);
      at += 1 + size;
    }
    if (bytes[at] >> 3 === 4) Object.assign(runs, { wanted: false, on: true });
    if (bytes[at] >> 3 === 6) runs.on = false;
  };
  WebSocket.prototype.send = function (data) {
    if (!heard.has(this)) this.addEventListener('message', listen);
    heard.add(this);
    if (data[0] >> 3 === 11) runs.wanted = true;
    return send.call(this, data);
  };
  window.__runs = runs;
})()"""
# No frame is due to an explorer or to one of its panels, and no module of a view is on its way.
DUE = """({ frame, views, scenes }) => frame !== 0
  || [...views.values()].some((view) => view.frame !== 0)
  || [...scenes.lazy.views.values()].includes(null)
  || scenes.tabling.view === 'coming'
  || (scenes.wanted() === 'compare' && !scenes.compared)"""
_IDLE = f"""() => {{
  const app = document.querySelector('[data-testid="stApp"]');
  const busy = (host) => {{
    if (!host.checkVisibility()) return false;
    if (host.offsetHeight < 20) return true; // a component of ours, whose modules are on their way
    const explorer = host.shadowRoot?.querySelector('.explorer')?.__explorer;
    // What was chosen is told to the server after a moment's rest, and what it was asked comes.
    return Boolean(explorer)
      && (explorer.telling.timer !== 0 || explorer.depot.wire?.asked || ({DUE})(explorer));
  }};
  return Boolean(app)
    && !window.__runs?.wanted && !window.__runs?.on
    && app.dataset.testConnectionState === 'CONNECTED'
    && app.dataset.testScriptState === 'notRunning'
    && Boolean(app.querySelector('[data-testid="stMain"] [data-testid="stElementContainer"]'))
    && !app.querySelector('[data-testid="stSkeleton"], [data-testid="stSpinner"]')
    && ![...app.querySelectorAll('[data-testid^="stBidiComponent"]')].some(busy);
}}"""

_STATE = """() => JSON.stringify([
  window.__runs,
  document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState,
  ...[...document.querySelectorAll('[data-testid^="stBidiComponent"]')].map((host) => {
    const one = host.shadowRoot?.querySelector('.explorer')?.__explorer;
    const frames = one && [one.frame, ...[...one.views.values()].map((view) => view.frame)];
    return [host.offsetHeight, one?.telling.timer, one?.depot.wire?.asked, frames];
  }),
])"""  # for a failure


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


def until(page: Page, read: Callable[[], Any], expected: Any) -> None:
    """Wait until read() gives what is expected, or fail with what it gave last."""
    end = time.monotonic() + PATIENCE
    while (last := read()) != expected and time.monotonic() < end:
        page.wait_for_timeout(20)
    assert last == expected, f"{last!r} is not {expected!r}"


def choose_row(table: Locator, row: int) -> None:
    """Press the box of a row, counted from 1, of one of Streamlit's tables."""
    table.locator("[role=row]").nth(row).wait_for(state="attached")  # it has been drawn
    table.click(position={"x": 15, "y": (row + 0.5) * 35})  # rows are 35 pixels high


def wait_idle(page: Page, timeout: float = PATIENCE, settled: float = 0.2) -> None:
    """Wait until Streamlit is connected, has drawn all it has and ran nothing for `settled` s."""
    end, nudged = time.monotonic() + timeout, time.monotonic()
    since: float | None = None
    while time.monotonic() < end:
        if not page.evaluate(_IDLE):
            since = None
            if time.monotonic() - nudged > STALLED:
                # Seen twice: a frame that was asked for had not come after 90 s. A picture of
                # the page makes the browser draw one.
                page.screenshot()
                nudged = time.monotonic()
        elif since is None:
            since = time.monotonic()
        elif time.monotonic() - since >= settled:
            return
        page.wait_for_timeout(25)
    state = page.evaluate(_STATE)
    raise TimeoutError(f"The page was not idle within {timeout:.0f} s: {page.url}, {state}")


if __name__ == "__main__":
    with sync_playwright() as driver:
        print(executable(driver))

// @ts-check

const DRAG = 4; // CSS pixels before a press becomes a drag

/**
 * What gestures act on. row and col are fractions of drawn cells.
 *
 * @typedef {object} Zoomable
 * @property {() => boolean} can - zooming gains something
 * @property {() => boolean} isZoomed
 * @property {(x: number, y: number) => {row: number, col: number} | null} at - null outside the map
 * @property {(factor: number, row: number, col: number) => void} zoom
 * @property {(dx: number, dy: number) => void} move - by CSS pixels
 * @property {() => void} hint - say how to zoom
 */

/**
 * Wheel, drag, pinch and double click, as maps on the web have them: a plain wheel scrolls the
 * page past a map that is shown whole, and acts on one that is zoomed; Ctrl or Cmd and the wheel
 * always zoom, and so does a pinch. A finger scrolls the page likewise.
 *
 * @param {HTMLElement} plot
 * @param {Zoomable} view
 * @returns {{busy: () => boolean}} busy: a drag is under way, or has just ended in a click
 */
export function gestures(plot, view) {
  /** @type {{id: number, x: number, y: number} | null} */
  let pressed = null;
  let dragging = false;
  let clicked = false;
  /** @type {{apart: number, x: number, y: number} | null} */
  let pinch = null;

  plot.addEventListener("wheel", (event) => {
    const at = view.at(event.clientX, event.clientY);
    if (!view.can() || !at) return;
    const held = event.ctrlKey || event.metaKey;
    if (!held && !view.isZoomed()) {
      view.hint();
      return;
    }
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (!held && (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) {
      view.move(-(event.deltaX || event.deltaY) * unit, 0);
      return;
    }
    // A wheel's notch is about 100, a pinch on a pad sends many small steps.
    const turned = Math.min(Math.max(event.deltaY * unit, -50), 50);
    view.zoom(Math.exp(-turned * 0.01), at.row, at.col);
  }, { passive: false });

  plot.addEventListener("pointerdown", (event) => {
    clicked = false;
    if (event.button !== 0 || event.shiftKey || !view.isZoomed() || pinch || !view.at(event.clientX, event.clientY)) return;
    pressed = { id: event.pointerId, x: event.clientX, y: event.clientY };
  });
  plot.addEventListener("pointermove", (event) => {
    if (!pressed || pressed.id !== event.pointerId || pinch) return;
    const [dx, dy] = [event.clientX - pressed.x, event.clientY - pressed.y];
    if (!dragging && Math.hypot(dx, dy) < DRAG) return;
    if (!dragging) {
      dragging = true;
      plot.setPointerCapture(event.pointerId);
      plot.classList.add("dragging");
    }
    pressed = { id: event.pointerId, x: event.clientX, y: event.clientY };
    view.move(dx, dy);
  });
  const release = () => {
    clicked = dragging;
    pressed = null;
    dragging = false;
    plot.classList.remove("dragging");
  };
  plot.addEventListener("pointerup", release);
  plot.addEventListener("pointercancel", release);

  plot.addEventListener("dblclick", (event) => {
    const at = view.at(event.clientX, event.clientY);
    if (view.can() && at) view.zoom(event.shiftKey ? 0.5 : 2, at.row, at.col);
  });

  /** @param {TouchList} touches */
  const between = (touches) => ({
    apart: Math.hypot(touches[0].clientX - touches[1].clientX, touches[0].clientY - touches[1].clientY),
    x: (touches[0].clientX + touches[1].clientX) / 2,
    y: (touches[0].clientY + touches[1].clientY) / 2,
  });
  plot.addEventListener("touchstart", (event) => {
    if (event.touches.length !== 2 || !view.can()) return;
    event.preventDefault();
    pinch = between(event.touches);
    release();
  }, { passive: false });
  plot.addEventListener("touchmove", (event) => {
    if (!pinch || event.touches.length !== 2) return;
    event.preventDefault();
    const now = between(event.touches);
    view.move(now.x - pinch.x, now.y - pinch.y);
    const at = view.at(now.x, now.y);
    if (at && pinch.apart > 0) view.zoom(now.apart / pinch.apart, at.row, at.col);
    pinch = now;
  }, { passive: false });
  const lift = (/** @type {TouchEvent} */ event) => {
    if (event.touches.length < 2) pinch = null;
  };
  plot.addEventListener("touchend", lift);
  plot.addEventListener("touchcancel", lift);

  return { busy: () => dragging || clicked || pinch !== null };
}

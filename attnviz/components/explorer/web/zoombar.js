// @ts-check
/** @import { Plan, View } from "./types.js" */
import { element } from "./dom.js";

const COMMAND = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "") ? "⌘" : "Ctrl";
const TOUCH = globalThis.matchMedia?.("(pointer: coarse)").matches ?? false;
export const HOW = TOUCH
  ? "Pinch or double-tap to zoom."
  : `${COMMAND} + scroll or double-click to zoom.`;
const HOW_ZOOMED = TOUCH ? "Drag to move." : "Scroll to zoom, drag to move.";

/**
 * @typedef {object} ZoomHost
 * @property {(steps: number) => void} step - 1 in, -1 out
 * @property {() => void} fit
 * @property {(right: number, down: number) => void} pan - by part of what is in sight
 */

/** The buttons below a map that can be zoomed, and what of it is in sight. */
export class ZoomBar {
  /** @param {ZoomHost} host */
  constructor(host) {
    /** @type {[string, string, () => void][]} */
    const moves = [
      ["←", "Move left (Shift + ←)", () => host.pan(-1, 0)],
      ["↑", "Move up (Shift + ↑)", () => host.pan(0, -1)],
      ["↓", "Move down (Shift + ↓)", () => host.pan(0, 1)],
      ["→", "Move right (Shift + →)", () => host.pan(1, 0)],
    ];
    this.moves = element("div", "group", { role: "group", "aria-label": "Move" }, moves.map(button));
    this.out = button(["−", "Zoom out (−)", () => host.step(-1)]);
    this.in = button(["+", "Zoom in (+)", () => host.step(1)]);
    this.fit = button(["Fit", "Fit: show all of the map (0)", () => host.fit()]);
    this.zoom = element("div", "group", { role: "group", "aria-label": "Zoom" }, [this.out, this.in, this.fit]);
    this.says = element("span", "note");
    const buttons = element("div", "buttons", {}, [this.moves, this.zoom]);
    this.root = element("div", "zoombar", {}, [this.says, buttons]);
  }

  /** @param {Plan} plan @param {View} shown @param {boolean} waiting - for exact values */
  update(plan, shown, waiting) {
    const zoomed = plan.zoom > 1;
    this.root.hidden = plan.mostZoom <= 1;
    // Kept in place, so that the buttons beside them do not move under the pointer.
    this.moves.classList.toggle("off", !zoomed);
    dim(this.out, !zoomed);
    dim(this.fit, !zoomed);
    dim(this.in, plan.zoom >= plan.mostZoom * 0.999);
    this.says.textContent = zoomed
      ? `${level(plan.zoom)} · rows ${span(shown.rows, plan.row, plan.nRows)}, columns ${span(shown.cols, plan.col, plan.nCols)}. ${waiting ? "Asking for exact weights …" : HOW_ZOOMED}`
      : HOW;
  }
}

/** @param {number} zoom */
const level = (zoom) => `${zoom < 10 ? zoom.toFixed(1) : Math.round(zoom)}×`;

/** @param {Int32Array} positions @param {number} first @param {number} length */
const span = (positions, first, length) => {
  const last = Math.min(positions.length, Math.ceil(first + length - 1e-6)) - 1;
  return `${positions[Math.floor(first + 1e-6)]}–${positions[last]}`;
};

/** @param {[string, string, () => void]} given */
function button([sign, name, act]) {
  const node = element("button", "", { type: "button", "aria-label": name, title: name }, [sign]);
  node.onclick = act;
  return node;
}

/** @param {HTMLElement} node @param {boolean} off - said, not enforced: focus stays where it is */
const dim = (node, off) => node.setAttribute("aria-disabled", String(off));

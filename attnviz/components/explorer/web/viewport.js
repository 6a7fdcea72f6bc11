// @ts-check
/** @import { Panel, Window } from "./types.js" */
/** @import { Shown } from "./scene.js" */
import { element } from "./dom.js";
import { STEP, WHOLE, blockFor, clamped, drawable, panned, revealing, spanAround, zoomed } from "./zoom.js";
import { HOW, ZoomBar } from "./zoombar.js";

const PART = 512; // numbers a side of a part that is asked for, as the server limits them
const ASK_AFTER = 60; // ms of rest
const HINT_FOR = 1200; // ms

/** What of a map is in sight: moved by gestures, keys and buttons, filled in by the server. */
export class Viewport {
  /**
   * @param {HTMLElement} plot
   * @param {() => Shown} scene - as it is now
   * @param {(window: Window) => void} look
   */
  constructor(plot, scene, look) {
    this.plot = plot;
    this.scene = scene;
    this.look = look;
    /** @type {Window} */
    this.window = WHOLE;
    this.timer = 0;
    this.hintTimer = 0;
    this.waiting = false;
    this.chip = element("div", "hint", { "aria-hidden": "true" }, [HOW]);
    this.refusal = element("p", "refusal", { role: "status" });
    plot.append(this.chip, this.refusal);
    this.bar = new ZoomBar({
      step: (steps) => this.zoomMiddle(STEP ** steps),
      fit: () => this.go(WHOLE),
      pan: (right, down) => this.pan(right, down),
    });
  }

  /** Drawn rows and columns, and the largest zoom. */
  map() {
    const { all: shown, whole } = this.scene();
    return { rows: shown.rows.length, cols: shown.cols.length, most: whole.mostZoom };
  }

  /** @param {Panel} now @param {Panel} before - the zoom is kept among heads of one text */
  keep(now, before) {
    const same = (/** @type {"rows" | "cols"} */ side) => now[side].labels.length === before[side].labels.length;
    if (!same("rows") || !same("cols")) this.window = WHOLE;
  }

  /** @param {Shown} scene @returns {boolean} whether the window had to change to fit it */
  fits({ all: shown, whole }) {
    const map = { rows: shown.rows.length, cols: shown.cols.length, most: whole.mostZoom };
    const window = clamped(this.window, map);
    const changed = JSON.stringify(window) !== JSON.stringify(this.window);
    this.window = window;
    return changed;
  }

  /** @param {Window} window */
  go(window) {
    const { zoom, row, col } = this.window;
    if (window.zoom === zoom && window.row === row && window.col === col) return;
    this.window = window;
    this.look(window);
  }

  can() {
    return this.scene().whole.mostZoom > 1;
  }

  isZoomed() {
    return this.window.zoom > 1;
  }

  /** @param {number} x @param {number} y - on the screen */
  at(x, y) {
    const { plan } = this.scene();
    const box = this.plot.getBoundingClientRect();
    const [right, down] = [x - box.left - plan.x, y - box.top - plan.y];
    if (right < 0 || down < 0 || right > plan.w || down > plan.h) return null;
    return { row: plan.row + down / plan.cellH, col: plan.col + right / plan.cellW };
  }

  /** @param {number} factor @param {number} row @param {number} col */
  zoom(factor, row, col) {
    this.go(zoomed(this.window, factor, row, col, this.map()));
  }

  /** @param {number} factor */
  zoomMiddle(factor) {
    const { plan } = this.scene();
    this.zoom(factor, plan.row + plan.nRows / 2, plan.col + plan.nCols / 2);
  }

  /** @param {number} dx @param {number} dy - CSS pixels that the map is dragged by */
  move(dx, dy) {
    const { plan } = this.scene();
    this.go(panned(this.window, -dy / plan.cellH, -dx / plan.cellW, this.map()));
  }

  /** @param {number} right @param {number} down - quarters of what is in sight */
  pan(right, down) {
    const { plan } = this.scene();
    this.go(panned(this.window, (down * plan.nRows) / 4, (right * plan.nCols) / 4, this.map()));
  }

  /** @param {number} row @param {number} col */
  reveal(row, col) {
    if (this.isZoomed()) this.go(revealing(this.window, row, col, this.map()));
  }

  /**
   * @param {KeyboardEvent} event
   * @param {{row: number, col: number}} cursor
   * @returns {boolean} whether the key is one of the zoom's
   */
  key(event, cursor) {
    if (!this.can() || event.ctrlKey || event.metaKey || event.altKey) return false;
    const ways = /** @type {Record<string, [number, number]>} */ ({
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
    });
    if (event.key === "+" || event.key === "=") this.zoom(STEP, cursor.row + 0.5, cursor.col + 0.5);
    else if (event.key === "-" || event.key === "_") this.zoom(1 / STEP, cursor.row + 0.5, cursor.col + 0.5);
    else if (event.key === "0") this.go(WHOLE);
    else if (event.shiftKey && this.isZoomed() && Object.hasOwn(ways, event.key)) this.pan(...ways[event.key]);
    else return false;
    return true;
  }

  hint() {
    this.chip.classList.add("on");
    clearTimeout(this.hintTimer);
    this.hintTimer = window.setTimeout(() => this.chip.classList.remove("on"), HINT_FOR);
  }

  /** After each painting: the buttons, and what is missing. */
  shown() {
    const { plan, all, panel } = this.scene();
    const { source } = panel;
    const missing = this.missing();
    const refused = missing ? (source?.refusal(missing.rows, missing.cols, missing.block) ?? "") : "";
    const waiting = missing !== null && !refused;
    this.refusal.textContent = panel.refusal ?? (refused && `No exact weights here. ${refused}`);
    this.refusal.hidden = this.refusal.textContent === "";
    this.bar.update(plan, all, waiting);
    this.plot.classList.toggle("zoomed", this.isZoomed());
    clearTimeout(this.timer);
    if (!waiting) source?.rest();
    else this.timer = window.setTimeout(() => source?.tile(missing.rows, missing.cols, missing.block), ASK_AFTER);
  }

  /** The part of an overview that would show more than is here; null where nothing would. */
  missing() {
    const { panel, plan } = this.scene();
    if (panel.block === 1 || !panel.source) return null;
    const { ratio } = this.scene();
    const block = blockFor(plan, ratio);
    if (block >= panel.block) return null;
    const [n, m] = [panel.rows.labels.length, panel.cols.labels.length];
    const covers = panel.source.tiles().some(
      (tile) =>
        tile.block <= block && drawable(plan, tile.block, ratio) &&
        tile.rows[0] <= plan.row && tile.rows[1] >= Math.min(n, plan.row + plan.nRows) &&
        tile.cols[0] <= plan.col && tile.cols[1] >= Math.min(m, plan.col + plan.nCols),
    );
    if (covers) return null;
    return {
      rows: spanAround(plan.row, plan.nRows, n, block, PART),
      cols: spanAround(plan.col, plan.nCols, m, block, PART),
      block,
    };
  }
}

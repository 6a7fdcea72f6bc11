// @ts-check
/** @import { Panel } from "./types.js" */
/** @import { Piece } from "./readout.js" */
import { cellAt } from "./cells.js";
import { number } from "./format.js";

const DRAG = 4; // CSS pixels before a press becomes a drag

/** @typedef {{row: number, col: number}} Place - among the drawn rows and columns */

/** The panel that it is drawn on. @typedef {import("./panelview.js").PanelView} Brushed */

/**
 * The two corners of a block, whichever way it was drawn.
 *
 * @param {Place} from @param {Place} to
 */
export const corners = (from, to) => ({
  first: { row: Math.min(from.row, to.row), col: Math.min(from.col, to.col) },
  last: { row: Math.max(from.row, to.row), col: Math.max(from.col, to.col) },
});

/**
 * What a cell of an overview stands for; null where it is one cell.
 *
 * @param {Panel} panel @param {number} row @param {number} col - positions
 * @returns {[number, number, [number, number]] | null} first row and column, last row and column
 */
export function blockAround(panel, row, col) {
  const { block } = cellAt(panel, row, col);
  if (block === 1) return null;
  const [top, left] = [row - (row % block), col - (col % block)];
  const last = (/** @type {number} */ from, /** @type {string[]} */ labels) => Math.min(from + block, labels.length) - 1;
  return [top, left, [last(top, panel.rows.labels), last(left, panel.cols.labels)]];
}

/**
 * What a block says: its spans, and the mean of its weights where all of them are here.
 *
 * @param {Panel} panel
 * @param {number} row @param {number} col
 * @param {[number, number]} to
 * @returns {Piece[]}
 */
export function blockPieces(panel, row, col, [lastRow, lastCol]) {
  const span = (/** @type {string} */ name, /** @type {number} */ from, /** @type {number} */ to) =>
    from === to ? `${name} ${from}` : `${name} ${from}–${to}`;
  const ends = `${span(panel.rows.name, row, lastRow)} → ${span(panel.cols.name, col, lastCol)}`;
  /** @type {Piece[]} */
  const said = [{ kind: "word", text: ends }];
  if (panel.block > 1) return said;
  let sum = 0;
  for (let i = row; i <= lastRow; i += 1) {
    for (let j = col; j <= lastCol; j += 1) {
      const { value, masked } = cellAt(panel, i, j);
      sum += masked ? 0 : value;
    }
  }
  const mean = sum / ((lastRow - row + 1) * (lastCol - col + 1));
  return [...said, { kind: "word", text: ": " }, { kind: "value", text: `mean ${panel.valueName} ${number(mean)}` }];
}

/** What a reader keeps of a map: a cell, or with Shift (click, drag, Enter) a block. */
export class Brush {
  /** @param {HTMLElement} plot @param {Brushed} view */
  constructor(plot, view) {
    this.plot = plot;
    this.view = view;
    /** @type {{place: Place, x: number, y: number} | null} */
    this.pressed = null;
    /** @type {Place | null} */
    this.to = null;
    this.clicked = false;
    plot.addEventListener("pointerdown", (event) => this.press(event));
    plot.addEventListener("pointermove", (event) => this.drag(event));
    plot.addEventListener("pointerup", () => this.release(true));
    plot.addEventListener("pointercancel", () => this.release(false));
  }

  /** Whether a block is being drawn, or has just been in a click. */
  busy() {
    return this.to !== null || this.clicked;
  }

  /** @param {Place} at */
  keep(at) {
    const { host, scene: { panel, shown } } = this.view;
    const [row, col] = [shown.rows[at.row], shown.cols[at.col]];
    const block = host.blocks() ? blockAround(panel, row, col) : null;
    if (block) host.pin(panel.id, ...block);
    else host.pin(panel.id, row, col);
  }

  /** Keeps the block from the kept cell to this one. @param {Place} to @returns {boolean} */
  extend(to) {
    const { host, marks: { pinRow: row, pinCol: col } } = this.view;
    if (!host.blocks() || row < 0 || col < 0) return false;
    this.span({ row, col }, to);
    return true;
  }

  /** @param {Place} from @param {Place} to */
  span(from, to) {
    const { host, scene: { panel, shown } } = this.view;
    const { first, last } = corners(from, to);
    host.pin(panel.id, shown.rows[first.row], shown.cols[first.col], [shown.rows[last.row], shown.cols[last.col]]);
  }

  /** @param {PointerEvent} event */
  press(event) {
    this.clicked = false;
    const place = this.view.under(event);
    if (!event.shiftKey || event.button !== 0 || !this.view.host.blocks() || place.row < 0 || place.col < 0) return;
    event.preventDefault(); // no text is selected
    this.plot.focus({ preventScroll: true });
    this.pressed = { place, x: event.clientX, y: event.clientY };
  }

  /** @param {PointerEvent} event */
  drag(event) {
    const { pressed, plot, view } = this;
    if (!pressed) return;
    if (!this.to && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < DRAG) return;
    if (!this.to) plot.setPointerCapture(event.pointerId);
    const here = view.under(event);
    if (here.row >= 0 && here.col >= 0) this.to = here;
    this.to ??= pressed.place;
    const { first, last } = corners(pressed.place, this.to);
    view.marks = { row: -1, col: -1, pinRow: first.row, pinCol: first.col, toRow: last.row, toCol: last.col };
    view.remark();
  }

  /** @param {boolean} keep */
  release(keep) {
    this.clicked = this.to !== null;
    if (keep && this.pressed && this.to) this.span(this.pressed.place, this.to);
    this.pressed = this.to = null;
  }
}

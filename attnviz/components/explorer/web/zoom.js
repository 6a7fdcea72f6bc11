// @ts-check
/** @import { Plan, Window } from "./types.js" */

export const MOST_CELL = 64; // CSS pixels a side, of the largest zoom
export const STEP = 1.6; // of a button or a key
const SEEN = 384; // numbers a side that are worth having in sight
const LEAST = 0.75; // pixels of the screen for one number: finer, some would not be drawn

/** @type {Window} */
export const WHOLE = { zoom: 1, row: 0, col: 0 };

/**
 * @typedef {{rows: number, cols: number, most: number}} Map_ - drawn rows and columns, and the
 *   largest zoom
 */

/**
 * The window with its zoom and its place within bounds.
 *
 * @param {Window} window
 * @param {Map_} map
 * @returns {Window}
 */
export function clamped({ zoom, row, col }, { rows, cols, most }) {
  const to = short(Math.min(Math.max(zoom, 1), most));
  if (to < 1.01) return WHOLE;
  return {
    zoom: to,
    row: short(Math.min(Math.max(row, 0), rows - rows / to)),
    col: short(Math.min(Math.max(col, 0), cols - cols / to)),
  };
}

/** Five decimals, so that a link can say exactly what is in sight. @param {number} value */
const short = (value) => Math.floor(value * 1e5 + 1e-4) / 1e5;

/**
 * Larger or smaller by a factor; the cell at row, col (fractions of cells) stays where it is.
 *
 * @param {Window} window @param {number} factor
 * @param {number} row @param {number} col @param {Map_} map
 */
export function zoomed(window, factor, row, col, map) {
  const zoom = Math.min(Math.max(window.zoom * factor, 1), map.most);
  const ratio = window.zoom / zoom;
  return clamped(
    { zoom, row: row - (row - window.row) * ratio, col: col - (col - window.col) * ratio },
    map,
  );
}

/** @param {Window} window @param {number} rows @param {number} cols @param {Map_} map */
export const panned = (window, rows, cols, map) =>
  clamped({ ...window, row: window.row + rows, col: window.col + cols }, map);

/**
 * The same zoom, moved as little as brings the whole cell into sight.
 *
 * @param {Window} window @param {number} row @param {number} col @param {Map_} map
 */
export function revealing(window, row, col, map) {
  const least = (/** @type {number} */ at, /** @type {number} */ start, /** @type {number} */ span) =>
    Math.min(Math.max(start, at + 1 - span), at);
  return clamped(
    {
      zoom: window.zoom,
      row: least(row, window.row, map.rows / window.zoom),
      col: least(col, window.col, map.cols / window.zoom),
    },
    map,
  );
}

/**
 * The span to ask for around what is in sight: some more on each side, at most `most` numbers,
 * in steps, so that a small move asks for nothing new; and how many cells share a number.
 *
 * @param {number} first - fractional position @param {number} length @param {number} n
 * @param {number} block
 * @param {number} most
 * @returns {[number, number]}
 */
export function spanAround(first, length, n, block, most) {
  const step = 32 * block;
  const spare = (most * block - length) / 2 - step;
  const wanted = Math.floor((first - Math.max(0, spare)) / step) * step;
  const last = Math.ceil((n - most * block) / step) * step;
  const start = Math.max(0, Math.min(wanted, last));
  return [start, Math.min(n, start + most * block)];
}

/**
 * Whether each number has room on the screen when it stands for block x block cells.
 *
 * @param {Pick<Plan, "cellW" | "cellH">} plan
 * @param {number} block
 * @param {number} ratio - device pixels in a CSS pixel
 */
export function drawable({ cellW, cellH }, block, ratio) {
  return Math.min(cellW, cellH) * block * ratio >= LEAST;
}

/**
 * The cells a side that one number should stand for, a power of two: as few as can be drawn.
 *
 * @param {Pick<Plan, "cellW" | "cellH" | "nRows" | "nCols">} plan
 * @param {number} ratio - device pixels in a CSS pixel
 */
export function blockFor(plan, ratio) {
  let block = 1;
  while (Math.max(plan.nRows, plan.nCols) > SEEN * block || !drawable(plan, block, ratio)) block *= 2;
  return block;
}

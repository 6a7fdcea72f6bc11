// @ts-check
/** @import { Shown } from "./scene.js" */

/** @typedef {{left: number, top: number}} Corner - of the canvas, on the screen */

/**
 * The drawn cell under the pointer; -1: outside, or where a map has yet to grow.
 *
 * @param {Shown} scene @param {Corner} corner @param {MouseEvent} event
 * @returns {{row: number, col: number}}
 */
export function cellUnder({ plan, shown, all }, corner, event) {
  const x = event.clientX - corner.left - plan.x;
  const y = event.clientY - corner.top - plan.y;
  const col = x >= 0 && x < plan.w && y < plan.h ? Math.floor(x / plan.cellW + plan.col) : -1;
  const row = y >= 0 && y < plan.h && x < plan.w ? Math.floor(y / plan.cellH + plan.row) : -1;
  // At the very edge it is the last one.
  const last = (/** @type {number} */ at, /** @type {number} */ n, /** @type {number} */ most) =>
    at >= n && n < most ? -1 : Math.min(at, n - 1);
  return { row: last(row, shown.rows.length, all.rows.length), col: last(col, shown.cols.length, all.cols.length) };
}

/**
 * Where a cell is on the screen.
 *
 * @param {Shown} scene @param {Corner} corner
 * @param {number} row @param {number} col - positions of the tensor
 */
export function boxOf({ plan, shown }, corner, row, col) {
  return {
    x: corner.left + plan.x + (shown.cols.indexOf(col) - plan.col) * plan.cellW,
    y: corner.top + plan.y + (shown.rows.indexOf(row) - plan.row) * plan.cellH,
    width: plan.cellW,
    height: plan.cellH,
  };
}

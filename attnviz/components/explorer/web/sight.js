// @ts-check
/** @import { Panel, Plan, View } from "./types.js" */
import { cellAt } from "./cells.js";
import { isBlocked } from "./view.js";

const MOST_CELLS = 2 ** 20; // of a part of an overview, looked up one by one

/**
 * The numbers of what is in sight: positions of its rows and columns, and for each cell, or block
 * x block of them, its value and whether it is masked.
 *
 * @typedef {{rows: Int32Array, cols: Int32Array, values: Float32Array, blocked: Uint8Array,
 *   block: number}} Sight
 *
 * @param {Panel} panel
 * @param {View} shown
 * @param {Pick<Plan, "row" | "col" | "nRows" | "nCols">} plan
 * @returns {Sight}
 */
export function sightOf(panel, shown, plan) {
  const cut = (/** @type {Int32Array} */ all, /** @type {number} */ first, /** @type {number} */ n) =>
    all.slice(Math.floor(first + 1e-6), Math.ceil(first + n - 1e-6));
  const rows = cut(shown.rows, plan.row, plan.nRows);
  const cols = cut(shown.cols, plan.col, plan.nCols);
  return (panel.block === 1 || rows.length * cols.length <= MOST_CELLS ? cells(panel, rows, cols) : null) ?? blocks(panel);
}

/**
 * All that the browser has of a map, hidden rows and columns too.
 *
 * @param {Panel} panel
 * @returns {Sight}
 */
export function allOf(panel) {
  const every = (/** @type {string[]} */ labels) => Int32Array.from({ length: labels.length }, (_, i) => i);
  const whole = panel.block === 1 && cells(panel, every(panel.rows.labels), every(panel.cols.labels));
  return whole || blocks(panel);
}

/** @param {Panel} panel @param {Int32Array} rows @param {Int32Array} cols @returns {Sight | null} null: not all are known exactly */
function cells(panel, rows, cols) {
  const values = new Float32Array(rows.length * cols.length);
  const blocked = new Uint8Array(values.length);
  const n = panel.cols.labels.length;
  let at = 0;
  for (const row of rows) {
    for (const col of cols) {
      if (panel.block === 1) {
        values[at] = panel.values[row * n + col];
        blocked[at] = Number(isBlocked(panel, row * n + col));
      } else {
        const one = cellAt(panel, row, col);
        if (!one.exact) return null;
        values[at] = one.masked ? 0 : one.value;
        blocked[at] = Number(one.masked);
      }
      at += 1;
    }
  }
  return { rows, cols, values, blocked, block: 1 };
}

/** @param {Panel} panel all of an overview @returns {Sight} */
function blocks({ block, values, blocked, rows, cols }) {
  const firsts = (/** @type {string[]} */ labels) =>
    Int32Array.from({ length: Math.ceil(labels.length / block) }, (_, i) => i * block);
  return {
    rows: firsts(rows.labels),
    cols: firsts(cols.labels),
    values,
    blocked: blocked ?? new Uint8Array(values.length),
    block,
  };
}

// @ts-check
/** @import { Panel } from "./types.js" */
import { isBlocked } from "./view.js";

/**
 * The keys of one query by weight, the largest first, and what the others sum to.
 *
 * @param {Panel} panel
 * @param {number} row
 * @param {number[] | Int32Array} cols - those that count
 * @param {number} most
 */
export function ranked(panel, row, cols, most) {
  const start = row * panel.cols.labels.length;
  const items = Array.from(cols, (col) => ({ col, value: panel.values[start + col] })).filter(
    ({ col, value }) => !isBlocked(panel, start + col) && !Number.isNaN(value),
  );
  items.sort((a, b) => b.value - a.value || a.col - b.col);
  const rest = items.slice(most);
  return {
    items: items.slice(0, most),
    more: rest.length,
    rest: rest.reduce((sum, { value }) => sum + value, 0),
  };
}

/**
 * The key that a query attends to most, of these.
 *
 * @param {Panel} panel
 * @param {number} row
 * @param {number[] | Int32Array} cols
 */
export const strongestKey = (panel, row, cols) => best(panel, Array.from(cols, (col) => [row, col])).col;

/**
 * The query that attends most to a key, of these.
 *
 * @param {Panel} panel
 * @param {number} col
 * @param {number[] | Int32Array} rows
 */
export const strongestQuery = (panel, col, rows) => best(panel, Array.from(rows, (row) => [row, col])).row;

/** @param {Panel} panel @param {number[][]} cells */
function best(panel, cells) {
  let top = -Infinity;
  let [row, col] = cells[0];
  for (const [r, c] of cells) {
    const at = r * panel.cols.labels.length + c;
    if (isBlocked(panel, at) || !(panel.values[at] > top)) continue;
    top = panel.values[at];
    [row, col] = [r, c];
  }
  return { row, col };
}

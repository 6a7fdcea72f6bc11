// @ts-check
/** @import { Axis, Options, Panel, Range, View } from "./types.js" */

const LONG_ROW = 100;
const DECADES = 4;

/**
 * The positions of an axis that are drawn. Hiding everything hides nothing.
 *
 * @param {Axis} axis
 * @param {boolean} first - hide position 0
 * @param {boolean} special - hide special tokens
 * @param {number} n - positions that are there
 * @returns {Int32Array}
 */
function positions(axis, first, special, n) {
  const kept = [];
  for (let i = 0; i < n; i += 1) {
    if (!(first && i === 0) && !(special && axis.special?.[i])) kept.push(i);
  }
  if (kept.length === 0) return Int32Array.from({ length: n }, (_, i) => i);
  return Int32Array.from(kept);
}

/** How many tokens of a text that is being written are there. @param {Panel} panel @param {Options} options */
export const grown = ({ growsFrom }, { at }) => (growsFrom !== null && at !== null ? growsFrom + at : Infinity);

/**
 * @param {Panel} panel
 * @param {Options} options
 * @returns {View}
 */
export function view(panel, options) {
  const there = grown(panel, options);
  const [n, m] = [panel.rows, panel.cols].map(({ labels }) => Math.min(labels.length, there));
  const rows = positions(panel.rows, false, options.hideSpecial, n);
  const cols = positions(
    panel.cols,
    options.hideFirst && panel.cols.name === "key",
    options.hideSpecial,
    m,
  );
  const hidden = n - rows.length + m - cols.length;
  return { rows, cols, hidden };
}

/** @param {Panel} panel @param {number} index */
export const isBlocked = (panel, index) => panel.blocked !== null && panel.blocked[index] !== 0;

/**
 * The largest |value| of each drawn row, over cells that are drawn, allowed and finite.
 *
 * @param {Panel} panel
 * @param {View} shown
 */
function rowTops(panel, shown) {
  const n = panel.cols.labels.length;
  const tops = new Float32Array(shown.rows.length);
  for (let r = 0; r < shown.rows.length; r += 1) {
    const start = shown.rows[r] * n;
    let top = 0;
    for (let c = 0; c < shown.cols.length; c += 1) {
      const at = start + shown.cols[c];
      const size = Math.abs(panel.values[at]);
      if (size > top && size < Infinity && !isBlocked(panel, at)) top = size;
    }
    tops[r] = top;
  }
  return tops;
}

/** @param {Panel} panel @param {View} shown the largest |value| that is drawn */
export const largest = (panel, shown) => rowTops(panel, shown).reduce((a, b) => Math.max(a, b), 0);

/**
 * How weights are coloured where the reader has not said: on a long row most weights are so small
 * that only their logarithms differ to the eye. (As lines, that many would hide each other.)
 *
 * @param {Panel} panel
 * @param {Options} options
 */
export const scaleKind = (panel, options) =>
  options.scale ?? (panel.cols.labels.length > LONG_ROW && options.show !== "lines" ? "log" : "absolute");

/**
 * What the two ends of the colour scale stand for.
 *
 * @param {Panel} panel
 * @param {View} shown
 * @param {Options} options
 * @returns {Range}
 */
export function range(panel, shown, options) {
  const diverging = panel.scale === "signed";
  const tops = rowTops(panel, shown);
  const top = tops.reduce((a, b) => Math.max(a, b), panel.shared ?? 0) || 1;
  if (panel.scale !== "weight") {
    const hi = panel.limit ?? top;
    return { lo: diverging ? -hi : 0, hi, diverging, rowTop: null, decades: 0, least: 0 };
  }
  const { least } = options;
  const kind = scaleKind(panel, options);
  if (kind === "row") return { lo: 0, hi: 1, diverging, rowTop: tops, decades: 0, least };
  // With a token hidden, what is left would be pale on the old scale.
  const hi = shown.hidden > 0 ? top : (panel.limit ?? 1);
  const decades = kind === "log" ? DECADES : 0;
  return { lo: decades ? hi / 10 ** decades : 0, hi, diverging, rowTop: null, decades, least };
}

/**
 * Where a value falls between the ends of its scale, 0 to 1; NaN for NaN.
 *
 * @param {number} value
 * @param {Range} scale
 * @param {number} row - the drawn row
 */
export function part(value, scale, row) {
  if (value < scale.least && !scale.diverging) return 0;
  const hi = scale.rowTop ? scale.rowTop[row] || 1 : scale.hi;
  const lo = scale.diverging ? -hi : 0;
  const at = scale.decades
    ? 1 + Math.log10(Math.max(value, 0) / hi) / scale.decades
    : (value - lo) / (hi - lo);
  return at < 0 ? 0 : at > 1 ? 1 : at;
}

/**
 * The rank of a cell among the allowed cells of its row, 1 for the largest, and their number.
 *
 * @param {Panel} panel
 * @param {number} row
 * @param {number} col
 */
export function rank(panel, row, col) {
  const n = panel.cols.labels.length;
  const value = panel.values[row * n + col];
  let above = 0;
  let allowed = 0;
  for (let at = row * n; at < (row + 1) * n; at += 1) {
    if (isBlocked(panel, at)) continue;
    allowed += 1;
    if (panel.values[at] > value) above += 1;
  }
  return { rank: above + 1, of: allowed };
}

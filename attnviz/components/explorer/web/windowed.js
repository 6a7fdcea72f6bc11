// @ts-check
/** @import { Measure, Panel, Plan, Tick, View, Window } from "./types.js" */
import { stride, ticks } from "./labels.js";
import { GAP, NUMBERS, SLANT, TITLE, fitted, widest } from "./plan.js";

/**
 * The plan of a part of the same map, in the same place and size: labels stay at the edges, and
 * are those of what is in sight.
 *
 * @param {Plan} whole
 * @param {Window} window
 * @param {{panel: Panel, shown: View, measure: Measure}} given
 * @returns {Plan}
 */
export function windowed(whole, { zoom, row, col }, { panel, shown, measure }) {
  if (zoom === 1) return whole;
  const nRows = whole.nRows / zoom;
  const nCols = whole.nCols / zoom;
  const cellW = whole.w / nCols;
  const cellH = whole.h / nRows;
  const { labelSize, type, x, y, w } = whole;
  const fit = fitted(labelSize, measure);
  const rowStep = stride(Math.ceil(nRows), cellH, labelSize + 2);
  const rowTicks = ticks(panel.rows.labels, shown.rows, rowStep, row, row + nRows, true);
  const above = y - TITLE * type - GAP; // the height that the labels have
  const labels = ticks(panel.cols.labels, shown.cols, 1, col, col + nCols, true);
  const flat = cellW >= 16 && widest(labels, cellW, labelSize, measure) <= cellW - 6;
  const slanted = !flat && cellW >= 20;
  const colStep = stride(Math.ceil(nCols), cellW, slanted || flat ? 1 : labelSize + 2);
  const columns = ticks(panel.cols.labels, shown.cols, colStep, col, col + nCols, true);
  const long = slanted ? (above - 6) / Math.sin(-SLANT) : above;
  /** @param {Tick} tick */
  const room = ({ at }) => {
    const right = whole.width - x - (at + 0.5 - col) * cellW;
    return flat ? cellW : slanted ? Math.min(long, right / Math.cos(SLANT)) : long;
  };
  return {
    ...whole,
    ...{ row, col, nRows, nCols, cellW, cellH, rowStep, colStep, zoom },
    // Where a cell is cut at the edge, its label would stand beside another's place.
    rowTicks: rowTicks.filter(({ at }) => inside(at + 0.5 - row, nRows)).map(fit(x - TITLE * type - GAP)),
    colTicks: columns
      .filter(({ at }) => inside(at + 0.5 - col, nCols))
      .map((tick) => fit(room(tick))(tick)),
    colAngle: flat ? 0 : slanted ? SLANT : -Math.PI / 2,
    numbers: Math.min(cellW, cellH) >= NUMBERS,
  };
}

/** @param {number} at @param {number} length */
const inside = (at, length) => at >= 0 && at <= length;

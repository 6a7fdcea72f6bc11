// @ts-check
/** @import { Panel, Tile } from "./types.js" */

/**
 * One cell. Where exact is false its value is not known yet: value is the largest of the
 * block x block cells around it.
 *
 * @typedef {{value: number, masked: boolean, exact: boolean, block: number}} Cell
 */

/**
 * @param {Panel} panel
 * @param {number} row @param {number} col - positions
 * @returns {Cell}
 */
export function cellAt(panel, row, col) {
  const { block, values, blocked, cols } = panel;
  if (block > 1) {
    const tile = finest(panel, row, col);
    if (tile && tile.block < block) {
      const wide = Math.ceil((tile.cols[1] - tile.cols[0]) / tile.block);
      const at =
        Math.floor((row - tile.rows[0]) / tile.block) * wide + Math.floor((col - tile.cols[0]) / tile.block);
      return cell(tile.values, tile.blocked, at, tile.block);
    }
  }
  const wide = Math.ceil(cols.labels.length / block);
  return cell(values, blocked, Math.floor(row / block) * wide + Math.floor(col / block), block);
}

/**
 * @param {Float32Array} values @param {Uint8Array | null} blocked
 * @param {number} at @param {number} block
 * @returns {Cell}
 */
function cell(values, blocked, at, block) {
  const masked = blocked !== null && blocked[at] !== 0;
  return { value: values[at], masked, exact: block === 1 || masked, block };
}

/** @param {Panel} panel @param {number} row @param {number} col @returns {Tile | null} */
function finest(panel, row, col) {
  let best = null;
  for (const tile of panel.source?.tiles() ?? []) {
    const holds = row >= tile.rows[0] && row < tile.rows[1] && col >= tile.cols[0] && col < tile.cols[1];
    if (holds && (best === null || tile.block < best.block)) best = tile;
  }
  return best;
}

/**
 * A whole row, exactly, if it is here.
 *
 * @param {Panel} panel
 * @param {number} row
 * @returns {{values: Float32Array, blocked: Uint8Array | null} | null}
 */
export function rowAt(panel, row) {
  const n = panel.cols.labels.length;
  const cut = (/** @type {number} */ start, /** @type {Panel | Tile} */ from) => ({
    values: from.values.subarray(start, start + n),
    blocked: from.blocked?.subarray(start, start + n) ?? null,
  });
  if (panel.block === 1) return cut(row * n, panel);
  const tile = panel.source
    ?.tiles()
    .find(({ rows, cols, block }) => block === 1 && row >= rows[0] && row < rows[1] && cols[1] - cols[0] === n);
  return tile ? cut((row - tile.rows[0]) * n, tile) : null;
}

/**
 * The rank of a value among the allowed cells of its row, 1 for the largest, and their number.
 *
 * @param {{values: Float32Array, blocked: Uint8Array | null}} row
 * @param {number} col
 */
export function rankIn({ values, blocked }, col) {
  let above = 0;
  let allowed = 0;
  for (let at = 0; at < values.length; at += 1) {
    if (blocked?.[at]) continue;
    allowed += 1;
    if (values[at] > values[col]) above += 1;
  }
  return { rank: above + 1, of: allowed };
}

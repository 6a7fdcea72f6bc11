// @ts-check
/** @import { Panel, Range, View } from "./types.js" */
import { isBlocked, part } from "./view.js";

/**
 * A palette as one little-endian RGBA word a step.
 *
 * @param {Uint8Array} palette - 256 x 3
 */
export function words(palette) {
  const table = new Uint32Array(256);
  for (let i = 0; i < 256; i += 1) {
    const [r, g, b] = palette.subarray(3 * i, 3 * i + 3);
    table[i] = ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }
  return table;
}

/**
 * How many cells share a pixel along one side: 1 unless there are more cells than pixels.
 *
 * @param {number} cells
 * @param {number} pixels
 */
export const pool = (cells, pixels) => Math.max(1, Math.ceil(cells / Math.max(1, pixels)));

/**
 * The map at one pixel a cell, or one pixel for each block of down x across cells, which then
 * shows the cell of the largest |value|. Masked and undefined cells stay transparent, so that
 * what lies beneath shows; undefined marks the latter, or is null where there are none.
 *
 * @param {Panel} panel
 * @param {View} shown
 * @param {Range} scale
 * @param {Uint32Array} table
 * @param {number} down
 * @param {number} across
 */
export function pixels(panel, shown, scale, table, down = 1, across = 1) {
  const { rows, cols } = shown;
  const width = Math.ceil(cols.length / across);
  const height = Math.ceil(rows.length / down);
  const colour = new Uint32Array(width * height);
  /** @type {Uint32Array | null} */
  let undefinedCells = null;
  const n = panel.cols.labels.length;
  for (let y = 0; y < height; y += 1) {
    const lastRow = Math.min(rows.length, (y + 1) * down);
    for (let x = 0; x < width; x += 1) {
      const lastCol = Math.min(cols.length, (x + 1) * across);
      let best = NaN;
      let bestRow = 0;
      let allowed = false;
      for (let r = y * down; r < lastRow; r += 1) {
        for (let c = x * across; c < lastCol; c += 1) {
          const at = rows[r] * n + cols[c];
          if (isBlocked(panel, at)) continue;
          allowed = true;
          const value = panel.values[at];
          if (Number.isNaN(best) || Math.abs(value) > Math.abs(best)) {
            best = value;
            bestRow = r;
          }
        }
      }
      if (!allowed) continue;
      const place = part(best, scale, bestRow);
      if (Number.isNaN(place)) {
        undefinedCells ??= new Uint32Array(width * height);
        undefinedCells[y * width + x] = 0xff000000;
      } else {
        colour[y * width + x] = table[Math.round(place * 255)];
      }
    }
  }
  return { width, height, colour, undefinedCells };
}

/**
 * Black or white, whichever is easier to read on the colour (WCAG relative luminance).
 *
 * @param {number} r @param {number} g @param {number} b
 */
export function inkOn(r, g, b) {
  const linear = (/** @type {number} */ c) =>
    c <= 10 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4;
  const light = 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  return light > 0.179 ? "#000000" : "#ffffff";
}

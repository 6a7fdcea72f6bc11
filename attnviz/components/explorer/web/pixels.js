// @ts-check
/** @import { Panel, Range, View } from "./types.js" */
import { part } from "./view.js";

export const MASKED = -2;
export const UNDEFINED = -1;

/**
 * Where each cell stands on its colour scale, 0 to 255, or MASKED or UNDEFINED.
 *
 * @typedef {{width: number, height: number, at: Int16Array}} Places
 *
 * One pixel a cell. Masked and undefined cells are transparent, so that what lies beneath shows;
 * undefinedCells marks the latter, or is null where there are none.
 *
 * @typedef {{width: number, height: number, colour: Uint32Array,
 *   undefinedCells: Uint32Array | null}} Pixels
 */

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
 * @param {{values: Float32Array, blocked: Uint8Array | null}} map - width numbers a row
 * @param {number} width
 * @param {Range} scale
 * @param {View} shown - the rows and columns that are drawn
 * @returns {Places}
 */
export function placesOf({ values, blocked }, width, scale, { rows, cols }) {
  const at = new Int16Array(rows.length * cols.length);
  let i = 0;
  for (let r = 0; r < rows.length; r += 1) {
    const start = rows[r] * width;
    for (let c = 0; c < cols.length; c += 1, i += 1) {
      const cell = start + cols[c];
      if (blocked !== null && blocked[cell] !== 0) at[i] = MASKED;
      else {
        const place = part(values[cell], scale, r);
        at[i] = Number.isNaN(place) ? UNDEFINED : Math.round(place * 255);
      }
    }
  }
  return { width: cols.length, height: rows.length, at };
}

/**
 * The same map in fewer pixels, each cell in one of them. A pixel shows its most striking cell:
 * the highest on the scale, or on a diverging one the farthest from the middle.
 *
 * @param {Places} places
 * @param {number} width
 * @param {number} height
 * @param {boolean} diverging
 * @returns {Places}
 */
export function pooled(places, width, height, diverging) {
  const { width: n, height: m, at: from } = places;
  if (width >= n && height >= m) return places;
  const wide = Math.min(width, n);
  const tall = Math.min(height, m);
  const x = new Int32Array(n);
  for (let c = 0; c < n; c += 1) x[c] = Math.floor(((c + 0.5) * wide) / n);
  const at = new Int16Array(wide * tall).fill(MASKED);
  for (let r = 0; r < m; r += 1) {
    const row = Math.floor(((r + 0.5) * tall) / m) * wide;
    for (let c = 0, i = r * n; c < n; c += 1, i += 1) {
      const place = from[i];
      const to = row + x[c];
      if (place <= at[to] && !(diverging && place >= 0)) continue;
      if (!diverging || at[to] < 0 || Math.abs(place - 127.5) > Math.abs(at[to] - 127.5)) at[to] = place;
    }
  }
  return { width: wide, height: tall, at };
}

/**
 * @param {Places} places
 * @param {Uint32Array} table
 * @returns {Pixels}
 */
export function pixelsOf({ width, height, at }, table) {
  const colour = new Uint32Array(at.length);
  /** @type {Uint32Array | null} */
  let undefinedCells = null;
  for (let i = 0; i < at.length; i += 1) {
    const place = at[i];
    if (place >= 0) colour[i] = table[place];
    else if (place === UNDEFINED) {
      undefinedCells ??= new Uint32Array(at.length);
      undefinedCells[i] = 0xff000000;
    }
  }
  return { width, height, colour, undefinedCells };
}

/**
 * The range of an overview's rows: the scale of each is that of its largest row.
 *
 * @param {Range} scale - rowTop: one number a position
 * @param {number} first - position of the first row
 * @param {number} rows
 * @param {number} block
 * @returns {Range}
 */
export function ofBlocks(scale, first, rows, block) {
  const { rowTop } = scale;
  if (rowTop === null) return scale;
  const tops = Float32Array.from({ length: rows }, (_, r) =>
    rowTop.subarray(first + r * block, first + (r + 1) * block).reduce((a, b) => Math.max(a, b), 0),
  );
  return { ...scale, rowTop: tops };
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

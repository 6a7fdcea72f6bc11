// @ts-check
/** @import { Figure, Axis } from "./types.js" */

/**
 * Reads the buffer that payload.py packs. Arrays are views into it, not copies.
 *
 * @param {Uint8Array} bytes
 * @returns {Figure}
 */
export function unpack(bytes) {
  const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const length = new DataView(whole.buffer, whole.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + length)));
  const body = whole.byteOffset + 4 + length;

  /** @param {number} place */
  const array = (place) => {
    const { kind, shape, offset } = header.arrays[place];
    const count = shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
    const Kind = kind === "f4" ? Float32Array : Uint8Array;
    return /** @type {any} */ (new Kind(/** @type {any} */ (whole.buffer), body + offset, count));
  };
  /** @param {number} place */
  const digest = (place) => header.arrays[place].digest;
  /** @type {Axis[]} */
  const axes = header.axes;

  return {
    ...header,
    palettes: {
      sequential: header.palettes.sequential.map(array),
      diverging: header.palettes.diverging.map(array),
      named: Object.fromEntries(
        Object.entries(header.palettes.named).map(([name, pair]) => [name, /** @type {number[]} */ (pair).map(array)]),
      ),
      lines: header.palettes.lines,
    },
    panels: header.panels.map((/** @type {any} */ panel) => ({
      ...panel,
      rows: axes[panel.rows],
      cols: axes[panel.cols],
      values: array(panel.values),
      blocked: panel.blocked === null ? null : array(panel.blocked),
      digest: digest(panel.values) + (panel.blocked === null ? "" : digest(panel.blocked)),
    })),
    grid: header.grid && {
      ...header.grid,
      size: header.arrays[header.grid.thumbnails].shape[3],
      thumbnails: array(header.grid.thumbnails),
      digest: digest(header.grid.thumbnails),
      metrics: header.grid.metrics.map((/** @type {any} */ metric) => ({
        name: metric.name,
        values: array(metric.values),
      })),
      stack: header.grid.stack === null ? null : array(header.grid.stack),
    },
  };
}

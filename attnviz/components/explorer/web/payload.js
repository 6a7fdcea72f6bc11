// @ts-check
/** @import { Figure, Axis } from "./types.js" */
/** @import { Note } from "./wire.js" */

/**
 * Takes a buffer of payload.py apart. Arrays are views into it, not copies.
 *
 * @param {Uint8Array} bytes
 */
function opened(bytes) {
  const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const length = new DataView(whole.buffer, whole.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + length)));
  const body = whole.byteOffset + 4 + length;

  /** @param {number | null} place @returns {any} */
  const array = (place) => {
    if (place === null) return null;
    const { kind, shape, offset } = header.arrays[place];
    const count = shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
    const Kind = kind === "f4" ? Float32Array : Uint8Array;
    return new Kind(/** @type {any} */ (whole.buffer), body + offset, count);
  };
  /** @param {number | null} place @returns {string} */
  const digest = (place) => (place === null ? "" : header.arrays[place].digest);
  return { header, array, digest };
}

/**
 * A figure, or what the wire beside it says.
 *
 * @param {Uint8Array} bytes
 * @returns {{figure: Figure, note: null} | {figure: null, note: Note}}
 */
export function unpack(bytes) {
  const { header, array, digest } = opened(bytes);
  /** @param {any} entry @returns {import("./wire.js").Part} */
  const part = (entry) => ({
    block: entry.block,
    values: array(entry.values),
    blocked: array(entry.blocked),
    tops: array(entry.tops),
    digest: digest(entry.values) + digest(entry.blocked),
  });
  if (Object.hasOwn(header, "wire")) {
    const { answer } = header;
    const numbers = answer && Object.hasOwn(answer, "values") ? part(answer) : null;
    return { figure: null, note: { ...header, answer: answer && { ...answer, part: numbers } } };
  }
  /** @param {number | null} place */
  const list = (place) => (place === null ? null : header.lists[place]);
  /** @type {Axis[]} */
  const axes = header.axes.map((/** @type {any} */ axis) => ({
    name: axis.name,
    title: axis.title,
    labels: list(axis.labels),
    details: list(axis.details),
    special: list(axis.special),
    written: axis.written,
  }));
  const figure = {
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
      blocked: array(panel.blocked),
      tops: array(panel.tops),
      digest: digest(panel.values) + digest(panel.blocked),
      source: null,
    })),
    parts: header.parts.map((/** @type {any} */ entry) => ({ ...entry, part: part(entry) })),
    file: header.file && { ...header.file, data: bytes.slice(bytes.length - header.file.length) },
    grid: header.grid && {
      ...header.grid,
      down: header.arrays[header.grid.thumbnails].shape[2],
      across: header.arrays[header.grid.thumbnails].shape[3],
      thumbnails: array(header.grid.thumbnails),
      digest: digest(header.grid.thumbnails),
      metrics: header.grid.metrics.map((/** @type {any} */ metric) => ({
        name: metric.name,
        values: array(metric.values),
      })),
      stack: array(header.grid.stack),
    },
  };
  return { figure, note: null };
}

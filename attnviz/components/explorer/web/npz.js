// @ts-check
/** @import { Panel } from "./types.js" */
/** @import { Sight } from "./sight.js" */

/** An array as NumPy writes it. @typedef {{descr: string, shape: number[], bytes: Uint8Array}} NumpyArray */

const TEXT = new TextEncoder();

/** @param {ArrayBufferView} view */
const bytesOf = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

/** @param {string[]} words fixed-width UTF-32, as NumPy holds text @returns {NumpyArray} */
function textArray(words) {
  const points = words.map((word) => Array.from(word, (sign) => sign.codePointAt(0) ?? 0));
  const width = points.reduce((most, { length }) => Math.max(most, length), 1);
  const codes = new Uint32Array(words.length * width);
  points.forEach((word, i) => codes.set(word, i * width));
  return { descr: `<U${width}`, shape: [words.length], bytes: bytesOf(codes) };
}

/**
 * NumPy's format 1.0 (numpy.lib.format): magic, version, header padded to 64 bytes, the array.
 *
 * @param {NumpyArray} array
 */
function npy({ descr, shape, bytes }) {
  const size = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const words = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${size}), }`;
  const header = TEXT.encode(`${words}${" ".repeat(63 - ((10 + words.length) % 64))}\n`);
  const file = new Uint8Array(10 + header.length + bytes.length);
  file.set([0x93, ...TEXT.encode("NUMPY"), 1, 0]);
  new DataView(file.buffer).setUint16(8, header.length, true);
  file.set(header, 10);
  file.set(bytes, 10 + header.length);
  return file;
}

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

/** @param {Uint8Array} bytes */
function crc32(bytes) {
  let c = 0xffffffff;
  for (let i = 0; i < bytes.length; i += 1) c = CRC[(c ^ bytes[i]) & 255] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
}

/**
 * A zip whose files are stored as they are (PKWARE APPNOTE 4.3).
 *
 * @param {[string, Uint8Array][]} files
 * @returns {Uint8Array[]} in order
 */
export function zip(files) {
  const [body, directory] = [/** @type {Uint8Array[]} */ ([]), /** @type {Uint8Array[]} */ ([])];
  let [at, size] = [0, 0];
  for (const [name, bytes] of files) {
    const word = TEXT.encode(name);
    // Version 2.0, no flags, stored, 1 January 1980, checksum, both sizes, length of the name.
    const common = [20, 0, 0, 0, 0x21, crc32(bytes), bytes.length, bytes.length, word.length];
    const widths = [2, 2, 2, 2, 2, 4, 4, 4, 2];
    const local = record([0x04034b50, ...common, 0], [4, ...widths, 2]);
    const entry = record([0x02014b50, 20, ...common, 0, 0, 0, 0, 0, at], [4, 2, ...widths, 2, 2, 2, 2, 4, 4]);
    body.push(local, word, bytes);
    directory.push(entry, word);
    at += local.length + word.length + bytes.length;
    size += entry.length + word.length;
  }
  const n = files.length;
  return [...body, ...directory, record([0x06054b50, 0, 0, n, n, size, at, 0], [4, 2, 2, 2, 2, 4, 4, 2])];
}

/** Little-endian numbers of these widths in bytes. @param {number[]} numbers @param {number[]} widths */
function record(numbers, widths) {
  const bytes = new Uint8Array(widths.reduce((a, b) => a + b, 0));
  let at = 0;
  numbers.forEach((number, i) => {
    for (let k = 0; k < widths[i]; k += 1) bytes[at++] = (number >>> (8 * k)) & 255;
  });
  return bytes;
}

/**
 * What is in sight as an NPZ, which numpy.load reads without pickle: values, masked, the positions
 * and tokens of its rows and columns, block: how many cells a side share a value, and what it is:
 * title (layer and head) and settings (model, seed).
 *
 * @param {Panel} panel
 * @param {Sight} sight
 * @param {{title: string, settings: string}} words
 */
export function npz(panel, { rows, cols, values, blocked, block }, { title, settings }) {
  const shape = [rows.length, cols.length];
  const tokens = (/** @type {string[]} */ labels, /** @type {Int32Array} */ at) =>
    textArray(Array.from(at, (i) => labels[i]));
  /** @type {Record<string, NumpyArray>} */
  const arrays = {
    values: { descr: "<f4", shape, bytes: bytesOf(values) },
    masked: { descr: "|b1", shape, bytes: blocked },
    rows: { descr: "<i4", shape: [rows.length], bytes: bytesOf(rows) },
    cols: { descr: "<i4", shape: [cols.length], bytes: bytesOf(cols) },
    row_tokens: tokens(panel.rows.labels, rows),
    col_tokens: tokens(panel.cols.labels, cols),
    block: { descr: "<i4", shape: [1], bytes: bytesOf(Int32Array.of(block)) },
    title: textArray([title]),
    settings: textArray([settings]),
  };
  return zip(Object.entries(arrays).map(([name, array]) => [`${name}.npy`, npy(array)]));
}

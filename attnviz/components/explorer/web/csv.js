// @ts-check
/** @import { Sight } from "./sight.js" */
/** @import { Panel } from "./types.js" */
import { exact } from "./format.js";

/**
 * A field as RFC 4180 has it. A text that a spreadsheet would take for a formula gets an
 * apostrophe in front, which spreadsheets show as nothing.
 *
 * @param {string} text
 */
export function field(text) {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * These values: a row per row, with its position and token; a column's head is its position, a
 * space and its token. Of an overview, a row and a column for each block, with its first position
 * and token.
 *
 * @param {Panel} panel
 * @param {Sight} sight
 */
export function csv(panel, { rows: down, cols: across, values, block }) {
  const { rows, cols } = panel;
  const n = across.length;
  const heads = Array.from(across, (at) => field(cols.labels[at] === String(at) ? String(at) : `${at} ${cols.labels[at]}`));
  const kind = block > 1 ? `${rows.name} position (largest of ${block} × ${block} cells)` : `${rows.name} position`;
  const lines = [[field(kind), field(rows.name), ...heads].join(",")];
  down.forEach((at, r) => {
    const numbers = Array.from(values.subarray(r * n, (r + 1) * n), exact);
    lines.push([String(at), field(rows.labels[at]), ...numbers].join(","));
  });
  return `${lines.join("\r\n")}\r\n`;
}

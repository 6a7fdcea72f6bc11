// @ts-check
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
 * Every value of the panel, hidden ones too: a row per row, with its position and token; a
 * column's head is its position, a space and its token. Of an overview, a row and a column for
 * each block, with its first position and token.
 *
 * @param {Panel} panel
 */
export function csv(panel) {
  const { rows, cols, values, block } = panel;
  const firsts = (/** @type {string[]} */ labels) => labels.filter((_, i) => i % block === 0);
  const across = firsts(cols.labels);
  const n = across.length;
  const heads = across.map((label, i) => field(label === String(i) ? label : `${i * block} ${label}`));
  const kind = block > 1 ? `${rows.name} position (largest of ${block} × ${block} cells)` : `${rows.name} position`;
  const lines = [[field(kind), field(rows.name), ...heads].join(",")];
  firsts(rows.labels).forEach((label, r) => {
    const numbers = Array.from(values.subarray(r * n, (r + 1) * n), exact);
    lines.push([String(r * block), field(label), ...numbers].join(","));
  });
  return `${lines.join("\r\n")}\r\n`;
}

// @ts-check
/** @import { Panel, Plan, Theme, View } from "./types.js" */
import { elided, isolated, shown as shownText } from "./labels.js";

/**
 * What is marked on one panel: places among the drawn rows and columns, -1 for none. A block goes
 * from pinRow and pinCol to toRow and toCol.
 *
 * @typedef {{row: number, col: number, pinRow: number, pinCol: number, toRow: number, toCol: number}} Marks
 */

/**
 * Crosshair, the marked labels in full, and the pinned cell, over a panel that stays as it is.
 *
 * @param {CanvasRenderingContext2D} context - scaled to CSS pixels
 * @param {{panel: Panel, shown: View, plan: Plan, theme: Theme,
 *   measure: import("./types.js").Measure}} scene
 * @param {Marks} marks
 */
export function paintOverlay(context, { panel, shown, plan, theme, measure }, marks) {
  const { x, y, w, h, cellW, cellH } = plan;
  context.clearRect(0, 0, plan.width, plan.height);
  const { pinRow, pinCol } = marks;
  const row = seen(marks.row, plan.row, plan.nRows);
  const col = seen(marks.col, plan.col, plan.nCols);
  const left = (/** @type {number} */ at) => x + (at - plan.col) * cellW;
  const top = (/** @type {number} */ at) => y + (at - plan.row) * cellH;
  context.save();
  context.beginPath();
  // A frame round a cell at the edge may stand out a little.
  context.rect(x - 4, y - 4, w + 8, h + 8);
  context.clip();
  if (row >= 0) band(context, theme, x, top(row), w, cellH);
  if (col >= 0) band(context, theme, left(col), y, cellW, h);
  if (marks.toRow >= 0 && marks.toCol >= 0) {
    const [wide, tall] = [(marks.toCol - pinCol + 1) * cellW, (marks.toRow - pinRow + 1) * cellH];
    cellFrame(context, left(pinCol), top(pinRow), wide, tall, theme.page, theme.accents.highlight);
  } else if (seen(pinRow, plan.row, plan.nRows) >= 0 && seen(pinCol, plan.col, plan.nCols) >= 0) {
    cellFrame(context, left(pinCol), top(pinRow), cellW, cellH, theme.page, theme.accents.highlight);
  }
  if (row >= 0 && col >= 0) cellFrame(context, left(col), top(row), cellW, cellH, theme.page, theme.text);
  context.restore();
  const chip = (/** @type {string} */ text) => elided(shownText(text), 150, plan.labelSize, measure);
  if (row >= 0) {
    const position = shown.rows[row];
    const text = chip(labelOf(panel.rows.labels[position], position, plan.rowStep > 1 || plan.zoom > 1));
    rowChip(context, text, plan, theme, measure, within(top(row + 0.5), y, h));
  }
  if (col >= 0) {
    const position = shown.cols[col];
    const text = chip(labelOf(panel.cols.labels[position], position, plan.colStep > 1 || plan.zoom > 1));
    colChip(context, text, plan, theme, measure, within(left(col + 0.5), x, w));
  }
}

/** @param {number} at @param {number} first @param {number} length - what is in sight */
const seen = (at, first, length) => (at + 1 > first && at < first + length ? at : -1);

/** @param {number} at @param {number} start @param {number} length */
const within = (at, start, length) => Math.min(Math.max(at, start), start + length);

/** @param {string} label @param {number} position @param {boolean} numbered */
function labelOf(label, position, numbered) {
  return numbered && label !== String(position) ? `${position} ${label}` : label;
}

/**
 * @param {CanvasRenderingContext2D} context @param {Theme} theme
 * @param {number} x @param {number} y @param {number} w @param {number} h
 */
function band(context, theme, x, y, w, h) {
  context.globalAlpha = 0.5;
  context.fillStyle = theme.text;
  if (w > h) {
    context.fillRect(x, y - 1, w, 1);
    context.fillRect(x, y + h, w, 1);
  } else {
    context.fillRect(x - 1, y, 1, h);
    context.fillRect(x + w, y, 1, h);
  }
  context.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x @param {number} y @param {number} w @param {number} h
 * @param {string} outer @param {string} inner
 */
function cellFrame(context, x, y, w, h, outer, inner) {
  // A frame needs room: tiny cells get one round them.
  const grow = Math.max(0, (7 - Math.min(w, h)) / 2);
  const box = /** @type {const} */ ([x - grow, y - grow, w + 2 * grow, h + 2 * grow]);
  context.strokeStyle = outer;
  context.lineWidth = 4.5;
  context.strokeRect(...box);
  context.strokeStyle = inner;
  context.lineWidth = 2;
  context.strokeRect(...box);
}

/**
 * @param {CanvasRenderingContext2D} context @param {string} text @param {Plan} plan
 * @param {Theme} theme @param {import("./types.js").Measure} measure @param {number} middle
 */
function rowChip(context, text, plan, theme, measure, middle) {
  const wide = measure(text, plan.labelSize, true) + 8;
  const right = Math.max(plan.x - 1, wide);
  paintChip(context, text, right - wide, middle, wide, plan, theme, 0);
}

/**
 * @param {CanvasRenderingContext2D} context @param {string} text @param {Plan} plan
 * @param {Theme} theme @param {import("./types.js").Measure} measure @param {number} middle
 */
function colChip(context, text, plan, theme, measure, middle) {
  const wide = measure(text, plan.labelSize, true) + 8;
  if (plan.colAngle === 0) {
    const left = Math.min(Math.max(0, middle - wide / 2), plan.width - wide);
    paintChip(context, text, left, plan.y - 5 - plan.labelSize / 2, wide, plan, theme, 0);
    return;
  }
  context.save();
  context.translate(middle, plan.y - 4);
  context.rotate(plan.colAngle);
  paintChip(context, text, -3, 0, wide, plan, theme, 0);
  context.restore();
}

/**
 * @param {CanvasRenderingContext2D} context @param {string} text @param {number} left
 * @param {number} middle @param {number} wide @param {Plan} plan @param {Theme} theme
 * @param {number} pad
 */
function paintChip(context, text, left, middle, wide, plan, theme, pad) {
  const tall = plan.labelSize + 5 + pad;
  context.fillStyle = theme.accents.highlight;
  context.fillRect(left, middle - tall / 2, wide, tall);
  context.fillStyle = "#000000";
  context.font = `${plan.labelSize}px ${theme.mono}`;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.direction = "ltr";
  context.fillText(isolated(text), left + 4, middle + 0.5);
}

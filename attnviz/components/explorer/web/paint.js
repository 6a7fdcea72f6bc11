// @ts-check
/** @import { Panel, Plan, Range, Theme, View } from "./types.js" */
/** @import { Layer } from "./layers.js" */
/** @import { Pixels } from "./pixels.js" */
import { decimals, fixed, scaleEnd } from "./format.js";
import { isolated } from "./labels.js";
import { cellAt } from "./cells.js";
import { sharing } from "./layers.js";
import { inkOn } from "./pixels.js";
import { coloursOf } from "./theme.js";
import { isBlocked, part } from "./view.js";

/**
 * What a picture is painted on: a canvas, or an SVG text.
 *
 * @typedef {object} Surface
 * @property {(x: number, y: number, w: number, h: number, fill: string) => void} rect
 * @property {(x: number, y: number, w: number, h: number, stroke: string, width: number) => void} frame
 * @property {(x: number, y: number, w: number, h: number, kind: "hatch" | "dots", theme: Theme) => void} texture
 * @property {(text: string, x: number, y: number, style: TextStyle) => void} text
 * @property {(points: number[], stroke: Stroke) => void} curve - cubic, from and to and the two
 *   points between that draw it, x and y in turn
 * @property {(map: Pixels, box: Box, clip: Box, theme: Theme) => void} map - stretched over the
 *   box, of which only what lies in the clip shows
 * @property {(clip: Box, draw: () => void) => void} within - what is drawn shows only in the clip
 *
 * @typedef {{x: number, y: number, w: number, h: number}} Box
 *
 * @typedef {{colour: string, width: number, alpha: number}} Stroke
 *
 * @typedef {{size: number, fill: string, family: string, weight?: number, angle?: number,
 *   align?: "left" | "center" | "right", baseline?: "top" | "middle" | "bottom"}} TextStyle
 *
 * @typedef {{panel: Panel, shown: View, scale: Range, plan: Plan, theme: Theme, layers: Layer[],
 *   legend: ["hatch" | "dots", string][]}} Scene
 */

/**
 * The whole panel: map, axes, colour bar, legend.
 *
 * @param {Surface} surface
 * @param {Scene} scene
 */
export function paint(surface, scene) {
  const { panel, plan, theme } = scene;
  paintMap(surface, scene);
  if (plan.numbers) surface.within(plan, () => paintNumbers(surface, scene));
  surface.frame(plan.x - 0.5, plan.y - 0.5, plan.w + 1, plan.h + 1, theme.line, 1);
  paintAxes(surface, scene);
  paintLegend(surface, scene);
}

/** @param {Surface} surface @param {Scene} scene */
function paintMap(surface, { panel, plan, theme, layers }) {
  const { x, y, w, h, cellW, cellH } = plan;
  const masks = panel.blocked !== null || layers.length > 1;
  for (const layer of layers) {
    const box = {
      x: x + (layer.col - plan.col) * cellW,
      y: y + (layer.row - plan.row) * cellH,
      w: layer.cols * cellW,
      h: layer.rows * cellH,
    };
    const clip = overlap(box, plan);
    if (clip.w <= 0 || clip.h <= 0) continue;
    // A finer layer takes the place of a coarser one, where it leaves cells open too.
    surface.rect(clip.x, clip.y, clip.w, clip.h, theme.page);
    if (masks) surface.texture(clip.x, clip.y, clip.w, clip.h, "hatch", theme);
    surface.map(layer.map, box, clip, theme);
  }
  if (Math.min(cellW, cellH) < 9) return;
  for (let c = Math.floor(plan.col) + 1; c < plan.col + plan.nCols; c += 1) {
    surface.rect(x + (c - plan.col) * cellW - 0.5, y, 1, h, theme.page);
  }
  for (let r = Math.floor(plan.row) + 1; r < plan.row + plan.nRows; r += 1) {
    surface.rect(x, y + (r - plan.row) * cellH - 0.5, w, 1, theme.page);
  }
}

/** @param {Box} a @param {Box} b @returns {Box} */
export function overlap(a, b) {
  const x = Math.max(a.x, b.x);
  const y = Math.max(a.y, b.y);
  return { x, y, w: Math.min(a.x + a.w, b.x + b.w) - x, h: Math.min(a.y + a.h, b.y + b.h) - y };
}

/** @param {Surface} surface @param {Scene} scene */
function paintNumbers(surface, { panel, shown, scale, plan, theme }) {
  const palette = coloursOf(panel, theme);
  const size = Math.min(14 * plan.type, Math.max(10, Math.round(plan.cellW * 0.3)));
  const room = Math.floor((plan.cellW - 3) / (size * 0.54));
  const cells = [];
  for (let r = Math.floor(plan.row); r < Math.min(shown.rows.length, plan.row + plan.nRows); r += 1) {
    for (let c = Math.floor(plan.col); c < Math.min(shown.cols.length, plan.col + plan.nCols); c += 1) {
      const { value, masked, exact } = cellAt(panel, shown.rows[r], shown.cols[c]);
      const place = part(value, scale, r);
      if (masked || !exact || Number.isNaN(place)) continue;
      cells.push({ r, c, value, step: 3 * Math.round(place * 255) });
    }
  }
  const digits = panel.scale === "flag" ? 0 : decimals(cells.map(({ value }) => value), room);
  for (const { r, c, value, step } of cells) {
    const middle = plan.x + (c + 0.5 - plan.col) * plan.cellW;
    surface.text(fixed(value, digits), middle, plan.y + (r + 0.5 - plan.row) * plan.cellH, {
      size,
      fill: inkOn(palette[step], palette[step + 1], palette[step + 2]),
      family: theme.sans,
      align: "center",
      baseline: "middle",
    });
  }
}

/** @param {Surface} surface @param {Scene} scene */
function paintAxes(surface, { panel, plan, theme, shown }) {
  const { x, y } = plan;
  const title = { size: 12 * plan.type, fill: theme.muted, family: theme.sans };
  surface.text(panel.cols.title, x, 0, { ...title, baseline: "top" });
  surface.text(panel.rows.title, 0, y, {
    ...title,
    angle: -Math.PI / 2,
    align: "right",
    baseline: "top",
  });
  paintWritten(surface, panel, plan, theme, shown);
  const label = { size: plan.labelSize, fill: theme.text, family: theme.mono };
  for (const { at, text } of plan.rowTicks) {
    if (at >= shown.rows.length) break;
    surface.text(isolated(text), x - 5, y + (at + 0.5 - plan.row) * plan.cellH, {
      ...label,
      align: "right",
      baseline: "middle",
    });
  }
  for (const { at, text } of plan.colTicks) {
    if (at >= shown.cols.length) break;
    const middle = x + (at + 0.5 - plan.col) * plan.cellW;
    if (plan.colAngle === 0) {
      surface.text(isolated(text), middle, y - 5, { ...label, align: "center", baseline: "bottom" });
    } else {
      surface.text(isolated(text), middle, y - 5, {
        ...label,
        angle: plan.colAngle,
        align: "left",
        baseline: "middle",
      });
    }
  }
}

/**
 * A bar beside the labels of what the model wrote, between them and the map.
 *
 * @param {Surface} surface @param {Panel} panel @param {Plan} plan @param {Theme} theme @param {View} shown
 */
function paintWritten(surface, { rows, cols }, plan, theme, shown) {
  const { x, y, row, col, nRows, nCols, cellW, cellH } = plan;
  const colour = theme.accents.highlight;
  const down = writtenSpan(rows.written, shown.rows, row, nRows);
  const across = writtenSpan(cols.written, shown.cols, col, nCols);
  if (down) surface.rect(x - 4.5, y + down.from * cellH, 3, down.n * cellH, colour);
  if (across) surface.rect(x + across.from * cellW, y - 4.5, across.n * cellW, 3, colour);
}

/**
 * Where in sight those places stand whose position is at least `written`; null where none does.
 *
 * @param {number | null} written @param {Int32Array} positions - the drawn ones
 * @param {number} first - in sight @param {number} n - places in sight
 */
export function writtenSpan(written, positions, first, n) {
  const place = written === null ? -1 : positions.findIndex((position) => position >= written);
  if (place < 0) return null;
  const from = Math.max(0, place - first);
  const to = Math.min(n, positions.length - first);
  return to > from ? { from, n: to - from } : null;
}

/** @param {Surface} surface @param {Scene} scene */
function paintLegend(surface, { panel, scale, plan, theme, layers, legend }) {
  const { x, bar, type } = plan;
  const { note, below } = paintBar(surface, panel, scale, theme, { x, ...bar }, type);
  legend.forEach(([kind, name], i) => {
    const left = plan.swatch.x + i * plan.swatch.pitch;
    const { y } = plan.swatch;
    surface.rect(left, y, 14, 11, theme.page);
    surface.texture(left, y, 14, 11, kind, theme);
    surface.frame(left - 0.5, y - 0.5, 15, 12, theme.line, 1);
    surface.text(name, left + 19, y + 5.5 - 5.5 * type - 1, note);
  });
  if (plan.note) surface.text(sharing(layers), x, below + 15 * type, note);
}

/**
 * The colour bar, its ends and what it is of.
 *
 * @param {Surface} surface @param {Panel} panel @param {Range} scale @param {Theme} theme
 * @param {{x: number, y: number, w: number}} bar @param {number} type
 */
export function paintBar(surface, panel, scale, theme, { x, y, w }, type = 1) {
  const palette = coloursOf(panel, theme);
  for (let i = 0; i < w; i += 1) {
    const step = 3 * Math.round((i / (w - 1)) * 255);
    const [r, g, b] = palette.subarray(step, step + 3);
    surface.rect(x + i, y, Math.min(1.5, w - i), 9, `rgb(${r},${g},${b})`);
  }
  surface.frame(x - 0.5, y - 0.5, w + 1, 10, theme.line, 1);
  const note = { size: 11 * type, fill: theme.muted, family: theme.sans, baseline: /** @type {const} */ ("top") };
  const below = y + 13;
  surface.text(`${scale.decades ? "≤ " : ""}${scaleEnd(scale.lo)}`, x, below, note);
  const top = scale.rowTop ? "row max" : scaleEnd(scale.hi);
  surface.text(top, x + w, below, { ...note, align: "right" });
  const word = scale.decades ? `${panel.valueName}, log` : panel.valueName;
  surface.text(word, x + w / 2, below, { ...note, align: "center" });
  return { note, below };
}

/**
 * What the legend explains beside the colours.
 *
 * @param {Panel} panel
 * @param {View} shown
 * @returns {["hatch" | "dots", string][]}
 */
export function swatches(panel, shown) {
  let [masked, missing] = [false, false];
  const n = panel.cols.labels.length;
  if (panel.block > 1) return panel.blocked?.some(Boolean) ? [["hatch", "masked"]] : [];
  for (const r of shown.rows) {
    for (const c of shown.cols) {
      const at = r * n + c;
      if (isBlocked(panel, at)) masked = true;
      else if (Number.isNaN(panel.values[at])) missing = true;
    }
  }
  /** @type {["hatch" | "dots", string][]} */
  const entries = [];
  if (masked) entries.push(["hatch", "masked"]);
  if (missing) entries.push(["dots", "undefined"]);
  return entries;
}

// @ts-check
/** @import { Panel, Plan, Range, Theme, View } from "./types.js" */
import { decimals, fixed, scaleEnd } from "./format.js";
import { isolated } from "./labels.js";
import { inkOn, pixels, words } from "./pixels.js";
import { isBlocked, part } from "./view.js";

/**
 * What a picture is painted on: a canvas, or an SVG text.
 *
 * @typedef {object} Surface
 * @property {(x: number, y: number, w: number, h: number, fill: string) => void} rect
 * @property {(x: number, y: number, w: number, h: number, stroke: string, width: number) => void} frame
 * @property {(x: number, y: number, w: number, h: number, kind: "hatch" | "dots", theme: Theme) => void} texture
 * @property {(text: string, x: number, y: number, style: TextStyle) => void} text
 * @property {(map: ReturnType<typeof pixels>, x: number, y: number, w: number, h: number, theme: Theme) => void} map
 *
 * @typedef {{size: number, fill: string, family: string, weight?: number, angle?: number,
 *   align?: "left" | "center" | "right", baseline?: "top" | "middle" | "bottom"}} TextStyle
 *
 * @typedef {{panel: Panel, shown: View, scale: Range, plan: Plan, theme: Theme}} Scene
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
  if (plan.numbers) paintNumbers(surface, scene);
  surface.frame(plan.x - 0.5, plan.y - 0.5, plan.w + 1, plan.h + 1, theme.line, 1);
  paintAxes(surface, panel, plan, theme);
  paintLegend(surface, scene);
}

/** @param {Surface} surface @param {Scene} scene */
function paintMap(surface, { panel, shown, scale, plan, theme }) {
  const { x, y, w, h, cellW, cellH } = plan;
  const table = words(scale.diverging ? theme.diverging : theme.sequential);
  const map = pixels(panel, shown, scale, table, plan.pooled.down, plan.pooled.across);
  surface.rect(x, y, w, h, theme.page);
  if (panel.blocked !== null) surface.texture(x, y, w, h, "hatch", theme);
  surface.map(map, x, y, w, h, theme);
  if (Math.min(cellW, cellH) >= 9) {
    for (let c = 1; c < shown.cols.length; c += 1) {
      surface.rect(x + c * cellW - 0.5, y, 1, h, theme.page);
    }
    for (let r = 1; r < shown.rows.length; r += 1) {
      surface.rect(x, y + r * cellH - 0.5, w, 1, theme.page);
    }
  }
}

/** @param {Surface} surface @param {Scene} scene */
function paintNumbers(surface, { panel, shown, scale, plan, theme }) {
  const palette = scale.diverging ? theme.diverging : theme.sequential;
  const size = Math.min(14, Math.max(10, Math.round(plan.cellW * 0.3)));
  const room = Math.floor((plan.cellW - 3) / (size * 0.54));
  const n = panel.cols.labels.length;
  const cells = [];
  for (let r = 0; r < shown.rows.length; r += 1) {
    for (let c = 0; c < shown.cols.length; c += 1) {
      const at = shown.rows[r] * n + shown.cols[c];
      const place = part(panel.values[at], scale, r);
      if (isBlocked(panel, at) || Number.isNaN(place)) continue;
      cells.push({ r, c, value: panel.values[at], step: 3 * Math.round(place * 255) });
    }
  }
  const digits = decimals(cells.map(({ value }) => value), room);
  for (const { r, c, value, step } of cells) {
    surface.text(fixed(value, digits), plan.x + (c + 0.5) * plan.cellW, plan.y + (r + 0.5) * plan.cellH, {
      size,
      fill: inkOn(palette[step], palette[step + 1], palette[step + 2]),
      family: theme.sans,
      align: "center",
      baseline: "middle",
    });
  }
}

/** @param {Surface} surface @param {Panel} panel @param {Plan} plan @param {Theme} theme */
function paintAxes(surface, panel, plan, theme) {
  const { x, y } = plan;
  const title = { size: 12, fill: theme.muted, family: theme.sans };
  surface.text(panel.cols.title, x, 0, { ...title, baseline: "top" });
  surface.text(panel.rows.title, 0, y, {
    ...title,
    angle: -Math.PI / 2,
    align: "right",
    baseline: "top",
  });
  const label = { size: plan.labelSize, fill: theme.text, family: theme.mono };
  for (const { at, text } of plan.rowTicks) {
    surface.text(isolated(text), x - 5, y + (at + 0.5) * plan.cellH, {
      ...label,
      align: "right",
      baseline: "middle",
    });
  }
  for (const { at, text } of plan.colTicks) {
    const middle = x + (at + 0.5) * plan.cellW;
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

/** @param {Surface} surface @param {Scene} scene */
function paintLegend(surface, { panel, shown, scale, plan, theme }) {
  const { x, bar } = plan;
  const palette = scale.diverging ? theme.diverging : theme.sequential;
  for (let i = 0; i < bar.w; i += 1) {
    const step = 3 * Math.round((i / (bar.w - 1)) * 255);
    const [r, g, b] = palette.subarray(step, step + 3);
    surface.rect(x + i, bar.y, Math.min(1.5, bar.w - i), 9, `rgb(${r},${g},${b})`);
  }
  surface.frame(x - 0.5, bar.y - 0.5, bar.w + 1, 10, theme.line, 1);
  const note = { size: 11, fill: theme.muted, family: theme.sans, baseline: /** @type {const} */ ("top") };
  const below = bar.y + 13;
  surface.text(`${scale.decades ? "≤ " : ""}${scaleEnd(scale.lo)}`, x, below, note);
  const top = scale.rowTop ? "row max" : scaleEnd(scale.hi);
  surface.text(top, x + bar.w, below, { ...note, align: "right" });
  const word = scale.decades ? `${panel.valueName}, log` : panel.valueName;
  surface.text(word, x + bar.w / 2, below, { ...note, align: "center" });

  swatches(panel, shown).forEach(([kind, name], i) => {
    const left = plan.swatch.x + i * plan.swatch.pitch;
    const { y } = plan.swatch;
    surface.rect(left, y, 14, 11, theme.page);
    surface.texture(left, y, 14, 11, kind, theme);
    surface.frame(left - 0.5, y - 0.5, 15, 12, theme.line, 1);
    surface.text(name, left + 19, y - 1, note);
  });
  const { down, across } = plan.pooled;
  if (down * across > 1) {
    surface.text(`a pixel shows the largest of ${down} × ${across}`, x, below + 15, note);
  }
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

// @ts-check
/** @import { Panel, Plan, Range, Theme, View } from "./types.js" */
import { cellNumber, scaleEnd } from "./format.js";
import { isolated } from "./labels.js";
import { inkOn, pixels, pool, words } from "./pixels.js";
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
 * @typedef {{panel: Panel, shown: View, scale: Range, plan: Plan, theme: Theme, ratio: number}} Scene
 */

/**
 * The whole panel: map, axes, colour bar, legend.
 *
 * @param {Surface} surface
 * @param {Scene} scene
 */
export function paint(surface, scene) {
  const { panel, shown, plan, theme } = scene;
  paintMap(surface, scene);
  if (plan.numbers) paintNumbers(surface, scene);
  surface.frame(plan.x - 0.5, plan.y - 0.5, plan.w + 1, plan.h + 1, theme.line, 1);
  paintAxes(surface, panel, plan, theme);
  paintLegend(surface, scene, shown);
}

/** @param {Surface} surface @param {Scene} scene */
function paintMap(surface, { panel, shown, scale, plan, theme, ratio }) {
  const { x, y, w, h, cellW, cellH } = plan;
  const table = words(scale.diverging ? theme.diverging : theme.sequential);
  const map = pixels(
    panel,
    shown,
    scale,
    table,
    pool(shown.rows.length, Math.round(h * ratio)),
    pool(shown.cols.length, Math.round(w * ratio)),
  );
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
  const room = Math.floor((plan.cellW - 3) / (size * 0.56));
  const n = panel.cols.labels.length;
  for (let r = 0; r < shown.rows.length; r += 1) {
    for (let c = 0; c < shown.cols.length; c += 1) {
      const at = shown.rows[r] * n + shown.cols[c];
      const place = part(panel.values[at], scale, r);
      if (isBlocked(panel, at) || Number.isNaN(place)) continue;
      const step = 3 * Math.round(place * 255);
      surface.text(
        cellNumber(panel.values[at], room),
        plan.x + (c + 0.5) * plan.cellW,
        plan.y + (r + 0.5) * plan.cellH,
        {
          size,
          fill: inkOn(palette[step], palette[step + 1], palette[step + 2]),
          family: theme.sans,
          align: "center",
          baseline: "middle",
        },
      );
    }
  }
}

/** @param {Surface} surface @param {Panel} panel @param {Plan} plan @param {Theme} theme */
function paintAxes(surface, panel, plan, theme) {
  const { x, y, w, h } = plan;
  const title = { size: 12, fill: theme.muted, family: theme.sans };
  surface.text(panel.cols.title, x, 0, { ...title, baseline: "top" });
  surface.text(panel.rows.title, 0, y + h, { ...title, angle: -Math.PI / 2, baseline: "top" });
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

/** @param {Surface} surface @param {Scene} scene @param {View} shown */
function paintLegend(surface, { panel, scale, plan, theme, ratio }, shown) {
  const barW = Math.min(150, Math.max(64, Math.min(plan.w, plan.width - plan.x - 92)));
  const { x, legendY } = plan;
  const palette = scale.diverging ? theme.diverging : theme.sequential;
  for (let i = 0; i < barW; i += 1) {
    const step = 3 * Math.round((i / (barW - 1)) * 255);
    const [r, g, b] = palette.subarray(step, step + 3);
    surface.rect(x + i, legendY, 1.5, 9, `rgb(${r},${g},${b})`);
  }
  surface.frame(x - 0.5, legendY - 0.5, barW + 1.5, 10, theme.line, 1);
  const note = { size: 11, fill: theme.muted, family: theme.sans, baseline: /** @type {const} */ ("top") };
  const below = legendY + 13;
  surface.text(scaleEnd(scale.lo), x, below, note);
  const top = scale.rowTop ? "row max" : scaleEnd(scale.hi);
  surface.text(top, x + barW, below, { ...note, align: "right" });
  surface.text(panel.valueName, x + barW / 2, below, { ...note, align: "center" });

  let swatchX = x + barW + 14;
  const swatch = (/** @type {"hatch" | "dots"} */ kind, /** @type {string} */ word) => {
    surface.rect(swatchX, legendY - 1, 14, 11, theme.page);
    surface.texture(swatchX, legendY - 1, 14, 11, kind, theme);
    surface.frame(swatchX - 0.5, legendY - 1.5, 15, 12, theme.line, 1);
    surface.text(word, swatchX + 19, legendY - 2, note);
    swatchX += 78;
  };
  if (panel.blocked?.some((cell) => cell !== 0)) swatch("hatch", "masked");
  if (hasUndefined(panel, shown)) swatch("dots", "undefined");
  const down = pool(shown.rows.length, Math.round(plan.h * ratio));
  const across = pool(shown.cols.length, Math.round(plan.w * ratio));
  if (down * across > 1) {
    surface.text(`a pixel: largest of ${down} × ${across}`, x + barW + 14, below, note);
  }
}

/** @param {Panel} panel @param {View} shown */
function hasUndefined(panel, shown) {
  const n = panel.cols.labels.length;
  for (const r of shown.rows) {
    for (const c of shown.cols) {
      const at = r * n + c;
      if (Number.isNaN(panel.values[at]) && !isBlocked(panel, at)) return true;
    }
  }
  return false;
}

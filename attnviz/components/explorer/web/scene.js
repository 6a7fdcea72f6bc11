// @ts-check
/** @import { Measure, Options, Panel, Plan, Range, Theme, View, Window } from "./types.js" */
/** @import { Scene } from "./paint.js" */
import { Layers } from "./layers.js";
import { swatches } from "./paint.js";
import { NUMBERS, commonCell, plan as planned, rowLabels } from "./plan.js";
import { range, scaleKind, view } from "./view.js";
import { windowed } from "./windowed.js";

const SAVE = 92; // the menu beside the title, and the accent before it
export const ROOMY = 560; // CSS pixels: a panel as wide has title and readout on one line
// The zoom's buttons and their words, below a map that can be zoomed: on one line, or on two.
const [BAR, BARS] = [34, 54];

/**
 * @typedef {{panel: Panel, options: Options, theme: Theme, measure: Measure, maxWidth: number,
 *   maxHeight: number, cell: number, type?: number}} Given
 *   type: how many times larger than usual all words are.
 *
 * @typedef {Scene & {ratio: number, measure: Measure, whole: Plan, bitmaps: Layers,
 *   all: View, key: string}} Shown
 *   all: what is drawn of the map once it is whole: it has its place from the start. whole: the plan of all of the map; plan is that of what is in sight. key: what colours and
 *   legend depend on.
 */

/**
 * The width with which title and subtitle stay on a line each, if they are not too long.
 *
 * @param {Panel} panel
 * @param {number} maxWidth
 * @param {Measure} measure
 */
export function leastWidth({ title, subtitle }, maxWidth, measure) {
  const words = Math.max(measure(title, 15.5) * 1.06, measure(subtitle, 13)) + SAVE;
  return Math.ceil(Math.min(maxWidth, Math.max(240, Math.min(360, words))));
}

/**
 * The positions that are drawn. An overview's cells cannot be taken apart, so it hides nothing.
 *
 * @param {Panel} panel
 * @param {Options} options
 * @returns {View}
 */
export function drawn(panel, options) {
  if (panel.block === 1) return view(panel, options);
  return view(panel, { ...options, hideFirst: false, hideSpecial: false });
}

/**
 * One size of cell for panels that stand side by side.
 *
 * @param {Panel[]} panels
 * @param {Options} options
 * @param {number} room
 * @param {Measure} measure
 */
export function cellFor(panels, options, room, measure) {
  const sizes = panels.map((panel) => {
    const shown = drawn(panel, options);
    const step = Math.ceil(shown.rows.length / 50);
    const { x } = rowLabels(panel, shown, room, measure, step);
    const least = leastWidth(panel, room, measure);
    return { rows: shown.rows.length, cols: shown.cols.length, x, least };
  });
  // Small matrices keep cells that have room for a number.
  const small = sizes.every(({ rows, cols }) => Math.max(rows, cols) <= 10);
  // On a phone each panel has the width to itself.
  const height = room < 500 ? Infinity : 820;
  return commonCell(sizes, room, height, 44, small ? 32 : 13);
}

/**
 * What the ends of the colour scale stand for, of an overview too.
 *
 * @param {Panel} panel
 * @param {View} shown
 * @param {Options} options
 * @returns {Range}
 */
export function scaleOf(panel, shown, options) {
  if (panel.block === 1) return range(panel, shown, options);
  const cells = { ...panel, rows: { ...panel.rows, labels: [""] }, cols: { ...panel.cols, labels: [""] } };
  const one = { rows: Int32Array.of(0), cols: Int32Array.of(0), hidden: 0 };
  const chosen = { ...options, scale: scaleKind(panel, options) };
  // A weight is 1 at most; the largest of other numbers is that of their rows.
  const most = panel.scale === "weight" ? 1 : Array.from(panel.tops ?? []).reduce((a, b) => Math.max(a, b), 0) || 1;
  const scale = range({ ...cells, limit: panel.limit ?? most }, one, chosen);
  return scale.rowTop ? { ...scale, rowTop: panel.tops } : scale;
}

/**
 * Everything that painting needs to know. What the last scene has in common with it is kept.
 *
 * @param {Given} given
 * @param {Window} window
 * @param {Shown | null} before
 * @returns {Shown}
 */
export function sceneOf({ panel, options, theme, measure, maxWidth, maxHeight, cell, type }, window, before) {
  const ratio = globalThis.devicePixelRatio || 1;
  const shown = drawn(panel, options);
  const all = panel.growsFrom === null ? shown : drawn(panel, { ...options, at: null });
  const look = [panel.digest, panel.block, panel.scale, panel.limit, options, shown.rows.length, shown.cols.length];
  const key = JSON.stringify([...look, theme.page, ratio]);
  const same = before !== null && before.key === key;
  const scale = same ? before.scale : scaleOf(panel, shown, options);
  const legend = same ? before.legend : swatches(panel, shown);
  const bitmaps = same ? before.bitmaps : new Layers({ panel, shown, scale, theme, ratio });
  bitmaps.panel = panel; // with the parts that have come since
  const most = Math.max(all.rows.length, all.cols.length);
  const bar = most * NUMBERS > Math.min(maxWidth, maxHeight) ? (maxWidth >= 1.1 * ROOMY ? BAR : BARS) : 0;
  const room = { maxWidth, maxHeight: maxHeight - bar, cell, ratio, measure, type };
  const whole = planned({ panel, shown: all, swatches: legend.length, ...room });
  const plan = windowed(whole, window, { panel, shown: all, measure });
  const layers = bitmaps.at(plan);
  return { panel, shown, all, scale, plan, whole, theme, ratio, measure, legend, bitmaps, layers, key };
}

/**
 * The same map with another part of it in sight.
 *
 * @param {Shown} scene
 * @param {Window} window
 * @returns {Shown}
 */
export function looking(scene, window) {
  const plan = windowed(scene.whole, window, { ...scene, shown: scene.all });
  return { ...scene, plan, layers: scene.bitmaps.at(plan) };
}

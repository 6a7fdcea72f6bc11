// @ts-check
/** @import { Figure, Panel } from "./types.js" */
import { running } from "./running.js";

/**
 * One place of a walk. panel: what it shows; from: what that was made from; rows: how many rows
 * of a map that grows are there, null for another one.
 *
 * @typedef {{name: string, panel: string, from: string[], rows: number | null}} Step
 */

/**
 * The steps that a figure can be played in; none where it is one picture.
 *
 * @param {Figure} figure
 * @param {boolean} alone - one at a time is all there is room for, as in a lecture
 * @returns {Step[]}
 */
export function stepsOf({ panels, walk, grid }, alone) {
  const [first] = panels;
  if (walk.length > 0) return walk.map((id) => stepOf(panels, /** @type {Panel} */ (panels.find((one) => one.id === id))));
  if (first && first.growsFrom !== null) return growing(first, first.growsFrom);
  if (!alone || grid || panels.length < 2) return [];
  // What a page shows side by side, a lecture shows in turn, each beside the one before.
  return panels.slice(1).map((panel, i) => ({ ...stepOf(panels, panel), from: [panels[i].id] }));
}

/** @param {Panel[]} panels @param {Panel} panel @returns {Step} */
function stepOf(panels, { id, title, madeFrom }) {
  const there = madeFrom.filter((source) => panels.some((one) => one.id === source));
  return { name: title, panel: id, from: there, rows: null };
}

/** @param {Panel} panel @param {number} first - tokens of the prompt @returns {Step[]} */
function growing({ id, rows: { labels } }, first) {
  const n = labels.length - first;
  return Array.from({ length: n + 1 }, (_, i) => ({
    name: i === 0 ? `the prompt, ${first} tokens` : `“${labels[first + i - 1]}”`,
    panel: id,
    from: [],
    rows: first + i,
  }));
}

/**
 * A text that grows as it stands at a step: the prompt, and what was written since.
 *
 * @param {Panel} panel
 * @param {number} rows - tokens that are there
 */
export function written({ rows: { labels }, growsFrom }, rows) {
  const words = running(labels).slice(0, rows).map(({ before, text }) => before + text);
  return { prompt: words.slice(0, growsFrom ?? 0).join(""), since: words.slice(growsFrom ?? 0).join("") };
}

// @ts-check
/** @import { Panel } from "./types.js" */
/** @import { Step } from "./walk.js" */

const GAP = 28;
const WORDS = 12; // the title of the lower one of two that stand one above the other
const SUBTITLE = 22; // beside the title it leaves its line to the map
const PAGE = 460; // the height of a step's matrix, in a page
const NARROW = 620; // with less room, a step stands alone

/**
 * The panels of one step, in the order of reading: what it was made from, then the step itself.
 *
 * @param {Step} step
 * @param {Panel[]} panels
 * @param {number} room - CSS pixels across
 */
export function staged({ panel, from }, panels, room) {
  const ids = [...(room < NARROW ? [] : from.slice(-2)), panel];
  return ids.map((id) => panels.find((one) => one.id === id)).filter((one) => one !== undefined);
}

/**
 * How large each of them may be. In a lecture two sources stand one above the other, left of their
 * result; in a page, which is not as high, all stand in a row.
 *
 * @param {number} n - panels of the step
 * @param {number} at - which one
 * @param {number} room @param {number} tall @param {boolean} lecture
 */
export function stageSize(n, at, room, tall, lecture) {
  if (!lecture) return { maxWidth: Math.floor((room - (n - 1) * GAP) / n), maxHeight: Math.min(tall, PAGE), cell: 60 };
  const large = { cell: 200, type: 1.3 }; // to be read from the last row
  if (n === 1) return { maxWidth: room, maxHeight: tall, ...large };
  const result = Math.floor((room - GAP) * (n === 2 ? 0.5 : 0.54));
  if (at === n - 1) return { maxWidth: result, maxHeight: n === 2 ? tall : tall + SUBTITLE, ...large };
  return { maxWidth: room - GAP - result, maxHeight: n === 2 ? tall : Math.floor((tall - WORDS) / 2), ...large };
}

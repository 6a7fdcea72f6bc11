// @ts-check
/** @import { Measure, Tick } from "./types.js" */

export const MOST_LABELS = 100;
const STRIDES = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000];
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202f\u2060-\u2069\ufeff]/gu;

/**
 * A token as it may be drawn: characters that would act on the text around them are named.
 *
 * @param {string} label
 */
export function shown(label) {
  return label.replace(
    INVISIBLE,
    (character) => `‹${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}›`,
  );
}

/**
 * Keeps a right-to-left token from turning its neighbours round. For canvas and SVG; in the page
 * a <bdi> element does the same.
 *
 * @param {string} text
 */
export const isolated = (text) => `\u2068${text}\u2069`;

/** @param {string} text @returns {string[]} what a reader takes for single characters */
function graphemes(text) {
  const parts = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text);
  return Array.from(parts, (part) => part.segment);
}

/**
 * The text, or as much of its start as fits, followed by an ellipsis.
 *
 * @param {string} text
 * @param {number} room - pixels
 * @param {number} size - of the type, pixels
 * @param {Measure} measure
 */
export function elided(text, room, size, measure) {
  if (text.length < 200 && measure(text, size, true) <= room) return text;
  const parts = graphemes(text.slice(0, 400));
  let low = 0;
  let high = Math.min(parts.length, Math.ceil(room / 2));
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(`${parts.slice(0, middle).join("")}…`, size, true) <= room) low = middle;
    else high = middle - 1;
  }
  return `${parts.slice(0, low).join("")}…`;
}

/**
 * Every how many positions a label is drawn: far enough apart, and never more than MOST_LABELS.
 *
 * @param {number} count - positions
 * @param {number} cell - pixels a position
 * @param {number} apart - pixels a label needs
 */
export function stride(count, cell, apart) {
  const least = Math.max(apart / cell, count / MOST_LABELS);
  return STRIDES.find((step) => step >= least) ?? Math.ceil(least);
}

/**
 * The labels to draw along an axis. Where some are left out, each says its position too.
 *
 * @param {string[]} labels - one a position of the tensor
 * @param {Int32Array} positions - the positions drawn
 * @param {number} step
 * @param {number} from - of the positions drawn, the first in sight; it may be cut
 * @param {number} to
 * @param {boolean} numbered - positions even where no label is left out
 * @returns {Tick[]}
 */
export function ticks(labels, positions, step, from = 0, to = positions.length, numbered = false) {
  const chosen = [];
  // The same labels whatever is in sight: they move with the map.
  const first = Math.floor(Math.floor(from) / step) * step;
  for (let at = first; at < Math.min(to, positions.length); at += step) {
    if (at < Math.floor(from)) continue;
    const position = positions[at];
    const text = shown(labels[position]);
    const named = (step === 1 && !numbered) || text === String(position);
    chosen.push({ at, text: named ? text : `${position} ${text}` });
  }
  return chosen;
}

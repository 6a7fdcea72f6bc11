// @ts-check
/** @import { Panel, Range, View } from "./types.js" */
import { isBlocked, part } from "./view.js";

const [LEAST_LINE, MOST_LINE] = [24, 27]; // pixels from one token to the next: what a finger meets
export const LEVELS = 16; // steps of strength, each drawn in one stroke
const FAINTEST = 0.03; // of the scale: below, a line cannot be seen

/**
 * How strong a level is drawn.
 *
 * @param {number} level - 1 to LEVELS
 */
export function strokeOf(level) {
  const share = level / LEVELS;
  return { alpha: 0.12 + 0.8 * share, width: 0.75 + 3.5 * share };
}

/**
 * The lines to draw, by strength: for each level, drawn rows and columns in turn.
 *
 * A row or a column chosen alone shows its lines only; else those of which an end is in sight.
 *
 * @param {Panel} panel
 * @param {View} shown
 * @param {Range} scale
 * @param {{row: number, col: number}} alone - among the drawn ones, -1 for none
 * @param {{first: number, last: number}} sight - the drawn positions in sight
 * @returns {number[][]}
 */
export function lines(panel, shown, scale, alone, sight) {
  /** @type {number[][]} */
  const levels = Array.from({ length: LEVELS + 1 }, () => []);
  const n = panel.cols.labels.length;
  const [nRows, nCols] = [shown.rows.length, shown.cols.length];
  const within = (/** @type {number} */ at) => at >= sight.first && at <= sight.last;
  const [r0, r1] = alone.row >= 0 ? [alone.row, alone.row + 1] : [0, nRows];
  for (let r = r0; r < r1; r += 1) {
    const whole = alone.row >= 0 || alone.col >= 0 || within(r);
    let [c0, c1] = whole ? [0, nCols] : [Math.max(0, sight.first), Math.min(nCols, sight.last + 1)];
    if (alone.row < 0 && alone.col >= 0) [c0, c1] = [alone.col, alone.col + 1];
    const start = shown.rows[r] * n;
    for (let c = c0; c < c1; c += 1) {
      const at = start + shown.cols[c];
      if (isBlocked(panel, at)) continue;
      const share = part(panel.values[at], scale, r);
      if (share >= FAINTEST) levels[Math.ceil(share * LEVELS)].push(r, c);
    }
  }
  return levels;
}

/**
 * The widths of the two columns of tokens and of the lines between them.
 *
 * @param {number} room
 * @param {number} widest - of a label, pixels
 */
export function columns(room, widest) {
  const side = Math.round(Math.min(Math.max(56, widest), 190, room * 0.31));
  const between = Math.round(Math.max(80, Math.min(400, room - 2 * side)));
  return { side, between, width: 2 * side + between };
}

/**
 * The height of a token's line: all of them without scrolling where they stay legible.
 *
 * @param {number} height
 * @param {number} tokens
 */
export const lineHeight = (height, tokens) =>
  Math.max(LEAST_LINE, Math.min(MOST_LINE, Math.floor(height / tokens)));

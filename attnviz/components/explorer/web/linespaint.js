// @ts-check
/** @import { Drawing } from "./lazy.js" */
import { context2d } from "./canvas.js";
import { LEVELS, lines, strokeOf } from "./linesplan.js";

const LEAVING = 0.25; // of the strength of a line that stays in the box

/**
 * Where the tokens of both sides stand along the texts, in pixels of the box as it is scrolled.
 *
 * @typedef {{row: (i: number) => number, col: (i: number) => number, sight: {first: number, last: number}}} Stops
 */

/**
 * The lines between two columns of tokens, or where they lie across between two rows.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {Drawing} drawing
 * @param {{row: number, col: number}} alone - the drawn row or column whose lines are shown alone
 * @param {Stops} stops
 * @param {boolean} across
 */
export function paintLines(canvas, { maps, shown, scale }, alone, stops, across) {
  const { sight } = stops;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const context = context2d(canvas);
  context.clearRect(0, 0, width, height);
  context.lineCap = "round";
  const all = maps.map(({ panel, colour }) => ({ colour, levels: lines(panel, shown, scale, alone, sight) }));
  const away = (/** @type {number} */ at) => at < sight.first || at > sight.last;
  const whole = alone.row >= 0 || alone.col >= 0;
  const far = (across ? height : width) - 3;
  for (let level = 1; level <= LEVELS; level += 1) {
    const { alpha, width: thick } = strokeOf(level);
    for (const { colour, levels } of all) {
      // A line that leaves the box is fainter: many queries far away may share one key here.
      const [inside, leaving] = [new Path2D(), new Path2D()];
      const pairs = levels[level];
      for (let i = 0; i < pairs.length; i += 2) {
        const [r, c] = [pairs[i], pairs[i + 1]];
        const [from, to] = [stops.row(r), stops.col(c)];
        const path = !whole && (away(r) || away(c)) ? leaving : inside;
        if (across) {
          path.moveTo(from, 3);
          path.bezierCurveTo(from, height * 0.45, to, height * 0.55, to, far);
        } else {
          path.moveTo(3, from);
          path.bezierCurveTo(width * 0.45, from, width * 0.55, to, far, to);
        }
      }
      context.strokeStyle = colour;
      context.globalAlpha = alpha * LEAVING;
      context.lineWidth = 0.75;
      context.stroke(leaving);
      context.globalAlpha = alpha;
      context.lineWidth = thick;
      context.stroke(inside);
    }
  }
  context.globalAlpha = 1;
}

/**
 * Stops a line apart, from the top.
 *
 * @param {number} line - pixels
 * @param {number} scrolled
 * @param {number} height - of what is in sight
 * @returns {Stops}
 */
export function evenStops(line, scrolled, height) {
  const stop = (/** @type {number} */ i) => (i + 0.5) * line - scrolled;
  return {
    row: stop,
    col: stop,
    sight: { first: Math.floor(scrolled / line) - 1, last: Math.ceil((scrolled + height) / line) },
  };
}

/**
 * Stops at the middles of tokens of any width.
 *
 * @param {number[]} rows - middles, from the start
 * @param {number[]} cols
 * @param {number} scrolled
 * @param {number} width - of what is in sight
 * @returns {Stops}
 */
export function measuredStops(rows, cols, scrolled, width) {
  const first = (/** @type {number[]} */ middles) => middles.findIndex((at) => at >= scrolled);
  const last = (/** @type {number[]} */ middles) => middles.findLastIndex((at) => at <= scrolled + width);
  return {
    row: (i) => rows[i] - scrolled,
    col: (i) => cols[i] - scrolled,
    sight: { first: Math.min(first(rows), first(cols)) - 1, last: Math.max(last(rows), last(cols)) + 1 },
  };
}

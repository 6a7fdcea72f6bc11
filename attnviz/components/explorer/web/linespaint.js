// @ts-check
/** @import { Drawing } from "./lazy.js" */
/** @import { Stroke } from "./paint.js" */
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
export function paintLines(canvas, drawing, alone, stops, across) {
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const context = context2d(canvas);
  context.clearRect(0, 0, width, height);
  context.lineCap = "round";
  // Lines of one stroke are one path: thousands of them are drawn in a frame.
  let open = /** @type {{key: string, stroke: Stroke, path: Path2D} | null} */ (null);
  const close = () => {
    if (!open) return;
    context.strokeStyle = open.stroke.colour;
    context.globalAlpha = open.stroke.alpha;
    context.lineWidth = open.stroke.width;
    context.stroke(open.path);
  };
  for (const { points: [x, y, ...rest], ...stroke } of curves(drawing, alone, stops, across, across ? height : width)) {
    const key = `${stroke.colour} ${stroke.alpha}`;
    if (open?.key !== key) {
      close();
      open = { key, stroke, path: new Path2D() };
    }
    open.path.moveTo(x, y);
    open.path.bezierCurveTo(.../** @type {[number, number, number, number, number, number]} */ (rest));
  }
  close();
  context.globalAlpha = 1;
}

/**
 * Every line as a curve from its query to its key, the faint ones first.
 *
 * @param {Drawing} drawing
 * @param {{row: number, col: number}} alone
 * @param {Stops} stops
 * @param {boolean} across
 * @param {number} between - pixels from one text to the other
 * @returns {Generator<{points: number[]} & Stroke>}
 */
export function* curves({ maps, shown, scale }, alone, stops, across, between) {
  const { sight } = stops;
  const all = maps.map(({ panel, colour }) => ({ colour, levels: lines(panel, shown, scale, alone, sight) }));
  const away = (/** @type {number} */ at) => at < sight.first || at > sight.last;
  const whole = alone.row >= 0 || alone.col >= 0;
  const [near, far] = [3, between - 3];
  const bend = [between * 0.45, between * 0.55];
  for (let level = 1; level <= LEVELS; level += 1) {
    const { alpha, width } = strokeOf(level);
    for (const { colour, levels } of all) {
      // A line that leaves the box is fainter: many queries far away may share one key here.
      for (const leaving of [true, false]) {
        const stroke = leaving ? { colour, alpha: alpha * LEAVING, width: 0.75 } : { colour, alpha, width };
        const pairs = levels[level];
        for (let i = 0; i < pairs.length; i += 2) {
          const [r, c] = [pairs[i], pairs[i + 1]];
          if ((!whole && (away(r) || away(c))) !== leaving) continue;
          const [from, to] = [stops.row(r), stops.col(c)];
          const points = across
            ? [from, near, from, bend[0], to, bend[1], to, far]
            : [near, from, bend[0], from, bend[1], to, far, to];
          yield { points, ...stroke };
        }
      }
    }
  }
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

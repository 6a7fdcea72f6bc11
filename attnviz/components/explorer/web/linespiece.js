// @ts-check
/** @import { Axis, Theme } from "./types.js" */
/** @import { Surface } from "./paint.js" */
/** @import { Piece } from "./pieces.js" */
/** @import { Drawing } from "./lazy.js" */
import { elided, isolated, shown as shownText } from "./labels.js";
import { curves } from "./linespaint.js";

const HEAD = 24; // the names of the two sides

/**
 * Lines and tokens as they are in sight.
 *
 * @param {Drawing} drawing
 * @param {{title: string, subtitle: string, across: boolean, side: number, between: number,
 *   length: number, alone: {row: number, col: number}, stops: import("./linespaint.js").Stops}} laid
 *   side: the room of a side's tokens; between: of the lines; length: along the texts
 * @returns {Piece}
 */
export function linesPiece(drawing, { title, subtitle, across, side, between, length, alone, stops }) {
  const { main: { panel }, maps, shown, theme, measure } = drawing;
  const over = 2 * side + between;
  const dots = maps.length > 1 ? 22 : 0; // the colours of several heads
  /** @param {Surface} surface @param {Axis} axis @param {Int32Array} positions @param {boolean} first */
  const tokens = (surface, axis, positions, first) => {
    const style = { size: 13, family: theme.mono, fill: theme.text, baseline: /** @type {const} */ ("middle") };
    positions.forEach((position, i) => {
      const at = first ? stops.row(i) : stops.col(i);
      if (at < -2 || at > length + 2) return;
      const label = elided(shownText(axis.labels[position]), across ? 80 : side - 12, 13, measure);
      const far = first ? side - 6 : side + between + 6;
      if (!across) surface.text(isolated(label), far, HEAD + at, { ...style, align: first ? "right" : "left" });
      else surface.text(isolated(label), at, HEAD + far, { ...style, angle: -Math.PI / 2, align: first ? "left" : "right" });
    });
  };
  return {
    title,
    subtitle,
    width: across ? length : over,
    height: HEAD + (across ? over : length) + dots,
    draw(surface) {
      const word = { size: 12, family: theme.sans, fill: theme.muted, baseline: /** @type {const} */ ("top") };
      surface.text(panel.rows.title, 0, 0, word);
      surface.text(panel.cols.title, across ? length : over, 0, { ...word, align: "right" });
      const box = across ? { x: 0, y: HEAD + side, w: length, h: between } : { x: side, y: HEAD, w: between, h: length };
      surface.within(box, () => {
        for (const { points, ...stroke } of curves(drawing, alone, stops, across, between)) {
          surface.curve(points.map((at, i) => at + (i % 2 ? box.y : box.x)), stroke);
        }
      });
      tokens(surface, panel.rows, shown.rows, true);
      tokens(surface, panel.cols, shown.cols, false);
      if (dots) names(surface, drawing.maps, theme, HEAD + (across ? over : length) + 8, measure);
    },
  };
}

/**
 * Which colour is which head's.
 *
 * @param {Surface} surface @param {Drawing["maps"]} maps @param {Theme} theme @param {number} y
 * @param {import("./types.js").Measure} measure
 */
function names(surface, maps, theme, y, measure) {
  let x = 0;
  for (const { name, colour } of maps) {
    surface.rect(x, y + 4, 14, 4, colour);
    surface.text(name, x + 19, y + 6, { size: 12, family: theme.sans, fill: theme.text });
    x += 19 + measure(name, 12) + 18;
  }
}

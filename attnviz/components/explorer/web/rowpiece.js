// @ts-check
/** @import { Panel, Theme, Measure } from "./types.js" */
/** @import { Piece } from "./pieces.js" */
import { number } from "./format.js";
import { elided, isolated, shown as shownText } from "./labels.js";

const [LINE, NAME, VALUE, WIDTH] = [26, 110, 54, 340];

/**
 * One query's keys as bars.
 *
 * @param {{items: {col: number, value: number}[], more: string, title: string, subtitle: string,
 *   panel: Panel, theme: Theme, measure: Measure}} given
 * @returns {Piece}
 */
export function rowPiece({ items, more, title, subtitle, panel, theme, measure }) {
  const top = items[0]?.value || 1;
  const room = WIDTH - NAME - VALUE - 16;
  return {
    title,
    subtitle,
    width: WIDTH,
    height: items.length * LINE + (more ? LINE : 0),
    draw(surface) {
      const value = { size: 13, family: theme.sans, fill: theme.text };
      items.forEach((item, i) => {
        const y = (i + 0.5) * LINE;
        const label = panel.cols.labels[item.col];
        const word = label === String(item.col) ? `${panel.cols.name} ${label}` : shownText(label);
        const name = elided(word, NAME - 30, 13, measure);
        surface.text(isolated(name), 0, y, { ...value, family: theme.mono });
        if (label !== String(item.col)) {
          surface.text(String(item.col), measure(name, 13, true) + 6, y + 2, { ...value, size: 10.5, fill: theme.muted });
        }
        surface.rect(NAME, y - 6, Math.max(1, (room * Math.max(0, item.value)) / top), 12, theme.accents.query);
        surface.text(number(item.value), WIDTH, y, { ...value, align: "right" });
      });
      if (more) surface.text(more, 0, (items.length + 0.5) * LINE, { ...value, size: 12.5, fill: theme.muted });
    },
  };
}

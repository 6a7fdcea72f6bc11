// @ts-check
/** @import { Panel, Range, Theme } from "./types.js" */
/** @import { Piece } from "./pieces.js" */
import { paintBar } from "./paint.js";

const BAR = 40;

/**
 * The running text as the page has laid it out: each token's boxes, and the part of it in each.
 *
 * @param {HTMLElement[]} items
 * @param {HTMLElement} box - what of it is in sight
 * @param {{title: string, subtitle: string, panel: Panel, scale: Range, theme: Theme}} words
 * @returns {Piece}
 */
export function textPiece(items, box, { title, subtitle, panel, scale, theme }) {
  const outer = box.getBoundingClientRect();
  const parts = items.flatMap((item) =>
    lines(item).map(({ text, rect }) => ({
      text,
      x: rect.left - outer.left,
      y: rect.top - outer.top,
      w: rect.width,
      h: rect.height,
      fill: item.style.background,
      ink: getComputedStyle(item).color,
      masked: item.classList.contains("masked"),
    })),
  );
  const [width, height] = [outer.width, outer.height];
  return {
    title,
    subtitle,
    width,
    height: height + BAR,
    draw(surface) {
      surface.within({ x: 0, y: 0, w: width, h: height }, () => {
        for (const { text, x, y, w, h, fill, ink, masked } of parts) {
          if (y + h < 0 || y > height) continue;
          if (masked) surface.texture(x, y, w, h, "hatch", theme);
          if (fill && !masked) surface.rect(x, y, w, h, fill);
          surface.text(text, x, y + h / 2, { size: 19, family: theme.sans, fill: ink });
        }
      });
      paintBar(surface, panel, scale, theme, { x: 0, y: height + 8, w: 150 });
    },
  };
}

/**
 * A token's text line by line: a long one is broken where the page breaks it.
 *
 * @param {HTMLElement} item
 * @returns {{text: string, rect: DOMRect}[]}
 */
function lines(item) {
  const text = item.firstChild;
  const rects = item.getClientRects();
  if (rects.length <= 1 || !(text instanceof Text)) {
    return rects.length ? [{ text: item.textContent ?? "", rect: rects[0] }] : [];
  }
  const range = document.createRange();
  /** @type {{text: string, rect: DOMRect}[]} */
  const found = Array.from(rects, (rect) => ({ text: "", rect }));
  let at = 0;
  for (const sign of text.data) {
    range.setStart(text, at);
    range.setEnd(text, (at += sign.length));
    const { top, bottom } = range.getBoundingClientRect();
    const line = found.find(({ rect }) => (top + bottom) / 2 >= rect.top && (top + bottom) / 2 <= rect.bottom);
    if (line) line.text += sign;
  }
  return found;
}

// @ts-check
/** @import { Explorer } from "./explorer.js" */
/** @import { Plate } from "./exporting.js" */
/** @import { Surface } from "./paint.js" */
import { scenePlate, wordsOf } from "./exporting.js";

const WORDS = 46; // title and subtitle of one of several pictures

/**
 * What a view draws when it leaves the page.
 *
 * @typedef {{title: string, subtitle: string, width: number, height: number,
 *   draw: (surface: Surface) => void}} Piece
 */

/**
 * A surface whose origin lies elsewhere on another one.
 *
 * @param {Surface} on @param {number} dx @param {number} dy
 * @returns {Surface}
 */
export function shifted(on, dx, dy) {
  const box = (/** @type {import("./paint.js").Box} */ { x, y, w, h }) => ({ x: x + dx, y: y + dy, w, h });
  return {
    rect: (x, y, ...rest) => on.rect(x + dx, y + dy, ...rest),
    frame: (x, y, ...rest) => on.frame(x + dx, y + dy, ...rest),
    texture: (x, y, ...rest) => on.texture(x + dx, y + dy, ...rest),
    text: (text, x, y, style) => on.text(text, x + dx, y + dy, style),
    curve: (points, style) => on.curve(points.map((at, i) => at + (i % 2 ? dy : dx)), style),
    map: (map, at, clip, theme) => on.map(map, box(at), box(clip), theme),
    within: (clip, draw) => on.within(box(clip), draw),
  };
}

/**
 * All pictures of the figure as they stand on the page, on one plate.
 *
 * @param {Explorer} explorer
 * @returns {Plate}
 */
export function wholePlate(explorer) {
  const { figure, theme, panels, views, scenes } = explorer;
  const origin = panels.getBoundingClientRect();
  /** @type {{root: HTMLElement, piece: Piece}[]} */
  const parts = [...views.values()].map(({ root, scene }) => ({ root, piece: scenePlate(scene, { settings: "", stem: "" }) }));
  for (const one of scenes.lazy.views.values()) {
    if (one?.piece && one.root.parentNode === panels) parts.push({ root: one.root, piece: one.piece() });
  }
  const placed = parts.map(({ root, piece }) => {
    const { left, top } = root.getBoundingClientRect();
    return { piece, x: left - origin.left, y: top - origin.top };
  });
  const { settings, stem } = wordsOf(explorer, figure.panels[0]);
  const subtitle = scenes.show === "compare" ? scenes.maps.map(({ name }) => name).join(" and ") : "";
  return {
    title: figure.title,
    subtitle,
    settings,
    stem: `${stem}-all`,
    theme,
    width: Math.max(...placed.map(({ piece, x }) => x + piece.width)),
    height: Math.max(...placed.map(({ piece, y }) => y + WORDS + piece.height)),
    draw(surface) {
      for (const { piece, x, y } of placed) {
        const face = { family: theme.sans, baseline: /** @type {const} */ ("top") };
        surface.text(piece.title, x, y, { ...face, size: 15, weight: 600, fill: theme.text });
        surface.text(piece.subtitle, x, y + 20, { ...face, size: 12, fill: theme.muted });
        piece.draw(shifted(surface, x, y + WORDS));
      }
    },
    panel: null,
    sight: null,
  };
}

/**
 * The picture of lines, text or bars as a plate; its numbers are those of the map it is of.
 *
 * @param {Explorer} explorer @param {Piece} piece @param {string} name - in the file's
 * @returns {Plate}
 */
export function piecePlate(explorer, piece, name) {
  const { scenes, theme } = explorer;
  const main = /** @type {import("./maps.js").TokenMap} */ (scenes.main);
  const words = wordsOf(explorer, main.panel);
  return { ...piece, ...words, stem: `${words.stem}-${name}`, theme, panel: main.panel, sight: () => scenes.sight() };
}

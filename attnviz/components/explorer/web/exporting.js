// @ts-check
/** @import { Explorer } from "./explorer.js" */
/** @import { Scene, Surface } from "./paint.js" */
/** @import { Panel, Theme } from "./types.js" */
/** @import { Sight } from "./sight.js" */
import { canvasSurface } from "./canvas.js";
import { openHead } from "./heads.js";
import { paint } from "./paint.js";
import { sightOf } from "./sight.js";
import { scaleKind } from "./view.js";

/**
 * A picture as it leaves the page: what is on screen, and what stands around it. panel, sight: the
 * map whose numbers it shows, and those of them that are in sight; null for several maps.
 *
 * @typedef {{title: string, subtitle: string, settings: string, stem: string, theme: Theme,
 *   width: number, height: number, draw: (surface: Surface) => void,
 *   panel: Panel | null, sight: (() => Sight) | null}} Plate
 */

const TOP = 52; // title and subtitle above an exported picture
const PAD = 20;

/**
 * A matrix as a plate.
 *
 * @param {Scene} scene
 * @param {{settings: string, stem: string}} words
 * @returns {Plate}
 */
export function scenePlate(scene, words) {
  const { panel, shown, plan, theme } = scene;
  const { title, subtitle } = panel;
  const { width, height } = plan;
  const draw = (/** @type {Surface} */ surface) => paint(surface, scene);
  return { title, subtitle, ...words, theme, width, height, draw, panel, sight: () => sightOf(panel, shown, plan) };
}

/**
 * What is said below a picture of this panel, and what its files are called.
 *
 * @param {Explorer} explorer
 * @param {Panel} panel
 */
export function wordsOf({ figure, selection, options, toolbar }, panel) {
  const { layer, head } = openHead(figure, selection);
  const parts = [figure.fileStem];
  if (figure.grid && panel.id === figure.panels[0].id) parts.push(`layer${layer}-head${head}`);
  if (figure.panels.length > 1 || figure.panels[0].id !== panel.id) parts.push(panel.id);
  const colours = panel.scale === "weight" ? `colours ${scaleKind(panel, options)}` : "";
  return {
    settings: [figure.settings, colours, toolbar.note.textContent].filter(Boolean).join(" · "),
    stem: parts.join("-").replace(/[^\w.-]+/g, "_"),
  };
}

/** @param {Plate} plate */
export function plateSize({ width, height }) {
  return { width: Math.max(width, 320) + 2 * PAD, height: height + TOP + 2 * PAD + 18 };
}

/**
 * Title above, settings below, the picture between.
 *
 * @param {Surface} surface
 * @param {Plate} plate
 * @param {(dx: number, dy: number) => void} shift - moves the origin
 */
export function paintPlate(surface, plate, shift) {
  const { theme } = plate;
  const { width, height } = plateSize(plate);
  surface.rect(0, 0, width, height, theme.page);
  shift(PAD, PAD);
  const face = { family: theme.sans, baseline: /** @type {const} */ ("top") };
  surface.text(plate.title, 0, 0, { ...face, size: 16, weight: 600, fill: theme.text });
  surface.text(plate.subtitle, 0, 23, { ...face, size: 12, fill: theme.muted });
  shift(0, TOP);
  plate.draw(surface);
  surface.text(plate.settings, 0, plate.height + 6, { ...face, size: 10, fill: theme.muted });
}

/** @param {Plate} plate @returns {Promise<Blob | null>} */
export function png(plate) {
  const { width, height } = plateSize(plate);
  const canvas = document.createElement("canvas");
  canvas.width = width * 2;
  canvas.height = height * 2;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.scale(2, 2);
  paintPlate(canvasSurface(context), plate, (dx, dy) => context.translate(dx, dy));
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

// @ts-check
/** @import { Figure, Options, Selection } from "./types.js" */
/** @import { Scene } from "./paint.js" */
import { element } from "./dom.js";
import { csv } from "./csv.js";
import { canvasSurface } from "./canvas.js";
import { openHead } from "./heads.js";
import { paint } from "./paint.js";
import { svg } from "./svg.js";
import { scaleKind } from "./view.js";

/**
 * A panel as it leaves the page: the scene on screen, with what stands around it.
 *
 * @typedef {{scene: Scene, settings: string, stem: string}} Plate
 */

const TOP = 52; // title and subtitle above an exported panel
const PAD = 20;

/**
 * The panel with its settings in words, and a name for its files.
 *
 * @param {Figure} figure
 * @param {Selection} selection
 * @param {Options} options
 * @param {string} note - what is hidden
 * @param {Scene} scene
 * @returns {Plate}
 */
export function plateOf(figure, selection, options, note, scene) {
  const { panel } = scene;
  const { layer, head } = openHead(figure, selection);
  const parts = [figure.fileStem];
  if (figure.grid && panel.id === figure.panels[0].id) parts.push(`layer${layer}-head${head}`);
  if (figure.panels.length > 1 || figure.panels[0].id !== panel.id) parts.push(panel.id);
  const colours = panel.scale === "weight" ? `colours ${scaleKind(panel, options)}` : "";
  return {
    scene,
    settings: [figure.settings, colours, note].filter(Boolean).join(" · "),
    stem: parts.join("-").replace(/[^\w.-]+/g, "_"),
  };
}

/** @param {Plate} plate */
export function plateSize({ scene }) {
  return { width: Math.max(scene.plan.width, 320) + 2 * PAD, height: scene.plan.height + TOP + 2 * PAD + 18 };
}

/**
 * Title above, settings below, the panel between.
 *
 * @param {import("./paint.js").Surface} surface
 * @param {Plate} plate
 * @param {(dx: number, dy: number) => void} shift - moves the origin
 */
export function paintPlate(surface, plate, shift) {
  const { scene, settings } = plate;
  const { theme, panel, plan } = scene;
  const { width, height } = plateSize(plate);
  surface.rect(0, 0, width, height, theme.page);
  shift(PAD, PAD);
  const face = { family: theme.sans, baseline: /** @type {const} */ ("top") };
  surface.text(panel.title, 0, 0, { ...face, size: 16, weight: 600, fill: theme.text });
  surface.text(panel.subtitle, 0, 23, { ...face, size: 12, fill: theme.muted });
  shift(0, TOP);
  paint(surface, scene);
  surface.text(settings, 0, plan.height + 6, { ...face, size: 10, fill: theme.muted });
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

/** @param {Blob} blob @param {string} name */
function download(blob, name) {
  const link = element("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * A menu that saves the panel without asking the server.
 *
 * @param {() => Plate} plate
 */
export function exportMenu(plate) {
  const items = /** @type {[string, string, () => Promise<Blob | null>][]} */ ([
    ["PNG image", "png", () => png(plate())],
    ["SVG drawing", "svg", async () => new Blob([svg(plate())], { type: "image/svg+xml" })],
    ["CSV values", "csv", async () => new Blob([csv(plate().scene.panel)], { type: "text/csv" })],
  ]).map(([word, ending, make]) => {
    const button = element("button", "", { type: "button", "data-export": ending }, [word]);
    button.onclick = async () => {
      menu.open = false;
      const blob = await make();
      if (blob) download(blob, `${plate().stem}.${ending}`);
    };
    return button;
  });
  const summary = element("summary", "", { "aria-label": "Save this figure" }, ["Save"]);
  const menu = element("details", "menu", {}, [summary, element("div", "items", {}, items)]);
  menu.onkeydown = (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    summary.focus();
    event.stopPropagation();
  };
  menu.addEventListener("focusout", (event) => {
    if (!menu.contains(/** @type {Node | null} */ (event.relatedTarget))) menu.open = false;
  });
  return menu;
}

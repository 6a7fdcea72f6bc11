// @ts-check
/** @import { Figure, Panel, Selection } from "./types.js" */
import { headName, headPanel, openHead, shownPanels } from "./heads.js";

export const MOST_OTHERS = 5; // maps beside the open one: as many as have a colour of their own

/**
 * A map that can stand beside another: key is "layer.head", or the id of a panel.
 *
 * @typedef {{key: string, name: string, word: string, panel: Panel}} TokenMap
 */

/** @param {Panel} panel whether it says which token draws on which, and has the weight of each pair */
const isTokenMap = ({ scale, rows, cols, block }) =>
  (scale === "weight" || scale === "flag") && rows.name === "query" && cols.name === "key" && !(block > 1);

/**
 * The map that lines, text and bars show: the open head's, else the chosen panel's, else the
 * weights'.
 *
 * @param {Figure} figure
 * @param {Selection} selection
 * @returns {TokenMap | null}
 */
export function mainMap(figure, selection) {
  const panels = shownPanels(figure, selection);
  if (figure.grid) {
    const { layer, head } = openHead(figure, selection);
    if (panels.length === 0 || !isTokenMap(panels[0])) return null;
    return { key: `${layer}.${head}`, name: headName(figure.grid, layer, head), word: figure.grid.word, panel: panels[0] };
  }
  const maps = panels.filter(isTokenMap);
  const panel =
    maps.find(({ id }) => id === selection.panel) ?? maps.find(({ id }) => id === "weights") ?? maps[0];
  return panel ? { key: panel.id, name: panel.title, word: "map", panel } : null;
}

/**
 * The map of a key, if it is in the browser and can stand beside the main one.
 *
 * @param {Figure} figure
 * @param {TokenMap} main
 * @param {string} key
 * @returns {TokenMap | null}
 */
export function mapOf(figure, main, key) {
  if (key === main.key) return null;
  if (figure.grid) {
    const place = placeOf(key);
    const panel = place && headPanel(figure, place.layer, place.head);
    if (!place || !panel) return null;
    return { key, name: headName(figure.grid, place.layer, place.head), word: figure.grid.word, panel };
  }
  const panel = figure.panels.find(({ id }) => id === key);
  if (!panel || !isTokenMap(panel) || !comparable(panel, main.panel)) return null;
  return { key, name: panel.title, word: "map", panel };
}

/**
 * The main map and every other that could stand beside it, in order.
 *
 * @param {Figure} figure
 * @param {TokenMap} main
 */
export function allMaps(figure, main) {
  const { grid } = figure;
  const keys = grid
    ? grid.layers.flatMap((layer) => Array.from({ length: grid.heads }, (_, head) => `${layer}.${head}`))
    : figure.panels.map(({ id }) => id);
  const maps = keys.map((key) => (key === main.key ? main : mapOf(figure, main, key)));
  return maps.filter((map) => map !== null);
}

/**
 * "layer.head" as numbers.
 *
 * @param {string} key
 */
export function placeOf(key) {
  const found = /^(\d{1,6})\.(\d{1,6})$/.exec(key);
  return found && { layer: Number(found[1]), head: Number(found[2]) };
}

/** @param {Panel} one @param {Panel} other */
const comparable = (one, other) =>
  one.rows === other.rows && one.cols === other.cols && one.valueName === other.valueName;

/**
 * A colour for each map: its own as far as no earlier one has it, so that a head keeps its colour
 * whatever is added after it.
 *
 * @param {string[]} keys
 * @param {number} heads - of a layer
 * @param {number} colours
 * @returns {number[]} places among the colours
 */
export function slots(keys, heads, colours) {
  /** @type {number[]} */
  const taken = [];
  keys.forEach((key, i) => {
    const place = placeOf(key);
    let slot = (place ? place.layer * heads + place.head : i) % colours;
    for (let tried = 0; taken.includes(slot) && tried < colours; tried += 1) slot = (slot + 1) % colours;
    taken.push(slot);
  });
  return taken;
}

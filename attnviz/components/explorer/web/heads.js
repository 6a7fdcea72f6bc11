// @ts-check
/** @import { Figure, Grid, Panel, Selection } from "./types.js" */

/**
 * What a head is called, or a channel where maps are of channels. A grid of one layer is an input
 * run once, not a model: only heads count.
 *
 * @param {Grid} grid
 * @param {number} layer - the true index
 * @param {number} head
 */
export function headName(grid, layer, head) {
  if (grid.layers.length > 1) return `Layer ${layer}, ${grid.word} ${head}`;
  return `${grid.word[0].toUpperCase()}${grid.word.slice(1)} ${head}`;
}

/**
 * The open head: the selected one, or the first of a grid where none is.
 *
 * @param {Figure} figure
 * @param {Selection} selection
 * @returns {{layer: number, head: number}} layer: the true index
 */
export function openHead({ grid }, { layer, head }) {
  if (grid === null) return { layer: 0, head: 0 };
  const known =
    layer !== null && head !== null && grid.layers.includes(layer) && head < grid.heads;
  return known ? { layer, head } : { layer: grid.layers[0], head: 0 };
}

/**
 * The panels as they are drawn: of a stack, or of heads that can be asked for, the first one holds
 * the open head's map.
 *
 * @param {Figure} figure
 * @param {Selection} selection
 * @returns {Panel[]}
 */
export function shownPanels(figure, selection) {
  const { panels, grid } = figure;
  if (grid === null || panels.length === 0) return panels;
  const { layer, head } = openHead(figure, selection);
  if (figure.held) return [figure.held(layer, head), ...panels.slice(1)];
  return [headPanel(figure, layer, head) ?? panels[0], ...panels.slice(1)];
}

/**
 * The map of one head where the browser has it.
 *
 * @param {Figure} figure
 * @param {number} layer - the true index
 * @param {number} head
 * @returns {Panel | null}
 */
export function headPanel(figure, layer, head) {
  const { panels, grid } = figure;
  if (grid === null || panels.length === 0 || !grid.layers.includes(layer) || !(head < grid.heads)) return null;
  if (figure.known) return figure.known(layer, head);
  if (!grid.stack) {
    const sent = openHead(figure, figure.selection);
    return sent.layer === layer && sent.head === head ? panels[0] : null;
  }
  const size = panels[0].values.length;
  const at = (grid.layers.indexOf(layer) * grid.heads + head) * size;
  return {
    ...panels[0],
    title: headName(grid, layer, head),
    values: grid.stack.subarray(at, at + size),
    digest: `${grid.digest} ${at}`,
  };
}

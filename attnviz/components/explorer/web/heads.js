// @ts-check
/** @import { Figure, Grid, Panel, Selection } from "./types.js" */

/**
 * What a head is called. A grid of one layer is an input run once, not a model: only heads count.
 *
 * @param {Grid} grid
 * @param {number} layer - the true index
 * @param {number} head
 */
export function headName(grid, layer, head) {
  return grid.layers.length > 1 ? `Layer ${layer}, head ${head}` : `Head ${head}`;
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
  const { layer, head } = openHead(figure, selection);
  if (figure.held) return [figure.held(layer, head), ...panels.slice(1)];
  if (!grid?.stack || panels.length === 0) return panels;
  const size = panels[0].values.length;
  const at = (grid.layers.indexOf(layer) * grid.heads + head) * size;
  const first = {
    ...panels[0],
    title: headName(grid, layer, head),
    values: grid.stack.subarray(at, at + size),
    digest: `${grid.digest} ${at}`,
  };
  return [first, ...panels.slice(1)];
}

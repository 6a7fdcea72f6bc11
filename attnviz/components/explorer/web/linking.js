// @ts-check
/** @import { Figure, Panel, View } from "./types.js" */
import { alike } from "./zooming.js";

/**
 * Where the reader points: a row and a column of one panel, either of which may be missing.
 *
 * @typedef {{panel: Panel, row: number | null, col: number | null}} Pointer
 */

/**
 * What was pointed at is so still when new numbers come for the same rows and columns: nobody has
 * moved, neither a hand nor the keyboard's cell.
 *
 * @param {Pointer | null} pointer
 * @param {Figure} figure - that is shown from now on
 * @returns {Pointer | null}
 */
export function kept(pointer, { panels }) {
  if (pointer === null) return null;
  const { panel } = pointer;
  // What is drawn for comparison only is named after the figure's own.
  const own = panels.find(({ id }) => id === panel.id.replace(/~.*/, ""));
  return own && alike(own, panel) ? pointer : null;
}

/**
 * The same place on another panel, by the names of the axes: among its drawn rows and columns,
 * -1 where it has none.
 *
 * @param {Pointer | null} pointer
 * @param {Panel} panel
 * @param {View} shown
 */
export function linked(pointer, panel, shown) {
  if (pointer === null) return { row: -1, col: -1 };
  const own = pointer.panel.id === panel.id;
  const row = own ? pointer.row : along(pointer, panel.rows.name, "row");
  const col = own ? pointer.col : along(pointer, panel.cols.name, "col");
  return {
    row: row === null ? -1 : shown.rows.indexOf(row),
    col: col === null ? -1 : shown.cols.indexOf(col),
  };
}

/**
 * The position that the pointer has on the axis of this name; the same side goes first where a
 * panel has the name on both sides.
 *
 * @param {Pointer} pointer
 * @param {string} name
 * @param {"row" | "col"} side
 */
function along({ panel, row, col }, name, side) {
  const sides = side === "row" ? ["row", "col"] : ["col", "row"];
  for (const one of sides) {
    if (one === "row" && panel.rows.name === name) return row;
    if (one === "col" && panel.cols.name === name) return col;
  }
  return null;
}

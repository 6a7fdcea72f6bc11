// @ts-check
/** @import { Panel, View } from "./types.js" */

/**
 * Where the reader points: a row and a column of one panel, either of which may be missing.
 *
 * @typedef {{panel: Panel, row: number | null, col: number | null}} Pointer
 */

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

// @ts-check
import { element } from "./dom.js";

let made = 0; // names for aria-activedescendant

/**
 * The one cell of a table on a canvas that a screen reader finds: where it stands, and what it
 * says. Two elements take turns, since another active descendant is read out at once and a changed
 * text is not; and each one cuts the last one short, so a held arrow key does not pile up speech.
 */
export class ActiveCell {
  /** @param {HTMLElement} grid - has the role */
  constructor(grid) {
    this.grid = grid;
    const cell = () => element("div", "cell unseen", { role: "gridcell", id: `cell-${(made += 1)}` });
    this.cell = cell();
    this.spare = cell();
    this.row = element("div", "", { role: "row" }, [this.cell]);
    grid.prepend(this.row);
  }

  /**
   * @param {string} text - "" for no cell
   * @param {number} row @param {number} col - in the whole table, from 0; -1 for none
   * @param {boolean} kept
   */
  set(text, row, col, kept) {
    if (text !== this.cell.textContent) {
      [this.cell, this.spare] = [this.spare, this.cell];
      this.cell.textContent = text;
      this.row.replaceChildren(this.cell);
    }
    place(this.row, "aria-rowindex", row);
    place(this.cell, "aria-colindex", col);
    this.cell.setAttribute("aria-selected", String(kept));
    if (text) this.grid.setAttribute("aria-activedescendant", this.cell.id);
    else this.grid.removeAttribute("aria-activedescendant");
  }
}

/** @param {HTMLElement} node @param {string} name @param {number} at */
function place(node, name, at) {
  if (at < 0) node.removeAttribute(name);
  else node.setAttribute(name, String(at + 1));
}

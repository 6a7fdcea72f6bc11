// @ts-check
/** @import { Explorer } from "./explorer.js" */
import { element } from "./dom.js";
import { blockPieces } from "./block.js";
import { cell, plain } from "./readout.js";

const REST = 250; // ms: what is passed over is not read out

/**
 * The one live region of an explorer. It says what was chosen, and what a token that the keyboard
 * visits reads; a pointer that hovers says nothing.
 */
export class Voice {
  constructor() {
    this.root = element("div", "unseen", { role: "status" });
    this.timer = 0;
    /** @type {string | null} */
    this.known = null;
    this.head = "";
  }

  /** @param {string} text */
  say(text) {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => (this.root.textContent = text), REST);
  }

  /** After each drawing: whether another head is open, or another cell kept. @param {Explorer} explorer */
  follow({ selection, figure, scenes }) {
    const { panel: id, row, col, to } = selection;
    const head = figure.grid ? (scenes.main?.name ?? "") : "";
    const kept = `${head} ${id} ${row} ${col} ${to}`;
    const before = { known: this.known, head: this.head };
    this.known = kept;
    this.head = head;
    if (before.known === null || before.known === kept) return;
    const panel = [...scenes.panels, ...figure.panels].find((one) => one.id === id);
    const said = panel && row !== null && col !== null ? `Kept: ${plain(to ? blockPieces(panel, row, col, to) : cell(panel, row, col))}` : "Nothing kept.";
    this.say(before.head === head ? said : panel ? `${head}. ${said}` : head);
  }

  stop() {
    clearTimeout(this.timer);
  }
}

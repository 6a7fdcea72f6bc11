// @ts-check
/** @import { Explorer } from "./explorer.js" */
/** @import { Panel } from "./types.js" */
import { button } from "./controls.js";
import { element } from "./dom.js";
import { openHead } from "./heads.js";
import { moved } from "./keys.js";
import { leave, maskSwitch } from "./lecturing.js";
import { PLAIN } from "./look.js";
import { stepAt } from "./timeline.js";

const GAP = 28;
const KEYS = [
  ["Arrow keys", "move the cell, or the head while no cell is chosen"],
  ["Space", "next step, or the next row of a single map"],
  ["Digits", "jump to that step (from 1) or head (from 0)"],
  ["m", "mask on or off, where the page has one"],
  ["r", "reset"],
  ["?", "show or hide these keys"],
  ["Esc", "close this list, or leave the lecture view"],
];

/** The projector's view of one figure: keys for the whole page, and one step at a time. */
export class Lecture {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.help = element("dl", "lecture-keys", { role: "dialog", "aria-label": "Keys" },
      KEYS.flatMap(([key, does]) => [element("dt", "", {}, [key]), element("dd", "", {}, [does])]));
    this.help.hidden = true;
    const ask = button("? Keys", () => this.toggleHelp());
    this.bar = element("div", "lecture-bar", {}, [ask, button("Leave lecture view", leave)]);
    explorer.root.classList.add("lecture");
    explorer.root.append(this.bar, this.help);
    this.heard = (/** @type {KeyboardEvent} */ event) => this.hear(event);
    document.addEventListener("keydown", this.heard);
    const { panel } = explorer.selection;
    this.step = this.start = Math.max(0, explorer.figure.panels.findIndex(({ id }) => id === panel));
    explorer.width = 0; // the room is another one
    explorer.draw();
  }

  stop() {
    document.removeEventListener("keydown", this.heard);
  }

  /** The step shown, and the one it came from. @param {Panel[]} panels */
  shown(panels) {
    if (panels.length < 2) return panels;
    this.step = Math.min(this.step, panels.length - 1);
    const from = Math.max(0, this.step - 1);
    return panels.slice(from, from + 2);
  }

  /** @param {number} room @param {number} tall @param {number} n - panels shown */
  sizes(room, tall, n) {
    return { maxWidth: Math.floor((room - (n - 1) * GAP) / n), maxHeight: tall, cell: 200 };
  }

  toggleHelp() {
    this.help.hidden = !this.help.hidden;
  }

  /** @param {KeyboardEvent} event */
  hear(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = event.composedPath()[0];
    if (at instanceof Element && at.matches("input, textarea, select, [contenteditable]")) return;
    if (at instanceof Element && at.matches("button, summary") && event.key === " ") return;
    if (this.act(event)) event.preventDefault();
  }

  /** @param {KeyboardEvent} event @returns {boolean} whether the key means something */
  act(event) {
    const { explorer } = this;
    const { key } = event;
    if (key === "?") this.toggleHelp();
    else if (key === "Escape") this.help.hidden ? leave() : this.toggleHelp();
    else if (key === " ") this.advance();
    else if (key === "m") maskSwitch()?.click();
    else if (key === "r") {
      this.step = this.start;
      explorer.select({ panel: null, row: null, col: null });
      explorer.change(PLAIN);
    } else if (/^\d$/.test(key)) this.jump(Number(key));
    else return key.startsWith("Arrow") && this.move(event);
    return true;
  }

  advance() {
    const { panels } = this.explorer.figure;
    if (panels.length > 1) return this.go(stepAt(this.step + 1, panels.length));
    const { row, col } = this.explorer.selection;
    const next = row === null ? 0 : stepAt(row + 1, panels[0].rows.labels.length);
    this.explorer.select({ panel: panels[0].id, row: next, col: col ?? 0 });
  }

  /** @param {number} digit */
  jump(digit) {
    const { figure, selection } = this.explorer;
    const { grid, panels } = figure;
    if (grid && digit < grid.heads) this.explorer.select({ layer: openHead(figure, selection).layer, head: digit });
    else if (!grid && digit >= 1 && digit <= panels.length) this.go(digit - 1);
  }

  /** @param {number} step */
  go(step) {
    this.step = step;
    const { figure, selection: { row, col } } = this.explorer;
    const panel = figure.panels[step];
    const fits = row !== null && col !== null && row < panel.rows.labels.length && col < panel.cols.labels.length;
    this.explorer.select(fits ? { panel: panel.id } : { panel: null, row: null, col: null });
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const { explorer } = this;
    const { figure, selection } = explorer;
    const { grid } = figure;
    if (grid && selection.row === null) {
      const { layer, head } = openHead(figure, selection);
      const to = moved(event, { row: grid.layers.indexOf(layer), col: head }, grid.layers.length, grid.heads, 4);
      if (to) explorer.select({ layer: grid.layers[to.row], head: to.col });
      return true;
    }
    const { panels } = explorer.scenes;
    const panel = panels.find(({ id }) => id === selection.panel) ?? figure.panels[this.step] ?? figure.panels[0];
    const from = { row: selection.row ?? 0, col: selection.col ?? 0 };
    const { rows, cols } = panel;
    const to = selection.row === null ? from : moved(event, from, rows.labels.length, cols.labels.length, 8);
    if (to) explorer.select({ panel: panel.id, ...to });
    return true;
  }
}

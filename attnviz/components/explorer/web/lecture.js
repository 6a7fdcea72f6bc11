// @ts-check
/** @import { Explorer } from "./explorer.js" */
import { button } from "./controls.js";
import { element } from "./dom.js";
import { openHead } from "./heads.js";
import { moved } from "./keys.js";
import { leave, maskSwitch } from "./lecturing.js";
import { PLAIN } from "./look.js";
import { stepAt } from "./timeline.js";

const KEYS = [
  ["← →", "one step back or forward, where there are steps"],
  ["Arrow keys", "else move the cell, or the head while no cell is chosen"],
  ["Space", "play or pause the steps, or the next row of a single map"],
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
    this.bar.prepend(explorer.player.root);
    explorer.root.classList.add("lecture");
    explorer.root.append(this.bar, this.help);
    this.heard = (/** @type {KeyboardEvent} */ event) => this.hear(event);
    document.addEventListener("keydown", this.heard);
    explorer.width = 0; // the room is another one
    explorer.draw();
  }

  stop() {
    document.removeEventListener("keydown", this.heard);
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
    else if (key === "m") {
      explorer.telling.flush();
      maskSwitch()?.click();
    }
    else if (key === "r") {
      explorer.player.stop();
      explorer.select({ panel: null, row: null, col: null });
      explorer.change(PLAIN);
    } else if (/^\d$/.test(key)) this.jump(Number(key));
    else return key.startsWith("Arrow") && this.move(event);
    return true;
  }

  advance() {
    const { player, figure, selection: { row, col } } = this.explorer;
    if (player.steps.length > 0) return player.toggle();
    const [panel] = figure.panels;
    const next = row === null ? 0 : stepAt(row + 1, panel.rows.labels.length);
    this.explorer.select({ panel: panel.id, row: next, col: col ?? 0 });
  }

  /** @param {number} digit */
  jump(digit) {
    const { figure, selection, player } = this.explorer;
    const { grid } = figure;
    if (grid && digit < grid.heads) this.explorer.select({ layer: openHead(figure, selection).layer, head: digit });
    else if (!grid && digit >= 1 && digit <= player.steps.length) player.go(digit - 1);
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const { explorer } = this;
    const { figure, selection, player } = explorer;
    const { grid } = figure;
    const onward = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (onward && player.steps.length > 0) {
      player.by(onward);
      return true;
    }
    if (grid && selection.row === null) {
      const { layer, head } = openHead(figure, selection);
      const to = moved(event, { row: grid.layers.indexOf(layer), col: head }, grid.layers.length, grid.heads, 4);
      if (to) explorer.select({ layer: grid.layers[to.row], head: to.col });
      return true;
    }
    const { panels } = explorer.scenes;
    const panel = panels.find(({ id }) => id === selection.panel) ?? panels[panels.length - 1] ?? figure.panels[0];
    const from = { row: selection.row ?? 0, col: selection.col ?? 0 };
    const { rows, cols } = panel;
    const to = selection.row === null ? from : moved(event, from, rows.labels.length, cols.labels.length, 8);
    if (to) explorer.select({ panel: panel.id, ...to });
    return true;
  }
}

// @ts-check
/** @import { Explorer } from "./explorer.js" */
/** @import { Step } from "./walk.js" */
import { button } from "./controls.js";
import { element } from "./dom.js";
import { fade } from "./fading.js";
import { Clock, stepAt } from "./timeline.js";
import { stepsOf, written } from "./walk.js";

const [PACE, QUICK] = [2000, 700]; // ms a step: of a matrix to be understood, of a token

/** Whether the reader has asked for no movement: then nothing moves but at a press. */
const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Plays a figure's steps, or lets the reader step through them. */
export class Player {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    /** @type {Step[]} */
    this.steps = [];
    /** @type {number | null} where a lecture begins */
    this.rest = null;
    this.clock = new Clock(() => this.beat(), () => this.label());
    this.back = named(button("◀", () => this.by(-1)), "One step back");
    this.play = button("Play", () => this.toggle());
    this.on = named(button("▶", () => this.by(1)), "One step forward");
    this.range = element("input", "", { type: "range", min: "0", step: "1", "aria-label": "Step" });
    this.range.oninput = () => this.go(Number(this.range.value), false);
    this.range.onchange = () => this.go(Number(this.range.value));
    this.says = element("output", "step-name");
    this.whole = button("", () => this.leave());
    const buttons = element("div", "buttons", { role: "group", "aria-label": "Play the steps" }, [this.back, this.play, this.on]);
    this.text = element("p", "written");
    this.root = element("div", "player", {}, [buttons, this.range, this.says, this.whole, this.text]);
    for (const one of [this.back, this.play, this.on, this.whole]) one.removeAttribute("aria-pressed");
  }

  /** The place in the walk; in a lecture there always is one. */
  get at() {
    const { options, lecture, selection } = this.explorer;
    if (this.steps.length === 0) return null;
    if (options.at !== null) return Math.min(options.at, this.steps.length - 1);
    if (!lecture) return null;
    this.rest ??= this.steps[0].rows !== null ? this.steps.length - 1 : Math.max(0, this.steps.findIndex(({ panel }) => panel === selection.panel));
    return Math.min(this.rest, this.steps.length - 1);
  }

  /** @returns {Step | null} the one shown; null: the whole figure */
  get step() {
    return this.at === null ? null : this.steps[this.at];
  }

  /** After the figure or the options have changed. */
  update() {
    const { figure, lecture, options } = this.explorer;
    this.steps = stepsOf(figure, lecture !== null);
    const { step, at } = this;
    // A single matrix can be staged; lines and text have the one map that grows.
    this.root.hidden = this.steps.length === 0 || (options.show !== "matrix" && this.steps[0].rows === null);
    if (this.root.hidden) return;
    const last = this.steps.length - 1;
    this.range.max = String(last);
    this.range.value = String(at ?? (this.steps[0].rows === null ? 0 : last));
    const words = step ? `${Number(at) + 1} of ${last + 1}: ${step.name}` : `${last + 1} steps`;
    this.range.setAttribute("aria-valuetext", words);
    this.says.textContent = words;
    this.whole.textContent = this.steps[0].rows === null ? "Show all" : "All of it";
    this.whole.hidden = step === null || lecture !== null;
    this.text.hidden = this.steps[0].rows === null;
    if (!this.text.hidden) {
      const { prompt, since } = written(figure.panels[0], step?.rows ?? Infinity);
      this.text.replaceChildren(prompt, element("strong", "", {}, [since]));
    }
    this.label();
  }

  label() {
    this.play.textContent = this.clock.running ? "Pause" : "Play";
    this.play.hidden = still();
  }

  /** @param {number} at @param {boolean} settled */
  go(at, settled = true) {
    if (settled) this.clock.stop();
    this.show(at, settled);
  }

  /** @param {number} at @param {boolean} settled */
  show(at, settled) {
    const { explorer } = this;
    const before = this.step;
    const picture = still() || before === null ? null : fade(explorer.views.get(before.panel));
    explorer.change({ at }, settled);
    if (settled) this.carry(this.steps[at]);
    if (settled) explorer.voice.say(`Step ${at + 1}: ${this.steps[at].name}`);
    if (!picture) return;
    explorer.drawNow();
    picture(explorer.views.get(this.steps[at].panel));
  }

  /** @param {number} steps - 1 on, -1 back, and round at the ends */
  by(steps) {
    const from = this.at ?? (steps > 0 ? -1 : 0);
    this.go(stepAt(from + steps, this.steps.length));
  }

  toggle() {
    if (still()) this.by(1);
    else if (this.clock.running) this.go(this.at ?? 0);
    else this.clock.start(this.steps[0]?.rows === null ? PACE : QUICK);
  }

  /** One step of the clock. */
  beat() {
    const last = this.steps.length - 1;
    const from = this.at ?? last;
    if (last < 1) return false;
    const to = stepAt(from + 1, last + 1);
    this.show(to, to === last);
    return to < last;
  }

  /** The row of the last token written, which is what a step of a text has brought. */
  newest() {
    const rows = this.step?.rows;
    return rows && rows > 0 ? { panel: this.explorer.figure.panels[0], row: rows - 1, col: null } : null;
  }

  /** The same cell of the step's matrix is the chosen one, if it has it. @param {Step} step */
  carry({ panel: id, rows }) {
    const { figure, selection: { row, col } } = this.explorer;
    if (rows !== null || row === null || col === null) return;
    const panel = figure.panels.find((one) => one.id === id);
    const fits = panel && row < panel.rows.labels.length && col < panel.cols.labels.length;
    this.explorer.select(fits ? { panel: id } : { panel: null, row: null, col: null });
  }

  leave() {
    this.clock.stop();
    this.explorer.change({ at: null });
  }

  stop() {
    this.clock.stop();
  }
}

/** @param {HTMLElement} node @param {string} name */
function named(node, name) {
  node.setAttribute("aria-label", name);
  node.title = name;
  return node;
}

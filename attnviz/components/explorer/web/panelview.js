// @ts-check
/** @import { Measure, Options, Panel, Theme } from "./types.js" */
/** @import { Marks } from "./overlay.js" */
import { canvasSurface, context2d, sized } from "./canvas.js";
import { element } from "./dom.js";
import { exportMenu } from "./exporting.js";
import { moved } from "./keys.js";
import { paintOverlay } from "./overlay.js";
import { paint, swatches } from "./paint.js";
import { commonCell, plan as planned, rowLabels } from "./plan.js";
import { cell as cellPieces, place, plain, show } from "./readout.js";
import { range, view } from "./view.js";

const SAVE = 92; // the menu beside the title, and the accent before it

/**
 * What a panel tells the explorer. row or col is null where the pointer is over a label.
 *
 * @typedef {object} PanelHost
 * @property {(panel: string, row: number | null, col: number | null) => void} point
 * @property {() => void} leave
 * @property {(panel: string, row: number, col: number) => void} pin
 * @property {() => void} clear
 * @property {(panel: PanelView) => import("./exporting.js").Plate} plate
 *
 * @typedef {{panel: Panel, options: Options, theme: Theme, measure: Measure, maxWidth: number,
 *   maxHeight: number, cell: number}} Given
 */

/**
 * The width with which title and subtitle stay on a line each, if they are not too long.
 *
 * @param {Panel} panel
 * @param {number} maxWidth
 * @param {Measure} measure
 */
function leastWidth({ title, subtitle }, maxWidth, measure) {
  const words = Math.max(measure(title, 15.5) * 1.06, measure(subtitle, 13)) + SAVE;
  return Math.ceil(Math.min(maxWidth, Math.max(240, Math.min(360, words))));
}

/**
 * One size of cell for panels that stand side by side.
 *
 * @param {Panel[]} panels
 * @param {Options} options
 * @param {number} room
 * @param {Measure} measure
 */
export function cellFor(panels, options, room, measure) {
  const sizes = panels.map((panel) => {
    const shown = view(panel, options);
    const step = Math.ceil(shown.rows.length / 50);
    const { x } = rowLabels(panel, shown, room, measure, step);
    const least = leastWidth(panel, room, measure);
    return { rows: shown.rows.length, cols: shown.cols.length, x, least };
  });
  // Small matrices keep cells that have room for a number.
  const small = sizes.every(({ rows, cols }) => Math.max(rows, cols) <= 10);
  // On a phone each panel has the width to itself.
  const height = room < 500 ? Infinity : 820;
  return commonCell(sizes, room, height, 44, small ? 32 : 13);
}

/** @param {Given} given everything that painting needs to know */
function sceneOf({ panel, options, theme, measure, maxWidth, maxHeight, cell }) {
  const ratio = window.devicePixelRatio || 1;
  const shown = view(panel, options);
  const scale = range(panel, shown, options);
  const room = { maxWidth, maxHeight, cell, ratio, measure };
  const plan = planned({ panel, shown, swatches: swatches(panel, shown).length, ...room });
  return { panel, shown, scale, plan, theme, ratio, measure };
}

/** One matrix on the page: its canvas, its labels, its readout, its keys. */
export class PanelView {
  /** @param {PanelHost} host @param {Given} given */
  constructor(host, given) {
    this.host = host;
    this.title = element("h3", "title");
    this.subtitle = element("p", "subtitle");
    this.base = element("canvas", "base");
    this.over = element("canvas", "over");
    this.cell = element("div", "cell", { role: "gridcell" });
    this.row = element("div", "", { role: "row" }, [this.cell]);
    this.plot = element("div", "plot", { role: "grid", tabindex: "0" }, [this.row, this.base, this.over]);
    this.readout = element("output", "readout");
    const words = element("div", "words", {}, [this.title, this.subtitle]);
    const head = element("header", "", {}, [words, exportMenu(() => host.plate(this))]);
    this.root = element("section", "panel", {}, [head, this.plot, this.readout]);
    /** The keyboard's cell, among the drawn ones. */
    this.cursor = { row: 0, col: 0 };
    this.drawn = "";
    this.scene = sceneOf(given);
    this.update(given);
    this.listen();
  }

  /** @param {Given} given */
  update(given) {
    this.scene = sceneOf(given);
    const { panel, shown, plan, theme, ratio } = this.scene;
    this.root.dataset.panel = panel.id;
    this.root.style.setProperty("--accent", theme.accents[panel.accent] ?? theme.accents.plain);
    this.root.classList.toggle("plain", panel.accent === "plain");
    const words = leastWidth(panel, given.maxWidth, given.measure);
    this.root.style.width = `${Math.max(plan.width, words)}px`;
    this.title.textContent = panel.title;
    this.subtitle.textContent = panel.subtitle;
    const [nRows, nCols] = [panel.rows.labels.length, panel.cols.labels.length];
    this.plot.setAttribute("aria-label", `${panel.title}, ${nRows} rows by ${nCols} columns`);
    this.plot.setAttribute("aria-rowcount", String(nRows));
    this.plot.setAttribute("aria-colcount", String(nCols));
    this.cursor.row = Math.min(this.cursor.row, shown.rows.length - 1);
    this.cursor.col = Math.min(this.cursor.col, shown.cols.length - 1);
    const state = JSON.stringify([panel.digest, panel.valueName, panel.scale, given.options, theme.page, plan, ratio]);
    if (state === this.drawn) return;
    this.drawn = state;
    for (const canvas of [this.base, this.over]) sized(canvas, plan.width, plan.height, ratio);
    paint(canvasSurface(context2d(this.base)), this.scene);
  }

  /**
   * @param {Marks} marks
   * @param {import("./readout.js").Piece[]} idle - when nothing is marked
   * @param {boolean} own - the reader points here, not at a linked panel
   */
  mark(marks, idle, own) {
    // One voice at a time: linked panels show their numbers without announcing them.
    this.readout.setAttribute("aria-live", own ? "polite" : "off");
    const { shown } = this.scene;
    paintOverlay(context2d(this.over), this.scene, marks);
    const pointed = marks.row >= 0 || marks.col >= 0;
    const row = pointed ? marks.row : marks.pinRow;
    const col = pointed ? marks.col : marks.pinCol;
    const pieces = this.say(row, col);
    show(this.readout, pieces.length > 0 ? pieces : idle);
    this.cell.textContent = plain(pieces);
    if (row >= 0) this.row.setAttribute("aria-rowindex", String(shown.rows[row] + 1));
    if (col >= 0) this.cell.setAttribute("aria-colindex", String(shown.cols[col] + 1));
  }

  /** @param {number} row @param {number} col - among the drawn ones, -1 for none */
  say(row, col) {
    const { panel, shown } = this.scene;
    if (row >= 0 && col >= 0) return cellPieces(panel, shown.rows[row], shown.cols[col]);
    if (row >= 0) return place(panel.rows, shown.rows[row], true);
    if (col >= 0) return place(panel.cols, shown.cols[col], true);
    return [];
  }

  /** @param {MouseEvent} event @returns {{row: number, col: number}} -1: outside */
  under(event) {
    const { plan, shown } = this.scene;
    const box = this.base.getBoundingClientRect();
    const x = event.clientX - box.left - plan.x;
    const y = event.clientY - box.top - plan.y;
    const col = x >= 0 && x < plan.w && y < plan.h ? Math.floor(x / plan.cellW) : -1;
    const row = y >= 0 && y < plan.h && x < plan.w ? Math.floor(y / plan.cellH) : -1;
    return { row: Math.min(row, shown.rows.length - 1), col: Math.min(col, shown.cols.length - 1) };
  }

  /**
   * Where a cell is on the screen: for tests.
   *
   * @param {number} row @param {number} col - positions of the tensor
   */
  cellBox(row, col) {
    const { plan, shown } = this.scene;
    const box = this.base.getBoundingClientRect();
    return {
      x: box.left + plan.x + shown.cols.indexOf(col) * plan.cellW,
      y: box.top + plan.y + shown.rows.indexOf(row) * plan.cellH,
      width: plan.cellW,
      height: plan.cellH,
    };
  }

  listen() {
    this.plot.onpointermove = (event) => {
      if (event.pointerType === "touch") return;
      const { row, col } = this.under(event);
      if (row < 0 && col < 0) this.host.leave();
      else this.point(row, col);
    };
    this.plot.onpointerleave = () => this.host.leave();
    this.plot.onclick = (event) => {
      const { row, col } = this.under(event);
      if (row < 0 || col < 0) return;
      this.cursor = { row, col };
      this.pin();
    };
    this.plot.onkeydown = (event) => this.key(event);
    this.plot.onfocus = () => {
      if (this.plot.matches(":focus-visible")) this.point(this.cursor.row, this.cursor.col);
    };
    this.plot.onblur = () => this.host.leave();
  }

  /** @param {number} row @param {number} col - among the drawn ones, -1 for none */
  point(row, col) {
    const { panel, shown } = this.scene;
    this.host.point(panel.id, row < 0 ? null : shown.rows[row], col < 0 ? null : shown.cols[col]);
  }

  pin() {
    const { panel, shown } = this.scene;
    this.host.pin(panel.id, shown.rows[this.cursor.row], shown.cols[this.cursor.col]);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { shown } = this.scene;
    const to = moved(event, this.cursor, shown.rows.length, shown.cols.length, 10);
    if (to) {
      this.cursor = to;
      this.point(to.row, to.col);
    } else if (event.key === "Escape") this.host.clear();
    else if (event.key === "Enter" || event.key === " ") this.pin();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

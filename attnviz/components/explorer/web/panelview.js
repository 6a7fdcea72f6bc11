// @ts-check
/** @import { Measure, Options, Panel, Plan, Range, Theme, View } from "./types.js" */
/** @import { Marks } from "./overlay.js" */
import { canvasSurface } from "./canvas.js";
import { element } from "./dom.js";
import { exportMenu } from "./exporting.js";
import { paintOverlay } from "./overlay.js";
import { paint, swatches } from "./paint.js";
import { plan as planned } from "./plan.js";
import { cell as cellPieces, place, plain, show } from "./readout.js";
import { range, view } from "./view.js";

/**
 * What a panel tells the explorer. row or col is null where the pointer is over a label.
 *
 * @typedef {object} PanelHost
 * @property {(panel: string, row: number | null, col: number | null) => void} point
 * @property {() => void} leave
 * @property {(panel: string, row: number, col: number) => void} pin
 * @property {() => void} clear
 * @property {(panel: PanelView) => import("./exporting.js").Plate} plate
 */

/** One matrix on the page: its canvas, its labels, its readout, its keys. */
export class PanelView {
  /** @param {PanelHost} host */
  constructor(host) {
    this.host = host;
    this.title = element("h3", "title");
    this.subtitle = element("p", "subtitle");
    this.base = element("canvas", "base");
    this.over = element("canvas", "over");
    this.cell = element("div", "cell", { role: "gridcell" });
    const row = element("div", "", { role: "row" }, [this.cell]);
    this.plot = element("div", "plot", { role: "grid", tabindex: "0" }, [row, this.base, this.over]);
    this.readout = element("output", "readout", { "aria-live": "polite" });
    const words = element("div", "words", {}, [this.title, this.subtitle]);
    const head = element("header", "", {}, [words, exportMenu(() => host.plate(this))]);
    this.root = element("section", "panel", {}, [head, this.plot, this.readout]);
    /** @type {{row: number, col: number}} the keyboard's cell, among the drawn ones */
    this.cursor = { row: 0, col: 0 };
    this.drawn = "";
    this.listen();
  }

  /**
   * @param {{panel: Panel, options: Options, theme: Theme, measure: Measure, maxWidth: number,
   *   maxHeight: number, cell: number}} given
   */
  update({ panel, options, theme, measure, maxWidth, maxHeight, cell }) {
    const ratio = window.devicePixelRatio || 1;
    this.panel = panel;
    this.theme = theme;
    this.measure = measure;
    this.shown = view(panel, options);
    this.scale = range(panel, this.shown, options);
    const legend = swatches(panel, this.shown).length;
    const room = { maxWidth, maxHeight, cell, ratio, measure };
    this.plan = planned({ panel, shown: this.shown, swatches: legend, ...room });
    this.ratio = ratio;
    this.root.dataset.panel = panel.id;
    this.root.style.setProperty("--accent", theme.accents[panel.accent] ?? theme.accents.plain);
    this.root.classList.toggle("plain", panel.accent === "plain");
    this.title.textContent = panel.title;
    this.subtitle.textContent = panel.subtitle;
    this.root.style.width = `${Math.max(this.plan.width, Math.min(maxWidth, 240))}px`;
    const [nRows, nCols] = [panel.rows.labels.length, panel.cols.labels.length];
    this.plot.setAttribute("aria-label", `${panel.title}, ${nRows} rows by ${nCols} columns`);
    this.plot.setAttribute("aria-rowcount", String(nRows));
    this.plot.setAttribute("aria-colcount", String(nCols));
    this.cursor.row = Math.min(this.cursor.row, this.shown.rows.length - 1);
    this.cursor.col = Math.min(this.cursor.col, this.shown.cols.length - 1);
    this.paint(JSON.stringify([panel.digest, panel.title, options, theme.page, this.plan]));
  }

  /** @param {string} state - draws only when this is new */
  paint(state) {
    if (state === this.drawn) return;
    this.drawn = state;
    const { plan, ratio } = this;
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(plan.width * ratio);
      canvas.height = Math.round(plan.height * ratio);
      canvas.style.width = `${plan.width}px`;
      canvas.style.height = `${plan.height}px`;
      canvas.getContext("2d")?.scale(ratio, ratio);
    }
    const context = /** @type {CanvasRenderingContext2D} */ (this.base.getContext("2d"));
    paint(canvasSurface(context), this);
  }

  /** @param {Marks} marks @param {import("./readout.js").Piece[]} idle - when nothing is marked */
  mark(marks, idle) {
    const context = /** @type {CanvasRenderingContext2D} */ (this.over.getContext("2d"));
    paintOverlay(context, this, marks);
    const row = marks.row >= 0 ? marks.row : marks.pinRow;
    const col = marks.col >= 0 ? marks.col : marks.pinCol;
    const pieces = this.say(marks.row < 0 && marks.col < 0 ? row : marks.row, marks.row < 0 && marks.col < 0 ? col : marks.col);
    show(this.readout, pieces.length > 0 ? pieces : idle);
    this.cell.textContent = plain(pieces);
    if (row >= 0) this.cell.parentElement?.setAttribute("aria-rowindex", String(this.shown.rows[row] + 1));
    if (col >= 0) this.cell.setAttribute("aria-colindex", String(this.shown.cols[col] + 1));
  }

  /** @param {number} row @param {number} col - among the drawn ones, -1 for none */
  say(row, col) {
    const { panel, shown } = this;
    if (row >= 0 && col >= 0) return cellPieces(panel, shown.rows[row], shown.cols[col]);
    if (row >= 0) return place(panel.rows, shown.rows[row], true);
    if (col >= 0) return place(panel.cols, shown.cols[col], true);
    return [];
  }

  /** @param {PointerEvent | MouseEvent} event @returns {{row: number, col: number}} -1: outside */
  under(event) {
    const { plan, shown } = this;
    const box = this.base.getBoundingClientRect();
    const x = event.clientX - box.left - plan.x;
    const y = event.clientY - box.top - plan.y;
    const col = x >= 0 && x < plan.w && y < plan.h ? Math.floor(x / plan.cellW) : -1;
    const row = y >= 0 && y < plan.h && x < plan.w ? Math.floor(y / plan.cellH) : -1;
    return { row: Math.min(row, shown.rows.length - 1), col: Math.min(col, shown.cols.length - 1) };
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
      this.host.pin(this.panel.id, this.shown.rows[row], this.shown.cols[col]);
    };
    this.plot.onkeydown = (event) => this.key(event);
    this.plot.onfocus = () => {
      if (this.plot.matches(":focus-visible")) this.point(this.cursor.row, this.cursor.col);
    };
    this.plot.onblur = () => this.host.leave();
  }

  /** @param {number} row @param {number} col */
  point(row, col) {
    const { panel, shown } = this;
    this.host.point(panel.id, row < 0 ? null : shown.rows[row], col < 0 ? null : shown.cols[col]);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { cursor, shown } = this;
    const page = event.shiftKey ? 10 : 1;
    /** @type {Record<string, [number, number]>} */
    const moves = {
      ArrowUp: [-page, 0],
      ArrowDown: [page, 0],
      ArrowLeft: [0, -page],
      ArrowRight: [0, page],
      PageUp: [-10, 0],
      PageDown: [10, 0],
      Home: [0, -shown.cols.length],
      End: [0, shown.cols.length],
    };
    if (event.key === "Escape") this.host.clear();
    else if (event.key === "Enter" || event.key === " ") {
      this.host.pin(this.panel.id, shown.rows[cursor.row], shown.cols[cursor.col]);
    } else if (event.key in moves && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const [down, right] = moves[event.key];
      cursor.row = Math.max(0, Math.min(shown.rows.length - 1, cursor.row + down));
      cursor.col = Math.max(0, Math.min(shown.cols.length - 1, cursor.col + right));
      this.point(cursor.row, cursor.col);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

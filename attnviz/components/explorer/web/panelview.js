// @ts-check
/** @import { Window } from "./types.js" */
/** @import { Marks } from "./overlay.js" */
/** @import { Given, Shown } from "./scene.js" */
import { ActiveCell } from "./activecell.js";
import { Brush, blockPieces } from "./block.js";
import { canvasSurface, context2d, sized } from "./canvas.js";
import { cellAt, rowAt } from "./cells.js";
import { element } from "./dom.js";
import { exact } from "./format.js";
import { gestures } from "./gestures.js";
import { moved } from "./keys.js";
import { paintOverlay } from "./overlay.js";
import { paint } from "./paint.js";
import { boxOf, cellUnder } from "./spots.js";
import { cell as cellPieces, place, plain, show } from "./readout.js";
import { ROOMY, leastWidth, looking, sceneOf } from "./scene.js";
import { Viewport } from "./viewport.js";

const ROW_AFTER = 120; // ms of rest on a cell before its whole row is asked for

/**
 * What a panel tells the explorer. row or col is null where the pointer is over a label.
 *
 * @typedef {object} PanelHost
 * @property {(panel: string, row: number | null, col: number | null) => void} point
 * @property {() => void} leave
 * @property {(panel: string, row: number, col: number, to?: [number, number] | null) => void} pin
 * @property {() => boolean} blocks - whether a block may be kept
 * @property {() => void} clear
 * @property {(panel: PanelView) => HTMLElement} menu
 * @property {(panel: PanelView, window: Window) => void} moved - the reader has moved it
 * @property {(says: string) => void} looked - another part is in sight, which these words say
 */

/** @type {Marks} */
const NO_MARKS = { row: -1, col: -1, pinRow: -1, pinCol: -1, toRow: -1, toCol: -1 };

/** One matrix on the page: its canvas, its labels, its readout, its keys. */
export class PanelView {
  /** @param {PanelHost} host @param {Given} given @param {Window} window */
  constructor(host, given, window) {
    this.host = host;
    this.title = element("h2", "title");
    this.subtitle = element("p", "subtitle");
    this.base = element("canvas", "base");
    this.over = element("canvas", "over");
    this.plot = element("div", "plot", { role: "grid", tabindex: "0" }, [this.base, this.over]);
    this.active = new ActiveCell(this.plot);
    this.readout = element("p", "readout");
    const words = element("div", "words", {}, [this.title, this.subtitle]);
    const head = element("header", "", {}, [words, host.menu(this)]);
    this.viewport = new Viewport(this.plot, () => this.scene, (window) => {
      this.look(window);
      host.moved(this, window);
    });
    this.viewport.window = window;
    const { bar } = this.viewport;
    this.root = element("section", "panel", {}, [head, this.plot, bar.root, this.readout]);
    /** The keyboard's cell, among the drawn ones. */
    this.cursor = { row: 0, col: 0 };
    this.drawn = "";
    this.marks = NO_MARKS;
    this.marked = false;
    /** @type {import("./readout.js").Piece[]} */
    this.idle = [];
    this.frame = 0;
    this.rowTimer = 0;
    /** @type {Shown} */
    this.scene = sceneOf(given, this.viewport.window, null);
    this.brush = new Brush(this.plot, this);
    this.update(given);
    this.listen();
  }

  /** @param {Given} given */
  update(given) {
    this.viewport.keep(given.panel, this.scene.panel);
    this.scene = sceneOf(given, this.viewport.window, this.scene);
    if (this.viewport.fits(this.scene)) this.scene = looking(this.scene, this.viewport.window);
    const { panel, shown, plan, theme, ratio } = this.scene;
    this.root.dataset.panel = panel.id;
    this.root.style.setProperty("--accent", theme.accents[panel.accent] ?? theme.accents.plain);
    this.root.classList.toggle("plain", panel.accent === "plain");
    const words = leastWidth(panel, given.maxWidth, given.measure);
    this.root.style.width = `${Math.max(plan.width, words)}px`;
    // Where there is room, title, readout and menu share a line: a large map stays in sight whole.
    this.root.classList.toggle("roomy", plan.width >= ROOMY);
    this.title.textContent = panel.title;
    this.subtitle.textContent = panel.subtitle;
    const [nRows, nCols] = [panel.rows.labels.length, panel.cols.labels.length];
    this.plot.setAttribute("aria-label", `${panel.title}, ${nRows} rows by ${nCols} columns`);
    this.plot.setAttribute("aria-rowcount", String(nRows));
    this.plot.setAttribute("aria-colcount", String(nCols));
    this.cursor.row = Math.min(this.cursor.row, shown.rows.length - 1);
    this.cursor.col = Math.min(this.cursor.col, shown.cols.length - 1);
    const stamp = panel.block > 1 ? panel.source?.stamp() : 0;
    const state = JSON.stringify([panel.digest, panel.refusal, panel.valueName, panel.scale, given.options, theme.page, plan, ratio, stamp]);
    if (state === this.drawn) return;
    this.drawn = state;
    for (const canvas of [this.base, this.over]) sized(canvas, plan.width, plan.height, ratio);
    this.repaint();
  }

  repaint() {
    const context = context2d(this.base);
    const { plan } = this.scene;
    context.clearRect(0, 0, plan.width, plan.height);
    paint(canvasSurface(context), this.scene);
    this.viewport.shown();
  }

  /** Shows what another map shows, as far as it can. @param {Window} window */
  follow(window) {
    this.viewport.window = window;
    this.viewport.fits(this.scene);
    this.look(this.viewport.window);
  }

  /** @param {Window} window - what is in sight from the next frame on */
  look(window) {
    this.scene = looking(this.scene, window);
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const start = performance.now();
      this.drawn = "";
      this.repaint();
      this.remark();
      this.host.looked(this.viewport.bar.says.textContent ?? "");
      this.root.dataset.frameMs = (performance.now() - start).toFixed(1);
    });
  }

  /**
   * @param {Marks} marks
   * @param {import("./readout.js").Piece[]} idle - when nothing is marked
   * @param {boolean} own - the reader points here, not at a linked panel
   */
  mark(marks, idle, own) {
    this.marks = marks;
    this.idle = idle;
    this.remark();
    if (own) this.whole();
  }

  remark() {
    const { marks } = this;
    const { panel, shown } = this.scene;
    // A canvas that is touched is sent to the screen anew: not where there is nothing to show.
    const marked = Object.values(marks).some((at) => at >= 0);
    if (marked || this.marked) paintOverlay(context2d(this.over), this.scene, marks);
    this.marked = marked;
    const pointed = marks.row >= 0 || marks.col >= 0;
    const row = pointed ? marks.row : marks.pinRow;
    const col = pointed ? marks.col : marks.pinCol;
    const kept = row >= 0 && row === marks.pinRow && col === marks.pinCol;
    const to = /** @type {[number, number]} */ ([shown.rows[marks.toRow], shown.cols[marks.toCol]]);
    const block = kept && marks.toRow >= 0 && marks.toCol >= 0;
    const pieces = block ? blockPieces(panel, shown.rows[row], shown.cols[col], to) : this.say(row, col);
    show(this.readout, pieces.length > 0 ? pieces : this.idle);
    this.active.set(plain(pieces), row < 0 ? -1 : shown.rows[row], col < 0 ? -1 : shown.cols[col], kept);
    // For machines: the number itself, where it is known.
    const at = row >= 0 && col >= 0 ? cellAt(panel, shown.rows[row], shown.cols[col]) : null;
    this.active.cell.dataset.value = at?.exact ? exact(at.masked ? 0 : at.value) : "";
  }

  /** A rank needs the whole row: it is asked for once the reader rests on a cell. */
  whole() {
    clearTimeout(this.rowTimer);
    const { panel, shown } = this.scene;
    const row = shown.rows[this.marks.row];
    const col = shown.cols[this.marks.col];
    if (panel.block === 1 || row === undefined || col === undefined) return;
    if (!cellAt(panel, row, col).exact || rowAt(panel, row)) return;
    this.rowTimer = window.setTimeout(() => panel.source?.row(row, panel.cols.labels.length), ROW_AFTER);
  }

  /** @param {number} row @param {number} col - among the drawn ones, -1 for none */
  say(row, col) {
    const { panel, shown } = this.scene;
    if (row >= 0 && col >= 0) return cellPieces(panel, shown.rows[row], shown.cols[col]);
    if (row >= 0) return place(panel.rows, shown.rows[row], true);
    if (col >= 0) return place(panel.cols, shown.cols[col], true);
    return [];
  }

  /** @param {MouseEvent} event */
  under(event) {
    return cellUnder(this.scene, this.base.getBoundingClientRect(), event);
  }

  /** Where a cell is on the screen: for tests. @param {number} row @param {number} col - positions */
  cellBox(row, col) {
    return boxOf(this.scene, this.base.getBoundingClientRect(), row, col);
  }

  listen() {
    const hand = gestures(this.plot, this.viewport);
    this.plot.onpointermove = (event) => {
      if (event.pointerType === "touch" || hand.busy() || this.brush.busy()) return;
      const { row, col } = this.under(event);
      if (row < 0 && col < 0) this.host.leave();
      else this.point(row, col);
    };
    this.plot.onpointerleave = () => this.host.leave();
    this.plot.onclick = (event) => {
      const { row, col } = this.under(event);
      if (row < 0 || col < 0 || hand.busy() || this.brush.busy()) return;
      if (event.shiftKey && this.brush.extend({ row, col })) return;
      this.cursor = { row, col };
      this.brush.keep(this.cursor);
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

  /** @param {KeyboardEvent} event */
  key(event) {
    const { shown } = this.scene;
    const zoomed = this.viewport.key(event, this.cursor);
    const to = zoomed ? null : moved(event, this.cursor, shown.rows.length, shown.cols.length, 10);
    if (to) {
      this.cursor = to;
      this.viewport.reveal(to.row, to.col);
      this.point(to.row, to.col);
    } else if (zoomed) this.point(this.cursor.row, this.cursor.col);
    else if (event.key === "Escape") this.host.clear();
    else if (event.key === "Enter" && event.shiftKey && this.brush.extend(this.cursor)) this.host.leave();
    else if (event.key === "Enter" || event.key === " ") this.brush.keep(this.cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

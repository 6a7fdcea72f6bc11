// @ts-check
/** @import { Figure, Options, Panel, Selection } from "./types.js" */
/** @import { Pointer } from "./linking.js" */
import { measurer } from "./canvas.js";
import { element } from "./dom.js";
import { GridView } from "./gridview.js";
import { linked } from "./linking.js";
import { PanelView } from "./panelview.js";
import { commonCell, rowLabels } from "./plan.js";
import { themeOf } from "./theme.js";
import { Toolbar } from "./toolbar.js";
import { scaleKind, view } from "./view.js";

const REPORT_AFTER = 150; // ms of rest before a selection goes to Python
const IDLE = /** @type {import("./readout.js").Piece[]} */ ([
  { kind: "word", text: "Point at a cell to read it; click to keep it." },
]);

/** One mounted figure: what is selected, what is pointed at, and the views that show it. */
export class Explorer {
  /**
   * @param {HTMLElement} root
   * @param {(selection: Selection) => void} report
   */
  constructor(root, report) {
    this.root = root;
    this.report = report;
    /** @type {Options} */
    this.options = { scale: null, hideFirst: false, hideSpecial: false, metric: "" };
    /** @type {Selection} */
    this.selection = { layer: null, head: null, panel: null, row: null, col: null };
    /** @type {Pointer | null} */
    this.pointer = null;
    this.push = -1;
    this.frame = 0;
    this.generation = 0;
    /** @type {Map<string, PanelView>} */
    this.views = new Map();
    this.toolbar = new Toolbar((change) => this.change(change));
    this.grid = new GridView({
      open: (layer, head) => this.select({ layer, head }),
      metric: (metric) => this.change({ metric }),
    });
    this.panels = element("div", "panels");
    this.stage = element("div", "stage", {}, [this.grid.root, this.panels]);
    root.replaceChildren(this.toolbar.root, this.stage);
    this.watcher = new ResizeObserver(() => this.draw());
    this.watcher.observe(root);
  }

  /** @param {Figure} figure */
  show(figure) {
    this.figure = figure;
    this.theme = themeOf(this.root, figure);
    this.measure = measurer(this.theme);
    this.loadFaces();
    if (figure.push !== this.push) {
      this.selection = { ...figure.selection };
      this.push = figure.push;
    }
    this.pointer = null;
    this.root.classList.remove("waiting");
    this.root.setAttribute("aria-label", figure.alt);
    this.root.setAttribute("role", "figure");
    this.draw();
  }

  /** A canvas does not wait for a face that the page has not used yet: draw again with it. */
  async loadFaces() {
    const { sans, mono } = this.theme;
    const wanted = [`12px ${mono}`, `12px ${sans}`, `600 16px ${sans}`];
    const missing = wanted.filter((face) => !document.fonts.check(face));
    if (missing.length === 0) return;
    await Promise.allSettled(missing.map((face) => document.fonts.load(face)));
    this.measure = measurer(this.theme);
    for (const one of this.views.values()) one.drawn = "";
    this.grid.drawn = "";
    this.draw();
  }

  /** The panels as they are drawn: the first one holds the selected map of a stack. */
  get shownPanels() {
    const { panels, grid } = this.figure;
    if (!grid?.stack || panels.length === 0) return panels;
    const { layer, head } = this.place;
    const row = grid.layers.indexOf(layer);
    const size = panels[0].values.length;
    const at = (row * grid.heads + head) * size;
    /** @type {Panel} */
    const first = {
      ...panels[0],
      title: `Layer ${layer}, head ${head}`,
      values: grid.stack.subarray(at, at + size),
      digest: `${grid.digest} ${at}`,
    };
    return [first, ...panels.slice(1)];
  }

  /** The open head; a grid without a selection opens its first. */
  get place() {
    const grid = this.figure.grid;
    const { layer, head } = this.selection;
    const known = layer !== null && head !== null && grid?.layers.includes(layer) && head < grid.heads;
    return known ? { layer, head } : { layer: grid?.layers[0] ?? 0, head: 0 };
  }

  draw() {
    if (this.frame || !this.figure) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const start = performance.now();
      this.layOut();
      this.markAll();
      this.generation += 1;
      this.root.dataset.generation = String(this.generation);
      this.root.dataset.drawMs = (performance.now() - start).toFixed(1);
    });
  }

  layOut() {
    const width = this.root.clientWidth;
    if (width === 0) return;
    const { grid } = this.figure;
    const { theme, measure, options } = this;
    const tall = Math.max(380, Math.min(820, window.innerHeight - 230));
    this.toolbar.update(this.figure, options);
    this.grid.root.hidden = grid === null;
    let room = width;
    if (grid) {
      const beside = width >= 760;
      this.grid.update({
        grid,
        theme,
        metric: options.metric,
        maxWidth: beside ? width * 0.42 : width,
        maxHeight: beside ? tall : 40 * grid.layers.length,
        ...this.place,
      });
      const used = this.grid.plan.width;
      const fits = beside && used <= width * 0.5;
      this.stage.classList.toggle("beside", fits);
      if (fits) room = width - used - 32;
    }
    const panels = this.shownPanels;
    const only = panels.length === 1;
    const cell = only ? 60 : this.cellFor(panels, room);
    for (const [id, one] of this.views) {
      if (panels.some((panel) => panel.id === id)) continue;
      one.root.remove();
      this.views.delete(id);
    }
    panels.forEach((panel, i) => {
      const one = this.views.get(panel.id) ?? this.add(panel.id);
      one.update({ panel, options, theme, measure, maxWidth: room, maxHeight: only ? tall : 620, cell });
      if (this.panels.children[i] !== one.root) this.panels.insertBefore(one.root, this.panels.children[i] ?? null);
    });
  }

  /** @param {Panel[]} panels @param {number} room */
  cellFor(panels, room) {
    const sizes = panels.map((panel) => {
      const shown = view(panel, this.options);
      const { x } = rowLabels(panel, shown, room, this.measure, Math.ceil(shown.rows.length / 50));
      return { rows: shown.rows.length, cols: shown.cols.length, x };
    });
    // Small matrices keep cells that have room for a number.
    const small = sizes.every(({ rows, cols }) => Math.max(rows, cols) <= 10);
    return commonCell(sizes, room, 820, 44, small ? 32 : 13);
  }

  /** @param {string} id */
  add(id) {
    const one = new PanelView({
      point: (panel, row, col) => this.point(panel, row, col),
      leave: () => this.point(null, null, null),
      pin: (panel, row, col) => this.pin(panel, row, col),
      clear: () => this.select({ panel: null, row: null, col: null }),
      plate: (from) => this.plate(from),
    });
    this.views.set(id, one);
    return one;
  }

  /** @param {PanelView} scene @returns {import("./exporting.js").Plate} */
  plate(scene) {
    const { figure } = this;
    const { layer, head } = this.place;
    const parts = [figure.fileStem];
    if (figure.grid && scene.panel.id === figure.panels[0].id) parts.push(`layer${layer}-head${head}`);
    if (figure.panels.length > 1) parts.push(scene.panel.id);
    const notes = [figure.settings, `colours ${scaleKind(scene.panel, this.options)}`, this.toolbar.note.textContent ?? ""];
    return { scene, settings: notes.filter(Boolean).join(" · "), stem: parts.join("-").replace(/[^\w.-]+/g, "_") };
  }

  markAll() {
    const { panel: id, row, col } = this.selection;
    const panels = this.shownPanels;
    const home = panels.find((panel) => panel.id === id);
    const pinned = home ? { panel: home, row, col } : null;
    panels.forEach((panel, i) => {
      const one = /** @type {PanelView} */ (this.views.get(panel.id));
      const now = linked(this.pointer, panel, one.shown);
      const pin = linked(pinned, panel, one.shown);
      one.mark({ ...now, pinRow: pin.row, pinCol: pin.col }, i === 0 ? IDLE : []);
    });
  }

  /** @param {string | null} id @param {number | null} row @param {number | null} col */
  point(id, row, col) {
    const panel = this.shownPanels.find((one) => one.id === id);
    const same = panel ? this.pointer?.panel.id === id && this.pointer?.row === row && this.pointer?.col === col : this.pointer === null;
    if (same) return;
    this.pointer = panel ? { panel, row, col } : null;
    this.markAll();
  }

  /** @param {string} panel @param {number} row @param {number} col */
  pin(panel, row, col) {
    const { selection: now } = this;
    const again = now.panel === panel && now.row === row && now.col === col;
    this.select(again ? { panel: null, row: null, col: null } : { panel, row, col });
  }

  /** @param {Partial<Options>} change */
  change(change) {
    this.options = { ...this.options, ...change };
    this.draw();
  }

  /** @param {Partial<Selection>} change */
  select(change) {
    const before = this.place;
    this.selection = { ...this.selection, ...change };
    const { grid } = this.figure;
    if (grid) Object.assign(this.selection, this.place);
    const moved = before.layer !== this.place.layer || before.head !== this.place.head;
    if (moved && grid && !grid.stack) this.root.classList.add("waiting");
    this.draw();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.report({ ...this.selection }), REPORT_AFTER);
  }

  stop() {
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
    this.watcher.disconnect();
  }
}

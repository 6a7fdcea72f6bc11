// @ts-check
/** @import { Figure, Options, Panel, Selection } from "./types.js" */
/** @import { Pointer } from "./linking.js" */
import { measurer } from "./canvas.js";
import { Depot } from "./depot.js";
import { element } from "./dom.js";
import { plateOf } from "./exporting.js";
import { isFlat } from "./gridplan.js";
import { GridView } from "./gridview.js";
import { openHead, shownPanels } from "./heads.js";
import { linked } from "./linking.js";
import { PanelView } from "./panelview.js";
import { roomBelow } from "./room.js";
import { cellFor } from "./scene.js";
import { Telling } from "./telling.js";
import { themeOf } from "./theme.js";
import { Toolbar } from "./toolbar.js";

const NOTHING = { panel: null, row: null, col: null };
const IDLE = /** @type {import("./readout.js").Piece[]} */ ([
  { kind: "word", text: "Point at a cell to read it; click to keep it." },
]);

/** One mounted figure: what is selected, what is pointed at, and the views that show it. */
export class Explorer {
  /**
   * @param {HTMLElement} root
   * @param {Figure} figure
   * @param {(selection: Selection) => void} report
   */
  constructor(root, figure, report) {
    this.root = root;
    this.figure = figure;
    this.report = report;
    /** @type {Options} */
    this.options = { scale: null, hideFirst: false, hideSpecial: false, metric: "" };
    /** @type {Selection} */
    this.selection = { layer: null, head: null, ...NOTHING };
    /** @type {Pointer | null} */
    this.pointer = null;
    this.push = -1;
    this.frame = 0;
    this.generation = 0;
    this.width = 0;
    this.tall = 0;
    /** @type {Map<string, PanelView>} */
    this.views = new Map();
    /** @type {GridView | null} */
    this.grid = null;
    this.telling = new Telling(this);
    this.depot = new Depot(() => this.draw(), (note) => this.telling.hear(note));
    this.toolbar = new Toolbar((change) => this.change(change));
    this.panels = element("div", "panels");
    this.stage = element("div", "stage", {}, [this.panels]);
    root.replaceChildren(this.toolbar.root, this.stage);
    this.theme = themeOf(root, figure);
    this.measure = measurer(this.theme);
    this.watcher = new ResizeObserver(() => this.draw());
    this.watcher.observe(root);
    this.show(figure);
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
    this.depot.serve(figure);
    this.root.setAttribute("role", "figure");
    this.root.setAttribute("aria-label", figure.alt);
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
    if (this.grid) this.grid.drawn = "";
    this.draw();
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (this.root.clientWidth === 0) return;
      const start = performance.now();
      this.root.classList.toggle("waiting", this.depot.await(this.selection));
      this.layOut();
      this.markAll();
      this.generation += 1;
      this.root.dataset.generation = String(this.generation);
      this.root.dataset.drawMs = (performance.now() - start).toFixed(1);
    });
  }

  layOut() {
    const { theme, measure, options } = this;
    const width = this.root.clientWidth;
    // Once for each width: what changes above the picture must not make it jump.
    if (width !== this.width) this.tall = roomBelow(this.root);
    this.width = width;
    const { tall } = this;
    this.toolbar.update(this.figure, options);
    const room = this.layOutGrid(width, tall);
    const panels = shownPanels(this.figure, this.selection);
    for (const [id, one] of this.views) {
      if (panels.some((panel) => panel.id === id)) continue;
      one.root.remove();
      this.views.delete(id);
    }
    const only = panels.length === 1;
    const size = { maxWidth: room, maxHeight: only ? tall : 620, cell: only ? 60 : cellFor(panels, options, room, measure) };
    panels.forEach((panel, i) => {
      const given = { panel, options, theme, measure, ...size };
      const known = this.views.get(panel.id);
      known?.update(given);
      const one = known ?? this.add(given);
      if (this.panels.children[i] !== one.root) {
        this.panels.insertBefore(one.root, this.panels.children[i] ?? null);
      }
    });
  }

  /** @param {number} width @param {number} tall @returns {number} the width left for the panels */
  layOutGrid(width, tall) {
    const { grid } = this.figure;
    if (grid === null) {
      this.grid?.root.remove();
      this.grid = null;
      this.stage.classList.remove("beside");
      return width;
    }
    const flat = isFlat(grid.layers.length, grid.heads);
    const beside = width >= 760 && !flat;
    const given = {
      grid,
      theme: this.theme,
      metric: this.options.metric,
      maxWidth: beside ? width * 0.42 : width,
      // Above the panels it scrolls in a box of its own.
      maxHeight: beside ? tall : flat ? Infinity : 40 * grid.layers.length,
      ...openHead(this.figure, this.selection),
    };
    if (this.grid) this.grid.update(given);
    else {
      this.grid = new GridView(
        {
          open: (layer, head) => this.select({ layer, head }),
          metric: (metric) => this.change({ metric }),
        },
        given,
      );
      this.stage.prepend(this.grid.root);
    }
    const used = Math.max(230, this.grid.scene.plan.width);
    const fits = beside && used <= width * 0.5;
    this.stage.classList.toggle("beside", fits);
    return fits ? width - used - 32 : width;
  }

  /** @param {import("./scene.js").Given} given */
  add(given) {
    const host = {
      point: this.point.bind(this),
      leave: () => this.point(null, null, null),
      pin: this.pin.bind(this),
      clear: () => this.select(NOTHING),
      plate: (/** @type {PanelView} */ { scene }) =>
        plateOf(this.figure, this.selection, this.options, this.toolbar.note.textContent ?? "", scene),
    };
    const one = new PanelView(host, given);
    this.views.set(given.panel.id, one);
    return one;
  }

  markAll() {
    const panels = shownPanels(this.figure, this.selection);
    const { panel: id, row, col } = this.selection;
    const home = panels.find((panel) => panel.id === id);
    const pinned = home ? { panel: home, row, col } : null;
    panels.forEach((panel, i) => {
      const one = this.views.get(panel.id);
      if (!one) return;
      const { shown } = one.scene;
      const pin = linked(pinned, panel, shown);
      const marks = { ...linked(this.pointer, panel, shown), pinRow: pin.row, pinCol: pin.col };
      one.mark(marks, i === 0 ? IDLE : [], this.pointer?.panel.id === panel.id);
    });
  }

  /** @param {string | null} id @param {number | null} row @param {number | null} col */
  point(id, row, col) {
    const now = this.pointer;
    if ((now?.panel.id ?? null) === id && (now?.row ?? null) === row && (now?.col ?? null) === col) return;
    const panel = this.figure.panels.find((one) => one.id === id);
    this.pointer = panel ? { panel, row, col } : null;
    this.markAll();
  }

  /** @param {string} panel @param {number} row @param {number} col */
  pin(panel, row, col) {
    const { selection: now } = this;
    const again = now.panel === panel && now.row === row && now.col === col;
    this.select(again ? NOTHING : { panel, row, col });
  }

  /** @param {Partial<Options>} change */
  change(change) {
    this.options = { ...this.options, ...change };
    this.draw();
  }

  /** @param {Partial<Selection>} change */
  select(change) {
    const { grid } = this.figure;
    const before = openHead(this.figure, this.selection);
    this.selection = { ...this.selection, ...change };
    if (grid) this.selection = { ...this.selection, ...openHead(this.figure, this.selection) };
    this.draw();
    this.telling.changed(change, before);
  }

  stop() {
    this.telling.stop();
    cancelAnimationFrame(this.frame);
    this.depot.leave();
    this.watcher.disconnect();
  }
}

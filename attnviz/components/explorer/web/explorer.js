// @ts-check
/** @import { Figure, Look, Options, Panel, Selection } from "./types.js" */
/** @import { Pointer } from "./linking.js" */
import { measurer } from "./canvas.js";
import { Depot } from "./depot.js";
import { element } from "./dom.js";
import { scenePlate, wordsOf } from "./exporting.js";
import { loadFaces } from "./faces.js";
import { Filing } from "./filing.js";
import { FirstToken } from "./firsttoken.js";
import { layOutGrid, taken } from "./gridstage.js";
import { openHead, shownPanels } from "./heads.js";
import { kept, linked } from "./linking.js";
import { PLAIN, optionsOf, toggled } from "./look.js";
import { MOST_OTHERS, mapOf } from "./maps.js";
import { exportMenu } from "./menu.js";
import { PanelView } from "./panelview.js";
import { wholePlate } from "./pieces.js";
import { Player } from "./player.js";
import { roomBelow } from "./room.js";
import { cellFor } from "./scene.js";
import { Scenes } from "./scenes.js";
import { Telling } from "./telling.js";
import { themeOf } from "./theme.js";
import { Toolbar } from "./toolbar.js";
import { Voice } from "./voice.js";
import { Zooming } from "./zooming.js";

const NOTHING = { panel: null, row: null, col: null, to: null };
const IDLE = /** @type {import("./readout.js").Piece[]} */ ([
  { kind: "word", text: "Point at a cell to read it; click to keep it." },
]);

/** One mounted figure: what is selected, what is pointed at, and the views that show it. */
export class Explorer {
  /**
   * @param {HTMLElement} root
   * @param {Figure} figure
   * @param {(selection: Selection & {look: Look}) => void} report
   */
  constructor(root, figure, report) {
    this.root = root;
    this.figure = figure;
    this.report = report;
    /** @type {Options} */
    this.options = PLAIN;
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
    /** @type {import("./gridview.js").GridView | null} */
    this.grid = null;
    /** @type {import("./lecture.js").Lecture | null} */
    this.lecture = null;
    this.telling = new Telling(this);
    this.zooming = new Zooming(this);
    this.filing = new Filing();
    this.voice = new Voice();
    this.depot = new Depot(() => this.draw(), (note) => this.telling.hear(note));
    const exporting = exportMenu(() => wholePlate(this), this, "Export all");
    this.toolbar = new Toolbar((change, settled) => this.change(change, settled), exporting);
    this.panels = element("div", "panels");
    this.scenes = new Scenes(this);
    this.player = new Player(this);
    this.first = new FirstToken();
    this.main = element("div", "main", {}, [this.player.root, this.scenes.above, this.panels, this.first.root]);
    this.stage = element("div", "stage", {}, [this.main]);
    root.replaceChildren(this.toolbar.root, this.stage, this.voice.root);
    this.theme = themeOf(root, figure, this.options.palette);
    this.measure = measurer(this.theme);
    this.watcher = new ResizeObserver(() => this.draw());
    this.watcher.observe(root);
    this.show(figure);
  }

  /** @param {Figure} figure */
  show(figure) {
    this.zooming.keep(this.figure, figure);
    this.figure = figure;
    this.filing.take(figure);
    if (figure.push !== this.push) {
      const { look, ...selection } = figure.selection;
      this.selection = selection;
      this.options = optionsOf(look);
      this.zooming.take(look);
      this.push = figure.push;
    }
    this.theme = themeOf(this.root, figure, this.options.palette);
    this.measure = measurer(this.theme);
    loadFaces(this);
    this.pointer = kept(this.pointer, figure);
    this.depot.serve(figure);
    this.root.setAttribute("role", "figure");
    this.root.setAttribute("aria-label", figure.alt);
    this.drawNow(); // new numbers wait for no frame
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (this.root.clientWidth === 0) return;
    const start = performance.now();
    this.root.classList.toggle("waiting", this.depot.await(this.selection));
    this.layOut();
    this.markAll();
    this.voice.follow(this);
    this.generation += 1;
    this.root.dataset.generation = String(this.generation);
    this.root.dataset.drawMs = (performance.now() - start).toFixed(1);
  }

  layOut() {
    const { theme, measure, options } = this;
    const width = this.root.clientWidth;
    // Once for each width: what changes above the picture must not make it jump.
    if (width !== this.width) this.tall = roomBelow(this.root);
    this.width = width;
    this.player.update();
    this.scenes.update();
    this.toolbar.update(this.figure, options, this.scenes.views);
    const room = this.scenes.roomFor(layOutGrid(this, width, this.tall, this.scenes.maps));
    const tall = this.tall - taken(this);
    const { panels } = this.scenes;
    for (const [id, one] of this.views) {
      if (panels.some((panel) => panel.id === id)) continue;
      one.root.remove();
      this.views.delete(id);
    }
    let common = 0; // the side of a cell where panels share one
    const shared = () => ({ maxWidth: room, maxHeight: 620, cell: (common ||= cellFor(panels, options, room, measure)) });
    panels.forEach((panel, i) => {
      const given = { panel, options, theme, measure, ...(this.scenes.size(room, tall, i) ?? shared()) };
      const known = this.views.get(panel.id);
      known?.update(given);
      const one = known ?? this.add(given);
      if (this.panels.children[i] !== one.root) {
        this.panels.insertBefore(one.root, this.panels.children[i] ?? null);
      }
    });
    this.scenes.layOut(tall);
    this.first.update(this.figure, this.scenes.main?.panel ?? null, options);
    this.toolbar.exporting.hidden = this.panels.children.length < 2;
  }

  /** @param {import("./scene.js").Given} given */
  add(given) {
    const host = {
      point: this.point.bind(this),
      leave: () => this.point(null, null, null),
      pin: this.pin.bind(this),
      clear: () => this.select(NOTHING),
      blocks: () => this.figure.blocks ?? false,
      menu: (/** @type {PanelView} */ view) =>
        exportMenu(() => scenePlate(view.scene, wordsOf(this, view.scene.panel)), this),
      moved: this.zooming.moved.bind(this.zooming),
      looked: (/** @type {string} */ says) => {
        this.voice.say(says);
        this.scenes.tabling.update();
      },
    };
    const one = new PanelView(host, given, this.zooming.windowOf(given.panel));
    this.views.set(given.panel.id, one);
    return one;
  }

  markAll() {
    const { panels } = this.scenes;
    const { panel: id, row, col, to } = this.selection;
    const pointer = this.pointer ?? this.player.newest();
    const home = shownPanels(this.figure, this.selection).find((panel) => panel.id === id);
    const pinned = home ? { panel: home, row, col } : null;
    const far = home && to ? { panel: home, row: to[0], col: to[1] } : null;
    panels.forEach((panel, i) => {
      const one = this.views.get(panel.id);
      if (!one) return;
      const { shown } = one.scene;
      const pin = linked(pinned, panel, shown);
      const end = linked(far, panel, shown);
      const marks = { ...linked(pointer, panel, shown), pinRow: pin.row, pinCol: pin.col, toRow: end.row, toCol: end.col };
      one.mark(marks, i === 0 ? IDLE : [], this.pointer?.panel.id === panel.id);
    });
    this.scenes.mark(pointer, pinned);
  }

  /** @param {string | null} id @param {number | null} row @param {number | null} col */
  point(id, row, col) {
    const now = this.pointer;
    if ((now?.panel.id ?? null) === id && (now?.row ?? null) === row && (now?.col ?? null) === col) return;
    const panel = [...this.scenes.panels, ...this.figure.panels].find((one) => one.id === id);
    this.pointer = panel ? { panel, row, col } : null;
    this.markAll();
  }

  /** @param {string} panel @param {number} row @param {number} col @param {[number, number] | null} to - a block's end */
  pin(panel, row, col, to = null) {
    const { selection: now, scenes } = this;
    // What is drawn for comparison only has no name outside: its cells are the open map's.
    if (scenes.main && !this.figure.panels.some(({ id }) => id === panel)) panel = scenes.main.panel.id;
    const again = now.panel === panel && now.row === row && now.col === col && String(now.to ?? "") === String(to ?? "");
    this.select(again ? NOTHING : { panel, row, col, to });
  }

  /** @param {Partial<Options>} change @param {boolean} settled - not while a slider is dragged */
  change(change, settled = true) {
    this.options = { ...this.options, ...change };
    if (change.palette !== undefined) this.theme = themeOf(this.root, this.figure, change.palette);
    this.draw();
    if (settled) this.telling.tell();
  }

  /** Puts a map beside the open one, or takes it away. @param {string} key */
  also(key) {
    const { options, figure, scenes: { main } } = this;
    if (!main || (!options.others.includes(key) && !mapOf(figure, main, key))) return;
    // Lines of several heads are what adding one to a matrix asks for.
    const show = options.show === "compare" ? options.show : "lines";
    this.change({ show, others: toggled(options.others, key, MOST_OTHERS) });
  }

  /** @param {Partial<Selection>} change */
  select(change) {
    const { grid } = this.figure;
    const before = openHead(this.figure, this.selection);
    this.selection = { ...this.selection, ...("row" in change ? { to: null } : {}), ...change };
    if (grid) this.selection = { ...this.selection, ...openHead(this.figure, this.selection) };
    this.draw();
    this.telling.changed(change, before);
  }

  stop() {
    for (const part of [this.lecture, this.player, this.zooming, this.telling, this.voice]) part?.stop();
    cancelAnimationFrame(this.frame);
    this.frame = 0; // what is called off is not waited for
    this.depot.leave();
    this.watcher.disconnect();
  }
}

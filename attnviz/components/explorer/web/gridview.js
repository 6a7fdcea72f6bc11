// @ts-check
/** @import { Grid, Options, Theme } from "./types.js" */
import { ActiveCell } from "./activecell.js";
import { context2d, sized } from "./canvas.js";
import { element } from "./dom.js";
import { number } from "./format.js";
import { atlas, extent, frameThumbnail, paintGrid } from "./gridpaint.js";
import { gridPlan, headX, layerY, thumbnailAt } from "./gridplan.js";
import { GridRanking } from "./gridranking.js";
import { GridTools, passes } from "./gridtools.js";
import { headName } from "./heads.js";
import { moved } from "./keys.js";

/**
 * @typedef {object} GridHost
 * @property {(layer: number, head: number) => void} open - layer is the true index
 * @property {(layer: number, head: number) => void} also - beside the open one
 * @property {(change: Partial<Options>, settled?: boolean) => void} change
 *
 * @typedef {{layer: number, head: number}} Place - layer is a row of the grid
 */

/**
 * @typedef {{grid: Grid, theme: Theme, options: Options, maxWidth: number, maxHeight: number,
 *   layer: number, head: number, beside: {layer: number, head: number, colour: string}[]}} Given
 *   layer is the true index
 *
 * @typedef {{grid: Grid, plan: import("./gridplan.js").GridPlan, theme: Theme,
 *   sheet: HTMLCanvasElement, metric: Grid["metrics"][number] | null}} GridScene
 */

/** Thumbnails of all maps, layers by heads; one is open. */
export class GridView {
  /** @param {GridHost} host @param {Given} given */
  constructor(host, given) {
    this.host = host;
    this.given = given;
    this.select = element("select", "", { "aria-label": "Colour thumbnails by" });
    this.select.onchange = () => host.change({ metric: this.select.value, cut: null });
    this.tools = new GridTools(host.change);
    this.label = element("label", "metric", {}, ["Show ", this.select]);
    this.base = element("canvas", "base");
    this.over = element("canvas", "over");
    this.plot = element("div", "plot", { role: "grid", tabindex: "0" }, [this.base, this.over]);
    this.active = new ActiveCell(this.plot);
    this.box = element("div", "box", {}, [this.plot]);
    this.readout = element("p", "readout");
    this.note = element("p", "note", { role: "status" });
    this.root = element("section", "grid-view", {}, [this.label, this.tools.root, this.box, this.readout, this.note]);
    this.ranking = new GridRanking({
      point: (at) => this.point(this.placeOf(at)),
      leave: () => this.point(null),
      pin: (at) => this.open(this.placeOf(at), { shiftKey: false, altKey: false }),
    });
    /** @type {Place | null} */
    this.hover = null;
    this.selected = { layer: -1, head: -1 };
    /** @type {Given["beside"]} */
    this.beside = [];
    this.cursor = { layer: 0, head: 0 };
    this.sheetKey = "";
    this.drawn = "";
    /** @type {GridScene} */
    this.scene = this.sceneOf(given);
    this.update(given);
    this.listen();
  }

  /** @param {Given} given @returns {GridScene} */
  sceneOf({ grid, theme, options, maxWidth, maxHeight }) {
    const plan = gridPlan(grid.layers.length, grid.heads, grid.kvHeads, maxWidth, maxHeight);
    // A few colours of the middle tell the palettes apart.
    const key = `${grid.digest} ${theme.page} ${theme.sequential.subarray(381, 393)}`;
    const sheet = key === this.sheetKey ? this.scene.sheet : atlas(grid, theme);
    this.sheetKey = key;
    return { grid, plan, theme, sheet, metric: grid.metrics.find(({ name }) => name === options.metric) ?? null };
  }

  /** @param {Given} given */
  update(given) {
    const ratio = window.devicePixelRatio || 1;
    this.scene = this.sceneOf(given);
    const { grid, plan, metric } = this.scene;
    this.root.style.width = `${Math.min(given.maxWidth, Math.max(plan.width, 230))}px`;
    this.given = given;
    this.words();
    this.tools.update(metric, given.options);
    this.arrange();
    this.plot.setAttribute("aria-label", `All ${grid.word}s: layers down, ${grid.word}s across`);
    this.plot.setAttribute("aria-rowcount", String(grid.layers.length));
    this.plot.setAttribute("aria-colcount", String(grid.heads));
    const drawn = JSON.stringify([this.sheetKey, plan, metric?.name, Array.from(metric?.values ?? []), given.options.cut, given.options.order, ratio]);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      for (const canvas of [this.base, this.over]) sized(canvas, plan.width, plan.height, ratio);
      paintGrid(context2d(this.base), { ...this.scene, metric: metric?.values ?? null, sifting: given.options });
    }
    const selected = { layer: grid.layers.indexOf(given.layer), head: given.head };
    const news = selected.layer !== this.selected.layer || selected.head !== this.selected.head;
    this.selected = selected;
    this.beside = given.beside.map((one) => ({ ...one, layer: grid.layers.indexOf(one.layer) }));
    if (news) {
      this.cursor = selected;
      this.reveal(selected);
    }
    this.mark();
  }

  /** The grid, or in its place the list of its heads by a metric. */
  arrange() {
    const { scene, given, box, ranking } = this;
    const listed = scene.metric !== null && given.options.order !== "";
    box.hidden = listed;
    if (!listed) return ranking.root.remove();
    ranking.update(scene, given.options, this.sheetKey);
    if (!ranking.root.isConnected) box.after(ranking.root);
  }

  words() {
    const { grid, metric } = this.scene;
    const names = ["", ...grid.metrics.map(({ name }) => name)];
    this.label.hidden = names.length === 1;
    if (names.join("\n") !== Array.from(this.select.options, ({ value }) => value).join("\n")) {
      this.select.replaceChildren(
        ...names.map((name) => element("option", "", { value: name }, [name || "maps"])),
      );
    }
    this.select.value = metric?.name ?? "";
    const ends = metric && extent(metric.values);
    const says = ends
      ? `${this.given.options.order ? "" : "Colour: "}${metric.name}, from ${number(ends.lo)} to ${number(ends.hi)}.${this.counted(metric.values)}`
      : "Each map on its own scale (square root), for its shape only.";
    if (this.note.textContent !== says) this.note.textContent = says;
  }

  /** @param {Float32Array} values - how many of them pass the threshold */
  counted(values) {
    const { options, grid } = this.given;
    if (options.cut === null) return "";
    const many = values.filter((value) => passes(value, options)).length;
    return ` ${many} of ${values.length} ${grid.word}s pass.`;
  }

  mark() {
    const { plan, theme } = this.scene;
    const context = context2d(this.over);
    context.clearRect(0, 0, plan.width, plan.height);
    for (const one of this.beside) frameThumbnail(context, plan, one, one.colour, theme.page);
    frameThumbnail(context, plan, this.selected, theme.accents.highlight, theme.text);
    if (this.hover) frameThumbnail(context, plan, this.hover, theme.text, theme.page);
    const place = this.hover ?? this.selected;
    const said = this.say(place);
    const open = place.layer === this.selected.layer && place.head === this.selected.head;
    this.readout.textContent = said;
    this.active.set(said, place.layer, place.head, open);
    this.ranking.list.mark(this.hover ? this.at(this.hover) : -1, this.at(this.selected));
  }

  /** @param {Place} place */
  say({ layer, head }) {
    const { grid, metric } = this.scene;
    const at = layer * grid.heads + head;
    const shown = metric ? [metric] : grid.metrics.slice(0, 2);
    const numbers = shown.map(({ name, values }) => `, ${name} ${number(values[at])}`);
    return headName(grid, grid.layers[layer], head) + numbers.join("");
  }

  /** @param {Place} place scrolled into sight, inside the grid's own box only */
  reveal(place) {
    const { plan } = this.scene;
    const { box } = this;
    const [x, y] = [headX(plan, place.head), layerY(plan, place.layer)];
    const [right, bottom] = [x + 2 * plan.pitch - box.clientWidth, y + 2 * plan.pitch - box.clientHeight];
    box.scrollTop = Math.max(Math.min(box.scrollTop, y - plan.y), bottom, 0);
    box.scrollLeft = Math.max(Math.min(box.scrollLeft, x - plan.x), right, 0);
  }

  /** @param {Place | null} place - pointed at */
  point(place) {
    this.hover = place;
    this.mark();
  }

  /** @param {Place} place @returns {number} layer after layer */
  at = ({ layer, head }) => layer * this.scene.grid.heads + head;

  /** @param {number} at @returns {Place} */
  placeOf = (at) => ({ layer: Math.floor(at / this.scene.grid.heads), head: at % this.scene.grid.heads });

  /** @param {MouseEvent} event */
  under(event) {
    const box = this.base.getBoundingClientRect();
    return thumbnailAt(this.scene.plan, event.clientX - box.left, event.clientY - box.top);
  }

  /**
   * Where a thumbnail is on the screen: for tests.
   *
   * @param {number} layer - true index
   * @param {number} head
   */
  cellBox(layer, head) {
    const { plan, grid } = this.scene;
    const box = this.base.getBoundingClientRect();
    const [x, y] = [headX(plan, head), layerY(plan, grid.layers.indexOf(layer))];
    return { x: box.left + x, y: box.top + y, width: plan.side, height: plan.side };
  }

  /** @param {Place} place @param {{shiftKey: boolean, altKey: boolean}} event */
  open(place, event) {
    this.cursor = place;
    const act = event.shiftKey || event.altKey ? this.host.also : this.host.open;
    act(this.scene.grid.layers[place.layer], place.head);
  }

  listen() {
    this.plot.onpointermove = (event) => {
      if (event.pointerType === "touch") return;
      this.point(this.under(event));
    };
    this.plot.onpointerleave = this.plot.onblur = () => this.point(null);
    this.plot.onclick = (event) => {
      const place = this.under(event);
      if (place) this.open(place, event);
    };
    this.plot.onkeydown = (event) => {
      const { grid } = this.scene;
      const from = { row: this.cursor.layer, col: this.cursor.head };
      const to = moved(event, from, grid.layers.length, grid.heads, 5);
      if (to) {
        this.cursor = { layer: to.row, head: to.col };
        this.hover = this.cursor;
        this.reveal(this.cursor);
      } else if (event.key === "Enter" || event.key === " ") this.open(this.cursor, event);
      else if (event.key === "Escape") this.hover = null;
      else return;
      this.mark();
      event.preventDefault();
      event.stopPropagation();
    };
  }
}

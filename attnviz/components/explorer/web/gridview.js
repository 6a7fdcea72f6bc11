// @ts-check
/** @import { Grid, Theme } from "./types.js" */
import { element } from "./dom.js";
import { number } from "./format.js";
import { atlas, extent, frameThumbnail, paintGrid } from "./gridpaint.js";
import { gridPlan, headX, layerY, thumbnailAt } from "./gridplan.js";

/**
 * @typedef {object} GridHost
 * @property {(layer: number, head: number) => void} open - layer is the true index
 * @property {(name: string) => void} metric
 *
 * @typedef {{layer: number, head: number}} Place - layer is a row of the grid
 */

/** Thumbnails of all maps, layers by heads; one is open. */
export class GridView {
  /** @param {GridHost} host */
  constructor(host) {
    this.host = host;
    this.select = element("select", "", { "aria-label": "Colour thumbnails by" });
    this.select.onchange = () => host.metric(this.select.value);
    const label = element("label", "metric", {}, ["Show ", this.select]);
    this.base = element("canvas", "base");
    this.over = element("canvas", "over");
    this.cell = element("div", "cell", { role: "gridcell" });
    const row = element("div", "", { role: "row" }, [this.cell]);
    this.plot = element("div", "plot", { role: "grid", tabindex: "0", "aria-label": "All heads: layers down, heads across" }, [row, this.base, this.over]);
    this.box = element("div", "box", {}, [this.plot]);
    this.readout = element("output", "readout", { "aria-live": "polite" });
    this.note = element("p", "note");
    this.label = label;
    this.root = element("section", "grid-view", {}, [label, this.box, this.readout, this.note]);
    /** @type {Place | null} */
    this.hover = null;
    /** @type {Place} */
    this.cursor = { layer: 0, head: 0 };
    this.sheetKey = "";
    this.drawn = "";
    this.listen();
  }

  /**
   * @param {{grid: Grid, theme: Theme, metric: string, maxWidth: number, maxHeight: number,
   *   layer: number | null, head: number | null}} given
   */
  update({ grid, theme, metric, maxWidth, maxHeight, layer, head }) {
    const ratio = window.devicePixelRatio || 1;
    this.grid = grid;
    this.theme = theme;
    this.plan = gridPlan(grid.layers.length, grid.heads, grid.kvHeads, maxWidth, maxHeight);
    this.root.style.width = `${Math.min(maxWidth, Math.max(this.plan.width, 230))}px`;
    this.chosen = grid.metrics.find(({ name }) => name === metric) ?? null;
    this.options();
    this.plot.setAttribute("aria-rowcount", String(grid.layers.length));
    this.plot.setAttribute("aria-colcount", String(grid.heads));
    const sheetKey = grid.digest + theme.page;
    if (sheetKey !== this.sheetKey) {
      this.sheet = atlas(grid, theme);
      this.sheetKey = sheetKey;
    }
    const drawn = JSON.stringify([sheetKey, this.plan, metric, ratio]);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      for (const canvas of [this.base, this.over]) {
        canvas.width = Math.round(this.plan.width * ratio);
        canvas.height = Math.round(this.plan.height * ratio);
        canvas.style.width = `${this.plan.width}px`;
        canvas.style.height = `${this.plan.height}px`;
        canvas.getContext("2d")?.scale(ratio, ratio);
      }
      const context = /** @type {CanvasRenderingContext2D} */ (this.base.getContext("2d"));
      paintGrid(context, { ...this, metric: this.chosen?.values ?? null });
    }
    const row = layer === null ? -1 : grid.layers.indexOf(layer);
    const selected = row >= 0 && head !== null ? { layer: row, head } : null;
    if (selected && (selected.layer !== this.selected?.layer || selected.head !== this.selected?.head)) {
      this.cursor = selected;
      this.selected = selected;
      this.reveal(selected);
    }
    this.selected = selected;
    this.mark();
  }

  options() {
    const names = ["", ...this.grid.metrics.map(({ name }) => name)];
    this.label.hidden = names.length === 1;
    if (names.length !== this.select.options.length || names.some((n, i) => this.select.options[i].value !== n)) {
      this.select.replaceChildren(
        ...names.map((name) => element("option", "", { value: name }, [name || "maps"])),
      );
    }
    this.select.value = this.chosen?.name ?? "";
    if (this.chosen) {
      const { lo, hi } = extent(this.chosen.values);
      this.note.textContent = `Colour: ${this.chosen.name}, from ${number(lo)} to ${number(hi)}.`;
    } else {
      this.note.textContent = "Each map on its own scale (square root), for its shape only.";
    }
  }

  mark() {
    const context = /** @type {CanvasRenderingContext2D} */ (this.over.getContext("2d"));
    context.clearRect(0, 0, this.plan.width, this.plan.height);
    const { accents, text, page } = this.theme;
    if (this.selected) frameThumbnail(context, this.plan, this.selected, accents.highlight, text);
    if (this.hover) frameThumbnail(context, this.plan, this.hover, text, page);
    const place = this.hover ?? this.selected;
    this.readout.textContent = place ? this.say(place) : "";
    this.cell.textContent = this.readout.textContent;
    if (place) {
      this.cell.parentElement?.setAttribute("aria-rowindex", String(place.layer + 1));
      this.cell.setAttribute("aria-colindex", String(place.head + 1));
    }
  }

  /** @param {Place} place */
  say({ layer, head }) {
    const at = layer * this.grid.heads + head;
    const shown = this.chosen ? [this.chosen] : this.grid.metrics.slice(0, 2);
    const numbers = shown.map(({ name, values }) => `, ${name} ${number(values[at])}`);
    return `Layer ${this.grid.layers[layer]}, head ${head}${numbers.join("")}`;
  }

  /** @param {Place} place */
  reveal(place) {
    const [x, y, margin] = [headX(this.plan, place.head), layerY(this.plan, place.layer), this.plan.pitch];
    const { box } = this;
    if (y - margin < box.scrollTop) box.scrollTop = Math.max(0, y - this.plan.y);
    else if (y + 2 * margin > box.scrollTop + box.clientHeight) box.scrollTop = y + 2 * margin - box.clientHeight;
    if (x < box.scrollLeft || x + margin > box.scrollLeft + box.clientWidth) box.scrollLeft = x - margin;
  }

  /** @param {PointerEvent | MouseEvent} event */
  under(event) {
    const box = this.base.getBoundingClientRect();
    return thumbnailAt(this.plan, event.clientX - box.left, event.clientY - box.top);
  }

  /** @param {Place} place */
  open(place) {
    this.cursor = place;
    this.host.open(this.grid.layers[place.layer], place.head);
  }

  listen() {
    this.plot.onpointermove = (event) => {
      if (event.pointerType === "touch") return;
      this.hover = this.under(event);
      this.mark();
    };
    this.plot.onpointerleave = this.plot.onblur = () => {
      this.hover = null;
      this.mark();
    };
    this.plot.onclick = (event) => {
      const place = this.under(event);
      if (place) this.open(place);
    };
    this.plot.onkeydown = (event) => {
      const moves = /** @type {Record<string, [number, number]>} */ ({
        ArrowUp: [-1, 0],
        ArrowDown: [1, 0],
        ArrowLeft: [0, -1],
        ArrowRight: [0, 1],
        Home: [0, -this.grid.heads],
        End: [0, this.grid.heads],
        PageUp: [-5, 0],
        PageDown: [5, 0],
      });
      const move = event.ctrlKey || event.metaKey || event.altKey ? undefined : moves[event.key];
      if (move) {
        this.cursor = {
          layer: Math.max(0, Math.min(this.grid.layers.length - 1, this.cursor.layer + move[0])),
          head: Math.max(0, Math.min(this.grid.heads - 1, this.cursor.head + move[1])),
        };
        this.hover = this.cursor;
        this.reveal(this.cursor);
        this.mark();
      } else if (event.key === "Enter" || event.key === " ") this.open(this.cursor);
      else if (event.key === "Escape") this.plot.onblur?.(new FocusEvent("blur"));
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
  }
}

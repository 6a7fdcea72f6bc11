// @ts-check
/** @import { Axis } from "./types.js" */
/** @import { Drawing, Marks, ViewHost } from "./lazy.js" */
import { segments } from "./controls.js";
import { element } from "./dom.js";
import { shown as shownText } from "./labels.js";
import { legend } from "./legend.js";
import { inkOn } from "./pixels.js";
import { strongestKey, strongestQuery } from "./ranked.js";
import { cell, place, show } from "./readout.js";
import { running } from "./running.js";
import { channels } from "./theme.js";
import { TokenList } from "./tokenlist.js";
import { isBlocked, part } from "./view.js";

const SOLID = 6; // times the share of the scale: how soon a shade hides the page

/** The input as text, shaded by what one token attends to, or by who attends to it. */
export default class TextView {
  /** @param {ViewHost} host */
  constructor(host) {
    this.host = host;
    this.title = element("h3", "title");
    this.saying = element("p", "subtitle");
    this.reading = segments("Direction", "", [["from", "reads"], ["to", "is read by"]], (reading) => host.change({ reading }));
    const words = element("div", "words", {}, [this.title, this.saying]);
    this.list = new TokenList("running", {
      point: (at) => this.point(at),
      leave: () => host.leave(),
      pin: (at) => this.pin(at),
      clear: () => host.clear(),
      moved: (event, from) => this.moved(event, from),
    });
    this.list.root.dir = "auto";
    this.box = element("div", "scroll", {}, [this.list.root]);
    this.readout = element("output", "readout", { "aria-live": "polite" });
    this.legend = legend();
    const head = element("header", "", {}, [words, this.reading.root]);
    this.root = element("section", "panel plain text", {}, [head, this.box, this.legend.root, this.readout]);
    /** @type {Axis | null} */
    this.axis = null;
    /** @type {number[]} */
    this.page = [255, 255, 255];
    /** @type {Marks} */
    this.marks = { row: -1, col: -1, pinRow: -1, pinCol: -1 };
  }

  /** @param {Drawing} drawing */
  update(drawing) {
    this.drawing = drawing;
    const { main, scale, theme, options, maxWidth, maxHeight } = drawing;
    const { panel, name } = main;
    this.title.textContent = name;
    this.page = channels(theme.page);
    this.reading.update(options.reading);
    this.legend.update(panel, scale, theme);
    this.root.style.width = `${Math.min(maxWidth, 760)}px`;
    this.box.style.maxHeight = `${Math.max(200, maxHeight - 60)}px`;
    this.list.root.setAttribute("aria-label", `${name}: the text, a token an option`);
    if (this.axis !== panel.cols) {
      this.axis = panel.cols;
      this.write(panel.cols);
    }
    this.mark(this.marks);
  }

  /** @param {Axis} axis */
  write({ labels }) {
    const nodes = [];
    const items = [];
    for (const { before, text, breaks } of running(labels)) {
      const item = element("span", "token", { role: "option" }, [shownText(text)]);
      if (before) nodes.push(before);
      nodes.push(item);
      if (breaks) nodes.push(element("br"));
      items.push(item);
    }
    this.list.root.replaceChildren(...nodes);
    this.list.set(items, Int32Array.from(items.keys()));
  }

  /** @param {Marks} marks */
  mark(marks) {
    this.marks = marks;
    if (!this.drawing) return;
    const { main, options, shown } = this.drawing;
    const { panel } = main;
    const from = options.reading === "from";
    const chosen = this.chosen();
    const other = from ? marks.col : marks.row;
    this.list.mark(other >= 0 ? other : chosen, from ? marks.pinRow : marks.pinCol);
    this.shade(chosen);
    const said = place(from ? panel.rows : panel.cols, chosen);
    show(this.saying, [
      { kind: "word", text: from ? "what " : "who reads " },
      ...said,
      ...(from ? [{ kind: /** @type {const} */ ("word"), text: " reads" }] : []),
    ]);
    const [row, col] = from ? [chosen, other] : [other, chosen];
    const best = from ? [row, strongestKey(panel, row, shown.cols)] : [strongestQuery(panel, col, shown.rows), col];
    show(this.readout, other >= 0 ? cell(panel, row, col) : [{ kind: "word", text: "most: " }, ...cell(panel, best[0], best[1])]);
  }

  /** The token whose reading is shown: the one kept or pointed at, else the one that says most. */
  chosen() {
    const { options, shown } = /** @type {Drawing} */ (this.drawing);
    const { row, col, pinRow, pinCol } = this.marks;
    if (options.reading === "from") return pinRow >= 0 ? pinRow : row >= 0 ? row : shown.rows[shown.rows.length - 1];
    return pinCol >= 0 ? pinCol : col >= 0 ? col : shown.cols[0];
  }

  /** @param {number} chosen */
  shade(chosen) {
    const { main, shown, scale, theme, options } = /** @type {Drawing} */ (this.drawing);
    const { panel } = main;
    const from = options.reading === "from";
    const n = panel.cols.labels.length;
    const drawnRow = from ? shown.rows.indexOf(chosen) : -1;
    const kept = new Map(Array.from(from ? shown.cols : shown.rows, (at, drawn) => [at, drawn]));
    this.list.items.forEach((item, i) => {
      const at = from ? chosen * n + i : i * n + chosen;
      const drawn = kept.get(i);
      const masked = isBlocked(panel, at);
      const share = drawn === undefined || masked ? NaN : part(panel.values[at], scale, from ? drawnRow : drawn);
      item.classList.toggle("masked", masked);
      item.classList.toggle("left-out", drawn === undefined);
      if (Number.isNaN(share)) {
        item.style.background = item.style.color = "";
        return;
      }
      const step = 3 * Math.round(share * 255);
      // The faintest shades fade into the page: black on a dark one would look like ink.
      const solid = Math.min(1, share * SOLID);
      const [r, g, b] = this.page.map((under, i) => Math.round(under + (theme.sequential[step + i] - under) * solid));
      item.style.background = share > 0 ? `rgb(${r},${g},${b})` : "";
      item.style.color = inkOn(r, g, b);
    });
  }

  /** @param {number} at - the token under the pointer */
  point(at) {
    const { main, options } = /** @type {Drawing} */ (this.drawing);
    const { pinRow, pinCol } = this.marks;
    const from = options.reading === "from";
    const kept = from ? pinRow : pinCol;
    // With a token kept, the others are read against it; without, each shows its own reading.
    if (kept >= 0) this.host.point(main.panel.id, from ? kept : at, from ? at : kept);
    else this.host.point(main.panel.id, from ? at : null, from ? null : at);
  }

  /** @param {number} at */
  pin(at) {
    const { main, options, shown } = /** @type {Drawing} */ (this.drawing);
    const { panel } = main;
    if (options.reading === "from") this.host.pin(panel.id, at, strongestKey(panel, at, shown.cols));
    else this.host.pin(panel.id, strongestQuery(panel, at, shown.rows), at);
  }

  /** @param {KeyboardEvent} event @param {number} from */
  moved(event, from) {
    if (event.ctrlKey || event.metaKey || event.altKey) return null;
    const { items } = this.list;
    const rtl = getComputedStyle(this.list.root).direction === "rtl" ? -1 : 1;
    const last = items.length - 1;
    const near = (/** @type {number} */ to) => Math.max(0, Math.min(last, to));
    if (event.key === "ArrowLeft") return near(from - rtl);
    if (event.key === "ArrowRight") return near(from + rtl);
    if (event.key === "Home") return 0;
    if (event.key === "End") return last;
    if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return null;
    return lineAway(items, from, event.key === "ArrowUp" ? -1 : 1);
  }
}

/**
 * The nearest token of the line above or below.
 *
 * @param {HTMLElement[]} items @param {number} from @param {-1 | 1} step
 */
function lineAway(items, from, step) {
  const { offsetTop: top, offsetLeft: left } = items[from];
  let line = NaN;
  let best = from;
  for (let i = from + step; i >= 0 && i < items.length; i += step) {
    const { offsetTop, offsetLeft } = items[i];
    if (offsetTop === top) continue;
    if (Number.isNaN(line)) [line, best] = [offsetTop, i];
    if (offsetTop !== line) break;
    if (Math.abs(offsetLeft - left) < Math.abs(items[best].offsetLeft - left)) best = i;
  }
  return best;
}

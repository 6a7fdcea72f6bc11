// @ts-check
/** @import { Axis } from "./types.js" */
/** @import { Drawing, Marks, ViewHost } from "./lazy.js" */
import { segments } from "./controls.js";
import { element } from "./dom.js";
import { shown as shownText } from "./labels.js";
import { legend } from "./legend.js";
import { inkOn } from "./pixels.js";
import { strongestKey, strongestQuery } from "./ranked.js";
import { cell, place, plain, show } from "./readout.js";
import { running } from "./running.js";
import { walked } from "./walking.js";
import { channels, coloursOf } from "./theme.js";
import { textPiece } from "./textpiece.js";
import { TokenList } from "./tokenlist.js";
import { grown, isBlocked, part } from "./view.js";

const SOLID = 6; // times the share of the scale: how soon a shade hides the page

/** The input as text, shaded by what one token attends to, or by who attends to it. */
export default class TextView {
  /** @param {ViewHost} host */
  constructor(host) {
    this.host = host;
    this.title = element("h2", "title");
    this.saying = element("p", "subtitle");
    this.reading = segments("Direction", "", [["from", "reads"], ["to", "is read by"]], (reading) => host.change({ reading }));
    const words = element("div", "words", {}, [this.title, this.saying]);
    this.list = this.tokens(false);
    /** Where queries and keys are two texts: the one that is chosen from. */
    this.asking = this.tokens(true);
    this.box = element("div", "scroll", {}, [this.list.root]);
    this.readout = element("p", "readout");
    this.legend = legend();
    const acts = element("div", "acts", {}, [this.reading.root, host.menu(() => this.piece(), "text")]);
    const head = element("header", "", {}, [words, acts]);
    this.root = element("section", "panel plain text", {}, [head, this.box, this.legend.root, this.readout]);
    this.two = false;
    /** @type {(Axis | null)[]} */
    this.written = [null, null];
    /** @type {number[]} */
    this.page = [255, 255, 255];
    /** @type {Marks} */
    this.marks = { row: -1, col: -1, pinRow: -1, pinCol: -1 };
  }

  /** @param {boolean} asking */
  tokens(asking) {
    const list = new TokenList("running", {
      point: (at) => this.point(at, asking),
      leave: () => this.host.leave(),
      pin: (at) => this.pin(at, asking),
      clear: () => this.host.clear(),
      moved: (event, from) => walked(event, list, from),
    });
    list.root.dir = "auto";
    return list;
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
    const from = options.reading === "from";
    const [asking, shaded] = from ? [panel.rows, panel.cols] : [panel.cols, panel.rows];
    this.two = asking.labels.join("\n") !== shaded.labels.join("\n");
    if (!this.two) this.asking.root.remove();
    else if (!this.asking.root.isConnected) this.box.prepend(this.asking.root);
    this.list.root.setAttribute("aria-label", `${name}, ${shaded.title}`);
    this.asking.root.setAttribute("aria-label", `${name}, ${asking.title}`);
    this.write(0, this.list, shaded);
    if (this.two) this.write(1, this.asking, asking);
  }

  /** @param {0 | 1} which @param {TokenList} list @param {Axis} axis */
  write(which, list, axis) {
    if (this.written[which] === axis) return;
    this.written[which] = axis;
    const { labels } = axis;
    const nodes = [];
    const items = [];
    for (const { before, text, breaks } of running(labels)) {
      const item = element("span", "token", { role: "option" }, [shownText(text)]);
      if (before) nodes.push(before);
      nodes.push(item);
      if (breaks) nodes.push(element("br"));
      items.push(item);
    }
    list.root.replaceChildren(...nodes);
    list.set(items, Int32Array.from(items.keys()));
  }

  piece() {
    const { main: { panel }, scale, theme } = /** @type {Drawing} */ (this.drawing);
    const words = { title: this.title.textContent ?? "", subtitle: this.saying.textContent ?? "" };
    return textPiece([...(this.two ? this.asking.items : []), ...this.list.items], this.box, { ...words, panel, scale, theme });
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
    const kept = from ? [marks.pinRow, marks.pinCol] : [marks.pinCol, marks.pinRow];
    if (this.two) {
      this.asking.mark(chosen, kept[0]);
      this.list.mark(other, kept[1]);
    } else this.list.mark(other >= 0 ? other : chosen, kept[0]);
    this.shade(chosen);
    const said = place(from ? panel.rows : panel.cols, chosen);
    show(this.saying, [
      { kind: "word", text: from ? "what " : "who reads " },
      ...said,
      ...(from ? [{ kind: /** @type {const} */ ("word"), text: " reads" }] : []),
    ]);
    const [row, col] = from ? [chosen, other] : [other, chosen];
    const best = from ? [row, strongestKey(panel, row, shown.cols)] : [strongestQuery(panel, col, shown.rows), col];
    const read = other >= 0 ? cell(panel, row, col) : [{ kind: /** @type {const} */ ("word"), text: "most: " }, ...cell(panel, best[0], best[1])];
    show(this.readout, read);
    if (this.box.querySelector(":focus-visible")) this.host.say(plain(read));
  }

  /** The token whose reading is shown: the one kept or pointed at, else the last query or first key. */
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
    const colours = coloursOf(panel, theme);
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
      item.hidden = i >= grown(panel, options);
      if (Number.isNaN(share)) {
        item.style.background = item.style.color = "";
        return;
      }
      const step = 3 * Math.round(share * 255);
      // The faintest shades fade into the page: black on a dark one would look like ink.
      const solid = Math.min(1, share * SOLID);
      const [r, g, b] = this.page.map((under, i) => Math.round(under + (colours[step + i] - under) * solid));
      item.style.background = share > 0 ? `rgb(${r},${g},${b})` : "";
      item.style.color = inkOn(r, g, b);
    });
  }

  /** @param {number} at - the token under the pointer @param {boolean} asking */
  point(at, asking) {
    const { main, options } = /** @type {Drawing} */ (this.drawing);
    const { pinRow, pinCol } = this.marks;
    const from = options.reading === "from";
    // With a token kept, the others are read against it; without, each shows its own reading.
    const kept = asking ? -1 : this.two ? this.chosen() : from ? pinRow : pinCol;
    if (kept >= 0) this.host.point(main.panel.id, from ? kept : at, from ? at : kept);
    else this.host.point(main.panel.id, from ? at : null, from ? null : at);
  }

  /** @param {number} at @param {boolean} asking */
  pin(at, asking) {
    const { main, options, shown } = /** @type {Drawing} */ (this.drawing);
    const { panel } = main;
    const from = options.reading === "from";
    if (this.two && !asking) this.host.pin(panel.id, from ? this.chosen() : at, from ? at : this.chosen());
    else if (from) this.host.pin(panel.id, at, strongestKey(panel, at, shown.cols));
    else this.host.pin(panel.id, strongestQuery(panel, at, shown.rows), at);
  }
}

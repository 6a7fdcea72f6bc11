// @ts-check
/** @import { Axis } from "./types.js" */
/** @import { Drawing, Marks, ViewHost } from "./lazy.js" */
import { sized } from "./canvas.js";
import { segments } from "./controls.js";
import { element } from "./dom.js";
import { moved } from "./keys.js";
import { shown as shownText } from "./labels.js";
import { linesPiece } from "./linespiece.js";
import { evenStops, measuredStops, paintLines } from "./linespaint.js";
import { columns, lineHeight } from "./linesplan.js";
import { strongestKey, strongestQuery } from "./ranked.js";
import { cell, place, plain, show } from "./readout.js";
import { TokenList } from "./tokenlist.js";
import { isBlocked, part } from "./view.js";

const BETWEEN = 300; // the height of the lines between two rows of tokens, at most

/** Two columns or rows of tokens, joined by lines as strong as the weights. */
export default class LinesView {
  /** @param {ViewHost} host */
  constructor(host) {
    this.host = host;
    this.title = element("h2", "title");
    this.subtitle = element("p", "subtitle");
    this.left = this.side("row");
    this.right = this.side("col");
    this.canvas = element("canvas", "", { "aria-hidden": "true" });
    this.between = element("div", "between", {}, [this.canvas]);
    this.lay = segments("Layout", "", [["columns", "Columns"], ["rows", "Rows"]], (lines) => host.change({ lines }));
    this.heads = [element("span", "side-title"), element("span", "side-title")];
    this.box = element("div", "scroll", { tabindex: "-1" }, [this.left.root, this.between, this.right.root]);
    this.box.onscroll = () => this.paint();
    this.readout = element("p", "readout");
    const words = element("div", "words", {}, [this.title, this.subtitle]);
    const titles = element("div", "side-titles", {}, this.heads);
    const acts = element("div", "acts", {}, [this.lay.root, host.menu(() => this.piece(), "lines")]);
    this.root = element("section", "panel plain lines", {}, [element("header", "", {}, [words, acts]), titles, this.box, this.readout]);
    /** @type {Marks} */
    this.marks = { row: -1, col: -1, pinRow: -1, pinCol: -1 };
    this.written = ["", ""];
    this.line = 0;
  }

  /** @param {"row" | "col"} side */
  side(side) {
    const list = new TokenList(`side ${side}`, {
      point: (at) => this.point(side, at),
      leave: () => this.host.leave(),
      pin: (at) => this.pin(side, at),
      clear: () => this.host.clear(),
      moved: (event, from) => {
        const across = this.drawing?.options.lines === "rows";
        const [back, onward] = across ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
        if (event.key === back || event.key === onward) {
          (event.key === back ? this.left : this.right).root.focus();
          return null;
        }
        const to = moved(event, across ? { row: 0, col: from } : { row: from, col: 0 }, across ? 1 : list.items.length, across ? list.items.length : 1, 10);
        return to && (across ? to.col : to.row);
      },
    });
    return list;
  }

  /** @param {Drawing} drawing */
  update(drawing) {
    this.drawing = drawing;
    const { main, maps, shown, options, measure, maxWidth, maxHeight } = drawing;
    const { panel } = main;
    this.title.textContent = maps.length > 1 ? `${maps.length} ${main.word}s` : main.name;
    this.subtitle.textContent = panel.subtitle;
    const across = options.lines === "rows";
    this.lay.update(options.lines);
    this.root.classList.toggle("across", across);
    this.heads[0].textContent = `${across ? "above: " : ""}${panel.rows.title}`;
    this.heads[1].textContent = `${across ? "below: " : ""}${panel.cols.title}`;
    for (const { root } of [this.left, this.right]) root.setAttribute("aria-orientation", across ? "horizontal" : "vertical");
    this.write(0, this.left, panel.rows, shown.rows);
    this.write(1, this.right, panel.cols, shown.cols);
    const ratio = window.devicePixelRatio || 1;
    if (across) {
      this.root.style.width = `${maxWidth}px`;
      this.box.style.height = this.box.style.gridTemplateColumns = "";
      sized(this.canvas, this.box.clientWidth, Math.max(140, Math.min(BETWEEN, maxHeight - 250)), ratio);
      return;
    }
    const widest = Math.max(...[panel.rows, panel.cols].map((axis) => widestOf(axis, measure)));
    const plan = columns(maxWidth, widest + 24);
    this.root.style.width = `${plan.width}px`;
    this.box.style.gridTemplateColumns = `${plan.side}px ${plan.between}px ${plan.side}px`;
    const room = Math.max(220, maxHeight - 84);
    const tokens = Math.max(shown.rows.length, shown.cols.length);
    this.line = lineHeight(room, tokens);
    const height = Math.min(tokens * this.line, room);
    this.box.style.setProperty("--line", `${this.line}px`);
    this.box.style.height = `${height}px`;
    sized(this.canvas, plan.between, height, ratio);
  }

  /** @param {0 | 1} which @param {TokenList} list @param {Axis} axis @param {Int32Array} positions */
  write(which, list, axis, positions) {
    const written = JSON.stringify([axis.labels, Array.from(positions)]);
    list.root.setAttribute("aria-label", axis.title);
    if (written === this.written[which]) return;
    this.written[which] = written;
    const items = Array.from(positions, (at) => {
      const label = axis.labels[at];
      const token = element("bdi", "token", {}, [shownText(label)]);
      const number = element("span", "position", {}, label === String(at) ? [] : [String(at)]);
      const parts = which === 0 ? [number, token] : [token, number];
      return element("div", "", { role: "option" }, parts);
    });
    list.root.replaceChildren(...items);
    list.set(items, positions);
  }

  /** The row or column that is shown alone, and the cell that is read, as positions. */
  focus() {
    const { row, col, pinRow, pinCol } = this.marks;
    if (row >= 0) return { row, col: -1, cell: col < 0 && row === pinRow ? pinCol : col };
    if (pinRow >= 0) return { row: pinRow, col: -1, cell: col >= 0 ? col : pinCol };
    return { row: -1, col, cell: -1 };
  }

  /** @param {Marks} marks */
  mark(marks) {
    this.marks = marks;
    if (!this.drawing) return;
    const { panel } = this.drawing.main;
    const focus = this.focus();
    this.left.mark(focus.row, marks.pinRow);
    this.right.mark(focus.row >= 0 ? focus.cell : focus.col, marks.pinCol);
    const said = this.say(focus, panel);
    show(this.readout, said);
    if (this.box.querySelector(":focus-visible")) this.host.say(plain(said));
    this.tint(focus);
    this.paint();
  }

  /** @param {ReturnType<LinesView["focus"]>} focus @param {import("./types.js").Panel} panel */
  say({ row, col, cell: key }, panel) {
    if (row >= 0 && key >= 0) return cell(panel, row, key);
    if (row >= 0) return place(panel.rows, row, true);
    if (col >= 0) return place(panel.cols, col, true);
    return [{ kind: /** @type {const} */ ("word"), text: "Point at a token to see its lines alone; click to keep it." }];
  }

  /** The tokens that the one alone is joined to, as strongly as their lines. @param {ReturnType<LinesView["focus"]>} focus */
  tint({ row, col }) {
    const { maps, shown, scale } = /** @type {Drawing} */ (this.drawing);
    /** @param {TokenList} list @param {(i: number) => [number, number, number]} cellOf */
    const shade = (list, cellOf) => {
      list.items.forEach((item, i) => {
        const [r, c, drawnRow] = cellOf(i);
        let [best, colour] = [0, ""];
        if (r >= 0 && c >= 0) {
          for (const map of maps) {
            const at = r * map.panel.cols.labels.length + c;
            const share = isBlocked(map.panel, at) ? 0 : part(map.panel.values[at], scale, drawnRow);
            if (share > best) [best, colour] = [share, map.colour];
          }
        }
        const tint = best > 0.01 ? `color-mix(in srgb, ${colour} ${Math.round(best * 45)}%, transparent)` : "";
        if (item.style.background !== tint) item.style.background = tint;
      });
    };
    const drawnRow = shown.rows.indexOf(row);
    shade(this.right, (i) => [row, row >= 0 ? shown.cols[i] : -1, drawnRow]);
    shade(this.left, (i) => [row < 0 && col >= 0 ? shown.rows[i] : -1, col, i]);
  }

  paint() {
    if (!this.drawing) return;
    const { alone, stops, across } = this.laid(this.drawing);
    paintLines(this.canvas, this.drawing, alone, stops, across);
  }

  /** @param {Drawing} drawing */
  laid({ shown, options }) {
    const { row, col } = this.focus();
    const alone = { row: shown.rows.indexOf(row), col: shown.cols.indexOf(col) };
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.box;
    const across = options.lines === "rows";
    const stops = across
      ? measuredStops(this.left.middles(), this.right.middles(), scrollLeft, clientWidth)
      : evenStops(this.line, scrollTop, clientHeight);
    return { alone, stops, across };
  }

  piece() {
    const drawing = /** @type {Drawing} */ (this.drawing);
    const laid = this.laid(drawing);
    const { clientWidth, clientHeight } = this.box;
    const [between, length] = laid.across ? [this.canvas.clientHeight, clientWidth] : [this.canvas.clientWidth, clientHeight];
    const side = laid.across ? 84 : this.left.root.clientWidth;
    const words = { title: this.title.textContent ?? "", subtitle: this.subtitle.textContent ?? "" };
    return linesPiece(drawing, { ...words, ...laid, side, between, length });
  }

  /** @param {"row" | "col"} side @param {number} at */
  point(side, at) {
    const { panel } = /** @type {Drawing} */ (this.drawing).main;
    if (side === "row") this.host.point(panel.id, at, null);
    else this.host.point(panel.id, null, at);
  }

  /** @param {"row" | "col"} side @param {number} at */
  pin(side, at) {
    const { main, shown } = /** @type {Drawing} */ (this.drawing);
    const { pinRow } = this.marks;
    if (side === "row") this.host.pin(main.panel.id, at, strongestKey(main.panel, at, shown.cols));
    else this.host.pin(main.panel.id, pinRow >= 0 ? pinRow : strongestQuery(main.panel, at, shown.rows), at);
  }
}

/** @param {Axis} axis @param {import("./types.js").Measure} measure */
function widestOf({ labels }, measure) {
  let widest = 0;
  for (const label of labels.slice(0, 600)) {
    widest = Math.max(widest, label.length > 40 ? 400 : measure(shownText(label), 13, true));
  }
  return widest + 8 * String(labels.length).length;
}

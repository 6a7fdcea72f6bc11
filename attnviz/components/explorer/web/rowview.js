// @ts-check
/** @import { Drawing, Marks, ViewHost } from "./lazy.js" */
import { element } from "./dom.js";
import { number } from "./format.js";
import { shown as shownText } from "./labels.js";
import { ranked } from "./ranked.js";
import { rowPiece } from "./rowpiece.js";
import { place, show } from "./readout.js";

const MOST = 12;

/** The keys of the chosen query as bars, the strongest first. */
export default class RowView {
  /** @param {ViewHost} host */
  constructor(host) {
    this.host = host;
    this.title = element("h2", "title", {}, ["One row"]);
    this.saying = element("p", "subtitle");
    this.bars = Array.from({ length: MOST }, () => this.bar());
    this.list = element("div", "bars", {}, this.bars.map(({ root }) => root));
    this.more = element("p", "note");
    const words = element("div", "words", {}, [this.title, this.saying]);
    this.root = element("section", "panel plain ranked", {}, [element("header", "", {}, [words, host.menu(() => this.piece(), "row")]), this.list, this.more]);
    this.row = -1;
    /** @type {Marks} */
    this.marks = { row: -1, col: -1, pinRow: -1, pinCol: -1 };
    this.list.onpointerleave = () => host.leave();
  }

  bar() {
    const token = element("bdi", "token");
    const position = element("span", "position");
    const length = element("span", "length");
    const value = element("span", "value");
    const track = element("span", "track", {}, [length]);
    const root = element("button", "bar", { type: "button" }, [
      element("span", "name", {}, [token, position]),
      track,
      value,
    ]);
    const one = { root, token, position, length, value, col: -1 };
    const on = (/** @type {(panel: string, row: number, col: number) => void} */ act) => {
      if (this.drawing && one.col >= 0) act(this.drawing.main.panel.id, this.row, one.col);
    };
    root.onpointerenter = (event) => event.pointerType !== "touch" && on(this.host.point);
    root.onfocus = () => root.matches(":focus-visible") && on(this.host.point);
    root.onblur = () => this.host.leave();
    root.onclick = () => on(this.host.pin);
    return one;
  }

  /** @param {Drawing} drawing */
  update(drawing) {
    this.drawing = drawing;
    this.root.style.width = `${Math.min(drawing.maxWidth, 300)}px`;
  }

  piece() {
    const { main: { panel }, shown, theme, measure } = /** @type {Drawing} */ (this.drawing);
    const { items } = ranked(panel, this.row, shown.cols, MOST);
    const words = { title: this.title.textContent ?? "", subtitle: this.saying.textContent ?? "", more: this.more.textContent ?? "" };
    return rowPiece({ items, panel, theme, measure, ...words });
  }

  /** @param {Marks} marks */
  mark(marks) {
    this.marks = marks;
    if (!this.drawing) return;
    const { main, maps, shown, theme } = this.drawing;
    const { panel } = main;
    const last = shown.rows[shown.rows.length - 1];
    this.row = marks.row >= 0 ? marks.row : marks.pinRow >= 0 ? marks.pinRow : last;
    const { items, more, rest } = ranked(panel, this.row, shown.cols, MOST);
    show(this.saying, [{ kind: "word", text: "what " }, ...place(panel.rows, this.row), { kind: "word", text: " reads" }]);
    this.title.textContent = maps.length > 1 ? `${main.name}, one row` : "One row";
    const top = items[0]?.value || 1;
    const here = marks.col >= 0 ? marks.col : marks.pinCol;
    this.bars.forEach((bar, i) => {
      const item = items[i];
      bar.col = item ? item.col : -1;
      bar.root.style.visibility = item ? "" : "hidden";
      if (!item) return;
      const label = panel.cols.labels[item.col];
      const numbered = label === String(item.col);
      bar.token.textContent = numbered ? `${panel.cols.name} ${label}` : shownText(label);
      bar.position.textContent = numbered ? "" : ` ${item.col}`;
      bar.length.style.width = `${Math.max(0, (100 * item.value) / top)}%`;
      bar.length.style.background = theme.accents.query;
      bar.value.textContent = number(item.value);
      bar.root.classList.toggle("here", item.col === here);
      bar.root.setAttribute("aria-pressed", String(this.row === marks.pinRow && item.col === marks.pinCol));
    });
    this.more.textContent = more > 0 ? `and ${more} more: ${number(100 * rest)} %` : "";
  }
}

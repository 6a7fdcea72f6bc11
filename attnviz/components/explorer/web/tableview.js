// @ts-check
/** @import { Axis, Panel, Plan, View } from "./types.js" */
import { cellAt } from "./cells.js";
import { element } from "./dom.js";
import { exact, number } from "./format.js";
import { shown as shownText } from "./labels.js";

const MOST = 12; // rows and columns: what can be read out, and is built in an instant

/**
 * What can be tabled: a panel, its drawn positions, and what of them is in sight (all of it where
 * it is not drawn as a matrix).
 *
 * @typedef {{panel: Panel, shown: View, sight: Pick<Plan, "row" | "col" | "nRows" | "nCols"> | null}} Tabled
 */

/** A part of one matrix as a table, and the buttons that show another part. */
export default class TableView {
  constructor() {
    this.select = element("select");
    this.select.onchange = () => this.draw();
    this.which = element("label", "metric", {}, ["Table of ", this.select]);
    const pages = /** @type {[string, "row" | "col", -1 | 1][]} */ ([
      ["Earlier rows", "row", -1],
      ["Later rows", "row", 1],
      ["Earlier columns", "col", -1],
      ["Later columns", "col", 1],
    ]);
    this.turns = pages.map(([word, side, way]) => {
      const button = element("button", "", { type: "button" }, [word]);
      button.onclick = () => this.turn(side, way);
      return { button, side, way };
    });
    this.pages = element("div", "pages", {}, this.turns.map(({ button }) => button));
    this.caption = element("caption");
    this.head = element("thead");
    this.body = element("tbody");
    const table = element("table", "", {}, [this.caption, this.head, this.body]);
    this.box = element("div", "table-box", { tabindex: "0", role: "region", "aria-label": "Table of numbers" }, [table]);
    this.root = element("section", "tabled", {}, [element("div", "table-bar", {}, [this.which, this.pages]), this.box]);
    /** @type {Tabled[]} */
    this.all = [];
    /** The first drawn row and column of the table. */
    this.first = { row: 0, col: 0 };
    this.sight = "";
    this.kept = "";
    this.written = "";
  }

  /** @param {Tabled[]} all @param {{panel: string | null, row: number | null, col: number | null}} kept */
  update(all, kept) {
    this.all = all;
    const listed = all.map(({ panel }) => panel.title).join("\n");
    if (listed !== Array.from(this.select.options, ({ text }) => text).join("\n")) {
      this.select.replaceChildren(...all.map(({ panel }) => element("option", "", {}, [panel.title])));
    }
    this.which.hidden = all.length < 2;
    this.follow(kept);
    this.draw(kept);
  }

  /** The table goes where the reader goes. @param {Parameters<TableView["update"]>[1]} kept */
  follow(kept) {
    const at = this.all.findIndex(({ panel }) => panel.id === kept.panel);
    const news = JSON.stringify(kept);
    const chosen = news !== this.kept && at >= 0 && kept.row !== null && kept.col !== null;
    this.kept = news;
    if (chosen) this.select.selectedIndex = at;
    const { shown, sight } = this.one();
    const seen = JSON.stringify(sight);
    if (seen !== this.sight) this.first = { row: Math.ceil(sight?.row ?? 0), col: Math.ceil(sight?.col ?? 0) };
    this.sight = seen;
    if (!chosen) return;
    const near = (/** @type {number} */ place, /** @type {number} */ first) =>
      place < first || place >= first + MOST ? Math.max(0, place - Math.floor(MOST / 2)) : first;
    this.first.row = near(shown.rows.indexOf(/** @type {number} */ (kept.row)), this.first.row);
    this.first.col = near(shown.cols.indexOf(/** @type {number} */ (kept.col)), this.first.col);
  }

  one() {
    return this.all[Math.max(0, this.select.selectedIndex)] ?? this.all[0];
  }

  /** @param {"row" | "col"} side @param {-1 | 1} way */
  turn(side, way) {
    this.first[side] += way * MOST;
    this.draw();
  }

  /** @param {Parameters<TableView["update"]>[1]} kept */
  draw(kept = JSON.parse(this.kept)) {
    const { panel, shown } = this.one();
    const ends = { row: shown.rows.length - MOST, col: shown.cols.length - MOST };
    for (const side of /** @type {const} */ (["row", "col"])) {
      this.first[side] = Math.max(0, Math.min(this.first[side], ends[side]));
    }
    for (const { button, side, way } of this.turns) {
      button.hidden = ends[side] <= 0;
      button.setAttribute("aria-disabled", String(way < 0 ? this.first[side] <= 0 : this.first[side] >= ends[side]));
    }
    this.pages.hidden = ends.row <= 0 && ends.col <= 0;
    const { row, col } = this.first;
    const rows = shown.rows.slice(row, row + MOST);
    const cols = shown.cols.slice(col, col + MOST);
    const written = JSON.stringify([panel.id, panel.title, panel.digest, panel.valueName, panel.source?.stamp(), [...rows], [...cols], kept]);
    if (written === this.written) return;
    this.written = written;
    this.caption.textContent = captionOf(panel, rows, cols);
    const corner = element("td", "", {}, [`${panel.rows.name} \\ ${panel.cols.name}`]);
    this.head.replaceChildren(element("tr", "", {}, [corner, ...Array.from(cols, (at) => header(panel.cols, at, "col"))]));
    this.body.replaceChildren(
      ...Array.from(rows, (r) => {
        const cells = Array.from(cols, (c) => cellOf(panel, r, c, kept.panel === panel.id && kept.row === r && kept.col === c));
        return element("tr", "", {}, [header(panel.rows, r, "row"), ...cells]);
      }),
    );
  }
}

/** @param {Panel} panel @param {Int32Array} rows @param {Int32Array} cols what of it is shown, in a sentence */
function captionOf(panel, rows, cols) {
  const span = (/** @type {string} */ word, /** @type {Int32Array} */ at, /** @type {Axis} */ { labels }) =>
    at.length === labels.length ? `all ${labels.length} ${word}` : `${word} ${at[0]} to ${at[at.length - 1]} of ${labels.length}`;
  const most = panel.block > 1 ? " ≤ marks the largest of the cells around one whose own weight is not here yet: zoom in for it." : "";
  return `${panel.title}: ${span("rows", rows, panel.rows)}, ${span("columns", cols, panel.cols)}. One cell is a ${panel.valueName}.${most}`;
}

/** @param {Axis} axis @param {number} at @param {"row" | "col"} scope */
function header(axis, at, scope) {
  const label = axis.labels[at];
  const parts = label === String(at) ? [`${axis.name} ${label}`] : [element("bdi", "token", {}, [shownText(label)]), element("span", "position", {}, [` ${at}`])];
  return element("th", "", { scope }, parts);
}

/** @param {Panel} panel @param {number} row @param {number} col @param {boolean} kept */
function cellOf(panel, row, col, kept) {
  const { value, masked, exact: known } = cellAt(panel, row, col);
  const text = masked ? "masked" : known ? number(value) : `≤ ${number(value)}`;
  const cell = element("td", masked ? "masked" : "", known ? { "data-value": exact(masked ? 0 : value) } : {}, [text]);
  if (kept) cell.setAttribute("aria-current", "true");
  return cell;
}

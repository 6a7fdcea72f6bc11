// @ts-check
/** @import { Figure, Options, ScaleKind, Show } from "./types.js" */
import { button, disclosure, press, segments, slider } from "./controls.js";
import { element } from "./dom.js";
import { scaleEnd } from "./format.js";
import { LEASTS, leastPlace } from "./look.js";
import { scaleKind } from "./view.js";

const SHOWS = /** @type {[Show, string][]} */ ([
  ["matrix", "Matrix"],
  ["lines", "Lines"],
  ["text", "Text"],
  ["compare", "Compare"],
]);
const KINDS = /** @type {[ScaleKind, string][]} */ ([
  ["absolute", "absolute"],
  ["row", "by row"],
  ["log", "log"],
]);

/** Which views a figure can be seen in. @typedef {{tokens: boolean, compare: boolean}} Views */

/**
 * The switches that act on all panels at once; only those that can do something are there.
 */
export class Toolbar {
  /**
   * @param {(change: Partial<Options>, settled?: boolean) => void} change
   * @param {HTMLElement} exporting - a menu for all pictures at once
   */
  constructor(change, exporting) {
    this.exporting = exporting;
    this.show = segments("View", "", SHOWS, (show) => change({ show }));
    this.row = button("Row", () => change({ row: !this.options?.row }));
    this.row.title = "The chosen query's keys, ranked";
    this.table = button("Table", () => change({ table: !this.options?.table }));
    this.table.title = "The numbers in sight as a table";
    this.scale = segments("Colour scale", "Colours", KINDS, (scale) => change({ scale }));
    this.least = slider("Hide below", LEASTS.length, (place, settled) => change({ least: LEASTS[place] }, settled));
    this.palette = element("select");
    this.palette.onchange = () => change({ palette: this.palette.selectedIndex === 0 ? "" : this.palette.value });
    this.palettes = element("label", "field", {}, ["Palette", this.palette]);
    this.first = button("Hide first token", () => change({ hideFirst: !this.options?.hideFirst }));
    this.special = button("Hide special tokens", () =>
      change({ hideSpecial: !this.options?.hideSpecial }),
    );
    this.more = disclosure("More", [this.palettes, this.first, this.special]);
    this.note = element("span", "note", { role: "status" });
    this.root = element("div", "toolbar", {}, [
      this.show.root,
      this.row,
      this.table,
      this.scale.root,
      this.least.root,
      this.more,
      exporting,
      this.note,
    ]);
  }

  /** @param {Figure} figure @param {Options} options @param {Views} views */
  update(figure, options, views) {
    this.options = options;
    const can = abilities(figure);
    this.show.root.hidden = !views.tokens;
    this.show.update(options.show, (show) => show !== "compare" || views.compare);
    this.row.hidden = !views.tokens;
    press(this.row, options.row);
    press(this.table, options.table);

    const weights = figure.panels.find(({ scale }) => scale === "weight");
    this.scale.root.hidden = !can.scale;
    this.scale.update(weights && scaleKind(weights, options));
    this.least.root.hidden = !can.scale;
    this.least.update(leastPlace(options.least), options.least === 0 ? "none" : scaleEnd(options.least));

    const names = Object.keys(figure.palettes.named);
    if (this.palette.options.length !== names.length) {
      this.palette.replaceChildren(...names.map((name) => element("option", "", { value: name }, [name])));
    }
    this.palette.value = options.palette || names[0];
    this.palettes.hidden = !can.scale;
    this.first.hidden = !can.first;
    this.special.hidden = !can.special;
    this.more.hidden = !can.scale && !can.first && !can.special;
    press(this.first, options.hideFirst);
    press(this.special, options.hideSpecial);
    this.note.textContent = noteOf(options);
  }
}

/** @param {Options} options what is not as the numbers are */
function noteOf({ hideFirst, hideSpecial, least }) {
  const hidden = [hideFirst && "first key", hideSpecial && "special tokens"].filter(Boolean).join(" and ");
  const notes = [];
  if (hidden) notes.push(`Without the ${hidden}: colours rescaled, weights unchanged.`);
  if (least > 0) notes.push(`Weights below ${scaleEnd(least)} drawn as none.`);
  return notes.join(" ");
}

/** @param {Figure} figure what its switches could change */
export function abilities(figure) {
  const weights = figure.panels.filter(({ scale }) => scale === "weight");
  return {
    scale: weights.length > 0,
    // An overview's cells cannot be taken apart.
    first: weights.some(({ cols, block, growsFrom }) => (figure.grid || growsFrom) && block === 1 && cols.name === "key" && cols.labels.length > 1),
    special: figure.panels.some(({ rows, cols, block }) => block === 1 && (rows.special?.some(Boolean) || cols.special?.some(Boolean))),
  };
}

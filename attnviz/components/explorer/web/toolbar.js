// @ts-check
/** @import { Figure, Options } from "./types.js" */
import { element } from "./dom.js";
import { scaleKind } from "./view.js";

const KINDS = /** @type {[import("./types.js").ScaleKind, string][]} */ ([
  ["absolute", "absolute"],
  ["row", "by row"],
  ["log", "log"],
]);

/**
 * The switches that act on all panels at once; only those that can do something are there.
 */
export class Toolbar {
  /** @param {(change: Partial<Options>) => void} change */
  constructor(change) {
    this.kinds = KINDS.map(([kind, word]) => button(word, () => change({ scale: kind })));
    this.scale = element("div", "choice", { role: "group", "aria-label": "Colour scale" }, [
      element("span", "", {}, ["Colours"]),
      ...this.kinds,
    ]);
    this.first = button("Hide first token", () => change({ hideFirst: !this.options?.hideFirst }));
    this.special = button("Hide special tokens", () =>
      change({ hideSpecial: !this.options?.hideSpecial }),
    );
    this.note = element("span", "note", { role: "status" });
    this.root = element("div", "toolbar", {}, [this.scale, this.first, this.special, this.note]);
  }

  /** @param {Figure} figure @param {Options} options */
  update(figure, options) {
    this.options = options;
    const can = abilities(figure);
    this.scale.hidden = !can.scale;
    this.first.hidden = !can.first;
    this.special.hidden = !can.special;
    this.root.hidden = !can.scale && !can.first && !can.special;
    const weights = figure.panels.find(({ scale }) => scale === "weight");
    const kind = weights && scaleKind(weights, options);
    this.kinds.forEach((node, i) => press(node, KINDS[i][0] === kind));
    press(this.first, options.hideFirst);
    press(this.special, options.hideSpecial);
    const hides = [options.hideFirst && "first key", options.hideSpecial && "special tokens"];
    const hidden = hides.filter(Boolean).join(" and ");
    this.note.textContent = hidden
      ? `Without the ${hidden}: colours rescaled, weights unchanged.`
      : "";
  }
}

/** @param {Figure} figure what its switches could change */
export function abilities(figure) {
  const weights = figure.panels.filter(({ scale }) => scale === "weight");
  return {
    scale: weights.length > 0,
    // An overview's cells cannot be taken apart.
    first: figure.grid !== null && weights.some(({ cols, block }) => block === 1 && cols.name === "key" && cols.labels.length > 1),
    special: figure.panels.some(({ rows, cols, block }) => block === 1 && (rows.special?.some(Boolean) || cols.special?.some(Boolean))),
  };
}

/** @param {string} word @param {() => void} act */
function button(word, act) {
  const node = element("button", "", { type: "button", "aria-pressed": "false" }, [word]);
  node.onclick = act;
  return node;
}

/** @param {HTMLElement} node @param {boolean} on */
const press = (node, on) => node.setAttribute("aria-pressed", String(on));

// @ts-check
/** @import { Grid, Options, Order } from "./types.js" */
import { slider } from "./controls.js";
import { element } from "./dom.js";
import { scaleEnd } from "./format.js";
import { extent } from "./gridpaint.js";

const PLACES = 101; // of the threshold's slider
const ORDERS = /** @type {[Order, string][]} */ ([
  ["", "in their places"],
  ["down", "largest first"],
  ["up", "smallest first"],
]);

/** @typedef {Pick<Options, "order" | "cut">} Sifting */

/**
 * Whether a head's value passes the threshold; one without a number passes none.
 *
 * @param {number} value @param {Sifting} sifting
 */
export const passes = (value, { order, cut }) => cut === null || (order === "up" ? value <= cut : value >= cut);

/**
 * The heads that pass, by their value, as places in the grid (layer after layer).
 *
 * @param {Float32Array} values
 * @param {Sifting} sifting
 */
export function ranking(values, sifting) {
  const sign = sifting.order === "up" ? 1 : -1;
  return Array.from(values.keys())
    .filter((at) => !Number.isNaN(values[at]) && passes(values[at], sifting))
    .sort((a, b) => sign * (values[a] - values[b]) || a - b);
}

/**
 * The threshold at a place of the slider, three digits of it; null at 0, where all pass.
 *
 * @param {Float32Array} values @param {Order} order @param {number} place
 */
export function cutAt(values, order, place) {
  if (place === 0) return null;
  const { lo, hi } = extent(values);
  const part = ((hi - lo) * place) / (PLACES - 1);
  return Number((order === "up" ? hi - part : lo + part).toPrecision(3));
}

/** @param {Float32Array} values @param {Sifting} sifting */
export function placeOfCut(values, { order, cut }) {
  if (cut === null) return 0;
  const { lo, hi } = extent(values);
  const part = (order === "up" ? hi - cut : cut - lo) / (hi - lo || 1);
  return Math.min(PLACES - 1, Math.max(1, Math.round(part * (PLACES - 1))));
}

/** The order of heads by the chosen metric, and the threshold that they have to pass. */
export class GridTools {
  /** @param {(change: Partial<Options>, settled?: boolean) => void} change */
  constructor(change) {
    /** @type {Float32Array} */
    this.values = new Float32Array();
    /** @type {Order} */
    this.was = "";
    this.order = element("select", "", {}, ORDERS.map(([word, title]) => element("option", "", { value: word }, [title])));
    this.order.onchange = () => change({ order: /** @type {Order} */ (this.order.value), cut: null });
    this.cut = slider("At least", PLACES, (place, settled) => change({ cut: cutAt(this.values, this.was, place) }, settled));
    this.root = element("div", "grid-tools", {}, [element("label", "metric", {}, ["Order ", this.order]), this.cut.root]);
  }

  /** @param {Grid["metrics"][number] | null} metric @param {Sifting} sifting */
  update(metric, sifting) {
    this.root.hidden = metric === null;
    if (metric === null) return;
    this.values = metric.values;
    this.was = sifting.order;
    this.order.value = sifting.order;
    const says = sifting.cut === null ? "any" : scaleEnd(sifting.cut);
    this.cut.update(placeOfCut(metric.values, sifting), says, sifting.order === "up" ? "At most" : "At least");
  }
}

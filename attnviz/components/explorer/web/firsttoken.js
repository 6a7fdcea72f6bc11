// @ts-check
/** @import { Figure, Options, Panel } from "./types.js" */
import { element } from "./dom.js";
import { abilities } from "./toolbar.js";
import { isBlocked } from "./view.js";

const MUCH = 0.5; // of an average query's weight
const FEW = 4; // queries, of which an average would say little

/**
 * The share of an average query's weight that the first key has; NaN where that says nothing. A
 * query that may see the first key only has no choice and does not count.
 *
 * @param {Panel} panel
 */
export function firstShare(panel) {
  const known = shares.get(panel.values);
  if (known !== undefined) return known;
  const share = computed(panel);
  shares.set(panel.values, share);
  return share;
}

/** @type {WeakMap<Float32Array, number>} a picture is laid out many times */
const shares = new WeakMap();

/** @param {Panel} panel */
function computed(panel) {
  const n = panel.cols.labels.length;
  if (panel.scale !== "weight" || panel.block !== 1 || panel.cols.name !== "key" || n < 2) return NaN;
  let [sum, queries] = [0, 0];
  for (let row = 0; row < panel.rows.labels.length; row += 1) {
    let open = 0;
    for (let at = row * n; at < (row + 1) * n && open < 2; at += 1) open += Number(!isBlocked(panel, at));
    if (open < 2) continue;
    sum += panel.values[row * n];
    queries += 1;
  }
  return queries < FEW ? NaN : sum / queries;
}

/** What is said below the map of a head that leaves its weight on the first token. */
export class FirstToken {
  constructor() {
    this.root = element("p", "note first-token");
  }

  /** @param {Figure} figure @param {Panel | null} panel - the open map @param {Options} options */
  update(figure, panel, { hideFirst }) {
    const share = panel && abilities(figure).first ? firstShare(panel) : NaN;
    this.root.hidden = !(share >= MUCH);
    if (this.root.hidden) return;
    const toggle = hideFirst
      ? "It is hidden now; the colours are those of the rest."
      : "“Hide first token”, under More, colours the rest on a scale of its own.";
    this.root.textContent =
      `${Math.round(100 * share)} % of an average query's weight is on the first token. That is no fault: a row has ` +
      `to add up to 1, and a head that finds nothing to read leaves its weight there (an attention sink, Xiao et al. 2024). ${toggle}`;
  }
}

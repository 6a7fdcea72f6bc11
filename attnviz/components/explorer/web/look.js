// @ts-check
/** @import { Look, Options } from "./types.js" */

/** How a figure is drawn for a newcomer. @type {Options} */
export const PLAIN = {
  show: "matrix",
  scale: null,
  least: 0,
  palette: "",
  metric: "",
  order: "",
  cut: null,
  others: [],
  row: false,
  table: false,
  lines: "columns",
  reading: "from",
  hideFirst: false,
  hideSpecial: false,
  at: null,
};

/** Weights that the slider can stand at: finer where most weights are. */
export const LEASTS = [0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9];

/** The slider's place for a weight. @param {number} least */
export function leastPlace(least) {
  let best = 0;
  LEASTS.forEach((value, i) => {
    if (Math.abs(value - least) < Math.abs(LEASTS[best] - least)) best = i;
  });
  return best;
}

/** @param {Look} look @returns {Options} what of it is not the zoom */
export function optionsOf({ hide, zoom, zoomed, ...drawn }) {
  return { ...drawn, hideFirst: hide.includes("first"), hideSpecial: hide.includes("special") };
}

/** @param {Options} options @param {Pick<Look, "zoom" | "zoomed">} sight @returns {Look} */
export function lookOf({ hideFirst, hideSpecial, ...drawn }, sight) {
  /** @type {Look["hide"]} */
  const hide = [];
  if (hideFirst) hide.push("first");
  if (hideSpecial) hide.push("special");
  return { ...drawn, hide, ...sight };
}

/**
 * The same keys with this one added, or taken away if it was there; the oldest go first.
 *
 * @param {string[]} others
 * @param {string} key
 * @param {number} most
 */
export function toggled(others, key, most) {
  if (others.includes(key)) return others.filter((one) => one !== key);
  return [...others, key].slice(-most);
}

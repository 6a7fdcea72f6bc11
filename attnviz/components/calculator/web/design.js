// @ts-check
/** @import { Group, Shape } from "./types.js" */

/**
 * A design of one's own, as kv_cache.grouped_query and kv_cache.latent_attention make it: after
 * `ratio` layers of the cheaper kind, one of the other.
 *
 * @param {Shape} shape
 * @param {Record<string, number>} values - of the sliders
 * @returns {{groups: Group[], order: number[][]}}
 */
export function ownDesign({ layers, heads, width, latent }, values) {
  const ratio = values.ratio ?? 0;
  const main = ratio ? Math.floor(layers / (ratio + 1)) : layers;
  /** @type {Group} */
  const full = latent
    ? { kind: "latent", count: main, rank: values.latent, rope: values.rope, index: 0 }
    : { kind: "full", count: main, heads: values.kv, dk: width, dv: width };
  const rest = layers - main;
  /** @type {Group} */
  const other = latent
    ? { kind: "linear", count: rest, state: [heads, width, width], channels: 0, kernel: 1 }
    : { ...full, kind: "sliding", count: rest, window: values.window };
  const groups = [full, other].filter((group) => group.count > 0);
  const isMain = (/** @type {number} */ index) => !ratio || index % (ratio + 1) === ratio;
  const order = Array.from({ length: layers }, (_, i) => [isMain(i) ? 0 : groups.length - 1]);
  return { groups, order };
}

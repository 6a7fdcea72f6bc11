// @ts-check
/** @import { Options, Panel } from "./types.js" */
/** @import { TokenMap } from "./maps.js" */
import { isBlocked, largest, view } from "./view.js";

/** @type {{digest: string, values: Float32Array, blocked: Uint8Array | null}} the last one taken */
let last = { digest: "", values: new Float32Array(), blocked: null };

/**
 * One minus the other, cell by cell. What one of them masks counts as the 0 that it is; what both
 * mask stays masked.
 *
 * @param {Panel} one
 * @param {Panel} other
 */
export function difference(one, other) {
  const digest = `${one.digest} - ${other.digest}`;
  if (last.digest === digest) return last;
  const values = new Float32Array(one.values.length);
  const blocked = one.blocked && other.blocked && new Uint8Array(values.length);
  for (let at = 0; at < values.length; at += 1) {
    const [first, second] = [isBlocked(one, at), isBlocked(other, at)];
    values[at] = (first ? 0 : one.values[at]) - (second ? 0 : other.values[at]);
    if (blocked && first && second) blocked[at] = 1;
  }
  last = { digest, values, blocked };
  return last;
}

/**
 * Two maps on one scale, and how they differ.
 *
 * @param {TokenMap} one
 * @param {TokenMap} other
 * @param {Options} options
 * @returns {Panel[]}
 */
export function compared(one, other, options) {
  const shared = Math.max(...[one, other].map(({ panel }) => largest(panel, view(panel, options))));
  const limit = Math.max(one.panel.limit ?? 1, other.panel.limit ?? 1);
  const { panel } = one;
  const { digest, values, blocked } = difference(panel, other.panel);
  return [
    { ...panel, title: one.name, limit, shared },
    { ...other.panel, id: `${panel.id}~other`, title: other.name, limit, shared },
    {
      ...panel,
      id: `${panel.id}~difference`,
      title: "Difference",
      subtitle: "the first minus the second",
      scale: "signed",
      limit: null,
      valueName: "difference",
      values,
      blocked,
      digest,
    },
  ];
}

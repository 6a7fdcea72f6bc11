// Panels for the tests, and a stand-in for measuring text: half an em a character.

/** @param {string} text @param {number} size */
export const measure = (text, size) => Array.from(text).length * size * 0.5;

/** @param {string} name @param {string[]} labels @param {boolean[] | null} special */
export const axis = (name, labels, special = null) => ({
  name,
  title: name,
  labels,
  details: null,
  special,
  written: null,
});

/**
 * @param {string[]} rows
 * @param {string[]} cols
 * @param {number[]} values
 * @param {object} more
 */
export const panel = (rows, cols, values, more = {}) => ({
  id: "p",
  title: "Panel",
  subtitle: "",
  scale: /** @type {const} */ ("weight"),
  limit: null,
  accent: "plain",
  valueName: "weight",
  rows: axis("query", rows),
  cols: axis("key", cols),
  values: Float32Array.from(values),
  blocked: null,
  digest: "d",
  block: 1,
  tops: null,
  source: null,
  madeFrom: [],
  growsFrom: null,
  ...more,
});

/** @param {number} n a map of n tokens */
export function attention(n) {
  const words = ["the", "cat", "because", "it", "dry"];
  const labels = Array.from({ length: n }, (_, i) => words[i % words.length]);
  return panel(labels, labels, new Array(n * n).fill(1 / n));
}

// @ts-check
/** @import { Group, Settings, Sum } from "./types.js" */

// The formulas of attnviz/kv_cache, exact in whole numbers of any size. A test holds both equal
// over random layers and settings.

const big = BigInt;
const least = (/** @type {number} */ a, /** @type {number} */ b) => (a < b ? a : b);
const up = (/** @type {bigint} */ a, /** @type {bigint} */ b) => (a + b - 1n) / b;

/**
 * @param {bigint} elements
 * @param {number} bits - eighths of a bit
 */
const bytes = (elements, bits) => up(elements * big(bits), 64n);

/** @param {(number | bigint)[]} factors */
const product = (...factors) => factors.reduce((/** @type {bigint} */ all, each) => all * big(each), 1n);

/**
 * Elements of each tensor of one layer and sequence: [cache, state].
 *
 * @param {Group} g
 * @param {number} length
 * @param {number} source
 * @returns {[bigint[], bigint[]]}
 */
function stored(g, length, source) {
  if (g.kind === "linear") {
    const columns = product(g.channels ?? 0, (g.kernel ?? 1) - 1);
    return [columns ? [columns] : [], [product(...(g.state ?? []))]];
  }
  if (g.kind === "latent") {
    return [[g.rank, g.rope, g.index].map((width) => product(width ?? 0, length)), []];
  }
  const kept = { full: length, sliding: least(length, g.window ?? 0), cross: source }[g.kind];
  if (kept === undefined) return [[], []]; // none, shared
  return [[g.dk, g.dv].map((width) => product(g.heads ?? 0, kept, width ?? 0)), []];
}

/**
 * @param {Group} g
 * @param {number} length
 */
const grows = (g, length) =>
  g.kind === "full" || g.kind === "latent" || (g.kind === "sliding" && length < (g.window ?? 0));

/**
 * What transformers keeps of a layer, as the layer whose theory that is.
 *
 * @param {Group} g
 * @param {Settings} s
 * @returns {Group}
 */
function kept(g, s) {
  if (g.kind === "sliding") return { ...g, window: (g.window ?? 0) - 1 };
  if (g.kind === "linear" && g.channels) return { ...g, kernel: (g.kernel ?? 1) + 1 };
  const copied = s.modelType === "falcon" && g.kind === "full" && (g.heads ?? 0) > 1 && s.nHeads;
  return copied ? { ...g, heads: Number(s.nHeads) } : g;
}

/**
 * @param {Group} g
 * @param {Settings} s
 */
function theory(g, s) {
  const [cache, state] = stored(g, s.length, s.source);
  const sum = (/** @type {bigint[]} */ all, /** @type {number} */ bits) =>
    all.reduce((total, elements) => total + bytes(elements, bits), 0n);
  return sum(cache, s.bits) + sum(state, s.stateBits);
}

/**
 * Bytes that the next token adds, in 64ths.
 *
 * @param {Group} g
 * @param {Settings} s
 */
function growth(g, s) {
  if (!grows(g, s.length)) return 0n;
  return stored(g, 1, 0)[0].reduce((total, elements) => total + elements, 0n) * big(s.bits);
}

/**
 * @param {number} number
 * @param {number} ranks
 * @param {string} what
 */
function split(number, ranks, what) {
  if (number % ranks) throw new RangeError(`${number} ${what} cannot be shared out over ${ranks} GPUs.`);
  return number / ranks;
}

/**
 * Bytes of one page on one GPU.
 *
 * @param {Group} g
 * @param {Settings} s
 */
function page(g, s) {
  const { block, ranks, bits } = s;
  if (g.kind === "latent") {
    const [rank, rope, index] = [g.rank ?? 0, g.rope ?? 0, g.index ?? 0];
    const scales = (/** @type {number} */ width) => 4 * Math.ceil(width / 128);
    if (s.fp8) return product(block, rank + scales(rank) + 2 * rope + (index ? index + scales(index) : 0));
    return big(block) * [rank, rope, index].reduce((all, width) => all + bytes(big(width), bits), 0n);
  }
  if (g.kind === "linear") {
    const state = g.state ?? [];
    if (g.mixer === "Mamba-2" && ranks > 1) throw new RangeError("Mamba-2 needs a tensor parallelism of 1.");
    const here = product(split(state[0], ranks, "states"), ...state.slice(1));
    const columns = product(split(g.channels ?? 0, ranks, "convolution channels"), (g.kernel ?? 1) - 1);
    return bytes(here, s.stateBits) + bytes(columns, bits);
  }
  const n = g.heads ?? 0;
  if (Math.max(n, ranks) % Math.min(n, ranks)) {
    throw new RangeError(`${n} KV heads (groups) cannot be laid out on ${ranks} GPUs.`);
  }
  const tokens = product(block, Math.max(1, Math.floor(n / ranks)));
  return bytes(tokens * big(g.dk ?? 0), bits) + bytes(tokens * big(g.dv ?? 0), bits);
}

/**
 * @param {Group} g
 * @param {Settings} s
 */
function paged(g, s) {
  if (g.kind === "none" || g.kind === "shared") return { total: 0n, growth: 0n };
  const one = page(g, s);
  const reach = (g.window ?? 0) - 1 + s.batched;
  const blocks = (/** @type {number} */ tokens) => up(big(tokens), big(s.block));
  if (g.kind === "linear") return { total: one, growth: 0n };
  if (g.kind === "cross") return { total: blocks(s.source) * one, growth: 0n };
  if (g.kind === "sliding") {
    const total = (blocks(least(reach, s.length)) + 1n) * one;
    return { total, growth: s.length < reach ? one : 0n };
  }
  return { total: blocks(s.length) * one, growth: one };
}

/**
 * @param {Group} g
 * @param {Settings} given
 * @returns {{total: bigint, growth: bigint, held: bigint}}
 */
function layer(g, given) {
  if (given.accounting === "engine") return { ...paged(g, given), held: 0n };
  if (given.accounting === "theory") return { total: theory(g, given), growth: growth(g, given), held: 0n };
  const s = given.modelType === "minimax" ? { ...given, stateBits: given.bits } : given;
  const k = kept(g, s);
  /** @type {Group} */
  let alive = k;
  if (g.kind === "sliding") alive = s.decoded ? g : { ...g, kind: "full" };
  return { total: theory(k, s), growth: growth(k, s), held: theory(alive, s) };
}

/**
 * @param {Group[]} groups
 * @param {Settings} s
 * @returns {Sum}
 */
export function sizeOf(groups, s) {
  let [fixed, growing, added, held] = [0n, 0n, 0n, 0n];
  const parts = groups.map((g) => {
    const one = layer(g, s);
    const count = big(g.count);
    if (one.growth) growing += count * one.total;
    else fixed += count * one.total;
    added += count * one.growth;
    held += count * one.held;
    return big(s.batch) * one.total;
  });
  return {
    total: big(s.batch) * (fixed + growing),
    sequence: fixed + growing,
    fixed,
    perToken: Number(added) / (s.accounting === "engine" ? s.block : 64),
    held: s.accounting === "transformers" ? big(s.batch) * held : null,
    parts,
  };
}

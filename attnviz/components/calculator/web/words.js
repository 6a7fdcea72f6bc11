// @ts-check

const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB"];

/**
 * Bytes with a binary unit, as kv_cache.words.readable says them.
 *
 * @param {number} count
 */
export function readable(count) {
  if (count < 1024) return `${Number(count.toPrecision(6))} byte${count === 1 ? "" : "s"}`;
  const power = Math.min(Math.floor(Math.log2(count) / 10), UNITS.length);
  const value = count / 1024 ** power;
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `${value.toLocaleString("en-US", options)} ${UNITS[power - 1]}`;
}

/** @param {number} count */
export const tokens = (count) =>
  count >= 2 ** 20 && count % 2 ** 20 === 0
    ? `${count / 2 ** 20}M`
    : count >= 1024 && count % 1024 === 0
      ? `${count / 1024}K`
      : count.toLocaleString("en-US");

/** @param {bigint | number} count */
export const exact = (count) => count.toLocaleString("en-US");

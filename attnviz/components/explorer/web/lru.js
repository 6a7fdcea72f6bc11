// @ts-check

/**
 * Things by key, up to a number of bytes; the longest unused leave first.
 *
 * @template T
 */
export class Lru {
  /** @param {number} limit - bytes */
  constructor(limit) {
    this.limit = limit;
    this.bytes = 0;
    /** @type {Map<string, {value: T, bytes: number}>} in the order of last use */
    this.items = new Map();
  }

  /** @param {string} key @returns {T | undefined} */
  get(key) {
    const item = this.items.get(key);
    if (item === undefined) return undefined;
    this.items.delete(key);
    this.items.set(key, item);
    return item.value;
  }

  /** @param {string} key @param {T} value @param {number} bytes */
  set(key, value, bytes) {
    this.bytes += bytes - (this.items.get(key)?.bytes ?? 0);
    this.items.delete(key);
    this.items.set(key, { value, bytes });
    for (const [old, item] of this.items) {
      if (this.bytes <= this.limit || old === key) break;
      this.items.delete(old);
      this.bytes -= item.bytes;
    }
  }
}

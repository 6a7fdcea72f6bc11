// @ts-check

/**
 * A place of a walk that starts again after its end.
 *
 * @param {number} at
 * @param {number} length - how many places there are
 */
export function stepAt(at, length) {
  return ((at % length) + length) % length;
}

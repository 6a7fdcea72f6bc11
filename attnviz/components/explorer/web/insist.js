// @ts-check

const FIRST = 3_000; // ms; then twice as long each time, for a busy server answers late

/**
 * Asks now, and again for as long as nobody stops it. A run of the page that breaks off another
 * may take a question with it before Python has heard of it; one that is heard twice is harmless.
 *
 * @param {() => void} ask
 * @returns {() => void} what stops it
 */
export function insist(ask) {
  let timer = /** @type {any} */ (0);
  const again = (/** @type {number} */ after) => {
    ask();
    timer = setTimeout(() => again(2 * after), after);
  };
  again(FIRST);
  return () => clearTimeout(timer);
}

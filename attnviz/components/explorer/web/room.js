// @ts-check

const AROUND = 150; // a panel's switches, title and readout
const [LEAST, MOST] = [420, 820];

/**
 * The height, in CSS pixels, that a single map may take so that all of its panel is on the first
 * screen: of the page as it is before any scrolling.
 *
 * @param {HTMLElement} root
 */
export function roomBelow(root) {
  let scrolled = window.scrollY;
  for (let at = /** @type {Node | null} */ (root); at; at = at.parentNode ?? hostOf(at)) {
    if (at instanceof Element) scrolled += at.scrollTop;
  }
  const top = root.getBoundingClientRect().top + scrolled;
  return Math.max(LEAST, Math.min(MOST, window.innerHeight - top - AROUND));
}

/** @param {Node} node */
const hostOf = (node) => (node instanceof ShadowRoot ? node.host : null);

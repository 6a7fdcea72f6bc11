// @ts-check

const AROUND = 150; // a panel's switches, title and readout
const LEAST = 380; // with less below it, the figure is scrolled to, and then has a screen to itself
const MOST = 820;

/**
 * The height, in CSS pixels, that a single map may take so that all of its panel is on one
 * screen: the first one, as the page is before any scrolling, where there is room.
 *
 * @param {HTMLElement} root
 */
export function roomBelow(root) {
  let scrolled = window.scrollY;
  for (let at = /** @type {Node | null} */ (root); at; at = at.parentNode ?? hostOf(at)) {
    if (at instanceof Element) scrolled += at.scrollTop;
  }
  const screen = window.innerHeight - AROUND;
  const below = screen - root.getBoundingClientRect().top - scrolled;
  return Math.max(LEAST, Math.min(MOST, below >= LEAST ? below : screen));
}

/** @param {Node} node */
const hostOf = (node) => (node instanceof ShadowRoot ? node.host : null);

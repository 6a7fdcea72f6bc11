// @ts-check

const ABOVE = 110; // a panel's switches and title
const MARGIN = 60; // the page's own bar, over what is scrolled to
const LEAST = 630; // with less below it, the figure is scrolled to
const MOST = 820;

/**
 * The height, in CSS pixels, that a single map may take: what the first screen leaves it, as the
 * page is before any scrolling, where that is enough; else as much as a screen has.
 *
 * @param {HTMLElement} root
 */
export function roomBelow(root) {
  let scrolled = window.scrollY;
  for (let at = /** @type {Node | null} */ (root); at; at = at.parentNode ?? hostOf(at)) {
    if (at instanceof Element) scrolled += at.scrollTop;
  }
  const screen = window.innerHeight - ABOVE;
  const below = screen - root.getBoundingClientRect().top - scrolled;
  return Math.max(Math.min(LEAST, screen - MARGIN), Math.min(MOST, below));
}

/** @param {Node} node */
const hostOf = (node) => (node instanceof ShadowRoot ? node.host : null);

// @ts-check
/** @import { TokenList } from "./tokenlist.js" */

/**
 * Where a key moves the cursor of a running text, or null for a key that does not.
 *
 * @param {KeyboardEvent} event
 * @param {TokenList} list
 * @param {number} from - among its items
 */
export function walked(event, { root, items }, from) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const onward = getComputedStyle(root).direction === "rtl" ? -1 : 1;
  const near = (/** @type {number} */ to) => Math.max(0, Math.min(items.length - 1, to));
  if (event.key === "ArrowLeft") return near(from - onward);
  if (event.key === "ArrowRight") return near(from + onward);
  if (event.key === "Home") return 0;
  if (event.key === "End") return items.length - 1;
  if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return null;
  return lineAway(items, from, event.key === "ArrowUp" ? -1 : 1);
}

/**
 * The nearest token of the line above or below.
 *
 * @param {HTMLElement[]} items @param {number} from @param {-1 | 1} step
 */
function lineAway(items, from, step) {
  const { offsetTop: top, offsetLeft: left } = items[from];
  let line = NaN;
  let best = from;
  for (let i = from + step; i >= 0 && i < items.length; i += step) {
    const { offsetTop, offsetLeft } = items[i];
    if (offsetTop === top) continue;
    if (Number.isNaN(line)) [line, best] = [offsetTop, i];
    if (offsetTop !== line) break;
    if (Math.abs(offsetLeft - left) < Math.abs(items[best].offsetLeft - left)) best = i;
  }
  return best;
}

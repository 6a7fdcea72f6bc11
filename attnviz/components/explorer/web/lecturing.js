// @ts-check
import { button } from "./controls.js";

const BOXES = '[class*="st-key-attnviz-explorer-"]';

/** Whether the address asks for the lecture view. */
export const lecturing = () => new URLSearchParams(location.search).get("view") === "lecture";

/**
 * Whether the lecture is of this figure: of a page that has several it is of one, the first where
 * the address does not say.
 *
 * @param {string} key @param {Element} host
 */
export function lectured(key, host) {
  const named = new URLSearchParams(location.search).get("figure");
  const box = host.closest(BOXES);
  return named ? named === key : box === null || box === document.querySelector(BOXES);
}

/**
 * Loads the page anew: the address holds its state, and the server has to know this part too.
 *
 * @param {string} key - of the figure
 */
function enter(key) {
  const to = new URL(location.href);
  to.searchParams.set("view", "lecture");
  if (document.querySelectorAll(BOXES).length > 1) to.searchParams.set("figure", key);
  location.assign(to);
}

export function leave() {
  const to = new URL(location.href);
  to.searchParams.delete("view");
  to.searchParams.delete("figure");
  location.assign(to);
}

/** @param {string} key */
export const wayIn = (key) => button("Lecture view", () => enter(key));

/** What is not lectured on leaves the screen to what is. @param {Element} host */
export function giveWay(host) {
  const box = /** @type {HTMLElement | null} */ (host.closest(BOXES));
  if (box) box.style.display = "none";
}

/** The page's own switch, which the lecture view hides. @returns {HTMLElement | null} */
export const maskSwitch = () => document.querySelector(".st-key-lecture_mask button");

// @ts-check
import { button } from "./controls.js";

/** Whether the address asks for the lecture view. */
export const lecturing = () => new URLSearchParams(location.search).get("view") === "lecture";

/** Loads the page anew: the address holds its state, and the server has to know this part too. */
export function enter() {
  const to = new URL(location.href);
  to.searchParams.set("view", "lecture");
  location.assign(to);
}

export function leave() {
  const to = new URL(location.href);
  to.searchParams.delete("view");
  location.assign(to);
}

export const wayIn = () => button("Lecture view", enter);

/** The page's own switch, which the lecture view hides. @returns {HTMLElement | null} */
export const maskSwitch = () => document.querySelector(".st-key-lecture_mask button");

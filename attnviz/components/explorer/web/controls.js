// @ts-check
import { element } from "./dom.js";

/**
 * A switch that is on or off.
 *
 * @param {string} word
 * @param {() => void} act
 */
export function button(word, act) {
  const node = element("button", "", { type: "button", "aria-pressed": "false" }, [word]);
  node.onclick = act;
  return node;
}

/** @param {HTMLElement} node @param {boolean} on */
export const press = (node, on) => node.setAttribute("aria-pressed", String(on));

/**
 * One of several, side by side.
 *
 * @template {string} Word
 * @param {string} name - for those who do not see it
 * @param {string} label - before it, or ""
 * @param {[Word, string][]} words
 * @param {(word: Word) => void} act
 */
export function segments(name, label, words, act) {
  const nodes = words.map(([word, title]) => button(title, () => act(word)));
  const root = element("div", "choice", { role: "group", "aria-label": name }, [
    ...(label ? [element("span", "", {}, [label])] : []),
    ...nodes,
  ]);
  return {
    root,
    /** @param {string | null | undefined} chosen @param {(word: Word) => boolean} can */
    update(chosen, can = () => true) {
      words.forEach(([word], i) => {
        press(nodes[i], word === chosen);
        nodes[i].hidden = !can(word);
      });
    },
  };
}

/**
 * A slider over the places of a list, which acts while it is dragged.
 *
 * @param {string} label
 * @param {number} places
 * @param {(place: number, settled: boolean) => void} act - settled: the thumb was let go
 */
export function slider(label, places, act) {
  const input = element("input", "", { type: "range", min: "0", max: String(places - 1), step: "1" });
  const value = element("output", "amount");
  input.oninput = () => act(Number(input.value), false);
  input.onchange = () => act(Number(input.value), true);
  const root = element("label", "slider", {}, [label, input, value]);
  return {
    root,
    /** @param {number} place @param {string} text @param {string} now - what it is called now */
    update(place, text, now = label) {
      if (root.firstChild && root.firstChild.textContent !== now) root.firstChild.textContent = now;
      input.value = String(place);
      input.setAttribute("aria-valuetext", text);
      value.textContent = text;
    },
  };
}

/**
 * A menu that opens below its name and closes at Escape or a press elsewhere.
 *
 * @param {string} name
 * @param {HTMLElement[]} items
 */
export function disclosure(name, items) {
  const summary = element("summary", "", {}, [name]);
  const menu = element("details", "menu more", {}, [summary, element("div", "items", {}, items)]);
  const away = (/** @type {Event} */ event) => {
    if (!event.composedPath().includes(menu)) menu.open = false;
  };
  menu.ontoggle = () => {
    window[menu.open ? "addEventListener" : "removeEventListener"]("pointerdown", away, true);
    // Near the right edge it opens to the left.
    menu.classList.remove("leftwards");
    const items = /** @type {HTMLElement} */ (menu.lastElementChild);
    const over = items.getBoundingClientRect().right > document.documentElement.clientWidth - 8;
    menu.classList.toggle("leftwards", over);
  };
  menu.onkeydown = (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    summary.focus();
    event.stopPropagation();
  };
  return menu;
}

// @ts-check
import { element } from "./dom.js";

let made = 0; // names for aria-activedescendant

/**
 * @typedef {object} ListHost
 * @property {(at: number) => void} point - a position of the tensor
 * @property {() => void} leave
 * @property {(at: number) => void} pin
 * @property {() => void} clear
 * @property {(event: KeyboardEvent, from: number) => number | null} moved - among the items
 */

/** Tokens that can be pointed at and chosen, by pointer and by keyboard. */
export class TokenList {
  /** @param {string} className @param {ListHost} host */
  constructor(className, host) {
    this.host = host;
    this.root = element("div", className, { role: "listbox", tabindex: "0" });
    /** @type {HTMLElement[]} */
    this.items = [];
    /** @type {number[] | Int32Array} */
    this.positions = [];
    this.cursor = 0;
    /** The width of all items when their middles were measured. */
    this.widths = -1;
    /** @type {number[]} */
    this.measured = [];
    this.listen();
  }

  /**
   * @param {HTMLElement[]} items - options of the list, in order
   * @param {number[] | Int32Array} positions - of the tensor, one an item
   */
  set(items, positions) {
    this.items = items;
    this.positions = positions;
    this.cursor = Math.min(this.cursor, items.length - 1);
    this.widths = -1;
    items.forEach((item, i) => {
      item.dataset.at = String(i);
      item.id = `token-${(made += 1)}`;
    });
  }

  /** The middles of items that stand side by side, in pixels from the start of the first. */
  middles() {
    const { scrollWidth } = this.root;
    if (scrollWidth !== this.widths) {
      this.widths = scrollWidth;
      const start = this.items[0]?.offsetLeft ?? 0;
      this.measured = this.items.map(({ offsetLeft, offsetWidth }) => offsetLeft - start + offsetWidth / 2);
    }
    return this.measured;
  }

  /** @param {number} here - the position pointed at @param {number} pinned */
  mark(here, pinned) {
    this.items.forEach((item, i) => {
      const at = this.positions[i];
      item.classList.toggle("here", at === here);
      const chosen = String(at === pinned);
      if (item.getAttribute("aria-selected") !== chosen) item.setAttribute("aria-selected", chosen);
    });
  }

  /** @param {Event} event @returns {number} the item under it, -1 for none */
  under(event) {
    const item = /** @type {HTMLElement} */ (event.target).closest?.("[role=option]");
    return item && this.root.contains(item) ? Number(/** @type {HTMLElement} */ (item).dataset.at) : -1;
  }

  listen() {
    const { root, host } = this;
    root.onpointermove = (event) => {
      if (event.pointerType === "touch") return;
      const i = this.under(event);
      if (i < 0) host.leave();
      else host.point(this.positions[i]);
    };
    root.onpointerleave = root.onblur = () => host.leave();
    root.onclick = (event) => {
      const i = this.under(event);
      if (i < 0) return;
      this.cursor = i;
      host.pin(this.positions[i]);
    };
    root.onfocus = () => {
      if (root.matches(":focus-visible")) this.visit(this.cursor);
    };
    root.onkeydown = (event) => {
      if (this.items.length === 0) return;
      const to = host.moved(event, this.cursor);
      if (to !== null) this.visit(to);
      else if (event.key === "Escape") host.clear();
      else if (event.key === "Enter" || event.key === " ") host.pin(this.positions[this.cursor]);
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
  }

  /** @param {number} i - among the items */
  visit(i) {
    if (i >= this.items.length) return;
    this.cursor = i;
    this.root.setAttribute("aria-activedescendant", this.items[i].id);
    this.reveal(i);
    this.host.point(this.positions[i]);
  }

  /** Into sight, inside the nearest box that scrolls only. @param {number} i */
  reveal(i) {
    const box = this.root.closest(".scroll");
    if (!box) return;
    const [own, outer] = [this.items[i].getBoundingClientRect(), box.getBoundingClientRect()];
    if (own.top < outer.top) box.scrollTop += own.top - outer.top;
    else if (own.bottom > outer.bottom) box.scrollTop += own.bottom - outer.bottom;
    if (own.left < outer.left) box.scrollLeft += own.left - outer.left;
    else if (own.right > outer.right) box.scrollLeft += own.right - outer.right;
  }
}

// @ts-check
/** @import { Drawing, ViewHost } from "./lazy.js" */
import { element } from "./dom.js";

/** The maps in one picture, each with its colour, and a list to add another. */
export default class BesideView {
  /** @param {ViewHost} host */
  constructor(host) {
    this.host = host;
    this.chips = element("div", "chips");
    this.select = element("select");
    this.select.onchange = () => {
      const key = this.select.value;
      this.select.value = "";
      if (key) host.also(key);
    };
    this.hint = element("span", "note");
    this.root = element("div", "beside-bar", {}, [this.chips, this.select, this.hint]);
    this.listed = "";
    this.made = "";
  }

  /** @param {Drawing} drawing */
  update({ maps, options, candidates }) {
    const comparing = options.show === "compare";
    this.chip(maps, comparing, options.others);
    const kind = maps[0].word;
    const first = comparing ? "compare with…" : `add a ${kind}…`;
    const all = candidates();
    const listed = [first, ...all.map(({ key }) => key)].join(" ");
    if (listed !== this.listed) {
      this.listed = listed;
      this.select.setAttribute("aria-label", comparing ? "Compare with" : `Add a ${kind}`);
      this.select.replaceChildren(
        element("option", "", { value: "" }, [first]),
        ...all.map(({ key, name }) => element("option", "", { value: key }, [name])),
      );
    }
    const there = new Set(maps.map(({ key }) => key));
    for (const option of this.select.options) option.disabled = there.has(option.value);
    this.hint.textContent = all.length > 2 && maps.length === 1 + Number(comparing) ? "or shift-click a small map" : "";
  }

  /**
   * Made anew only when they change: a button that has the focus stays.
   *
   * @param {Drawing["maps"]} maps @param {boolean} comparing @param {string[]} others
   */
  chip(maps, comparing, others) {
    const chips = JSON.stringify([comparing, others, ...maps.map(({ name, colour }) => [name, colour])]);
    if (chips === this.made) return;
    this.made = chips;
    const focused = this.chips.querySelector(":focus") !== null;
    this.chips.replaceChildren(
      ...maps.map((map, i) => {
        const dot = element("span", "dot");
        dot.style.background = map.colour;
        const chip = element("span", "chip", {}, comparing ? [map.name] : [dot, map.name]);
        const implied = comparing && !others.includes(map.key);
        if (i > 0 && !implied) {
          const away = element("button", "away", { type: "button", "aria-label": `Remove ${map.name}` }, ["×"]);
          away.onclick = () => this.host.also(map.key);
          chip.append(away);
        }
        return chip;
      }),
    );
    // What removed itself hands the focus on.
    if (focused) this.select.focus();
  }

  mark() {}
}

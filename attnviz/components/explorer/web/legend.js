// @ts-check
/** @import { Panel, Range, Theme } from "./types.js" */
import { context2d } from "./canvas.js";
import { element } from "./dom.js";
import { scaleEnd } from "./format.js";
import { coloursOf } from "./theme.js";

const WIDE = 110;

/** A colour bar with its ends, for views that are no canvas. */
export function legend() {
  const canvas = element("canvas", "", { width: String(WIDE), height: "9", "aria-hidden": "true" });
  const [lo, word, hi] = [element("span"), element("span"), element("span")];
  const root = element("p", "legend", {}, [lo, canvas, hi, word]);
  return {
    root,
    /** @param {Panel} panel @param {Range} scale @param {Theme} theme */
    update(panel, scale, theme) {
      const context = context2d(canvas);
      const colours = coloursOf(panel, theme);
      for (let x = 0; x < WIDE; x += 1) {
        const step = 3 * Math.round((x / (WIDE - 1)) * 255);
        const [r, g, b] = colours.subarray(step, step + 3);
        context.fillStyle = `rgb(${r},${g},${b})`;
        context.fillRect(x, 0, 1, 9);
      }
      lo.textContent = `${scale.decades ? "≤ " : ""}${scaleEnd(scale.lo)}`;
      hi.textContent = scale.rowTop ? "row max" : scaleEnd(scale.hi);
      word.textContent = scale.decades ? `${panel.valueName}, log` : panel.valueName;
    },
  };
}

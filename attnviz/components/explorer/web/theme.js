// @ts-check
/** @import { Figure, Theme } from "./types.js" */

/**
 * Red, green and blue of a colour that the page uses, 0 to 255.
 *
 * @param {string} colour - any CSS colour
 * @returns {[number, number, number]}
 */
export function channels(colour) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = /** @type {CanvasRenderingContext2D} */ (
    canvas.getContext("2d", { willReadFrequently: true })
  );
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [r, g, b] = context.getImageData(0, 0, 1, 1).data;
  return [r, g, b];
}

/**
 * @param {[number, number, number]} front
 * @param {[number, number, number]} back
 * @param {number} share - of front
 */
function mixed(front, back, share) {
  const parts = front.map((value, i) => Math.round(value * share + back[i] * (1 - share)));
  return `rgb(${parts.join(",")})`;
}

/**
 * From one colour to another in 256 steps.
 *
 * @param {[number, number, number]} from
 * @param {[number, number, number]} to
 */
const ramp = (from, to) =>
  Uint8Array.from({ length: 768 }, (_, i) => Math.round(from[i % 3] + ((to[i % 3] - from[i % 3]) * Math.floor(i / 3)) / 255));

/**
 * The colours of a panel's scale.
 *
 * @param {import("./types.js").Panel} panel
 * @param {Theme} theme
 */
export function coloursOf({ scale }, theme) {
  return scale === "signed" ? theme.diverging : scale === "flag" ? theme.flag : theme.sequential;
}

/**
 * The page's colours and faces, as Streamlit's theme has them now.
 *
 * @param {Element} element
 * @param {Figure} figure
 * @param {string} palette - of weights; the usual one where the figure has none of this name
 * @returns {Theme}
 */
export function themeOf(element, figure, palette = "") {
  const style = getComputedStyle(element);
  const read = (/** @type {string} */ name, /** @type {string} */ otherwise) =>
    style.getPropertyValue(name).trim() || otherwise;
  const page = read("--st-background-color", "#ffffff");
  const text = read("--st-text-color", "#1f2328");
  const back = channels(page);
  const front = channels(text);
  const dark = 0.2126 * back[0] + 0.7152 * back[1] + 0.0722 * back[2] < 128;
  const side = dark ? 1 : 0;
  const accents = Object.entries(figure.accents).map(([name, pair]) => [name, pair[side]]);
  return {
    dark,
    page,
    text,
    surface: read("--st-secondary-background-color", mixed(front, back, 0.05)),
    muted: mixed(front, back, dark ? 0.72 : 0.7),
    line: mixed(front, back, dark ? 0.5 : 0.55),
    hatch: mixed(front, back, dark ? 0.3 : 0.26),
    sans: read("--st-font", "sans-serif"),
    mono: read("--st-code-font", "monospace"),
    accents: Object.fromEntries(accents),
    sequential: (figure.palettes.named[palette] ?? figure.palettes.sequential)[side],
    diverging: figure.palettes.diverging[side],
    flag: ramp(back, channels(figure.accents.mask[side])),
    lines: figure.palettes.lines[side],
  };
}

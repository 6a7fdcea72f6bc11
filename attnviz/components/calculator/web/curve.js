// @ts-check
/** @import { Design, Settings } from "./types.js" */
import { sizeOf } from "./bytes.js";
import { shape } from "./svg.js";
import { readable, tokens } from "./words.js";

const FIRST = 7; // 128 tokens
const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [64, 92, 18, 40, 320];
const DASHES = ["6 3", "2 2", "10 3 2 3", "1 3", "4 4"];

/**
 * Bytes against context on log axes: this design bold, the others thin, what fits as a line.
 *
 * @param {Element} svg
 * @param {Design[]} designs - the first is this one
 * @param {Settings} s
 * @param {{free: number, farthest: number, width: number}} view
 */
export function drawCurve(svg, designs, s, { free, farthest, width }) {
  const end = Math.max(Math.log2(farthest), Math.log2(Math.max(s.length, 2 ** (FIRST + 1))));
  const steps = Math.ceil(3 * (end - FIRST));
  const lengths = Array.from({ length: steps + 1 }, (_, i) => Math.round(2 ** (FIRST + ((end - FIRST) * i) / steps)));
  const bends = designs.flatMap(({ groups }) => groups.map((group) => group.window ?? 0));
  const all = [...new Set([...lengths, ...bends, s.length])]
    .filter((n) => n >= 2 ** FIRST && n <= lengths[steps])
    .sort((a, b) => a - b);
  const lines = designs.map(({ name, groups }) => ({
    name,
    points: all.map((length) => [length, Number(sizeOf(groups, { ...s, length }).total)]).filter(([, n]) => n > 0),
  })).filter(({ points }) => points.length);
  const heights = lines.flatMap(({ points }) => points.map(([, n]) => Math.log2(n)));
  const low = Math.floor(Math.min(...heights, 20));
  const high = Math.ceil(Math.max(...heights, low + 4)) + 1;
  const x = (/** @type {number} */ n) => LEFT + ((Math.log2(n) - FIRST) / (end - FIRST)) * (width - LEFT - RIGHT);
  const y = (/** @type {number} */ n) => TOP + ((high - Math.log2(n)) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const parts = [];
  const stride = Math.max(2, Math.ceil((high - low) / 16) * 2);
  for (let power = Math.ceil(low / stride) * stride; power <= high; power += stride) {
    const at = y(2 ** power);
    parts.push(shape("line", { x1: LEFT, x2: width - RIGHT, y1: at, y2: at, class: "rule" }));
    parts.push(shape("text", { x: LEFT - 6, y: at + 4, class: "tick end" }, readable(2 ** power).replace(/\.0+ /, " ")));
  }
  for (let power = FIRST + 1; power <= end; power += width < 500 ? 4 : 2) {
    parts.push(shape("text", { x: x(2 ** power), y: HEIGHT - BOTTOM + 18, class: "tick mid" }, tokens(2 ** power)));
  }
  parts.push(shape("text", { x: (LEFT + width - RIGHT) / 2, y: HEIGHT - 4, class: "tick mid" }, "context in tokens (log scale)"));
  if (free > 2 ** low && free < 2 ** high) {
    const at = y(free);
    parts.push(shape("line", { x1: LEFT, x2: width - RIGHT, y1: at, y2: at, class: "free" }));
    parts.push(shape("text", { x: LEFT + 4, y: at - 4, class: "tick" }, `${readable(free)} free`));
  }
  lines.forEach(({ points }, i) => {
    const d = points.map(([n, b], j) => `${j ? "L" : "M"}${x(n).toFixed(1)} ${y(b).toFixed(1)}`).join("");
    const name = lines[i].name === designs[0].name ? "this" : "other";
    parts.push(shape("path", { d, class: name, ...(i ? { "stroke-dasharray": DASHES[(i - 1) % 5] } : {}) }));
  });
  parts.push(...names(lines, x, y, designs[0].name));
  for (const other of designs.slice(1)) {
    const at = crossing(designs[0].groups, other.groups, s, lengths[steps]);
    if (at === null || at < 2 ** FIRST) continue;
    const bytes = Number(sizeOf(designs[0].groups, { ...s, length: at }).total);
    const mark = shape("circle", { cx: x(at), cy: y(bytes), r: 4.5, class: "crossing" });
    mark.append(shape("title", {}, `${designs[0].name} and ${other.name} change places at ${at.toLocaleString("en-US")} tokens`));
    parts.push(mark);
  }
  const here = Number(sizeOf(designs[0].groups, s).total);
  if (here && s.length >= 2 ** FIRST) {
    parts.push(shape("line", { x1: x(s.length), x2: x(s.length), y1: TOP, y2: HEIGHT - BOTTOM, class: "here" }));
    parts.push(shape("circle", { cx: x(s.length), cy: y(here), r: 5, class: "dot" }));
  }
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.replaceChildren(...parts);
}

/**
 * The fewest tokens at which the design that was larger at one token no longer is; null: it always
 * is, up to `end`. As kv_cache.crossing.
 *
 * @param {import("./types.js").Group[]} one
 * @param {import("./types.js").Group[]} other
 * @param {Settings} s
 * @param {number} end
 */
export function crossing(one, other, s, end) {
  const ahead = (/** @type {number} */ length) => {
    const [a, b] = [one, other].map((groups) => sizeOf(groups, { ...s, length }).total);
    return a > b ? 1 : a < b ? -1 : 0;
  };
  const start = ahead(1);
  if (!start || ahead(end) === start) return null;
  let [low, high] = [1, end];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (ahead(middle) === start) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * Names at the right ends, moved up where two would touch.
 *
 * @param {{name: string, points: number[][]}[]} lines
 * @param {(n: number) => number} x
 * @param {(n: number) => number} y
 * @param {string} own
 */
function names(lines, x, y, own) {
  const ends = lines.map(({ name, points }) => ({ name, at: points[points.length - 1] }));
  let last = Infinity;
  return ends
    .sort((a, b) => a.at[1] - b.at[1])
    .map(({ name, at }) => {
      last = Math.min(y(at[1]) + 4, last - 15);
      const short = name.split(" (")[0].split(" / ")[0];
      const shown = short.length > 14 && name === own ? "this one" : short.slice(0, 14);
      return shape("text", { x: x(at[0]) + 6, y: last, class: name === own ? "name this" : "name" }, shown);
    });
}

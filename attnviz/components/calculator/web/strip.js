// @ts-check
/** @import { Group } from "./types.js" */
import { shape } from "./svg.js";
import { readable } from "./words.js";

const [HEIGHT, FLOOR, FOOT] = [96, 4, 18];

/**
 * The stack, a bar a layer from the first to the last: its kind, and what it holds now.
 *
 * @param {Element} svg
 * @param {Group[]} groups
 * @param {number[][]} order - of each layer, which groups it has
 * @param {bigint[]} parts - bytes of one layer of each group
 * @param {{colours: Record<string, [string, string]>, dark: boolean, width: number}} look
 */
export function drawStrip(svg, groups, order, parts, { colours, dark, width }) {
  const held = order.map((own) => own.reduce((sum, index) => sum + Number(parts[index]), 0));
  const top = Math.max(...held, 1);
  const step = width / order.length;
  const bars = order.flatMap((own, i) => {
    let y = HEIGHT - FOOT;
    return own.map((index) => {
      const { kind } = groups[index];
      const bytes = Number(parts[index]);
      const height = Math.max(FLOOR, (bytes / top) * (HEIGHT - FOOT - 2));
      y -= height;
      const place = { x: (i * step).toFixed(2), y: y.toFixed(2), width: Math.max(1, step * 0.85).toFixed(2) };
      const bar = shape("rect", { ...place, height: height.toFixed(2), fill: colours[kind][dark ? 1 : 0] });
      bar.append(shape("title", {}, `Layer ${i}, ${kind}: ${readable(bytes)}`));
      return bar;
    });
  });
  const first = shape("text", { x: 0, y: HEIGHT - 4, class: "tick" }, "layer 0");
  const last = shape("text", { x: width, y: HEIGHT - 4, class: "tick end" }, String(order.length - 1));
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.replaceChildren(...bars, first, last);
}

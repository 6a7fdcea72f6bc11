import assert from "node:assert/strict";
import test from "node:test";

import { scenePlate } from "../../attnviz/components/explorer/web/exporting.js";
import { Layers } from "../../attnviz/components/explorer/web/layers.js";
import { writtenSpan } from "../../attnviz/components/explorer/web/paint.js";
import { plan } from "../../attnviz/components/explorer/web/plan.js";
import { escaped, svg } from "../../attnviz/components/explorer/web/svg.js";
import { range, view } from "../../attnviz/components/explorer/web/view.js";
import { windowed } from "../../attnviz/components/explorer/web/windowed.js";
import { attention, measure, panel } from "./panels.mjs";

const options = { scale: "absolute", hideFirst: false, hideSpecial: false, metric: "" };
const ramp = Uint8Array.from({ length: 768 }, (_, i) => Math.floor(i / 3));
const theme = {
  dark: false, page: "#fff", surface: "#eee", text: "#111", muted: "#555", line: "#777",
  hatch: "#ccc", sans: '"Some Face", sans-serif', mono: "monospace",
  accents: { highlight: "#E69F00", key: "#D55E00" }, sequential: ramp, diverging: ramp,
};

function drawing(one, change = (made) => made, image = () => "data:image/png;base64,AAAA") {
  const shown = view(one, options);
  const room = { swatches: 0, maxWidth: 800, maxHeight: 600, cell: 40, ratio: 1, measure };
  const scale = range(one, shown, options);
  const made = plan({ panel: one, shown, ...room });
  const planned = change(made, one, shown);
  const layers = new Layers({ panel: one, shown, scale, theme, ratio: 1 }).at(planned);
  const scene = { panel: one, shown, scale, plan: planned, layers, legend: [], theme };
  return svg(scenePlate(scene, { settings: "seed 1 & more", stem: "x" }), image);
}

test("an SVG holds a rectangle a cell, its tokens as text and its settings", () => {
  const text = drawing(panel(["<script>", "b"], ["<b>", '"'], [0, 1, 0.2, 0.4], { title: "A & B" }));
  assert.ok(!/<script|<b>/.test(text));
  assert.match(text, /&#60;script&#62;/);
  assert.match(text, /seed 1 &#38; more/);
  assert.match(text, /fill="#333333"/); // 0.2
  assert.match(text, /fill="#666666"/); // 0.4
  assert.ok(!text.includes("<image"));
});

test("above 10,000 cells the map is one image", () => {
  const text = drawing(attention(101));
  assert.equal(text.match(/<image /g)?.length, 1);
  assert.ok(text.length < 40_000);
});

test("a map that is zoomed is drawn as far as it is in sight, cut at its edges", () => {
  const one = attention(20);
  const zoomed = (made, panel, shown) =>
    windowed(made, { zoom: 4, row: 1.5, col: 1.5 }, { panel, shown, measure });
  const text = drawing(one, zoomed);
  const shades = text.match(/<rect [^>]*fill="#[0-9a-f]{6}"/g) ?? [];
  assert.ok(shades.length >= 36 && shades.length < 50, `${shades.length}`);
  assert.match(text, /<svg x="/);
  assert.ok(!text.includes("<image"));
});

test("what the model wrote is marked along both sides, from its first token on", () => {
  const one = attention(5);
  const marks = (text) => text.match(/<rect [^>]*fill="#E69F00"/g) ?? [];
  assert.equal(marks(drawing(one)).length, 0);
  const [rows, cols] = [one.rows, one.cols].map((side) => ({ ...side, written: 3 }));
  assert.equal(marks(drawing({ ...one, rows, cols })).length, 2);
  assert.deepEqual(writtenSpan(3, Int32Array.of(0, 1, 2, 3, 4), 0, 5), { from: 3, n: 2 });
  assert.deepEqual(writtenSpan(3, Int32Array.of(1, 2, 3, 4), 0.5, 3), { from: 1.5, n: 1.5 });
  assert.equal(writtenSpan(3, Int32Array.of(0, 1, 2), 0, 3), null);
  assert.equal(writtenSpan(3, Int32Array.of(0, 1, 2, 3, 4), 0, 2), null);
});

test("what XML cannot hold is replaced", () => {
  assert.equal(escaped("a\u0001\ud800b<"), "a��b&#60;");
  assert.equal(escaped("😀"), "😀");
});

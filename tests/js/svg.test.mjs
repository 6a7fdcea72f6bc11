import assert from "node:assert/strict";
import test from "node:test";

import { plan } from "../../attnviz/components/explorer/web/plan.js";
import { escaped, svg } from "../../attnviz/components/explorer/web/svg.js";
import { range, view } from "../../attnviz/components/explorer/web/view.js";
import { attention, measure, panel } from "./panels.mjs";

const options = { scale: "absolute", hideFirst: false, hideSpecial: false, metric: "" };
const ramp = Uint8Array.from({ length: 768 }, (_, i) => Math.floor(i / 3));
const theme = {
  dark: false, page: "#fff", surface: "#eee", text: "#111", muted: "#555", line: "#777",
  hatch: "#ccc", sans: '"Some Face", sans-serif', mono: "monospace",
  accents: { highlight: "#E69F00", key: "#D55E00" }, sequential: ramp, diverging: ramp,
};

function drawing(one, image = () => "data:image/png;base64,AAAA") {
  const shown = view(one, options);
  const room = { swatches: 0, maxWidth: 800, maxHeight: 600, cell: 40, ratio: 1, measure };
  const scene = { panel: one, shown, scale: range(one, shown, options), plan: plan({ panel: one, shown, ...room }), theme };
  return svg({ scene, settings: "seed 1 & more", stem: "x" }, image);
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

test("what XML cannot hold is replaced", () => {
  assert.equal(escaped("a\u0001\ud800b<"), "a��b&#60;");
  assert.equal(escaped("😀"), "😀");
});

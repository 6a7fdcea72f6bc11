import assert from "node:assert/strict";
import test from "node:test";

import { inkOn, pixelsOf, placesOf, pooled, words } from "../../attnviz/components/explorer/web/pixels.js";
import { scaleOf } from "../../attnviz/components/explorer/web/scene.js";
import { part, range, rank, view } from "../../attnviz/components/explorer/web/view.js";
import { axis, panel } from "./panels.mjs";

const options = { scale: null, hideFirst: false, hideSpecial: false, metric: "" };
const grey = words(Uint8Array.from({ length: 768 }, (_, i) => Math.floor(i / 3)));
const redOf = (word) => word & 255;

const square = panel(["a", "b"], ["a", "b"], [0, 0.5, 0.25, 1]);

function drawn(one, chosen = options, width = Infinity, height = Infinity) {
  const shown = view(one, chosen);
  const scale = range(one, shown, chosen);
  const places = placesOf(one, one.cols.labels.length, scale, shown);
  return pixelsOf(pooled(places, width, height, scale.diverging), grey);
}

test("weights are coloured from 0 to 1, or from 0 to each row's largest", () => {
  assert.deepEqual(Array.from(drawn(square).colour, redOf), [0, 128, 64, 255]);
  const byRow = drawn(square, { ...options, scale: "row" });
  assert.deepEqual(Array.from(byRow.colour, redOf), [0, 255, 64, 255]);
});

test("a logarithmic scale spends its colours on four decades", () => {
  const one = panel(["a"], ["a", "b", "c", "d"], [1, 0.01, 0.0001, 0]);
  const scale = range(one, view(one, options), { ...options, scale: "log" });
  const parts = [1, 0.01, 0.0001, 0].map((value) => part(value, scale, 0));
  [1, 0.5, 0, 0].forEach((want, i) => assert.ok(Math.abs(parts[i] - want) < 1e-6));
  assert.equal(scale.lo, 0.0001);
});

test("a long row is coloured by logarithms until the reader chooses", () => {
  const labels = Array.from({ length: 101 }, String);
  const one = panel(["a"], labels, new Array(101).fill(0.01));
  assert.ok(range(one, view(one, options), options).decades > 0);
  assert.equal(range(one, view(one, options), { ...options, scale: "absolute" }).decades, 0);
});

test("signed values are symmetric about 0, and a limit fixes the ends", () => {
  const one = panel(["a"], ["a", "b", "c"], [-4, 0, 2], { scale: "signed" });
  const scale = range(one, view(one, options), options);
  assert.deepEqual([scale.lo, scale.hi], [-4, 4]);
  assert.deepEqual([-4, 0, 2].map((value) => part(value, scale, 0)), [0, 0.5, 0.75]);
  const fixed = range({ ...one, limit: 8 }, view(one, options), options);
  assert.deepEqual([fixed.lo, fixed.hi], [-8, 8]);
});

test("masked and infinite values do not set the scale, and masked ones are left open", () => {
  const one = panel(["a"], ["a", "b", "c"], [-Infinity, 3, 9], {
    scale: "signed",
    blocked: Uint8Array.of(0, 0, 1),
  });
  assert.equal(range(one, view(one, options), options).hi, 3);
  const { colour } = drawn(one);
  assert.deepEqual([colour[0], colour[1], colour[2]], [grey[0], grey[255], 0]);
});

test("an undefined cell is neither coloured nor masked", () => {
  const { colour, undefinedCells } = drawn(panel(["a"], ["a", "b"], [NaN, 1]));
  assert.equal(colour[0], 0);
  assert.notEqual(undefinedCells?.[0], 0);
  assert.equal(undefinedCells?.[1], 0);
  assert.equal(drawn(square).undefinedCells, null);
});

test("hiding drops positions, rescales colours and changes no weight", () => {
  const one = panel(["a", "b"], ["a", "b", "c"], [0.9, 0.06, 0.04, 0.8, 0.1, 0.1]);
  const shown = view(one, { ...options, hideFirst: true });
  assert.deepEqual([...shown.cols], [1, 2]);
  assert.deepEqual([...shown.rows], [0, 1]);
  const scale = range(one, shown, options);
  assert.ok(Math.abs(scale.hi - 0.1) < 1e-7);

  const special = { ...one, cols: axis("key", ["[CLS]", "b", "[SEP]"], [true, false, true]) };
  assert.deepEqual([...view(special, { ...options, hideSpecial: true }).cols], [1]);
  const all = { ...one, cols: axis("key", ["x", "y", "z"], [true, true, true]) };
  assert.equal(view(all, { ...options, hideSpecial: true }).cols.length, 3);
  const features = { ...one, cols: axis("feature", ["0", "1", "2"]) };
  assert.equal(view(features, { ...options, hideFirst: true }).cols.length, 3);
});

test("with more cells than pixels, a pixel shows the largest of its block: no column is lost", () => {
  const values = new Array(16).fill(0);
  values[1 * 4 + 3] = 1; // row 1, column 3
  const one = panel(["a", "b", "c", "d"], ["a", "b", "c", "d"], values);
  const map = drawn(one, options, 2, 2);
  assert.deepEqual([map.width, map.height], [2, 2]);
  assert.deepEqual(Array.from(map.colour, redOf), [0, 255, 0, 0]);
});

test("pixels that do not divide the cells evenly still show each cell once", () => {
  for (const [cells, pixels] of [[7, 3], [100, 64], [5, 5]]) {
    const labels = Array.from({ length: cells }, String);
    for (let peak = 0; peak < cells; peak += 1) {
      const values = labels.map((_, i) => (i === peak ? 1 : 0));
      const map = drawn(panel(["a"], labels, values), { ...options, scale: "absolute" }, pixels);
      assert.equal(map.width, pixels);
      assert.equal(Array.from(map.colour, redOf).filter((red) => red === 255).length, 1);
    }
  }
});

test("of signed cells a pixel shows the one farthest from 0, of masked ones none", () => {
  const one = panel(["a"], ["a", "b", "c", "d", "e", "f"], [1, -3, 2, 0.5, 9, 9], {
    scale: "signed",
    limit: 4,
    blocked: Uint8Array.of(0, 0, 0, 0, 1, 1),
  });
  const { colour } = drawn(one, options, 3);
  assert.deepEqual([redOf(colour[0]), redOf(colour[1]), colour[2]], [32, 191, 0]);
});

test("rank counts the allowed cells of the row", () => {
  const one = panel(["a"], ["a", "b", "c"], [0.2, 0.5, 0.3], { blocked: Uint8Array.of(0, 0, 1) });
  assert.deepEqual(rank(one, 0, 0), { rank: 2, of: 2 });
});

test("ink is the more legible of black and white", () => {
  assert.equal(inkOn(255, 255, 255), "#000000");
  assert.equal(inkOn(0, 0, 4), "#ffffff");
  assert.equal(inkOn(90, 90, 90), "#ffffff");
});

test("an overview is coloured up to 1 where it holds weights, else up to its largest row", () => {
  const labels = ["a", "b", "c", "d"];
  const tops = Float32Array.of(0.9, 6.5, 0.4, 2);
  const weights = panel(labels, labels, [0.9, 0.4, 0.5, 0.6], { block: 2, tops });
  const ends = (/** @type {object} */ more) => scaleOf({ ...weights, ...more }, view(weights, options), options);
  assert.equal(ends({}).hi, 1);
  assert.equal(ends({ scale: "magnitude" }).hi, 6.5);
  assert.deepEqual([ends({ scale: "signed" }).lo, ends({ scale: "signed" }).hi], [-6.5, 6.5]);
});

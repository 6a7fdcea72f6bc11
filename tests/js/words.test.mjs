import assert from "node:assert/strict";
import test from "node:test";

import { allOf } from "../../attnviz/components/explorer/web/sight.js";
import { csv, field } from "../../attnviz/components/explorer/web/csv.js";
import { decimals, exact, fixed, number, scaleEnd } from "../../attnviz/components/explorer/web/format.js";
import { headName, openHead, shownPanels } from "../../attnviz/components/explorer/web/heads.js";
import { moved } from "../../attnviz/components/explorer/web/keys.js";
import { linked } from "../../attnviz/components/explorer/web/linking.js";
import { cell, place, plain } from "../../attnviz/components/explorer/web/readout.js";
import { axis, panel } from "./panels.mjs";

const map = panel(["the", "cat"], ["the", "cat"], [1, 0, 0.877, 0.123], {
  blocked: Uint8Array.of(0, 1, 0, 0),
});

test("a readout gives both tokens with their positions, the value and its rank", () => {
  assert.equal(plain(cell(map, 1, 1)), "cat 1 → cat 1: weight 0.123, rank 2 of 2 in row");
  assert.equal(plain(cell(map, 0, 1)), "the 0 → cat 1: masked");
  const odd = { ...map, values: Float32Array.of(NaN, 0, 0, 0) };
  assert.equal(plain(cell(odd, 0, 0)), "the 0 → the 0: weight undefined");
  const numbered = { ...map, cols: axis("feature", ["0", "1"]), scale: "signed", valueName: "value" };
  assert.equal(plain(cell(numbered, 1, 0)), "cat 1 → feature 0: value 0.877");
  const long = { ...map, rows: axis("query", ["x".repeat(200), "y"]) };
  assert.ok(plain(cell(long, 0, 0)).length <= 150);
});

test("a label says all of its token and what is known about it", () => {
  const keys = { ...axis("key", ["x".repeat(50)]), details: ["id 7"] };
  assert.equal(plain(place(keys, 0, true)), `key 0 ${"x".repeat(50)} (id 7)`);
});

test("numbers for people have three digits and a true minus", () => {
  const said = [0, 0.5, -0.12345, 12.345, 1234.5, 3e-7, NaN, -Infinity].map(number);
  assert.deepEqual(said, ["0", "0.500", "−0.123", "12.3", "1235", "3.00e−7", "undefined", "−∞"]);
  assert.deepEqual([0, 1, -2.7134, 0.0001, 0.31].map(scaleEnd), ["0", "1", "−2.71", "0.0001", "0.31"]);
});

test("all numbers of a matrix have the decimals that its widest has room for", () => {
  assert.equal(decimals([0.1, 0.2], 5), 3);
  assert.equal(decimals([0.1, -10.2], 5), 1);
  assert.equal(decimals([0.1, -1000], 4), 0);
  assert.deepEqual([fixed(-0.0001, 2), fixed(0, 3)], ["≈0", "0"]);
  assert.equal(fixed(-1.5, 1), "−1.5");
});

test("exact numbers read back as the same float32", () => {
  let seed = 1;
  for (let i = 0; i < 2000; i += 1) {
    seed = (seed * 48271) % 2147483647;
    const value = Math.fround((seed / 2147483647 - 0.5) * 10 ** ((i % 60) - 30));
    assert.equal(Math.fround(Number(exact(value))), value);
  }
  assert.equal(exact(Math.fround(0.1)), "0.1");
  assert.deepEqual([NaN, Infinity, -Infinity].map(exact), ["nan", "inf", "-inf"]);
});

test("fields are quoted as RFC 4180 has it and are no formulas", () => {
  assert.equal(field('say "hi", you'), '"say ""hi"", you"');
  assert.equal(field("two\nlines"), '"two\nlines"');
  for (const start of ["=1+1", "+1", "-1", "@x", "\tx"]) assert.equal(field(start), `'${start}`);
  assert.equal(field('=x,"y"'), '"\'=x,""y"""');
});

test("a table of values has a line a row and keeps negative numbers", () => {
  const signed = panel(["=a", "b"], ["x", "x"], [-1, 0.5, NaN, 0.25]);
  assert.equal(
    csv(signed, allOf(signed)),
    "query position,query,0 x,1 x\r\n0,'=a,-1,0.5\r\n1,b,nan,0.25\r\n",
  );
});

test("panels are linked by the names of their axes", () => {
  const all = { rows: Int32Array.of(0, 1), cols: Int32Array.of(0, 1), hidden: 0 };
  const pointer = { panel: map, row: 1, col: 0 };
  const values = panel(["the", "cat"], ["0", "1"], [1, 2, 3, 4], { id: "v" });
  values.rows = axis("key", ["the", "cat"]);
  values.cols = axis("feature", ["0", "1"]);
  assert.deepEqual(linked(pointer, values, all), { row: 0, col: -1 });
  assert.deepEqual(linked(pointer, { ...map, id: "other" }, all), { row: 1, col: 0 });
  const hidden = { ...all, rows: Int32Array.of(0) };
  assert.deepEqual(linked(pointer, map, hidden), { row: -1, col: 0 });
  assert.deepEqual(linked(null, map, all), { row: -1, col: -1 });
});

test("arrow keys stay inside the table and leave shortcuts alone", () => {
  const press = (key, more = {}) => ({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });
  assert.deepEqual(moved(press("ArrowDown"), { row: 0, col: 0 }, 3, 4, 10), { row: 1, col: 0 });
  assert.deepEqual(moved(press("ArrowUp"), { row: 0, col: 2 }, 3, 4, 10), { row: 0, col: 2 });
  assert.deepEqual(moved(press("ArrowRight", { shiftKey: true }), { row: 0, col: 2 }, 3, 40, 10), { row: 0, col: 12 });
  assert.deepEqual(moved(press("End"), { row: 1, col: 0 }, 3, 4, 10), { row: 1, col: 3 });
  assert.equal(moved(press("ArrowLeft", { altKey: true }), { row: 1, col: 1 }, 3, 4, 10), null);
  assert.equal(moved(press("x"), { row: 1, col: 1 }, 3, 4, 10), null);
});

test("the first panel of a stack shows the open head, by its layer's true index", () => {
  const stack = Float32Array.from({ length: 2 * 2 * 4 }, (_, i) => i);
  const grid = { layers: [3, 7], heads: 2, word: "head", stack, digest: "g" };
  const figure = { panels: [map], grid };
  const none = { layer: null, head: null };
  assert.deepEqual(openHead(figure, none), { layer: 3, head: 0 });
  assert.deepEqual(openHead(figure, { layer: 4, head: 0 }), { layer: 3, head: 0 });
  const [first] = shownPanels(figure, { layer: 7, head: 1 });
  assert.equal(first.title, "Layer 7, head 1");
  assert.deepEqual([...first.values], [12, 13, 14, 15]);
});

test("a head of a model is named by its layer, a head of a single run is not", () => {
  assert.equal(headName({ layers: [0, 3, 7], word: "head" }, 7, 2), "Layer 7, head 2");
  assert.equal(headName({ layers: [0], word: "head" }, 0, 2), "Head 2");
  assert.equal(headName({ layers: [0], word: "channel" }, 0, 2), "Channel 2");
});

test("a table of an overview has a line a block and says so", () => {
  const labels = ["a", "b", "c"];
  const one = panel(labels, labels, [0.5, 0.25, 0.125, 1], { block: 2 });
  const lines = csv(one, allOf(one)).split("\r\n");
  assert.deepEqual(lines, ["query position (largest of 2 × 2 cells),query,0 a,2 c", "0,a,0.5,0.25", "2,c,0.125,1", ""]);
});

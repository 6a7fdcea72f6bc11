import assert from "node:assert/strict";
import test from "node:test";

import { blockAround, blockPieces, corners } from "../../attnviz/components/explorer/web/block.js";
import { cutAt, passes, placeOfCut, ranking } from "../../attnviz/components/explorer/web/gridtools.js";
import { plain } from "../../attnviz/components/explorer/web/readout.js";
import { panel } from "./panels.mjs";

const values = Float32Array.of(0.5, NaN, 0.25, 1, 0.25);

test("heads in the order of a metric: ties by place, without those that have no number", () => {
  assert.deepEqual(ranking(values, { order: "down", cut: null }), [3, 0, 2, 4]);
  assert.deepEqual(ranking(values, { order: "up", cut: null }), [2, 4, 0, 3]);
});

test("a threshold is the least, or where the smallest come first the most", () => {
  assert.deepEqual(ranking(values, { order: "down", cut: 0.5 }), [3, 0]);
  assert.deepEqual(ranking(values, { order: "up", cut: 0.5 }), [2, 4, 0]);
  assert.ok(passes(NaN, { order: "", cut: null }));
  assert.ok(!passes(NaN, { order: "", cut: 0 }) && !passes(NaN, { order: "up", cut: 9 }));
});

test("the slider's places are the range of the metric, and 0 lets all pass", () => {
  assert.equal(cutAt(values, "down", 0), null);
  assert.equal(cutAt(values, "down", 100), 1);
  assert.equal(cutAt(values, "", 50), 0.625);
  assert.equal(cutAt(values, "up", 100), 0.25);
  for (const order of ["", "up"]) {
    for (const place of [0, 1, 37, 100]) assert.equal(placeOfCut(values, { order, cut: cutAt(values, order, place) }), place);
  }
  assert.equal(placeOfCut(values, { order: "", cut: 99 }), 100);
});

test("a block goes from corner to corner, whichever was first", () => {
  const expected = { first: { row: 1, col: 2 }, last: { row: 4, col: 5 } };
  assert.deepEqual(corners({ row: 4, col: 2 }, { row: 1, col: 5 }), expected);
  assert.deepEqual(corners({ row: 1, col: 2 }, { row: 4, col: 5 }), expected);
});

test("a block says its mean, masked cells counting as nothing", () => {
  const one = panel(["a", "b"], ["x", "y"], [1, 0, 0.25, 0.75], { blocked: Uint8Array.of(0, 1, 0, 0) });
  assert.equal(plain(blockPieces(one, 0, 0, [1, 1])), "query 0–1 → key 0–1: mean weight 0.500");
  assert.equal(plain(blockPieces(one, 1, 0, [1, 1])), "query 1 → key 0–1: mean weight 0.500");
});

test("a cell of an overview stands for its block, the last one cut", () => {
  const labels = ["a", "b", "c"];
  const one = panel(labels, labels, [0.5, 0.25, 0.125, 1], { block: 2 });
  assert.deepEqual(blockAround(one, 1, 2), [0, 2, [1, 2]]);
  assert.equal(plain(blockPieces(one, 0, 2, [1, 2])), "query 0–1 → key 2");
  assert.equal(blockAround(panel(["a"], ["a"], [1]), 0, 0), null);
});

import assert from "node:assert/strict";
import test from "node:test";

import { firstShare } from "../../attnviz/components/explorer/web/firsttoken.js";
import { panel } from "./panels.mjs";

const words = ["the", "cat", "sat", "on", "mat"];
const n = words.length;

/** Causal, with this share on the first token in every row that has a choice. @param {number} share */
function causal(share) {
  const values = words.flatMap((_, i) =>
    words.map((__, j) => (j > i ? 0 : i === 0 ? 1 : j === 0 ? share : (1 - share) / i)),
  );
  const blocked = Uint8Array.from(words.flatMap((_, i) => words.map((__, j) => Number(j > i))));
  return panel(words, words, values, { blocked });
}

test("the share on the first token is the mean of the rows that have a choice", () => {
  assert.ok(Math.abs(firstShare(causal(0.65)) - 0.65) < 1e-6);
  assert.ok(Math.abs(firstShare(causal(0.1)) - 0.1) < 1e-6);
});

test("where it would say nothing it is no number", () => {
  const even = new Array(n * n).fill(1 / n);
  assert.ok(Math.abs(firstShare(panel(words, words, even)) - 0.2) < 1e-6);
  for (const odd of [{ scale: "signed" }, { block: 2 }]) {
    assert.ok(Number.isNaN(firstShare(panel(words, words, even, odd))));
  }
  assert.ok(Number.isNaN(firstShare(panel(["a", "b"], ["a", "b"], [1, 0, 0.5, 0.5]))));
});

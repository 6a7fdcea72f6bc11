// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { stepAt } from "../../attnviz/components/explorer/web/timeline.js";

test("a walk starts again after its end, in both directions", () => {
  assert.deepEqual([0, 1, 2, 3, -1].map((at) => stepAt(at, 3)), [0, 1, 2, 0, 2]);
});

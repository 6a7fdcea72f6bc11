// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN } from "../../attnviz/components/explorer/web/look.js";
import { stageSize, staged } from "../../attnviz/components/explorer/web/staging.js";
import { Clock, stepAt } from "../../attnviz/components/explorer/web/timeline.js";
import { range, view } from "../../attnviz/components/explorer/web/view.js";
import { stepsOf, written } from "../../attnviz/components/explorer/web/walk.js";
import { panel } from "./panels.mjs";

test("a walk starts again after its end, in both directions", () => {
  assert.deepEqual([0, 1, 2, 3, -1].map((at) => stepAt(at, 3)), [0, 1, 2, 0, 2]);
});

test("a clock steps at once, then evenly, until there is no other step", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let [steps, told] = [0, 0];
  const clock = new Clock(() => (steps += 1) < 3, () => (told += 1));
  clock.start(100);
  assert.deepEqual([steps, clock.running], [1, true]);
  t.mock.timers.tick(99);
  assert.equal(steps, 1);
  t.mock.timers.tick(1);
  t.mock.timers.tick(100);
  assert.deepEqual([steps, clock.running], [3, false]);
  t.mock.timers.tick(1000);
  assert.equal(steps, 3);
  assert.equal(told, 2); // started, and ended
});

test("a clock that is stopped takes no step more", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let steps = 0;
  const clock = new Clock(() => Boolean((steps += 1)), () => {});
  clock.start(100);
  clock.start(100); // pressed twice: one clock, not two
  t.mock.timers.tick(100);
  assert.equal(steps, 3);
  clock.stop();
  t.mock.timers.tick(1000);
  assert.deepEqual([steps, clock.running], [3, false]);
});

/** @param {string} id @param {string[]} madeFrom */
const matrix = (id, madeFrom = []) => panel(["a"], ["b"], [1], { id, title: id.toUpperCase(), madeFrom });
/** @param {any[]} panels @param {string[]} walk @returns {any} */
const figure = (panels, walk = []) => ({ panels, walk, grid: null });

test("a step shows what it was made from, as far as that is a panel", () => {
  const panels = [matrix("q"), matrix("k"), matrix("s", ["q", "k", "gone"]), matrix("a", ["s"])];
  const steps = stepsOf(figure(panels, ["s", "a"]), false);
  assert.deepEqual(steps.map(({ name, from }) => [name, from]), [["S", ["q", "k"]], ["A", ["s"]]]);
  assert.deepEqual(staged(steps[0], panels, 1000).map(({ id }) => id), ["q", "k", "s"]);
  assert.deepEqual(staged(steps[0], panels, 390).map(({ id }) => id), ["s"], "a phone shows the step alone");
});

test("without a walk a figure has steps in a lecture only, each beside the one before", () => {
  const panels = [matrix("one"), matrix("two")];
  assert.deepEqual(stepsOf(figure(panels), false), []);
  assert.deepEqual(stepsOf(figure(panels), true).map(({ panel: id, from }) => [id, from]), [["two", ["one"]]]);
  assert.deepEqual(stepsOf(figure([matrix("one")]), true), []);
});

test("the stage is shared out: two sources one above the other, their result beside them", () => {
  const [first, second, result] = [0, 1, 2].map((at) => stageSize(3, at, 1240, 600, true));
  assert.deepEqual(first, second);
  assert.ok(2 * first.maxHeight + 12 <= 600);
  assert.equal(result.maxHeight, 622, "its subtitle stands beside its title");
  assert.ok(first.maxWidth + result.maxWidth <= 1240 - 28);
  const inPage = [0, 1, 2].map((at) => stageSize(3, at, 1060, 820, false));
  assert.ok(inPage.every(({ maxWidth, maxHeight }) => 3 * maxWidth + 2 * 28 <= 1060 && maxHeight === 460), "in a row");
});

const labels = ["The", "·cat", "·sat", "·down"];
const grown = panel(labels, labels, [1, 0, 0, 0, 0.5, 0.5, 0, 0, 0.25, 0.25, 0.5, 0, 0.1, 0.2, 0.3, 0.4], {
  limit: 1,
  growsFrom: 2,
});

test("a text that is written has a row and a column more at each step", () => {
  const steps = stepsOf(figure([grown]), false);
  assert.deepEqual(steps.map(({ rows }) => rows), [2, 3, 4]);
  assert.deepEqual(steps.map(({ name }) => name), ["the prompt, 2 tokens", "“·sat”", "“·down”"]);
  const at = (/** @type {number | null} */ place) => view(grown, { ...PLAIN, at: place });
  assert.deepEqual([0, 1, 2, null].map((place) => at(place).rows.length), [2, 3, 4, 4]);
  assert.deepEqual(Array.from(at(1).cols), [0, 1, 2]);
  // What is not there yet is not hidden: colours stay as they are.
  assert.equal(at(0).hidden, 0);
  assert.equal(range(grown, at(0), { ...PLAIN, at: 0 }).hi, 1);
  assert.deepEqual(written(grown, 3), { prompt: "The cat", since: " sat" });
});

test("another map pays no heed to the place in a walk", () => {
  assert.equal(view({ ...grown, growsFrom: null }, { ...PLAIN, at: 0 }).rows.length, 4);
});

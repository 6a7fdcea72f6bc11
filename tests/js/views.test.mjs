import assert from "node:assert/strict";
import test from "node:test";

import { compared, difference } from "../../attnviz/components/explorer/web/compare.js";
import { LEVELS, columns, lineHeight, lines, strokeOf } from "../../attnviz/components/explorer/web/linesplan.js";
import { LEASTS, PLAIN, leastPlace, lookOf, optionsOf, toggled } from "../../attnviz/components/explorer/web/look.js";
import { allMaps, mainMap, mapOf, placeOf, slots } from "../../attnviz/components/explorer/web/maps.js";
import { ranked, strongestKey, strongestQuery } from "../../attnviz/components/explorer/web/ranked.js";
import { running } from "../../attnviz/components/explorer/web/running.js";
import { part, range, scaleKind, view } from "../../attnviz/components/explorer/web/view.js";
import { attention, panel } from "./panels.mjs";

const square = panel(["a", "b", "c"], ["a", "b", "c"], [1, 0, 0, 0.25, 0.75, 0, 0.5, 0.02, 0.48], {
  blocked: Uint8Array.of(0, 1, 1, 0, 0, 1, 0, 0, 0),
});
const NONE = { row: -1, col: -1 };
const ALL = { first: 0, last: 99 };

function linesOf(one, alone, sight, options = PLAIN) {
  const shown = view(one, options);
  return lines(one, shown, range(one, shown, options), alone, sight);
}
const pairs = (levels) => levels.flatMap((flat) => flat.flatMap((r, i) => (i % 2 ? [] : [[r, flat[i + 1]]])));

test("a line for each weight that can be seen, by strength", () => {
  const levels = linesOf(square, NONE, ALL);
  assert.deepEqual(levels[LEVELS], [0, 0]);
  assert.deepEqual(pairs(levels).sort(), [[0, 0], [1, 0], [1, 1], [2, 0], [2, 2]]);
  assert.ok(strokeOf(LEVELS).width > strokeOf(1).width && strokeOf(LEVELS).alpha <= 1);
});

test("a row or a column alone, and what the threshold leaves", () => {
  assert.deepEqual(pairs(linesOf(square, { row: 1, col: -1 }, ALL)).sort(), [[1, 0], [1, 1]]);
  assert.deepEqual(pairs(linesOf(square, { row: -1, col: 0 }, ALL)).sort(), [[0, 0], [1, 0], [2, 0]]);
  const some = linesOf(square, NONE, ALL, { ...PLAIN, least: 0.5 });
  assert.deepEqual(pairs(some).sort(), [[0, 0], [1, 1], [2, 0]]);
});

test("of a long text only lines with an end in sight are drawn", () => {
  const large = attention(60);
  large.values.fill(0);
  for (let i = 0; i < 60; i += 1) large.values[i * 60 + (59 - i)] = 0.5;
  const seen = pairs(linesOf(large, NONE, { first: 0, last: 4 }));
  assert.equal(seen.length, 10); // five queries in sight, and the five of the keys in sight
  assert.ok(seen.every(([r, c]) => r <= 4 || c <= 4));
});

test("token columns leave room for the lines", () => {
  for (const room of [340, 700, 1400]) {
    const plan = columns(room, 150);
    assert.ok(plan.between >= 80 && plan.width <= room, `${room}`);
  }
  assert.equal(lineHeight(400, 1000), 24); // a target that a finger meets
  assert.equal(lineHeight(400, 5), 27);
});

test("weights below the least are drawn as nothing, and never signed ones", () => {
  const options = { ...PLAIN, least: 0.3 };
  const scale = range(square, view(square, options), options);
  assert.deepEqual([0.29, 0.3, 0.5].map((value) => part(value, scale, 0)), [0, 0.3, 0.5]);
  const signed = { ...square, scale: "signed" };
  assert.equal(part(-1, range(signed, view(signed, options), options), 0), 0);
  assert.equal(part(0.1, range(signed, view(signed, options), options), 0), 0.55);
  const logarithmic = { ...options, scale: "log" };
  assert.equal(part(0.2, range(square, view(square, logarithmic), logarithmic), 0), 0);
});

test("a long map is logarithmic, but not as lines", () => {
  const long = attention(200);
  assert.equal(scaleKind(long, PLAIN), "log");
  assert.equal(scaleKind(long, { ...PLAIN, show: "lines" }), "absolute");
  assert.equal(scaleKind(long, { ...PLAIN, show: "lines", scale: "row" }), "row");
});

test("a look survives the way to Python and back", () => {
  const options = { ...PLAIN, show: "text", hideSpecial: true, others: ["1.2"], least: 0.05 };
  assert.deepEqual(lookOf(options).hide, ["special"]);
  assert.deepEqual(optionsOf(lookOf(options)), options);
  assert.equal(LEASTS[leastPlace(0.05)], 0.05);
  assert.equal(LEASTS[leastPlace(0.06)], 0.05);
});

test("heads are added and taken away, and the oldest makes room", () => {
  assert.deepEqual(toggled(["a", "b"], "c", 3), ["a", "b", "c"]);
  assert.deepEqual(toggled(["a", "b", "c"], "d", 3), ["b", "c", "d"]);
  assert.deepEqual(toggled(["a", "b", "c"], "b", 3), ["a", "c"]);
});

test("a head has its own colour, two never the same", () => {
  assert.deepEqual(slots(["0.1", "0.3"], 9, 6), [1, 3]);
  assert.deepEqual(slots(["0.1", "0.3", "5.2"], 9, 6), [1, 3, 5]);
  assert.deepEqual(slots(["0.1", "0.7", "1.4"], 9, 6), [1, 2, 3]); // all would be 1
  assert.equal(new Set(slots(["0.0", "2.0", "4.0", "6.0", "8.0", "10.0"], 9, 6)).size, 6);
});

test("maps that can stand beside each other", () => {
  const stack = Float32Array.from({ length: 2 * 2 * 9 }, (_, i) => i);
  const grid = { layers: [3, 7], heads: 2, word: "head", stack, digest: "g" };
  const figure = { panels: [square], grid, selection: {} };
  const main = mainMap(figure, { layer: 7, head: 0 });
  assert.deepEqual([main.key, main.name], ["7.0", "Layer 7, head 0"]);
  assert.deepEqual(allMaps(figure, main).map(({ key }) => key), ["3.0", "3.1", "7.0", "7.1"]);
  assert.deepEqual([...mapOf(figure, main, "3.1").panel.values], [...stack.subarray(9, 18)]);
  for (const bad of ["7.0", "4.0", "3.2", "", "3", "__proto__", "3.1.1"]) assert.equal(mapOf(figure, main, bad), null);
  assert.deepEqual(placeOf("12.34"), { layer: 12, head: 34 });

  const other = { ...square, id: "other", title: "Other" };
  const counts = { ...square, id: "counts", valueName: "allowed" };
  const panels = { panels: [counts, square, other], grid: null };
  const first = mainMap(panels, { panel: "p" });
  assert.deepEqual(allMaps(panels, first).map(({ key }) => key), ["p", "other"]);
  assert.equal(mainMap({ panels: [{ ...square, scale: "signed" }], grid: null }, {}), null);
});

test("a difference is signed; what one masks counts as 0, what both mask stays masked", () => {
  const other = { ...square, digest: "e", values: Float32Array.of(1, 0, 0, 1, 0, 0, 0.25, 0.5, 0.25), blocked: null };
  const [one, two, both] = compared(
    { key: "0.0", name: "First", word: "head", panel: square },
    { key: "0.1", name: "Second", word: "head", panel: other },
    PLAIN,
  );
  assert.deepEqual([one.title, two.title, both.scale], ["First", "Second", "signed"]);
  assert.equal(new Set([one.id, two.id, both.id]).size, 3);
  assert.deepEqual([...both.values].map((v) => Math.round(v * 100) / 100), [0, 0, 0, -0.75, 0.75, 0, 0.25, -0.48, 0.23]);
  assert.equal(both.blocked, null);
  assert.deepEqual([...difference(square, { ...square, digest: "f" }).blocked], [...square.blocked]);
});

test("compared maps share one scale, also without the first key", () => {
  const faint = { ...square, digest: "e", values: square.values.map((v) => v / 10) };
  for (const options of [PLAIN, { ...PLAIN, hideFirst: true }]) {
    const [one, two] = compared({ key: "a", name: "a", word: "map", panel: square }, { key: "b", name: "b", word: "map", panel: faint }, options);
    const ends = [one, two].map((each) => range(each, view(each, options), options).hi);
    assert.equal(ends[0], ends[1]);
  }
});

test("the keys of a row are ranked, and the rest is summed", () => {
  const { items, more, rest } = ranked(square, 2, [0, 1, 2], 2);
  assert.deepEqual(items.map(({ col }) => col), [0, 2]);
  assert.equal(more, 1);
  assert.ok(Math.abs(rest - 0.02) < 1e-7);
  assert.deepEqual(ranked(square, 0, [0, 1, 2], 12).items.map(({ col }) => col), [0]); // others masked
  assert.equal(strongestKey(square, 2, [1, 2]), 2);
  assert.equal(strongestQuery(square, 0, [0, 1, 2]), 0);
  assert.equal(strongestQuery(square, 2, [0, 1, 2]), 2);
});

test("tokens become the text they were cut from", () => {
  const text = (labels) => running(labels).map(({ before, text }) => before + text).join("");
  assert.equal(text(["The", "·cat", "·sat", "."]), "The cat sat.");
  assert.equal(text(["the", "cat", "##s", "sat"]), "the cats sat");
  assert.equal(text(["a", "··b"]), "a  b");
  assert.deepEqual(running(["·a", "⏎"])[1], { before: "", text: "⏎", breaks: true });
  assert.deepEqual(running(["·a", "··"])[1].text, "··"); // nothing but spaces is still seen
  assert.equal(text(["שלום", "·עולם"]), "שלום עולם");
});

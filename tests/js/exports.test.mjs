import assert from "node:assert/strict";
import test from "node:test";

import { PLAIN as DRAWN } from "../../attnviz/components/explorer/web/look.js";
import { linkOf, snippetOf } from "../../attnviz/components/explorer/web/sharing.js";
import { sightOf } from "../../attnviz/components/explorer/web/sight.js";
import { attention, panel } from "./panels.mjs";

const PLAIN = { ...DRAWN, zoom: null, zoomed: "" };
const grid = { layers: [3, 7], heads: 4, word: "head" };
const nothing = { layer: null, head: null, panel: null, row: null, col: null };
const figure = { linked: true, grid, snippet: "print(layer, head)\n" };
const words = (link) => Object.fromEntries(new URL(link).searchParams);

test("a link holds selection and look, and what the page had", () => {
  const selection = { layer: 7, head: 2, panel: "open", row: 4, col: 0 };
  const options = { ...PLAIN, show: "lines", scale: "row", least: 0.05, others: ["3.1", "7.0"], hideFirst: true, row: true, table: true, lines: "rows", at: 3, zoom: [2.5, 3, 0.125], zoomed: "open" };
  const link = linkOf(figure, selection, options, "http://a.org/base/masks?text=a%20%26+b&layer=3");
  assert.deepEqual(words(link), {
    text: "a & b", layer: "7", head: "2", panel: "open", row: "4", col: "0", show: "lines",
    colours: "row", min: "0.05", with: "3.1,7.0", bars: "1", table: "1", lines: "rows", hide: "first",
    at: "3", zoom: "2.5_3_0.125", zoomed: "open",
  });
  assert.ok(link.startsWith("http://a.org/base/masks?"));
});

test("what is as a newcomer sees it is not in the link, even where the address still says it", () => {
  const old = "http://a.org/x?row=1&col=2&show=text&hide=first&panel=open&palette=grey";
  assert.deepEqual(words(linkOf({ ...figure, grid: null }, nothing, PLAIN, old)), {});
  assert.deepEqual(words(linkOf({ ...figure, grid: null }, { ...nothing, panel: "weights", row: 0, col: 0 }, PLAIN, old)), { row: "0", col: "0" });
});

test("a figure whose selection the address does not have leaves the address alone", () => {
  const page = "http://a.org/heads?row=1";
  assert.equal(linkOf({ ...figure, linked: false }, { ...nothing, row: 5 }, PLAIN, page), page);
});

test("the snippet begins with the open head", () => {
  assert.equal(snippetOf(figure, { ...nothing, layer: 7, head: 1 }), "layer, head = 7, 1  # as in the picture\nprint(layer, head)\n");
  assert.match(snippetOf(figure, nothing), /^layer, head = 3, 0 /);
  assert.equal(snippetOf({ ...figure, grid: null, snippet: "x" }, nothing), "x");
});

const every = (n) => Int32Array.from({ length: n }, (_, i) => i);

test("what is in sight is cut where the window cuts it", () => {
  const one = attention(4);
  one.values.set([0.1, 0.2, 0.3, 0.4], 4);
  const sight = sightOf(one, { rows: every(4), cols: every(4), hidden: 0 }, { row: 0.5, col: 1, nRows: 1, nCols: 2 });
  assert.deepEqual([...sight.rows], [0, 1]);
  assert.deepEqual([...sight.cols], [1, 2]);
  assert.deepEqual([...sight.values], [...Float32Array.of(0.25, 0.25, 0.2, 0.3)]);
});

test("of an overview the exact part is taken where it is here, else its blocks", () => {
  const labels = ["a", "b", "c", "d"];
  const blocked = Uint8Array.of(0, 1, 0, 0);
  const tile = { rows: [2, 4], cols: [0, 2], block: 1, values: Float32Array.of(1, 2, 3, 4), blocked: null };
  const source = { tiles: () => [tile] };
  const one = panel(labels, labels, [5, 0, 4, 8], { block: 2, blocked, source });
  const shown = { rows: every(4), cols: every(4), hidden: 0 };
  const exact = sightOf(one, shown, { row: 2, col: 0, nRows: 2, nCols: 2 });
  assert.deepEqual([exact.block, [...exact.values]], [1, [1, 2, 3, 4]]);
  const coarse = sightOf(one, shown, { row: 0, col: 0, nRows: 4, nCols: 4 });
  assert.deepEqual([coarse.block, [...coarse.values], [...coarse.rows], [...coarse.blocked]], [2, [5, 0, 4, 8], [0, 2], [0, 1, 0, 0]]);
});

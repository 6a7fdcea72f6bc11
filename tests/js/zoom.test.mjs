import assert from "node:assert/strict";
import test from "node:test";

import { cellAt, rankIn, rowAt } from "../../attnviz/components/explorer/web/cells.js";
import { Lru } from "../../attnviz/components/explorer/web/lru.js";
import { plan } from "../../attnviz/components/explorer/web/plan.js";
import { windowed } from "../../attnviz/components/explorer/web/windowed.js";
import { Filing } from "../../attnviz/components/explorer/web/filing.js";
import { Wire } from "../../attnviz/components/explorer/web/wire.js";
import { WHOLE, blockFor, clamped, drawable, panned, revealing, spanAround, zoomed } from "../../attnviz/components/explorer/web/zoom.js";
import { attention, measure, panel } from "./panels.mjs";

const map = { rows: 1000, cols: 500, most: 100 };

test("zooming keeps the cell under the pointer where it is", () => {
  let window = WHOLE;
  for (const factor of [2, 1.6, 3, 0.5]) {
    window = zoomed(window, factor, 700.5, 250.25, map);
    // Its place, as a share of what is in sight, has not changed.
    const share = (700.5 - window.row) / (map.rows / window.zoom);
    assert.ok(Math.abs(share - 0.7005) < 1e-9, `${share}`);
  }
});

test("a window stays inside the map, and the smallest zoom is all of it", () => {
  assert.deepEqual(zoomed({ zoom: 2, row: 400, col: 0 }, 0.5, 600, 10, map), WHOLE);
  const far = panned({ zoom: 10, row: 890, col: 440 }, 500, 500, map);
  assert.deepEqual(far, { zoom: 10, row: 900, col: 450 });
  assert.equal(zoomed(WHOLE, 1e6, 0, 0, map).zoom, 100);
  assert.deepEqual(clamped({ zoom: 0.2, row: 5, col: 5 }, map), WHOLE);
});

test("a cell is brought into sight by the least move", () => {
  const window = { zoom: 10, row: 100, col: 100 };
  assert.deepEqual(revealing(window, 150, 120, map), window);
  assert.equal(revealing(window, 200, 120, map).row, 101);
  assert.equal(revealing(window, 99, 120, map).row, 99);
});

test("what is asked for covers what is in sight, stays inside and within the server's limit", () => {
  for (const block of [1, 2, 8]) {
    for (let first = 0; first < 8192 - 384 * block; first += 61.7) {
      const [start, stop] = spanAround(first, 384 * block, 8192, block, 512);
      assert.ok(start <= first && stop >= Math.min(8192, first + 384 * block), `${first}: ${start} ${stop}`);
      assert.ok(start >= 0 && stop <= 8192 && stop - start <= 512 * block);
      assert.ok(Number.isInteger(start));
    }
  }
  const [start] = spanAround(1000, 300, 8192, 1, 512);
  assert.equal(spanAround(1001, 300, 8192, 1, 512)[0], start); // a small move asks for nothing new
});

test("labels of a zoomed map are those in sight, inside its edges, and do not overlap", () => {
  const one = attention(1024);
  const shown = { rows: Int32Array.from(one.rows.labels.keys()), cols: Int32Array.from(one.cols.labels.keys()), hidden: 0 };
  const whole = plan({ panel: one, shown, swatches: 1, maxWidth: 800, maxHeight: 600, cell: 60, ratio: 1, measure });
  for (const zoom of [1.5, 4, 20, 100]) {
    const made = windowed(whole, { zoom, row: 300.4, col: 10.7 }, { panel: one, shown, measure });
    assert.deepEqual([made.x, made.y, made.w, made.h, made.width], [whole.x, whole.y, whole.w, whole.h, whole.width]);
    for (const [ticks, first, length, cell] of [[made.rowTicks, made.row, made.nRows, made.cellH], [made.colTicks, made.col, made.nCols, made.cellW]]) {
      assert.ok(ticks.length > 1);
      for (const { at } of ticks) assert.ok(at + 0.5 >= first && at + 0.5 <= first + length);
      assert.ok((ticks[1].at - ticks[0].at) * cell >= 12);
    }
    assert.ok(made.rowTicks.every(({ text }) => measure(text, made.labelSize) <= made.x));
  }
});

const overview = () => {
  const labels = ["a", "b", "c", "d"];
  const tile = { rows: [0, 2], cols: [2, 4], block: 1, values: Float32Array.of(0.1, 0.2, 0.3, 0.4), blocked: Uint8Array.of(0, 1, 0, 0) };
  const row = { rows: [3, 4], cols: [0, 4], block: 1, values: Float32Array.of(0.4, 0.3, 0.2, 0.1), blocked: null };
  return {
    ...panel(labels, labels, [0.9, 0.4, 0.5, 0.6], { block: 2, blocked: Uint8Array.of(0, 0, 0, 0) }),
    source: { tiles: () => [tile, row] },
  };
};

test("a cell of an overview is exact only where a part has come", () => {
  const one = overview();
  assert.deepEqual(cellAt(one, 0, 1), { value: Math.fround(0.9), masked: false, exact: false, block: 2 });
  assert.deepEqual(cellAt(one, 1, 2), { value: Math.fround(0.3), masked: false, exact: true, block: 1 });
  assert.equal(cellAt(one, 0, 3).masked, true);
  assert.equal(rowAt(one, 1), null);
  assert.deepEqual(rankIn(rowAt(one, 3), 1), { rank: 2, of: 4 });
});

test("a cache gives up what was longest unused, by bytes", () => {
  const cache = new Lru(100);
  cache.set("a", 1, 40);
  cache.set("b", 2, 40);
  cache.get("a");
  cache.set("c", 3, 40);
  assert.deepEqual([cache.get("a"), cache.get("b"), cache.get("c")], [1, undefined, 3]);
  assert.equal(cache.bytes, 80);
  cache.set("big", 4, 500);
  assert.equal(cache.get("big"), 4); // what was just fetched is kept, however large
});

test("what is asked for can be drawn, so that it does not stay missing", () => {
  for (const side of [100, 229, 640, 1200]) {
    for (let zoom = 1; zoom < 300; zoom *= 1.1) {
      for (const ratio of [1, 2]) {
        const n = 1023 / zoom;
        const seen = { cellW: side / n, cellH: side / n, nRows: n, nCols: n };
        const block = blockFor(seen, ratio);
        assert.ok(drawable(seen, block, ratio), `${side} ${zoom}`);
        assert.ok(n / block <= 384);
        if (block > 1) assert.ok(n / (block / 2) > 384 || !drawable(seen, block / 2, ratio));
      }
    }
  }
  assert.equal(blockFor({ cellW: 0.716, cellH: 0.716, nRows: 320, nCols: 320 }, 1), 2);
});

test("one question at a time; of the waiting ones the latest counts, heads before tiles", () => {
  const wire = new Wire();
  const sent = [];
  const answered = [];
  const note = { wire: "x", run: 1, known: {}, quiet: true };
  wire.listen({ note: () => {}, answer: (request, part) => answered.push([request.head, part]) });
  const send = (request) => sent.push(request);
  const ask = (kind, head) => wire.ask(kind, { layer: 0, head, rows: null, cols: null, block: 1 });
  ask("tile", 0);
  wire.connect(send, note);
  ask("tile", 1);
  ask("tile", 2);
  ask("head", 3);
  assert.deepEqual(sent.map(({ head }) => head), [0]);
  wire.connect(send, { ...note, answer: { number: 99, part: null } }); // not the one asked
  assert.equal(sent.length, 1);
  wire.connect(send, { ...note, answer: { number: sent[0].number, part: "first" } });
  assert.deepEqual(answered, [[0, "first"]]);
  wire.connect(send, { ...note, answer: { number: sent[1].number, part: "second" } });
  assert.deepEqual(sent.map(({ head }) => head), [0, 3, 2]);
  wire.disconnect();
});

test("a question that is not answered is asked again, until it is", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const wire = new Wire();
  const sent = [];
  const answered = [];
  const note = { wire: "x", run: 1, known: {}, quiet: true };
  wire.listen({ note: () => {}, answer: (request, part, refusal) => answered.push([request.head, part, refusal]) });
  const send = (request) => sent.push([request.number, request.head]);
  const ask = (head) => wire.ask("head", { layer: 0, head, rows: null, cols: null, block: 1 });
  wire.connect(send, note);
  ask(3);
  context.mock.timers.tick(2_900);
  assert.deepEqual(sent, [[1, 3]]);
  context.mock.timers.tick(200);
  assert.deepEqual(sent, [[1, 3], [1, 3]]);
  wire.connect(send, { ...note, answer: { number: 1, part: "late" } });
  wire.connect(send, { ...note, answer: { number: 1, part: "twice" } });
  context.mock.timers.tick(60_000);
  assert.equal(sent.length, 2);
  assert.deepEqual(answered, [[3, "late", ""]]);
  ask(4); // never answered: three more times, then a sentence
  for (let second = 0; second < 60; second += 1) context.mock.timers.tick(1_000);
  assert.deepEqual(sent.slice(2), [[2, 4], [2, 4], [2, 4], [2, 4]]);
  assert.match(answered[1][2], /has not answered/);
  wire.disconnect();
});

test("a file that does not come is asked for again", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const filing = new Filing();
  const sent = [];
  filing.send = (number, kind) => sent.push([number, kind]);
  const made = filing.ask("page");
  const [[number]] = sent;
  filing.take({});
  context.mock.timers.tick(3_100);
  assert.deepEqual(sent, [[number, "page"], [number, "page"]]);
  filing.take({ file: { number, kind: "page", data: new Uint8Array([65]), refusal: "" } });
  context.mock.timers.tick(600_000);
  assert.equal(sent.length, 2);
  assert.equal(await (await made).text(), "A");
});

import assert from "node:assert/strict";
import test from "node:test";

import { gridPlan, headX, layerY, thumbnailAt } from "../../attnviz/components/explorer/web/gridplan.js";
import { MOST_LABELS, elided, shown, stride, ticks } from "../../attnviz/components/explorer/web/labels.js";
import { commonCell, plan, snapped } from "../../attnviz/components/explorer/web/plan.js";
import { attention, measure, panel } from "./panels.mjs";

const room = { swatches: 1, maxWidth: 900, maxHeight: 700, cell: 60, ratio: 1, measure };

/** @param {import("../../attnviz/components/explorer/web/types.js").Panel} panel */
const everything = ({ rows, cols }) => ({
  rows: Int32Array.from(rows.labels.keys()),
  cols: Int32Array.from(cols.labels.keys()),
  hidden: 0,
});

test("an axis of 512 tokens draws at most 100 labels, and none overlap", () => {
  for (const n of [7, 60, 128, 512, 2048]) {
    for (const [maxWidth, ratio] of [[340, 3], [900, 1], [900, 2]]) {
      const panel = attention(n);
      const made = plan({ ...room, panel, shown: everything(panel), maxWidth, ratio });
      for (const [drawn, cell] of [[made.rowTicks, made.cellH], [made.colTicks, made.cellW]]) {
        assert.ok(drawn.length <= MOST_LABELS, `${drawn.length} labels for ${n}`);
        const slant = made.colAngle !== 0 && drawn === made.colTicks ? Math.abs(Math.sin(made.colAngle)) : 1;
        const apart = (drawn[1].at - drawn[0].at) * cell * slant;
        assert.ok(apart >= made.labelSize, `${n}: labels ${apart} px apart, ${made.labelSize} px tall`);
      }
      assert.ok(made.width <= maxWidth + 1, `${made.width} of ${maxWidth}`);
      assert.ok(made.x >= Math.max(...made.rowTicks.map(({ text }) => measure(text, made.labelSize))));
    }
  }
});

test("labels that lie flat keep to their cell", () => {
  const panel = attention(6);
  const made = plan({ ...room, panel, shown: everything(panel) });
  assert.equal(made.colAngle, 0);
  for (const { text } of made.colTicks) assert.ok(measure(text, made.labelSize) <= made.cellW);
});

test("a wide but low place has small cells: long labels are slanted, not cut to them", () => {
  const words = Array.from({ length: 9 }, (_, i) => `cabinet${i}`);
  const one = panel(words, words, new Array(81).fill(0));
  const made = plan({ ...room, panel: one, shown: everything(one), cell: 200, maxHeight: 350 });
  assert.notEqual(made.colAngle, 0);
  assert.deepEqual(made.colTicks.map(({ text }) => text), words);
});

test("cells of 28 pixels carry numbers, smaller ones do not", () => {
  const panel = attention(10);
  assert.equal(plan({ ...room, panel, shown: everything(panel), cell: 28 }).numbers, true);
  assert.equal(plan({ ...room, panel, shown: everything(panel), cell: 27 }).numbers, false);
});

test("repeated tokens keep their own places, and thinned labels say which", () => {
  const drawn = ticks(["the", "cat", "the", "dog"], Int32Array.of(0, 1, 2, 3), 2);
  assert.deepEqual(drawn, [{ at: 0, text: "0 the" }, { at: 1 + 1, text: "2 the" }]);
  assert.deepEqual(
    ticks(["the", "cat", "the"], Int32Array.of(0, 2), 1).map(({ text }) => text),
    ["the", "the"],
  );
});

test("characters that act on their surroundings are named, a joined emoji stays whole", () => {
  assert.equal(shown("a\u202eb\n"), "a‹202E›b‹000A›");
  assert.equal(shown("👩‍💻"), "👩‍💻");
});

test("a long token is cut between characters, never inside one", () => {
  assert.equal(elided("short", 400, 12, measure), "short");
  const cut = elided("e\u0301".repeat(300), 80, 12, measure);
  assert.ok(measure(cut, 12) <= 80);
  assert.match(cut, /^(e\u0301)+…$/u);
});

test("strides are round numbers", () => {
  assert.equal(stride(12, 40, 14), 1);
  assert.equal(stride(512, 1, 14), 20);
  assert.equal(stride(512, 20, 14), 10);
});

test("maps take whole device pixels a cell where that costs little", () => {
  assert.equal(snapped(12, 605, 1), 600);
  assert.equal(snapped(512, 600, 1), 512);
  assert.equal(snapped(300, 560, 1), 560);
  assert.equal(snapped(2048, 600, 1), 600);
});

test("panels share the largest cell that fits", () => {
  const sizes = Array.from({ length: 3 }, () => ({ rows: 6, cols: 6, x: 60, least: 240 }));
  assert.equal(commonCell(sizes, 1300, 900, 44, 10), 44);
  const narrow = commonCell(sizes, 400, 900, 44, 10);
  assert.ok(narrow < 44 && narrow >= 10);
});

test("thumbnails are found under the pointer, groups apart", () => {
  const made = gridPlan(30, 9, 3, 400, 700);
  assert.ok(made.pitch >= 24);
  for (const [layer, head] of [[0, 0], [29, 8], [4, 3]]) {
    const [x, y] = [headX(made, head) + 3, layerY(made, layer) + 3];
    assert.deepEqual(thumbnailAt(made, x, y), { layer, head });
  }
  assert.equal(thumbnailAt(made, headX(made, 3) - 2, made.y + 3), null);
  assert.equal(thumbnailAt(made, made.x + 3, made.y - 3), null);
  assert.equal(headX(made, 3) - headX(made, 2), made.pitch + made.groupGap);
});

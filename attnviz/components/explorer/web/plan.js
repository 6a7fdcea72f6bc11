// @ts-check
/** @import { Measure, Panel, Plan, View } from "./types.js" */
import { elided, stride, ticks } from "./labels.js";
import { pool } from "./pixels.js";

const TITLE = 15; // size of an axis title, with its gap
const GAP = 5; // between labels and map
const LEGEND = 38; // colour bar, its numbers, the mask's swatch
const SLANT = (-52 * Math.PI) / 180;
const LEAST_LEGEND = 172;

/**
 * A side of the map in whole device pixels a cell where that costs little of the room.
 *
 * @param {number} cells
 * @param {number} room - CSS pixels
 * @param {number} ratio - device pixels a CSS pixel
 */
export function snapped(cells, room, ratio) {
  const device = Math.floor(room * ratio);
  const whole = Math.floor(device / cells);
  if (whole >= 1 && whole * cells >= 0.8 * device) return (whole * cells) / ratio;
  if (whole >= 1) return device / ratio;
  return Math.ceil(cells / pool(cells, device)) / ratio;
}

/**
 * Where everything of one panel stands.
 *
 * @param {object} given
 * @param {Panel} given.panel
 * @param {View} given.shown
 * @param {number} given.maxWidth
 * @param {number} given.maxHeight
 * @param {number} given.cell - the largest side of a cell
 * @param {number} given.ratio - device pixels a CSS pixel
 * @param {Measure} given.measure
 * @returns {Plan}
 */
export function plan({ panel, shown, maxWidth, maxHeight, cell, ratio, measure }) {
  const nRows = shown.rows.length;
  const nCols = shown.cols.length;
  const labelSize = maxWidth < 420 ? 11 : 12;

  const rowRoom = Math.round(Math.min(112, Math.max(44, maxWidth * 0.22)));
  const colRoom = Math.round(Math.min(92, Math.max(44, maxHeight * 0.2)));
  const rowWide = widest(panel.rows.labels, shown.rows, rowRoom, labelSize, measure);
  const x = TITLE + rowWide + GAP;

  const side = Math.min(cell, (maxWidth - x - 2) / nCols);
  const colWide = widest(panel.cols.labels, shown.cols, colRoom, labelSize, measure);
  const flat = colWide <= side - 6;
  const slanted = !flat && side >= 16;
  const colLabelH = flat ? labelSize : slanted ? Math.ceil(colWide * Math.sin(-SLANT)) + 6 : colWide;
  const overhang = slanted ? Math.ceil(colWide * Math.cos(SLANT)) : 2;
  const y = TITLE + colLabelH + GAP;

  const roomW = Math.min(cell * nCols, maxWidth - x - Math.max(2, overhang - side / 2));
  const roomH = Math.min(cell * nRows, Math.max(80, maxHeight - y - LEGEND));
  const square = Math.min(roomW / nCols, roomH / nRows);
  // A wide matrix keeps rows that can be read.
  const tall = nCols > 2 * nRows ? Math.max(square, Math.min(20, roomH / nRows)) : square;
  const w = snapped(nCols, square * nCols, ratio);
  const h = tall > square ? tall * nRows : snapped(nRows, square * nRows, ratio);
  const cellW = w / nCols;
  const cellH = h / nRows;

  const rowStep = stride(nRows, cellH, labelSize + 1);
  const colStep = stride(nCols, cellW, slanted ? 1 : flat ? colWide : labelSize + 1);
  const fit = (/** @type {number} */ room) => (/** @type {import("./types.js").Tick} */ tick) => ({
    at: tick.at,
    text: elided(tick.text, room, labelSize, measure),
  });
  return {
    x,
    y,
    w,
    h,
    cellW,
    cellH,
    width: Math.ceil(Math.max(x + w + Math.max(2, overhang - cellW / 2), x + LEAST_LEGEND)),
    height: Math.ceil(y + h + LEGEND),
    rowTicks: ticks(panel.rows.labels, shown.rows, rowStep).map(fit(rowWide)),
    colTicks: ticks(panel.cols.labels, shown.cols, colStep).map(fit(flat ? cellW : colWide)),
    colAngle: flat ? 0 : slanted ? SLANT : -Math.PI / 2,
    labelSize,
    rowLabelW: rowWide,
    colLabelH,
    numbers: Math.min(cellW, cellH) >= 28,
    legendY: y + h + 12,
  };
}

/**
 * The width of the widest label drawn, and at most room.
 *
 * @param {string[]} labels
 * @param {Int32Array} positions
 * @param {number} room
 * @param {number} size
 * @param {Measure} measure
 */
function widest(labels, positions, room, size, measure) {
  // Long axes show positions beside the tokens, and measuring each token would take too long.
  if (positions.length > 100) return room;
  let most = 12;
  for (const position of positions) {
    const label = labels[position];
    const width = label.length > 60 ? room : measure(label, size, true);
    if (width >= room) return room;
    most = Math.max(most, width);
  }
  return Math.ceil(most);
}

/**
 * The largest cell with which all panels, in wrapping lines, stay within a height; or the
 * smallest allowed.
 *
 * @param {{rows: number, cols: number}[]} sizes
 * @param {number} width
 * @param {number} height
 * @param {number} most
 * @param {number} least
 */
export function commonCell(sizes, width, height, most, least) {
  const [aroundW, aroundH, gap] = [110, 190, 28];
  for (let cell = most; cell > least; cell -= 1) {
    let x = 0;
    let line = 0;
    let total = 0;
    for (const { rows, cols } of sizes) {
      const w = Math.min(width, cols * cell + aroundW);
      if (x > 0 && x + w > width) {
        total += line;
        x = 0;
        line = 0;
      }
      x += w + gap;
      line = Math.max(line, rows * cell + aroundH);
    }
    if (total + line <= height) return cell;
  }
  return least;
}

// @ts-check
/** @import { Measure, Panel, Plan, Tick, View } from "./types.js" */
import { elided, stride, ticks } from "./labels.js";
import { MOST_CELL } from "./zoom.js";

export const TITLE = 16; // an axis title, with its gap
export const GAP = 5; // between labels and map
const BAR = 38; // the colour bar and its numbers
export const SLANT = (-52 * Math.PI) / 180;
const SWATCH = 84; // an entry of the legend
const NOTE = 250; // the line that says how many cells share a pixel
export const NUMBERS = 28; // the least side of a cell that carries its number
const SAMPLED = 400; // labels measured for the room of those that zooming brings
const [OVERHANG, LEAST_OVERHANG, NARROW] = [26, 6, 300]; // kept beside a map that can be zoomed, for slanted labels

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
  // With more cells than pixels, cells share pixels.
  return device / ratio;
}

/**
 * The type of the labels, the width of the widest row label that may be drawn, and where the map
 * begins after it.
 *
 * @param {Panel} panel
 * @param {View} shown
 * @param {number} maxWidth
 * @param {Measure} measure
 * @param {number} step - every how many rows have a label
 * @param {number} type - how many times larger than usual all words are
 */
export function rowLabels(panel, shown, maxWidth, measure, step, type = 1) {
  const size = Math.round((maxWidth < 420 ? 11 : 12) * type);
  const room = Math.round(Math.min(112 * type, Math.max(44, maxWidth * 0.22)));
  const drawn = ticks(panel.rows.labels, shown.rows, step);
  // Zooming brings other labels, and must not move the map.
  const later = step > 1 ? ticks(panel.rows.labels, shown.rows, sampling(shown.rows.length)) : [];
  const wide = widest([...drawn, ...later], room, size, measure);
  return { size, wide, x: TITLE * type + wide + GAP };
}

/** @param {number} n */
const sampling = (n) => Math.max(2, Math.ceil(n / SAMPLED));

/**
 * Where everything of one panel stands.
 *
 * @param {object} given
 * @param {Panel} given.panel
 * @param {View} given.shown
 * @param {number} given.swatches - entries of the legend beside the colour bar
 * @param {number} given.maxWidth
 * @param {number} given.maxHeight
 * @param {number} given.cell - the largest side of a cell
 * @param {number} given.ratio - device pixels a CSS pixel
 * @param {Measure} given.measure
 * @param {number} [given.type] - how many times larger than usual all words are
 * @returns {Plan}
 */
export function plan(given) {
  // Which labels fit depends on the size of the cells, which depends on the room labels take.
  const rough = frame(given, stride(given.shown.rows.length, 8, 14), 1);
  return frame(given, rough.rowStep, rough.colStep);
}

/**
 * @param {Parameters<typeof plan>[0]} given
 * @param {number} rowStepBefore - the labels that the room is measured for
 * @param {number} colStepBefore
 */
function frame(given, rowStepBefore, colStepBefore) {
  const { panel, shown, swatches, maxWidth, maxHeight, cell, ratio, measure, type = 1 } = given;
  const nRows = shown.rows.length;
  const nCols = shown.cols.length;
  const { size: labelSize, wide: rowWide, x } = rowLabels(panel, shown, maxWidth, measure, rowStepBefore, type);

  // With its labels flat a map is as high as it can be: of a low one, the cells have no more.
  const most = Math.max(80, maxHeight - TITLE * type - labelSize - GAP - BAR * type);
  const side = Math.min(cell, (maxWidth - x - 2) / nCols, most / nRows);
  const colRoom = Math.round(Math.min(92 * type, Math.max(44, maxHeight * 0.2)));
  const colStepLeast = Math.max(colStepBefore, stride(nCols, nCols, 1));
  const later = colStepLeast > 1 ? ticks(panel.cols.labels, shown.cols, sampling(nCols)) : [];
  const drawn = ticks(panel.cols.labels, shown.cols, colStepLeast);
  const colWide = widest([...drawn, ...later], colRoom, labelSize, measure);
  const flat = colWide <= side - 6;
  const slanted = !flat && side >= 16;
  const colLabelH = flat ? labelSize : slanted ? Math.ceil(colWide * Math.sin(-SLANT)) + 6 : colWide;
  const last = slanted ? Math.ceil(lastWide(given, labelSize, colWide) * Math.cos(SLANT)) : 2;
  const overhang = side < NUMBERS ? Math.max(last, (maxWidth < NARROW ? LEAST_OVERHANG : OVERHANG) + side / 2) : last;
  const y = TITLE * type + colLabelH + GAP;

  const roomW = Math.min(cell * nCols, maxWidth - x - Math.max(2, overhang - side / 2));
  const roomH = Math.min(cell * nRows, Math.max(80, maxHeight - y - BAR * type));
  const square = Math.min(roomW / nCols, roomH / nRows);
  // A wide matrix keeps rows that can be read.
  const tall = nCols > 2 * nRows ? Math.max(square, Math.min(20, roomH / nRows)) : square;
  const w = snapped(nCols, square * nCols, ratio);
  const h = tall > square ? tall * nRows : snapped(nRows, square * nRows, ratio);
  const cellW = w / nCols;
  const cellH = h / nRows;

  const rowStep = Math.max(stride(nRows, cellH, labelSize + 2), 1);
  const colStep = stride(nCols, cellW, slanted ? 1 : flat ? colWide : labelSize + 2);
  const fit = fitted(labelSize, measure);
  const mostZoom = Math.min(cellW, cellH) < NUMBERS ? Math.max(1, MOST_CELL / Math.max(cellW, cellH)) : 1;
  const shared = panel.block > 1 || Math.min(cellW, cellH) * ratio < 1;
  const note = shared ? 16 * type : 0;
  const barW = Math.round(150 * type); // room for both its ends and its name
  const swatch = SWATCH * type;
  const beside = swatches > 0 && x + barW + swatches * swatch <= maxWidth;
  const legendW = beside ? barW + swatches * swatch : Math.max(barW, swatches * swatch);
  const right = Math.max(w + Math.max(2, Math.min(overhang - cellW / 2, maxWidth - x - w)), legendW, note && NOTE * type);
  return {
    x,
    y,
    w,
    h,
    cellW,
    cellH,
    width: Math.ceil(x + right),
    height: Math.ceil(y + h + BAR * type + note + (swatches > 0 && !beside ? 18 * type : 0)),
    rowStep,
    colStep,
    rowTicks: ticks(panel.rows.labels, shown.rows, rowStep).map(fit(rowWide)),
    colTicks: ticks(panel.cols.labels, shown.cols, colStep).map(fit(flat ? cellW : colWide)),
    colAngle: flat ? 0 : slanted ? SLANT : -Math.PI / 2,
    labelSize,
    numbers: Math.min(cellW, cellH) >= NUMBERS,
    bar: { y: y + h + 12, w: barW },
    swatch: { x: beside ? x + barW + 16 : x, y: y + h + (beside ? 11 : BAR * type + note), pitch: swatch },
    note,
    type,
    row: 0,
    col: 0,
    nRows,
    nCols,
    mostZoom,
    zoom: 1,
  };
}

/**
 * @param {number} size @param {Measure} measure
 * @returns {(room: number) => (tick: Tick) => Tick} a label cut to the room it has
 */
export const fitted = (size, measure) => (room) => (tick) => ({
  at: tick.at,
  text: elided(tick.text, room, size, measure),
});

/**
 * The width of the last column's label: what may stand out to the right of the map.
 *
 * @param {Parameters<typeof plan>[0]} given
 * @param {number} size
 * @param {number} room
 */
function lastWide({ panel, shown, measure }, size, room) {
  return widest(ticks(panel.cols.labels, shown.cols.slice(-1), 1), room, size, measure);
}

/**
 * The width of the widest label, and at most room.
 *
 * @param {Tick[]} labels
 * @param {number} room
 * @param {number} size
 * @param {Measure} measure
 */
export function widest(labels, room, size, measure) {
  let most = 12;
  for (const { text } of labels) {
    if (text.length > 60) return room;
    most = Math.max(most, measure(text, size, true));
    if (most >= room) return room;
  }
  return Math.ceil(most);
}

/**
 * The largest cell with which all panels, in wrapping lines, stay within a height; or the
 * smallest allowed.
 *
 * @param {{rows: number, cols: number, x: number, least: number}[]} sizes -
 *   x: pixels before the map; least: of the panel's width
 * @param {number} width
 * @param {number} height
 * @param {number} most
 * @param {number} least
 */
export function commonCell(sizes, width, height, most, least) {
  const [aroundH, gap] = [190, 28];
  for (let cell = most; cell > least; cell -= 1) {
    let x = 0;
    let line = 0;
    let total = 0;
    for (const { rows, cols, x: before, least: narrow } of sizes) {
      const w = Math.min(width, Math.max(cols * cell + before + 14, narrow));
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

// @ts-check
/** @import { Grid, Theme } from "./types.js" */
/** @import { GridPlan } from "./gridplan.js" */
import { canvasSurface, raster } from "./canvas.js";
import { headX, layerY } from "./gridplan.js";
import { passes } from "./gridtools.js";
import { words } from "./pixels.js";

/**
 * All thumbnails at data resolution on one canvas: layers down, heads across.
 *
 * @param {Grid} grid
 * @param {Theme} theme
 */
export function atlas(grid, theme) {
  const table = words(grid.signed ? theme.diverging : theme.sequential);
  const { down, across, heads, layers, thumbnails } = grid;
  const width = heads * across;
  const out = new Uint32Array(width * layers.length * down);
  let from = 0;
  for (let layer = 0; layer < layers.length; layer += 1) {
    for (let head = 0; head < heads; head += 1) {
      for (let y = 0; y < down; y += 1) {
        const to = (layer * down + y) * width + head * across;
        for (let x = 0; x < across; x += 1) out[to + x] = table[thumbnails[from + x]];
        from += across;
      }
    }
  }
  return raster(out, width, layers.length * down);
}

/**
 * The smallest and largest of the finite numbers.
 *
 * @param {Float32Array} values
 */
export function extent(values) {
  let [lo, hi] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    lo = Math.min(lo, value);
    hi = Math.max(hi, value);
  }
  return lo <= hi ? { lo, hi } : { lo: 0, hi: 1 };
}

/**
 * Thumbnails, or where a metric is chosen its colour in each one's place; axes and KV brackets.
 *
 * @param {CanvasRenderingContext2D} context - scaled to CSS pixels
 * @param {{grid: Grid, plan: GridPlan, theme: Theme, sheet: HTMLCanvasElement,
 *   metric: Float32Array | null, sifting: import("./gridtools.js").Sifting}} scene
 */
export function paintGrid(context, { grid, plan, theme, sheet, metric, sifting }) {
  context.clearRect(0, 0, plan.width, plan.height);
  // Enlarged cells keep their edges.
  context.imageSmoothingEnabled = Math.max(grid.down, grid.across) > plan.side;
  context.imageSmoothingQuality = "high";
  const { down, across } = grid;
  const { side } = plan;
  const ends = metric && extent(metric);
  for (let layer = 0; layer < plan.layers; layer += 1) {
    for (let head = 0; head < plan.heads; head += 1) {
      const [x, y] = [headX(plan, head), layerY(plan, layer)];
      const faded = metric && !passes(metric[layer * plan.heads + head], sifting);
      if (faded) {
        context.fillStyle = theme.surface;
        context.fillRect(x, y, side, side);
      } else if (metric && ends) {
        const value = metric[layer * plan.heads + head];
        const at = (value - ends.lo) / (ends.hi - ends.lo || 1);
        const step = 3 * Math.round(255 * at);
        const [r, g, b] = theme.sequential.subarray(step, step + 3);
        context.fillStyle = Number.isNaN(at) ? theme.surface : `rgb(${r},${g},${b})`;
        context.fillRect(x, y, side, side);
      } else {
        context.drawImage(sheet, head * across, layer * down, across, down, x, y, side, side);
      }
      context.strokeStyle = theme.line;
      context.globalAlpha = 0.55;
      context.lineWidth = 1;
      context.strokeRect(x - 0.5, y - 0.5, side + 1, side + 1);
      context.globalAlpha = 1;
    }
  }
  paintLabels(context, grid, plan, theme);
}

/**
 * @param {CanvasRenderingContext2D} context @param {Grid} grid @param {GridPlan} plan
 * @param {Theme} theme
 */
function paintLabels(context, grid, plan, theme) {
  const surface = canvasSurface(context);
  const { side } = plan;
  const label = { size: 11, fill: theme.text, family: theme.mono };
  const title = { size: 12, fill: theme.muted, family: theme.sans };
  surface.text(grid.word, plan.x, 0, { ...title, baseline: "top" });
  for (let head = 0; head < plan.heads; head += 1) {
    surface.text(String(head), headX(plan, head) + side / 2, 30, { ...label, align: "center", baseline: "bottom" });
  }
  if (grid.layers.length > 1) {
    surface.text("layer", 0, plan.y, { ...title, angle: -Math.PI / 2, align: "right", baseline: "top" });
    grid.layers.forEach((index, layer) => {
      surface.text(String(index), plan.x - 6, layerY(plan, layer) + side / 2, { ...label, align: "right" });
    });
  }
  if (!plan.groupGap) return;
  context.strokeStyle = theme.accents.key;
  context.lineWidth = 1.5;
  for (let first = 0; first < plan.heads; first += plan.perGroup) {
    const [left, right] = [headX(plan, first), headX(plan, first + plan.perGroup - 1) + side];
    const bar = plan.y - 4;
    context.beginPath();
    context.moveTo(left + 0.5, bar);
    context.lineTo(left + 0.5, bar - 4.5);
    context.lineTo(right - 0.5, bar - 4.5);
    context.lineTo(right - 0.5, bar);
    context.stroke();
    const name = right - left > 56 ? `KV ${first / plan.perGroup}` : String(first / plan.perGroup);
    surface.text(name, (left + right) / 2, bar - 6, {
      ...title,
      size: 10,
      align: "center",
      baseline: "bottom",
    });
  }
}

/**
 * A frame round one thumbnail.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {GridPlan} plan
 * @param {{layer: number, head: number}} place - layer as a row of the grid
 * @param {string} inner
 * @param {string} outer
 */
export function frameThumbnail(context, plan, place, inner, outer) {
  const box = /** @type {const} */ ([
    headX(plan, place.head) - 1,
    layerY(plan, place.layer) - 1,
    plan.side + 2,
    plan.side + 2,
  ]);
  context.strokeStyle = outer;
  context.lineWidth = 5;
  context.strokeRect(...box);
  context.strokeStyle = inner;
  context.lineWidth = 2.5;
  context.strokeRect(...box);
}

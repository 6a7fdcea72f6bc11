// @ts-check
/** @import { Panel, Plan, Range, Theme, Tile, View } from "./types.js" */
/** @import { Pixels, Places } from "./pixels.js" */
import { ofBlocks, pixelsOf, placesOf, pooled, words } from "./pixels.js";
import { drawable } from "./zoom.js";
import { coloursOf } from "./theme.js";

/**
 * A part of the map ready to be drawn: which drawn cells it covers (its last pixels may reach
 * beyond the map), and how many cells share one of its pixels.
 *
 * @typedef {{map: Pixels, row: number, col: number, rows: number, cols: number,
 *   share: {down: number, across: number, even: boolean}}} Layer
 *
 * @typedef {{panel: Panel, shown: View, scale: Range, theme: Theme, ratio: number}} Look
 */

/** @param {number} n @returns {Int32Array} */
const counting = (n) => Int32Array.from({ length: n }, (_, i) => i);

/** The map of one panel as bitmaps, made once for each resolution and kept while zooming. */
export class Layers {
  /** @param {Look} look */
  constructor({ panel, shown, scale, theme, ratio }) {
    Object.assign(this, { panel, shown, scale, ratio });
    this.panel = panel;
    this.shown = shown;
    this.scale = scale;
    this.ratio = ratio;
    this.table = words(coloursOf(panel, theme));
    /** @type {Map<string, Layer>} */
    this.made = new Map();
    /** @type {WeakMap<Float32Array, Layer>} by a tile's numbers */
    this.tiles = new WeakMap();
    /** @type {Places | null} */
    this.base = null;
  }

  /** The map as it is held: a place on the scale for each cell, or each block of an overview. */
  places() {
    const { panel, shown, scale } = this;
    const { block } = panel;
    if (this.base === null) {
      const n = panel.cols.labels.length;
      if (block === 1) this.base = placesOf(panel, n, scale, shown);
      else {
        const rows = counting(Math.ceil(panel.rows.labels.length / block));
        const cols = counting(Math.ceil(n / block));
        const own = ofBlocks(scale, 0, rows.length, block);
        this.base = placesOf(panel, cols.length, own, { rows, cols, hidden: 0 });
      }
    }
    return this.base;
  }

  /**
   * What to draw for this part of the map, the coarse ones first.
   *
   * @param {Plan} plan
   * @returns {Layer[]}
   */
  at(plan) {
    const layers = [this.whole(plan)];
    const { ratio, panel } = this;
    const tiles = [...(panel.source?.tiles() ?? [])].sort((a, b) => b.block - a.block);
    for (const tile of tiles) {
      const seen =
        tile.rows[0] < plan.row + plan.nRows && tile.rows[1] > plan.row &&
        tile.cols[0] < plan.col + plan.nCols && tile.cols[1] > plan.col;
      // Finer than a pixel, it would lose cells; a single row is there to be read, not seen.
      if (seen && tile.block < panel.block && drawable(plan, tile.block, ratio) && tile.rows[1] - tile.rows[0] > 1) {
        layers.push(this.tile(tile));
      }
    }
    return layers;
  }

  /** @param {Plan} plan @returns {Layer} */
  whole(plan) {
    const { panel, ratio, shown } = this;
    const { block } = panel;
    const places = this.places();
    const size = { w: plan.cellW * block * ratio, h: plan.cellH * block * ratio };
    let { width, height } = places;
    if (plan.zoom === 1) {
      // At rest each device pixel is worth a look of its own.
      width = Math.min(width, Math.round(plan.w * ratio));
      height = Math.min(height, Math.round(plan.h * ratio));
    } else {
      if (size.w < 1) width = Math.ceil(width / 2 ** Math.ceil(-Math.log2(size.w)));
      if (size.h < 1) height = Math.ceil(height / 2 ** Math.ceil(-Math.log2(size.h)));
    }
    const key = `${width} ${height}`;
    let layer = this.made.get(key);
    if (!layer) {
      const few = pooled(places, width, height, this.scale.diverging);
      layer = {
        map: pixelsOf(few, this.table),
        row: 0,
        col: 0,
        rows: block === 1 ? shown.rows.length : places.height * block,
        cols: block === 1 ? shown.cols.length : places.width * block,
        share: {
          down: Math.ceil(places.height / few.height) * block,
          across: Math.ceil(places.width / few.width) * block,
          even: places.height % few.height === 0 && places.width % few.width === 0,
        },
      };
      this.made.set(key, layer);
    }
    return layer;
  }

  /** @param {Tile} tile @returns {Layer} */
  tile({ rows, cols, block, values, blocked }) {
    let layer = this.tiles.get(values);
    if (!layer) {
      const height = Math.ceil((rows[1] - rows[0]) / block);
      const width = Math.ceil((cols[1] - cols[0]) / block);
      const scale = ofBlocks(this.scale, rows[0], height, block);
      const all = { rows: counting(height), cols: counting(width), hidden: 0 };
      layer = {
        map: pixelsOf(placesOf({ values, blocked }, width, scale, all), this.table),
        row: rows[0],
        col: cols[0],
        rows: height * block,
        cols: width * block,
        share: { down: block, across: block, even: true },
      };
      this.tiles.set(values, layer);
    }
    return layer;
  }
}

/**
 * How many cells share a pixel where that is finest, in words; "" where each has its own.
 *
 * @param {Layer[]} layers
 */
export function sharing(layers) {
  const { down, across, even } = layers[layers.length - 1].share;
  if (down * across === 1) return "";
  return `each pixel is the largest of ${even ? "" : "up to "}${down} × ${across} cells`;
}

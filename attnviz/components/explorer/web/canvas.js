// @ts-check
/** @import { Measure, Theme } from "./types.js" */
/** @import { Box, Surface, TextStyle } from "./paint.js" */
/** @import { Pixels } from "./pixels.js" */

/** @param {HTMLCanvasElement} canvas */
export const context2d = (canvas) =>
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/**
 * Empties a canvas and makes it sharp at this size on this screen.
 *
 * @param {HTMLCanvasElement} canvas
 * @param {number} width - CSS pixels
 * @param {number} height
 * @param {number} ratio - device pixels a CSS pixel
 */
export function sized(canvas, width, height, ratio) {
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  context2d(canvas).scale(ratio, ratio);
}

/**
 * A surface over a canvas context that is already scaled to CSS pixels.
 *
 * @param {CanvasRenderingContext2D} context
 * @returns {Surface}
 */
export function canvasSurface(context) {
  return {
    rect(x, y, w, h, fill) {
      context.fillStyle = fill;
      context.fillRect(x, y, w, h);
    },
    frame(x, y, w, h, stroke, width) {
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.strokeRect(x, y, w, h);
    },
    texture(x, y, w, h, kind, theme) {
      context.fillStyle = texture(context, kind, theme);
      context.fillRect(x, y, w, h);
    },
    text(text, x, y, style) {
      context.save();
      context.translate(x, y);
      if (style.angle) context.rotate(style.angle);
      context.font = font(style);
      context.fillStyle = style.fill;
      context.textAlign = style.align ?? "left";
      context.textBaseline = style.baseline ?? "middle";
      context.direction = "ltr";
      context.fillText(text, 0, 0);
      context.restore();
    },
    curve([x, y, ...rest], { colour, width, alpha }) {
      context.save();
      context.lineCap = "round";
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.globalAlpha = alpha;
      context.beginPath();
      context.moveTo(x, y);
      context.bezierCurveTo(.../** @type {[number, number, number, number, number, number]} */ (rest));
      context.stroke();
      context.restore();
    },
    within(clip, draw) {
      context.save();
      context.beginPath();
      context.rect(clip.x, clip.y, clip.w, clip.h);
      context.clip();
      draw();
      context.restore();
    },
    map(map, box, clip, theme) {
      this.within(clip, () => {
        stretch(context, drawnOnce(map, "colour"), box, clip);
        if (map.undefinedCells === null) return;
        const dots = document.createElement("canvas");
        const { a: ratio } = context.getTransform();
        dots.width = Math.round(clip.w * ratio);
        dots.height = Math.round(clip.h * ratio);
        const layer = context2d(dots);
        layer.scale(ratio, ratio);
        layer.translate(-clip.x, -clip.y);
        stretch(layer, drawnOnce(map, "undefinedCells"), box, clip);
        layer.globalCompositeOperation = "source-in";
        layer.fillStyle = theme.page;
        layer.fillRect(clip.x, clip.y, clip.w, clip.h);
        layer.globalCompositeOperation = "source-atop";
        layer.fillStyle = texture(layer, "dots", theme);
        layer.fillRect(clip.x, clip.y, clip.w, clip.h);
        context.drawImage(dots, clip.x, clip.y, clip.w, clip.h);
      });
    },
  };
}

/**
 * An image over a box, of which no more is drawn than shows: a map zoomed in on would be tens of
 * thousands of pixels wide.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {HTMLCanvasElement} image
 * @param {Box} box
 * @param {Box} clip - inside the box
 */
function stretch(context, image, box, clip) {
  const [w, h] = [box.w / image.width, box.h / image.height]; // of an image pixel
  const left = Math.floor((clip.x - box.x) / w + 1e-6);
  const top = Math.floor((clip.y - box.y) / h + 1e-6);
  const wide = Math.min(image.width, Math.ceil((clip.x + clip.w - box.x) / w - 1e-6)) - left;
  const tall = Math.min(image.height, Math.ceil((clip.y + clip.h - box.y) / h - 1e-6)) - top;
  context.imageSmoothingEnabled = false;
  context.drawImage(image, left, top, wide, tall, box.x + left * w, box.y + top * h, wide * w, tall * h);
}

/** @type {WeakMap<Uint32Array, HTMLCanvasElement>} */
const rasters = new WeakMap();

/** @param {Pixels} map @param {"colour" | "undefinedCells"} what */
function drawnOnce(map, what) {
  const pixels = /** @type {Uint32Array} */ (map[what]);
  const image = rasters.get(pixels) ?? raster(pixels, map.width, map.height);
  rasters.set(pixels, image);
  return image;
}

/** @param {TextStyle} style */
const font = (style) => `${style.weight ?? 400} ${style.size}px ${style.family}`;

/**
 * A canvas of the given words, one pixel each.
 *
 * @param {Uint32Array} words
 * @param {number} width
 * @param {number} height
 */
export function raster(words, width, height) {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const image = new ImageData(new Uint8ClampedArray(/** @type {ArrayBuffer} */ (words.buffer)), width, height);
  context2d(canvas).putImageData(image, 0, 0);
  return canvas;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {"hatch" | "dots"} kind
 * @param {Theme} theme
 */
function texture(context, kind, theme) {
  const tile = document.createElement("canvas");
  const side = kind === "hatch" ? 14 : 12; // drawn at twice the size, for sharp lines on dense screens
  tile.width = side;
  tile.height = side;
  const pen = context2d(tile);
  pen.strokeStyle = theme.hatch;
  pen.fillStyle = theme.line;
  if (kind === "hatch") {
    pen.lineWidth = 2;
    pen.beginPath();
    for (const shift of [-side, 0, side]) {
      pen.moveTo(shift - 2, side + 2);
      pen.lineTo(shift + side + 2, -2);
    }
    pen.stroke();
  } else {
    pen.fillRect(2, 2, 4, 4);
    pen.fillRect(8, 8, 4, 4);
  }
  const pattern = /** @type {CanvasPattern} */ (context.createPattern(tile, "repeat"));
  pattern.setTransform(new DOMMatrix().scale(0.5));
  return pattern;
}

/**
 * A measure of text that remembers what it measured.
 *
 * @param {Theme} theme
 * @returns {Measure}
 */
export function measurer(theme) {
  const context = context2d(document.createElement("canvas"));
  /** @type {Map<string, number>} */
  const known = new Map();
  return (text, size, mono = false) => {
    const key = `${size}${mono}${text}`;
    let width = known.get(key);
    if (width === undefined) {
      context.font = `${size}px ${mono ? theme.mono : theme.sans}`;
      width = context.measureText(text).width;
      known.set(key, width);
    }
    return width;
  };
}

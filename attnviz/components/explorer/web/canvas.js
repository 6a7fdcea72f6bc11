// @ts-check
/** @import { Measure, Theme } from "./types.js" */
/** @import { Surface, TextStyle } from "./paint.js" */

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
    map(map, x, y, w, h, theme) {
      context.imageSmoothingEnabled = false;
      context.drawImage(raster(map.colour, map.width, map.height), x, y, w, h);
      if (map.undefinedCells === null) return;
      const dots = document.createElement("canvas");
      const { a: ratio } = context.getTransform();
      dots.width = Math.round(w * ratio);
      dots.height = Math.round(h * ratio);
      const layer = context2d(dots);
      layer.imageSmoothingEnabled = false;
      layer.drawImage(raster(map.undefinedCells, map.width, map.height), 0, 0, dots.width, dots.height);
      layer.globalCompositeOperation = "source-in";
      layer.fillStyle = theme.page;
      layer.fillRect(0, 0, dots.width, dots.height);
      layer.globalCompositeOperation = "source-atop";
      layer.scale(ratio, ratio);
      layer.fillStyle = texture(layer, "dots", theme);
      layer.fillRect(0, 0, w, h);
      context.drawImage(dots, x, y, w, h);
    },
  };
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

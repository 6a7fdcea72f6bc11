// @ts-check
/** @import { Plate } from "./exporting.js" */
/** @import { Box, Surface } from "./paint.js" */
/** @import { Pixels } from "./pixels.js" */
import { raster } from "./canvas.js";
import { paintPlate, plateSize } from "./exporting.js";

const MOST_CELLS = 10_000; // above, the map is embedded as an image

/** @param {string} text */
export const escaped = (text) =>
  text
    .replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
    // What XML 1.0 cannot hold, even escaped.
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udfff]/gu, "\ufffd");

/** @param {number} value */
const round = (value) => Number(value.toFixed(2));

/**
 * The plate as one SVG document: real text, a rectangle a cell.
 *
 * @param {Plate} plate
 * @param {(words: Uint32Array, width: number, height: number) => string} image - to a data URL
 */
export function svg(plate, image = (...args) => raster(...args).toDataURL("image/png")) {
  /** @type {string[]} */
  const parts = [];
  const { width, height } = plateSize(plate);
  const { theme } = plate;
  let open = 0;
  paintPlate(svgSurface(parts, image), plate, (dx, dy) => {
    parts.push(`<g transform="translate(${dx} ${dy})">`);
    open += 1;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${escaped(plate.title)}</title>`,
    `<defs><pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse"><path d="M-1 8L8 -1M-1 1L1 -1M6 8L8 6" stroke="${theme.hatch}" fill="none"/></pattern>`,
    `<pattern id="dots" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M1 1h2v2h-2zM4 4h2v2h-2z" fill="${theme.line}"/></pattern></defs>`,
    ...parts,
    "</g>".repeat(open),
    "</svg>",
  ].join("\n");
}

/** @param {string[]} parts @param {(words: Uint32Array, w: number, h: number) => string} image @returns {Surface} */
function svgSurface(parts, image) {
  return {
    rect(x, y, w, h, fill) {
      parts.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" fill="${fill}"/>`);
    },
    frame(x, y, w, h, stroke, width) {
      parts.push(
        `<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" fill="none" stroke="${stroke}" stroke-width="${width}"/>`,
      );
    },
    texture(x, y, w, h, kind) {
      this.rect(x, y, w, h, `url(#${kind})`);
    },
    text(text, x, y, style) {
      const anchor = { left: "start", center: "middle", right: "end" }[style.align ?? "left"];
      const shift = { top: 0.8, middle: 0.34, bottom: -0.15 }[style.baseline ?? "middle"];
      const turn = style.angle ? ` rotate(${round((style.angle * 180) / Math.PI)})` : "";
      parts.push(
        `<text transform="translate(${round(x)} ${round(y)})${turn}" dy="${shift}em" font-size="${style.size}" font-family="${escaped(style.family)}" font-weight="${style.weight ?? 400}" fill="${style.fill}" text-anchor="${anchor}">${escaped(text)}</text>`,
      );
    },
    curve([x, y, ...rest], { colour, width, alpha }) {
      parts.push(
        `<path d="M${round(x)} ${round(y)}C${rest.map(round).join(" ")}" fill="none" stroke="${colour}" stroke-width="${round(width)}" stroke-opacity="${round(alpha)}" stroke-linecap="round"/>`,
      );
    },
    within(clip, draw) {
      const { x, y, w, h } = { x: round(clip.x), y: round(clip.y), w: round(clip.w), h: round(clip.h) };
      parts.push(`<svg x="${x}" y="${y}" width="${w}" height="${h}" viewBox="${x} ${y} ${w} ${h}">`);
      draw();
      parts.push("</svg>");
    },
    map(map, box, clip, theme) {
      const [cellW, cellH] = [box.w / map.width, box.h / map.height];
      const cut = cropped(map, box, clip);
      const [x, y] = [box.x + cut.left * cellW, box.y + cut.top * cellH];
      const [w, h] = [cut.width * cellW, cut.height * cellH];
      const draw = () => {
        if (cut.width * cut.height > MOST_CELLS) {
          parts.push(
            `<image x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" preserveAspectRatio="none" style="image-rendering:pixelated" href="${image(cut.colour, cut.width, cut.height)}"/>`,
          );
          return;
        }
        cut.colour.forEach((word, at) => {
          const [cx, cy] = [x + (at % cut.width) * cellW, y + Math.floor(at / cut.width) * cellH];
          if (cut.undefinedCells?.[at]) {
            this.rect(cx, cy, cellW, cellH, theme.page);
            this.texture(cx, cy, cellW, cellH, "dots", theme);
          } else if (word) {
            const hex = [word & 255, (word >> 8) & 255, (word >> 16) & 255];
            this.rect(cx, cy, cellW, cellH, `#${hex.map((v) => v.toString(16).padStart(2, "0")).join("")}`);
          }
        });
      };
      const whole = [x - clip.x, y - clip.y, w - clip.w, h - clip.h].every((d) => Math.abs(d) < 0.01);
      if (whole) draw();
      else this.within(clip, draw);
    },
  };
}

/**
 * The pixels of a map that show in the clip, the cut ones at its edges included.
 *
 * @param {Pixels} map
 * @param {Box} box
 * @param {Box} clip
 */
function cropped(map, box, clip) {
  const [w, h] = [box.w / map.width, box.h / map.height];
  const left = Math.floor((clip.x - box.x) / w + 1e-6);
  const top = Math.floor((clip.y - box.y) / h + 1e-6);
  const width = Math.min(map.width, Math.ceil((clip.x + clip.w - box.x) / w - 1e-6)) - left;
  const height = Math.min(map.height, Math.ceil((clip.y + clip.h - box.y) / h - 1e-6)) - top;
  const take = (/** @type {Uint32Array} */ from) =>
    Uint32Array.from({ length: width * height }, (_, i) =>
      from[(top + Math.floor(i / width)) * map.width + left + (i % width)],
    );
  const undefinedCells = map.undefinedCells && take(map.undefinedCells);
  return { left, top, width, height, colour: take(map.colour), undefinedCells };
}

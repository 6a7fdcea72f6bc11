// @ts-check
/** @import { Explorer } from "./explorer.js" */
import { measurer } from "./canvas.js";

/**
 * A canvas does not wait for a face that the page has not used yet: draw again with it.
 *
 * @param {Explorer} explorer
 */
export async function loadFaces(explorer) {
  const { sans, mono } = explorer.theme;
  const wanted = [`12px ${mono}`, `12px ${sans}`, `600 16px ${sans}`];
  const missing = wanted.filter((face) => !document.fonts.check(face));
  if (missing.length === 0) return;
  await Promise.allSettled(missing.map((face) => document.fonts.load(face)));
  explorer.measure = measurer(explorer.theme);
  for (const one of explorer.views.values()) one.drawn = "";
  if (explorer.grid) explorer.grid.drawn = "";
  explorer.draw();
}

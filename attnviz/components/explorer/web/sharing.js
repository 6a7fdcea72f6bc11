// @ts-check
/** @import { Figure, Look, Options, Selection } from "./types.js" */
import { openHead } from "./heads.js";
import { words } from "./zooming.js";

/**
 * An address that shows the same picture: that of the page, with the selection and the look as
 * they are now, whether or not Python has been told of them yet.
 *
 * @param {Figure} figure
 * @param {Selection} selection
 * @param {Options & Pick<Look, "zoom" | "zoomed">} options
 * @param {string} page - its address
 */
export function linkOf(figure, selection, options, page) {
  const link = new URL(page);
  if (!figure.linked) return link.href;
  const { panel, row, col, to } = selection;
  const seen = words(options);
  const said = {
    ...(figure.grid ? openHead(figure, selection) : {}),
    panel: panel === "weights" ? null : panel,
    row,
    col,
    to: to?.join("_") ?? null,
    show: options.show === "matrix" ? null : options.show,
    colours: options.scale,
    min: options.least || null,
    palette: options.palette,
    metric: options.metric,
    order: options.order,
    cut: options.cut,
    with: options.others.join(","),
    bars: options.row ? 1 : null,
    table: options.table ? 1 : null,
    lines: options.lines === "columns" ? null : options.lines,
    read: options.reading === "from" ? null : options.reading,
    at: options.at,
    zoom: seen.zoom,
    zoomed: seen.zoomed,
    hide: [options.hideFirst && "first", options.hideSpecial && "special"].filter(Boolean).join(","),
  };
  for (const [name, word] of Object.entries(said)) {
    if (word === null || word === "") link.searchParams.delete(name);
    else link.searchParams.set(name, String(word));
  }
  return link.href;
}

/**
 * Python that computes what is shown, the open head included; "" where there is none.
 *
 * @param {Figure} figure
 * @param {Selection} selection
 */
export function snippetOf(figure, selection) {
  if (!figure.snippet || !figure.grid) return figure.snippet;
  const { layer, head } = openHead(figure, selection);
  return `layer, head = ${layer}, ${head}  # as in the picture\n${figure.snippet}`;
}

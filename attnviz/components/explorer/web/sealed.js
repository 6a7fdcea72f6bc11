// @ts-check
/** @import { Figure, Selection } from "./types.js" */
import { Explorer } from "./explorer.js";
import { headPanel } from "./heads.js";
import { unpack } from "./payload.js";

/** An explorer without a server: it opens the heads that are in its file, and says which are not. */
class Sealed extends Explorer {
  /** @param {HTMLElement} root @param {Figure} figure @param {HTMLElement} says */
  constructor(root, figure, says) {
    super(root, figure, () => {});
    this.says = says;
    for (const { layer, head, part } of figure.parts ?? []) {
      this.depot.store({ layer, head, rows: null, cols: null, block: 1 }, part);
    }
  }

  /** @param {Partial<Selection>} change */
  select(change) {
    const { layer, head } = { ...this.selection, ...change };
    const asked = change.layer !== undefined || change.head !== undefined;
    const missing = asked && layer !== null && head !== null && !headPanel(this.figure, layer, head);
    this.says.textContent = missing ? `The map of layer ${layer}, head ${head} is not in this file.` : "";
    if (!missing) super.select(change);
  }
}

/** @param {string} text - base64 of gzip */
async function unzipped(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Draws the figure that the page holds. @param {Document} page */
export default async function open(page) {
  const find = (/** @type {string} */ which) => /** @type {HTMLElement} */ (page.querySelector(which));
  const { figure } = unpack(await unzipped(find("#figure").textContent ?? ""));
  if (figure === null) return;
  const root = find(".explorer");
  const explorer = new Sealed(root, figure, find("#says"));
  window.matchMedia("(prefers-color-scheme: dark)").onchange = () => explorer.show(figure);
  // For tests.
  Object.assign(root, { __explorer: explorer });
}

// @ts-check
/** @import { Options, Range, Theme, Measure, View } from "./types.js" */
/** @import { TokenMap } from "./maps.js" */

/**
 * What a view beside the matrix draws. marks are positions of the tensor, -1 for none.
 *
 * @typedef {{main: TokenMap, shown: View, scale: Range, options: Options, theme: Theme,
 *   measure: Measure, maxWidth: number, maxHeight: number, maps: (TokenMap & {colour: string})[],
 *   candidates: () => TokenMap[]}} Drawing
 *   maps: the main one first, then those beside it. candidates: all that could be there.
 *
 * @typedef {{row: number, col: number, pinRow: number, pinCol: number}} Marks
 *
 * @typedef {object} ViewHost
 * @property {(panel: string, row: number | null, col: number | null) => void} point
 * @property {() => void} leave
 * @property {(panel: string, row: number, col: number) => void} pin
 * @property {() => void} clear
 * @property {(change: Partial<Options>) => void} change
 * @property {(key: string) => void} also - adds a map, or takes it away
 * @property {(text: string) => void} say - to those who hear the page
 * @property {(piece: () => import("./pieces.js").Piece, name: string) => HTMLElement} menu - to export it
 *
 * @typedef {{root: HTMLElement, update: (drawing: Drawing) => void, mark: (marks: Marks) => void,
 *   piece?: () => import("./pieces.js").Piece}} LazyView
 */

/** Loaded when first shown: Home draws a matrix, and should do so at once. */
const LOADERS = {
  lines: () => import("./linesview.js"),
  text: () => import("./textview.js"),
  row: () => import("./rowview.js"),
  beside: () => import("./besideview.js"),
};

/** @typedef {keyof typeof LOADERS} Name */

/** The views that are loaded when first shown, and which of them are on the page. */
export class LazyViews {
  /** @param {ViewHost} host @param {() => void} arrived - a module that was asked for is there */
  constructor(host, arrived) {
    this.host = host;
    this.arrived = arrived;
    /** @type {Map<Name, LazyView | null>} null: on its way */
    this.views = new Map();
  }

  /** Whether a view can be drawn now; if not, it is sent for. @param {Name} name */
  ready(name) {
    if (!this.views.has(name)) {
      this.views.set(name, null);
      LOADERS[name]().then(
        ({ default: View }) => {
          this.views.set(name, new View(this.host));
          this.arrived();
        },
        () => this.views.delete(name),
      );
    }
    return this.views.get(name) != null;
  }

  /**
   * @param {Partial<Record<Name, HTMLElement>>} places - the views to show, and in what
   * @param {() => Drawing} drawing
   */
  layOut(places, drawing) {
    for (const [name, view] of this.views) {
      const place = places[name];
      if (!place) view?.root.remove();
      else if (view) {
        // Bars stand after the picture, whichever of them came first.
        if (view.root.parentNode !== place) place[name === "row" ? "append" : "prepend"](view.root);
        view.update(drawing());
      }
    }
  }

  /** @param {Marks} marks */
  mark(marks) {
    for (const view of this.views.values()) if (view?.root.isConnected) view.mark(marks);
  }
}

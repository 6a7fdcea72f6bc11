// @ts-check
/** @import { Explorer } from "./explorer.js" */
/** @import { Axis, Figure, Look, Panel, Window } from "./types.js" */
/** @import { PanelView } from "./panelview.js" */
import { WHOLE } from "./zoom.js";

const REST = 300; // ms without a move before the address says where the reader is

/** Maps over the same rows and columns show the same part. @param {Panel} one @param {Panel} other */
export const alike = (one, other) => along(one.rows, other.rows) && along(one.cols, other.cols);

/** @param {Axis} one @param {Axis} other */
const along = (one, other) => one.name === other.name && one.labels.length === other.labels.length;

/** The part of the maps that is in sight: one for all that are alike, and known to links. */
export class Zooming {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    /** The panel that was zoomed last; "": the figure's first. */
    this.panel = "";
    /** @type {Window} */
    this.window = WHOLE;
    this.timer = 0;
  }

  /** @param {Look} look - that Python has set */
  take({ zoom, zoomed }) {
    this.panel = zoomed;
    this.window = zoom ? { zoom: zoom[0], row: zoom[1], col: zoom[2] } : WHOLE;
    for (const view of this.explorer.views.values()) view.viewport.window = this.windowOf(view.scene.panel);
  }

  /** The figure is another one: of other maps all is shown. @param {Figure} before @param {Figure} now */
  keep(before, now) {
    const same = (/** @type {Figure} */ { panels }) => panels.find(({ id }) => id === this.panel) ?? panels[0];
    if (!same(before) || !same(now) || !alike(same(before), same(now))) this.window = WHOLE;
  }

  /** @param {Panel} panel - that is about to be drawn @returns {Window} */
  windowOf(panel) {
    const { panels } = this.explorer.figure;
    const zoomed = panels.find(({ id }) => id === this.panel) ?? panels[0];
    return zoomed && alike(zoomed, panel) ? this.window : WHOLE;
  }

  /** One map was moved: so are those like it. @param {PanelView} view @param {Window} window */
  moved(view, window) {
    const { views, figure } = this.explorer;
    const { panel } = view.scene;
    this.window = window;
    // What is drawn for comparison only has no name outside.
    this.panel = figure.panels.find((one) => one.id === panel.id.replace(/~.*/, ""))?.id ?? "";
    for (const other of views.values()) {
      if (other !== view && alike(other.scene.panel, panel)) other.follow(window);
    }
    clearTimeout(this.timer);
    if (figure.linked) this.timer = Number(setTimeout(() => this.address(), REST));
  }

  /** As a link or Python have it. @returns {Pick<Look, "zoom" | "zoomed">} */
  said() {
    const { zoom, row, col } = this.window;
    if (zoom === 1) return { zoom: null, zoomed: "" };
    const [first] = this.explorer.figure.panels;
    return { zoom: [zoom, row, col], zoomed: this.panel === first?.id ? "" : this.panel };
  }

  /** The browser's own business: a page is not run because a map is moved. */
  address() {
    const here = new URL(location.href);
    for (const [name, word] of Object.entries(words(this.said()))) {
      if (word) here.searchParams.set(name, word);
      else here.searchParams.delete(name);
    }
    history.replaceState(history.state, "", here);
  }

  stop() {
    clearTimeout(this.timer);
  }
}

/** @param {Pick<Look, "zoom" | "zoomed">} said @returns {Record<string, string>} */
export const words = ({ zoom, zoomed }) => ({ zoom: zoom?.join("_") ?? "", zoomed });

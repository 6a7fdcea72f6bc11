// @ts-check
/** @import { Explorer } from "./explorer.js" */
/** @import { Tabled } from "./tableview.js" */
import { drawn } from "./scene.js";

/** The table below the picture: loaded and built once somebody asks for it. */
export class Tabling {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    /** @type {import("./tableview.js").default | "coming" | null} */
    this.view = null;
  }

  update() {
    const { options, selection, main } = this.explorer;
    if (!options.table) {
      if (this.view && this.view !== "coming") this.view.root.remove();
      return;
    }
    if (this.view === null) {
      this.view = "coming";
      import("./tableview.js").then(
        ({ default: View }) => {
          this.view = new View();
          this.update();
        },
        () => (this.view = null),
      );
    }
    if (this.view === null || this.view === "coming") return;
    if (!this.view.root.isConnected) main.append(this.view.root);
    const { panel, row, col } = selection;
    this.view.update(this.all(), { panel, row, col });
  }

  /** @returns {Tabled[]} the matrices of the page, or the one that lines and text are of */
  all() {
    const { scenes, views, options } = this.explorer;
    const panels = scenes.panels.length > 0 ? scenes.panels : scenes.main ? [scenes.main.panel] : [];
    return panels.map((panel) => ({
      panel,
      shown: drawn(panel, options),
      sight: views.get(panel.id)?.scene.plan ?? null,
    }));
  }
}

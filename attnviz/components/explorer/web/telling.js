// @ts-check
/** @import { Selection } from "./types.js" */
/** @import { Explorer } from "./explorer.js" */
/** @import { Note } from "./wire.js" */
import { openHead } from "./heads.js";
import { lookOf } from "./look.js";

const REPORT_AFTER = 150; // ms of rest before a selection goes to Python
const OF_HEAD = ["layer", "head"];

/** When Python hears of the selection. */
export class Telling {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.timer = 0;
  }

  /**
   * The selection has changed. Where nothing on the page depends on it, the head is the browser's
   * own business.
   *
   * @param {Partial<Selection>} change
   * @param {{layer: number, head: number}} before
   */
  changed(change, before) {
    const { figure, selection, depot, root } = this.explorer;
    const now = openHead(figure, selection);
    const moved = before.layer !== now.layer || before.head !== now.head;
    if (moved && depot.quiet && Object.keys(change).every((part) => OF_HEAD.includes(part))) {
      depot.address(now.layer, now.head);
      return;
    }
    // A map that only another run of the page has is asked for at once.
    const waiting = moved && figure.grid !== null && !figure.grid.stack && !figure.held;
    if (waiting) root.classList.add("waiting");
    this.tell(waiting ? 0 : REPORT_AFTER);
  }

  /** @param {number} after - ms */
  tell(after = REPORT_AFTER) {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.now(), after);
  }

  /** What would be told in a moment is told now: a run that it interrupted would be lost. */
  flush() {
    if (this.timer) this.now();
  }

  now() {
    clearTimeout(this.timer);
    this.timer = 0;
    const { selection, options, zooming } = this.explorer;
    this.explorer.report({ ...selection, look: lookOf(options, zooming.said()) });
  }

  /** @param {Note} note - the page has run, perhaps without knowing the head */
  hear({ known }) {
    const { figure, selection } = this.explorer;
    const ours = openHead(figure, selection);
    const theirs = openHead(figure, known);
    if (ours.layer !== theirs.layer || ours.head !== theirs.head) this.tell(0);
    this.explorer.draw();
  }

  stop() {
    clearTimeout(this.timer);
  }
}

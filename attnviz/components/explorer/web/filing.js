// @ts-check
/** @import { Figure } from "./types.js" */

const PATIENCE = 120_000; // ms; a file of many heads takes a few seconds, a map of 8,192 tokens more
const [LOOK, LOOKS] = [100, 100]; // ms between looks for a button, and how many

/** The browser fetches the file by itself. */
export const SENT = Symbol("on its way");

/** A file; SENT; a sentence why there is none; null: no answer. @typedef {Blob | typeof SENT | string | null} Made */

/** The file that only Python can make, asked for and waited for. */
export class Filing {
  constructor() {
    /** @type {((number: number, kind: "page" | "map") => void) | null} where there is a Python to ask */
    this.send = null;
    /** @type {{number: number, kind: "page" | "map", done: (file: Made) => void, timer: number} | null} */
    this.asked = null;
  }

  /** @param {"page" | "map"} kind @returns {Promise<Made>} */
  ask(kind) {
    const number = Date.now();
    return new Promise((done) => {
      const timer = /** @type {any} */ (setTimeout(() => done(null), PATIENCE));
      this.asked = { number, kind, done, timer };
      this.send?.(number, kind);
    });
  }

  /** The same message may come again, with another theme. @param {Figure} figure */
  take({ file, fileHeard }) {
    if (!this.asked) return;
    const { number, kind, done, timer } = this.asked;
    if (file?.number !== number) {
      // Heard, and no file: another run broke off the one that made it.
      if (fileHeard === number) this.send?.(number, kind);
      return;
    }
    this.asked = null;
    clearTimeout(timer);
    if (file.refusal) done(file.refusal);
    else if (file.kind === "map") fetched().then(done);
    else done(new Blob([/** @type {any} */ (file.data)], { type: "text/html" }));
  }
}

/** Presses the page's own button for a file that is too large for a message. @returns {Promise<Made>} */
async function fetched() {
  for (let i = 0; i < LOOKS; i += 1) {
    const button = /** @type {HTMLElement | null} */ (document.querySelector(".st-key-explorer-download button"));
    if (button) {
      button.click();
      return SENT;
    }
    await new Promise((later) => setTimeout(later, LOOK));
  }
  return null;
}

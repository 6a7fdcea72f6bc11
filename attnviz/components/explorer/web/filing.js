// @ts-check
/** @import { Figure } from "./types.js" */
import { insist } from "./insist.js";

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
    /** @type {{number: number, done: (file: Made) => void} | null} */
    this.asked = null;
  }

  /** @param {"page" | "map"} kind @returns {Promise<Made>} */
  ask(kind) {
    const number = Date.now();
    return new Promise((done) => {
      const stop = insist(() => this.send?.(number, kind));
      const tell = (/** @type {Made} */ file) => {
        stop();
        clearTimeout(timer);
        done(file);
      };
      const timer = setTimeout(() => tell(null), PATIENCE);
      this.asked = { number, done: tell };
    });
  }

  /** The same message may come again, with another theme. @param {Figure} figure */
  take({ file }) {
    if (!file || file.number !== this.asked?.number) return;
    const { done } = this.asked;
    this.asked = null;
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

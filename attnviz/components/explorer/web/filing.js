// @ts-check
/** @import { Figure } from "./types.js" */

const PATIENCE = 60_000; // ms; a file of many heads takes a few seconds

/** The file that only Python can make, asked for and waited for. */
export class Filing {
  constructor() {
    /** @type {((number: number) => void) | null} where there is a Python to ask */
    this.send = null;
    /** @type {{number: number, done: (file: Blob | null) => void} | null} */
    this.asked = null;
  }

  /** @returns {Promise<Blob | null>} null: no answer came */
  ask() {
    const number = Date.now();
    return new Promise((done) => {
      this.asked = { number, done };
      this.send?.(number);
      setTimeout(() => done(null), PATIENCE);
    });
  }

  /** The same message may come again, with another theme. @param {Figure} figure */
  take({ file }) {
    if (!file || file.number !== this.asked?.number) return;
    this.asked.done(new Blob([/** @type {any} */ (file.data)], { type: "text/html" }));
    this.asked = null;
  }
}

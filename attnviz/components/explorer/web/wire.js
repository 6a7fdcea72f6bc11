// @ts-check
/** @import { Selection } from "./types.js" */
import { insist } from "./insist.js";

/**
 * What Python has sent of a map.
 *
 * @typedef {{block: number, values: Float32Array, blocked: Uint8Array | null,
 *   tops: Float32Array | null, digest: string}} Part
 *
 * What a run of the page says: which one it is, the selection it knows, whether the choice of a
 * head is the browser's own business, and the answer to a question if it was run for one.
 *
 * @typedef {{wire: string, run: number, known: Selection, quiet: boolean,
 *   answer?: {number: number | null, part: Part | null, refusal?: string} | null}} Note
 *
 * @typedef {{layer: number, head: number, rows: [number, number] | null,
 *   cols: [number, number] | null, block: number}} Request - rows and cols null: the whole map
 *
 * @typedef {{note: (note: Note) => void,
 *   answer: (request: Request, part: Part | null, refusal: string) => void}} Listener
 *   refusal: why there is no part, in a sentence
 */

const PATIENCE = 30_000; // ms after which an answer is not waited for any more; a busy server takes ten
const SILENCE = `The server has not answered for ${PATIENCE / 1000} seconds.`;

/** What is wanted most goes first, and of each kind only the latest counts. */
const KINDS = /** @type {const} */ (["head", "tile", "row"]);

/** Questions to Python, one at a time. */
export class Wire {
  constructor() {
    /** @type {((request: Request & {number: number}) => void) | null} */
    this.send = null;
    /** @type {Listener | null} */
    this.listener = null;
    /** @type {Note | null} */
    this.note = null;
    /** @type {Map<string, Request>} */
    this.wanted = new Map();
    /** @type {{number: number, request: Request} | null} */
    this.asked = null;
    this.number = 0;
    this.timer = 0;
    this.insisting = () => {};
  }

  /** @param {Listener} listener */
  listen(listener) {
    this.listener = listener;
    if (this.note) listener.note(this.note);
  }

  /**
   * @param {(request: Request & {number: number}) => void} send
   * @param {Note} note
   */
  connect(send, note) {
    this.send = send;
    const news = note.run !== this.note?.run || note.quiet !== this.note.quiet;
    this.note = note;
    const { answer } = note;
    if (answer && this.asked && answer.number === this.asked.number) {
      const { request } = this.asked;
      this.over();
      this.listener?.answer(request, answer.part ?? null, answer.refusal ?? "");
    }
    if (news) this.listener?.note(note);
    this.next();
  }

  disconnect() {
    this.send = null;
    this.note = null;
    this.over();
  }

  /**
   * @param {typeof KINDS[number]} kind
   * @param {Request | null} request - null: no longer wanted
   */
  ask(kind, request) {
    if (request === null) this.wanted.delete(kind);
    else this.wanted.set(kind, request);
    this.next();
  }

  next() {
    if (this.asked || !this.send) return;
    const kind = KINDS.find((one) => this.wanted.has(one));
    if (!kind) return;
    const request = /** @type {Request} */ (this.wanted.get(kind));
    this.wanted.delete(kind);
    this.number += 1;
    const asked = { ...request, number: this.number };
    this.asked = { number: this.number, request };
    this.timer = /** @type {any} */ (setTimeout(() => {
      this.over();
      this.listener?.answer(request, null, SILENCE);
      this.next();
    }, PATIENCE));
    this.insisting = insist(() => this.send?.(asked));
  }

  over() {
    clearTimeout(this.timer);
    this.insisting();
    this.asked = null;
  }
}

/** @type {Map<string, Wire>} by the key of the explorer's mount */
const wires = new Map();

/** @param {string} key */
export function wireOf(key) {
  const wire = wires.get(key) ?? new Wire();
  wires.set(key, wire);
  return wire;
}

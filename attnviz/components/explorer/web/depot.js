// @ts-check
/** @import { Figure, Panel, Selection, Source, Span, Tile } from "./types.js" */
/** @import { Note, Part, Request } from "./wire.js" */
import { headName, openHead } from "./heads.js";
import { Lru } from "./lru.js";
import { wireOf } from "./wire.js";

/** Maps and parts of maps, of all figures: what was fetched once is not asked for again. */
const held = /** @type {Lru<Part>} */ (new Lru(128 * 2 ** 20));
const MOST_TILES = 24; // of one head, looked through at each frame

/** @param {Part} part */
const size = ({ values, blocked, tops }) =>
  values.byteLength + (blocked?.byteLength ?? 0) + (tops?.byteLength ?? 0);

/** What one explorer has of maps that only the server can compute, and how it asks for more. */
export class Depot {
  /**
   * @param {() => void} changed - something has arrived
   * @param {(note: Note) => void} note - the page has run
   */
  constructor(changed, note) {
    this.changed = changed;
    this.note = note;
    /** @type {Figure | null} */
    this.figure = null;
    /** @type {import("./wire.js").Wire | null} */
    this.wire = null;
    /** The parts of one head, the one looked at; those of others wait in `held`. */
    this.tiles = { place: "", list: /** @type {Tile[]} */ ([]) };
    this.placed = 0;
    /** @type {Panel | null} */
    this.last = null;
    /** @type {Map<string, string>} why a part did not come */
    this.refusals = new Map();
    this.waited = "";
  }

  /** @param {Figure} figure whose heads can be asked for, or not */
  serve(figure) {
    if (figure.id !== this.figure?.id) {
      this.tiles = { place: "", list: [] };
      this.last = null;
      this.refusals.clear();
    }
    this.figure = figure;
    this.wire = wireOf(figure.key);
    this.wire.listen({ note: this.note, answer: (...told) => this.store(...told) });
    if (!figure.grid?.first) return;
    figure.held = (layer, head) => this.panel(layer, head);
    figure.known = (layer, head) => this.known(layer, head);
  }

  /**
   * One head's map, or while it is on its way the one shown before.
   *
   * @param {number} layer @param {number} head
   * @returns {Panel}
   */
  panel(layer, head) {
    const figure = /** @type {Figure} */ (this.figure);
    const known = this.known(layer, head);
    if (known) this.last = known;
    if (known) return known;
    const instead = this.last ?? figure.panels[0];
    const refusal = this.refusals.get(keyOf(figure.id, whole(layer, head)));
    if (!refusal || !figure.grid) return instead;
    return { ...instead, refusal: `${headName(figure.grid, layer, head)} is not here. ${refusal}` };
  }

  /** @param {number} layer @param {number} head @returns {Panel | null} */
  known(layer, head) {
    const { figure } = this;
    if (!figure?.grid) return null;
    const place = `${layer}.${head}`;
    const source = this.source(layer, head);
    if (figure.grid.first?.join(".") === place) return { ...figure.panels[0], source };
    const part = held.get(`${figure.id} ${place}`);
    if (!part) return null;
    const { values, blocked, block, tops, digest } = part;
    const title = headName(figure.grid, layer, head);
    return { ...figure.panels[0], values, blocked, block, tops, digest, title, source };
  }

  /**
   * Asks for the open head's map if it is not here.
   *
   * @param {Selection} selection
   * @returns {boolean} whether it has to be waited for
   */
  await(selection) {
    const { figure } = this;
    if (!figure?.grid?.first) return false;
    const { layer, head } = openHead(figure, selection);
    const key = keyOf(figure.id, whole(layer, head));
    // Chosen anew, it is asked for anew.
    if (key !== this.waited) this.refusals.delete(key);
    this.waited = key;
    const missing = this.known(layer, head) === null && !this.refusals.has(key);
    const { asked } = /** @type {import("./wire.js").Wire} */ (this.wire);
    const coming = asked?.request.rows === null && asked.request.layer === layer && asked.request.head === head;
    this.wire?.ask("head", missing && !coming ? whole(layer, head) : null);
    return missing;
  }

  /** Whether the page leaves the choice of a head to the browser. */
  get quiet() {
    return this.wire?.note?.quiet ?? false;
  }

  /**
   * Puts the head into the address, as the page would: a link shows it, and nothing is sent.
   *
   * @param {number} layer @param {number} head
   */
  address(layer, head) {
    const here = new URL(window.location.href);
    here.searchParams.set("layer", String(layer));
    here.searchParams.set("head", String(head));
    window.history.replaceState(window.history.state, "", here);
  }

  leave() {
    if (this.wire) this.wire.listener = null;
  }

  /** @param {number} layer @param {number} head @returns {Source | null} */
  source(layer, head) {
    if (this.figure?.sealed) return null;
    const place = `${layer}.${head}`;
    const ask = (/** @type {"tile" | "row"} */ kind, /** @type {Span} */ rows, /** @type {Span} */ cols, /** @type {number} */ block) => {
      const request = { layer, head, rows, cols, block };
      const part = held.get(keyOf(this.figure?.id, request));
      if (part) this.place(request, part);
      else this.wire?.ask(kind, request);
    };
    return {
      tiles: () => (this.tiles.place === place ? this.tiles.list : []),
      tile: (rows, cols, block) => ask("tile", rows, cols, block),
      row: (row, n) => ask("row", [row, row + 1], [0, n], 1),
      rest: () => this.wire?.ask("tile", null),
      stamp: () => this.placed,
      refusal: (rows, cols, block) => this.refusals.get(keyOf(this.figure?.id, { layer, head, rows, cols, block })) ?? "",
    };
  }

  /** @param {Request} request @param {Part | null} part @param {string} [refusal] */
  store(request, part, refusal = "") {
    const key = keyOf(this.figure?.id, request);
    if (part) {
      held.set(key, part, size(part));
      if (request.rows) this.place(request, part);
    } else if (refusal) {
      this.refusals.set(key, refusal);
      this.placed += 1;
    }
    this.changed();
  }

  /** @param {Request} request @param {Part} part */
  place({ layer, head, rows, cols, block }, part) {
    if (!rows || !cols) return;
    const place = `${layer}.${head}`;
    const before = this.tiles.place === place ? this.tiles.list : [];
    const others = before.filter(
      (one) => one.block !== block || String([one.rows, one.cols]) !== String([rows, cols]),
    );
    const tile = { rows, cols, block, values: part.values, blocked: part.blocked };
    this.placed += 1;
    this.tiles = { place, list: [...others.slice(1 - MOST_TILES), tile] };
    this.changed();
  }
}

/** @param {number} layer @param {number} head @returns {Request} */
const whole = (layer, head) => ({ layer, head, rows: null, cols: null, block: 1 });

/** @param {string | undefined} id @param {Request} request */
function keyOf(id, { layer, head, rows, cols, block }) {
  const place = `${id} ${layer}.${head}`;
  return rows && cols ? `${place} ${rows} ${cols} ${block}` : place;
}

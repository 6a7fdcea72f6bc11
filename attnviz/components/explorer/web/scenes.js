// @ts-check
/** @import { Explorer } from "./explorer.js" */
/** @import { Pointer } from "./linking.js" */
/** @import { TokenMap } from "./maps.js" */
/** @import { Panel, Show } from "./types.js" */
import { element } from "./dom.js";
import { shownPanels } from "./heads.js";
import { LazyViews } from "./lazy.js";
import { linked } from "./linking.js";
import { allMaps, mainMap, mapOf, slots } from "./maps.js";
import { exportMenu } from "./menu.js";
import { piecePlate } from "./pieces.js";
import { sightOf } from "./sight.js";
import { stageSize, staged } from "./staging.js";
import { Tabling } from "./tabling.js";
import { range, view } from "./view.js";

const GAP = 16; // between maps that are compared
const BARS = 300; // the width of the ranked bars
const SPARED = 12; // pixels below a picture that a lecture has to itself
const FEW = 64; // tokens a side of a map that is legible in a third of the page
const ROOMY = 660; // with as much room they stand beside the picture, not below it

/** Which views of a figure are on the page, and the maps that they show. */
export class Scenes {
  /** @param {Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.above = element("div", "above");
    this.tabling = new Tabling(explorer);
    this.lazy = new LazyViews(
      {
        point: (panel, row, col) => explorer.point(panel, row, col),
        leave: () => explorer.point(null, null, null),
        pin: (panel, row, col) => explorer.pin(panel, row, col),
        clear: () => explorer.select({ panel: null, row: null, col: null }),
        change: (change) => explorer.change(change),
        also: (key) => explorer.also(key),
        say: (text) => explorer.voice.say(text),
        menu: (piece, name) => exportMenu(() => piecePlate(explorer, piece(), name), explorer),
      },
      () => explorer.draw(),
    );
    /** @type {TokenMap | null} */
    this.main = null;
    /** @type {(TokenMap & {colour: string})[]} the main one first */
    this.maps = [];
    /** @type {Panel[]} drawn as matrices */
    this.panels = [];
    /** @type {Show} what is drawn: not yet what was asked for while that is on its way */
    this.show = "matrix";
    this.views = { tokens: false, compare: false };
    this.room = 0;
    /** Whether a step of a walk is drawn, beside what it was made from. */
    this.staged = false;
  }

  /** What there is to draw now. */
  update() {
    const { lazy } = this;
    const { figure, selection, options, theme } = this.explorer;
    const main = (this.main = mainMap(figure, selection));
    const maps = main === null ? 0 : figure.grid?.stack ? figure.grid.heads * figure.grid.layers.length : allMaps(figure, main).length;
    this.views = { tokens: maps > 0, compare: maps > 1 };
    const wanted = this.wanted();
    if (wanted === "matrix" || (wanted === "compare" ? this.load() : lazy.ready(wanted))) this.show = wanted;
    else if (main === null) this.show = "matrix";
    this.maps = this.beside(this.show).map((map, i, all) => {
      const at = slots(all.slice(1).concat(all[0]).map(({ key }) => key), figure.grid?.heads ?? 1, theme.lines.length);
      return { ...map, colour: theme.lines[at[i === 0 ? all.length - 1 : i - 1]] };
    });
    if (this.show === "lines" || this.show === "text") this.panels = [];
    else if (this.show === "compare" && this.compared) {
      const [one, other] = this.maps;
      this.panels = this.compared(one, other, options);
    } else {
      const panels = shownPanels(figure, selection);
      const { step } = this.explorer.player;
      this.panels = step ? staged(step, panels, this.explorer.width) : panels;
    }
    const { step } = this.explorer.player;
    this.staged = this.show === "matrix" && step !== null && step.rows === null;
    this.explorer.panels.classList.toggle("staged", this.staged && this.panels.length > 1);
    this.explorer.panels.classList.toggle("compared", this.compares());
  }

  /** Whether maps stand side by side: those chosen, or those of one head beside a grid of all. */
  compares() {
    if (this.show !== "matrix" || this.staged) return this.show === "compare";
    const few = this.panels.every(({ rows, cols }) => Math.max(rows.labels.length, cols.labels.length) <= FEW);
    return few && this.explorer.figure.grid !== null && this.panels.length > 1;
  }

  /** @returns {Show} what was asked for, as far as this figure has it */
  wanted() {
    const { show } = this.explorer.options;
    if (!this.views.tokens) return "matrix";
    return show === "compare" && !this.views.compare ? "matrix" : show;
  }

  load() {
    if (this.compared) return true;
    import("./compare.js").then(({ compared }) => {
      this.compared = compared;
      this.explorer.draw();
    });
    return false;
  }

  /** The main map, and those beside it. @param {Show} show @returns {TokenMap[]} */
  beside(show) {
    const { main } = this;
    const { figure, options } = this.explorer;
    if (main === null) return [];
    if (show !== "lines" && show !== "compare") return [main];
    const chosen = options.others.map((key) => mapOf(figure, main, key)).filter((map) => map !== null);
    if (show === "lines") return [main, ...chosen];
    const other = chosen[chosen.length - 1] ?? nextOf(allMaps(figure, main), main.key);
    return other ? [main, other] : [main];
  }

  /** Whether one row is shown as bars: beside one head of many, a lecture has the room for it. */
  barred() {
    const { options, lecture, figure, width } = this.explorer;
    const one = figure.grid !== null || figure.panels[0]?.growsFrom !== null;
    return options.row || (lecture !== null && one && this.show === "matrix" && width >= ROOMY);
  }

  /** @param {number} width @returns {number} the width for the picture itself */
  roomFor(width) {
    this.room = width;
    const aside = this.barred() && this.main !== null && width >= ROOMY;
    return aside && this.panels.length <= 1 ? width - BARS - 28 : width;
  }

  /**
   * The size of one matrix that has the place to itself, of those of a step, and of maps side by
   * side; null leaves it to the panels.
   *
   * @param {number} room @param {number} tall @param {number} at - which one
   */
  size(room, tall, at) {
    const { lecture } = this.explorer;
    const alone = lecture !== null && this.panels.length > 0 && this.show === "matrix";
    if (alone || this.staged) return stageSize(this.panels.length, at, room, alone ? tall + SPARED : tall, alone);
    if (this.panels.length === 1) return { maxWidth: room, maxHeight: tall, cell: 60 };
    // Beside a grid too the difference stays in sight.
    if (!this.compares()) return null;
    const across = room >= 620 ? 3 : room >= 480 ? 2 : 1;
    return { maxWidth: Math.floor((room - (across - 1) * GAP) / across), maxHeight: tall, cell: 60 };
  }

  /** @param {number} tall */
  layOut(tall) {
    const { panels } = this.explorer;
    const { main, show, lazy } = this;
    /** @type {Parameters<LazyViews["layOut"]>[0]} */
    const places = {};
    if (main !== null) {
      const several = (show === "lines" || show === "compare") && this.views.compare;
      if (several && lazy.ready("beside")) places.beside = this.above;
      if (show === "lines") places.lines = panels;
      if (show === "text") places.text = panels;
      if (this.barred() && lazy.ready("row")) places.row = panels;
    }
    this.above.hidden = !places.beside;
    /** @type {import("./lazy.js").Drawing | null} */
    let drawing = null;
    lazy.layOut(places, () => (drawing ??= this.drawing(tall)));
    this.tabling.update();
  }

  /** @param {number} tall @returns {import("./lazy.js").Drawing} */
  drawing(tall) {
    const { figure, options, theme, measure } = this.explorer;
    const main = /** @type {TokenMap} */ (this.main);
    const shown = view(main.panel, options);
    return {
      main,
      shown,
      scale: range(main.panel, shown, options),
      options,
      theme,
      measure,
      maxWidth: this.roomFor(this.room),
      maxHeight: tall,
      maps: this.maps,
      candidates: () => allMaps(figure, main),
    };
  }

  /** What of the main map lines, text and bars show. */
  sight() {
    const { panel } = /** @type {TokenMap} */ (this.main);
    const shown = view(panel, this.explorer.options);
    return sightOf(panel, shown, { row: 0, col: 0, nRows: shown.rows.length, nCols: shown.cols.length });
  }

  /** @param {Pointer | null} pointer @param {Pointer | null} pinned */
  mark(pointer, pinned) {
    if (this.main === null) return;
    const { panel } = this.main;
    const all = { rows: everyone(panel.rows.labels.length), cols: everyone(panel.cols.labels.length), hidden: 0 };
    const here = linked(pointer, panel, all);
    const pin = linked(pinned, panel, all);
    this.lazy.mark({ ...here, pinRow: pin.row, pinCol: pin.col });
  }
}

/** @param {number} n */
const everyone = (n) => Int32Array.from({ length: n }, (_, i) => i);

/**
 * The map after this one, or before the last.
 *
 * @param {TokenMap[]} maps
 * @param {string} key
 * @returns {TokenMap | undefined}
 */
function nextOf(maps, key) {
  const at = maps.findIndex((map) => map.key === key);
  return maps[at + 1] ?? maps[at - 1];
}

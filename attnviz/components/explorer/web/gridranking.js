// @ts-check
/** @import { Options } from "./types.js" */
/** @import { GridScene } from "./gridview.js" */
import { context2d, sized } from "./canvas.js";
import { element } from "./dom.js";
import { number } from "./format.js";
import { extent } from "./gridpaint.js";
import { ranking } from "./gridtools.js";
import { headName } from "./heads.js";
import { TokenList } from "./tokenlist.js";

const SIDE = 24; // of a small map
const MOST = 600; // heads listed at once; a threshold brings the others within reach
const PAGE = 10;

/** All heads in the order of a metric, the value beside each. */
export class GridRanking {
  /**
   * at: a place in the grid, layer after layer.
   *
   * @param {{point: (at: number) => void, leave: () => void, pin: (at: number) => void}} host
   */
  constructor(host) {
    this.list = new TokenList("ranking scroll", { ...host, clear: host.leave, moved: (event, from) => stepped(event, from, this.list.items.length) });
    this.root = this.list.root;
    this.drawn = "";
  }

  /**
   * @param {GridScene} scene @param {Options} options @param {string} key - of the small maps
   */
  update(scene, options, key) {
    const { grid, metric, theme } = scene;
    if (!metric) return;
    const drawn = JSON.stringify([key, metric.name, Array.from(metric.values), options.order, options.cut]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const word = options.order === "up" ? "smallest" : "largest";
    this.root.setAttribute("aria-label", `${grid.word}s by ${metric.name}, ${word} first`);
    const places = ranking(metric.values, options).slice(0, MOST);
    const { lo, hi } = extent(metric.values);
    const from = Math.min(lo, 0); // a bar of a share begins at 0
    const items = places.map((at) => {
      const [layer, head] = [Math.floor(at / grid.heads), at % grid.heads];
      const map = element("canvas", "", { "aria-hidden": "true" });
      sized(map, SIDE, SIDE, window.devicePixelRatio || 1);
      const { down, across } = grid;
      context2d(map).drawImage(scene.sheet, head * across, layer * down, across, down, 0, 0, SIDE, SIDE);
      const length = element("span", "length");
      length.style.width = `${(100 * (metric.values[at] - from)) / (hi - from || 1)}%`;
      length.style.background = theme.accents.query;
      return element("div", "", { role: "option" }, [
        map,
        element("span", "name", {}, [headName(grid, grid.layers[layer], head)]),
        element("span", "track", { "aria-hidden": "true" }, [length]),
        element("span", "value", {}, [number(metric.values[at])]),
      ]);
    });
    this.root.replaceChildren(...items);
    this.list.set(items, places);
    this.list.cursor = 0;
    this.root.scrollTop = 0;
  }
}

/** @param {KeyboardEvent} event @param {number} from @param {number} n @returns {number | null} */
function stepped(event, from, n) {
  if (event.ctrlKey || event.metaKey || event.altKey || n === 0) return null;
  const steps = /** @type {Record<string, number>} */ ({ ArrowUp: -1, ArrowDown: 1, PageUp: -PAGE, PageDown: PAGE, Home: -n, End: n });
  return Object.hasOwn(steps, event.key) ? Math.max(0, Math.min(n - 1, from + steps[event.key])) : null;
}

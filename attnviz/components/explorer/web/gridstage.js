// @ts-check
/** @import { Explorer } from "./explorer.js" */
import { isFlat } from "./gridplan.js";
import { GridView } from "./gridview.js";
import { openHead } from "./heads.js";
import { placeOf } from "./maps.js";

const GAP = 24; // between the grid and the panels below it
const STRIP = 150; // the height of a line of maps, in a lecture

/**
 * Puts the grid of thumbnails beside the panels, or above them.
 *
 * @param {Explorer} explorer
 * @param {number} width
 * @param {number} tall
 * @param {{key: string, colour: string}[]} maps - drawn now, the open one first
 * @returns {number} the width left for the panels
 */
export function layOutGrid(explorer, width, tall, maps) {
  const { figure, stage } = explorer;
  const { grid } = figure;
  if (grid === null) {
    explorer.grid?.root.remove();
    explorer.grid = null;
    stage.classList.remove("beside");
    return width;
  }
  const flat = isFlat(grid.layers.length, grid.heads);
  const beside = width >= 760 && !flat;
  const given = {
    grid,
    theme: explorer.theme,
    options: explorer.options,
    maxWidth: beside ? width * 0.42 : width,
    // Above the panels it scrolls in a box of its own.
    maxHeight: beside ? tall : flat ? (explorer.lecture ? STRIP : Infinity) : 40 * grid.layers.length,
    beside: maps.slice(1).flatMap(({ key, colour }) => {
      const place = placeOf(key);
      return place ? [{ ...place, colour }] : [];
    }),
    ...openHead(figure, explorer.selection),
  };
  if (explorer.grid) explorer.grid.update(given);
  else {
    explorer.grid = new GridView(
      {
        open: (layer, head) => explorer.select({ layer, head }),
        also: (layer, head) => explorer.also(`${layer}.${head}`),
        change: (change, settled) => explorer.change(change, settled),
      },
      given,
    );
    stage.prepend(explorer.grid.root);
  }
  const used = Math.max(230, explorer.grid.scene.plan.width);
  const fits = beside && used <= width * 0.5;
  stage.classList.toggle("beside", fits);
  return fits ? width - used - 32 : width;
}

/**
 * The height that a grid above the panels, and a text below them, take from a lecture's screen.
 *
 * @param {Explorer} explorer
 */
export function taken({ grid, lecture, stage, player }) {
  if (!lecture) return 0;
  const above = grid && !stage.classList.contains("beside") ? grid.root.offsetHeight + GAP : 0;
  return above + player.text.offsetHeight;
}

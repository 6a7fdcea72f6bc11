// @ts-check

/**
 * Where the thumbnails stand, in CSS pixels.
 *
 * @typedef {{width: number, height: number, x: number, y: number, pitch: number, side: number,
 *   groupGap: number, perGroup: number, layers: number, heads: number}} GridPlan
 *   pitch: from one thumbnail to the next; perGroup: query heads on one KV head, or all.
 */

const [LEFT, TITLE, LABEL, BRACKET] = [40, 18, 16, 20];
const LEAST = 24; // the smallest target that a finger meets
const MOST = 76;
const MOST_OF_FEW = 112; // in a grid of few layers, which stands above the panels
const GROUP_GAP = 5;

/**
 * Whether the grid is a line or two of maps, better above a panel than beside it.
 *
 * @param {number} layers
 * @param {number} heads
 */
export const isFlat = (layers, heads) => layers <= 2 && heads > layers;

/**
 * @param {number} layers
 * @param {number} heads
 * @param {number | null} kvHeads
 * @param {number} maxWidth
 * @param {number} maxHeight
 * @returns {GridPlan}
 */
export function gridPlan(layers, heads, kvHeads, maxWidth, maxHeight) {
  const grouped = kvHeads !== null && kvHeads < heads;
  const perGroup = grouped ? heads / kvHeads : heads;
  const groupGap = grouped ? GROUP_GAP : 0;
  const y = TITLE + LABEL + (grouped ? BRACKET : 0);
  const gaps = (heads / perGroup - 1) * groupGap;
  const room = Math.min((maxWidth - LEFT - gaps) / heads, (maxHeight - y) / layers);
  const most = isFlat(layers, heads) ? MOST_OF_FEW : MOST;
  const pitch = Math.max(LEAST, Math.min(most, Math.floor(room)));
  return {
    x: LEFT,
    y,
    pitch,
    side: pitch - (pitch >= 40 ? 4 : 2),
    groupGap,
    perGroup,
    layers,
    heads,
    width: LEFT + heads * pitch + gaps + 2,
    height: y + layers * pitch + 2,
  };
}

/** @param {GridPlan} plan @param {number} head */
export const headX = (plan, head) =>
  plan.x + head * plan.pitch + Math.floor(head / plan.perGroup) * plan.groupGap;

/** @param {GridPlan} plan @param {number} layer - the row of the grid */
export const layerY = (plan, layer) => plan.y + layer * plan.pitch;

/**
 * The thumbnail under a point, or null.
 *
 * @param {GridPlan} plan
 * @param {number} px
 * @param {number} py
 */
export function thumbnailAt(plan, px, py) {
  const layer = Math.floor((py - plan.y) / plan.pitch);
  if (layer < 0 || layer >= plan.layers) return null;
  for (let head = 0; head < plan.heads; head += 1) {
    const left = headX(plan, head);
    if (px >= left && px < left + plan.pitch) return { layer, head };
  }
  return null;
}

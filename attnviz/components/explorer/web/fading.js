// @ts-check
/** @import { PanelView } from "./panelview.js" */

const MS = 350;

/**
 * Keeps the picture of a matrix, and hands back what lays it over the one that follows, where it
 * fades away: the same cells change their colours in place.
 *
 * @param {PanelView | undefined} view
 * @returns {((next: PanelView | undefined) => void) | null}
 */
export function fade(view) {
  if (!view || view.base.width === 0) return null;
  const { base, scene } = view;
  const ghost = document.createElement("canvas");
  ghost.width = base.width;
  ghost.height = base.height;
  ghost.className = "over";
  ghost.style.cssText = base.style.cssText;
  ghost.getContext("2d")?.drawImage(base, 0, 0);
  const { plan } = scene;
  return (next) => {
    const now = next?.scene.plan;
    // Another shape has no cell in the same place.
    if (!next || next === view || now?.w !== plan.w || now?.h !== plan.h || now?.x !== plan.x) return;
    next.plot.append(ghost);
    ghost.animate([{ opacity: 1 }, { opacity: 0 }], MS).onfinish = () => ghost.remove();
  };
}

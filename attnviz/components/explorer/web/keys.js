// @ts-check

/**
 * Where a key moves the cursor of a table, or null for a key that does not. Shift and the page
 * keys move by a leap.
 *
 * @param {{key: string, shiftKey: boolean, ctrlKey: boolean, metaKey: boolean, altKey: boolean}} event
 * @param {{row: number, col: number}} from
 * @param {number} rows
 * @param {number} cols
 * @param {number} leap
 */
export function moved(event, from, rows, cols, leap) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const step = event.shiftKey ? leap : 1;
  /** @type {Record<string, [number, number]>} */
  const moves = {
    ArrowUp: [-step, 0],
    ArrowDown: [step, 0],
    ArrowLeft: [0, -step],
    ArrowRight: [0, step],
    PageUp: [-leap, 0],
    PageDown: [leap, 0],
    Home: [0, -cols],
    End: [0, cols],
  };
  if (!Object.hasOwn(moves, event.key)) return null;
  const [down, right] = moves[event.key];
  return {
    row: Math.max(0, Math.min(rows - 1, from.row + down)),
    col: Math.max(0, Math.min(cols - 1, from.col + right)),
  };
}

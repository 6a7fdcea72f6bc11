// @ts-check
/** @import { Axis, Panel } from "./types.js" */
import { cellAt, rankIn, rowAt } from "./cells.js";
import { number } from "./format.js";
import { shown } from "./labels.js";

const LONGEST = 36; // characters of a token in a readout; hovering its label gives all of it

/**
 * A piece of a readout: a token in the token's face, a position, or words.
 *
 * @typedef {{kind: "token" | "position" | "word" | "value", text: string}} Piece
 */

/** @param {Piece["kind"]} kind @param {string} text @returns {Piece} */
const piece = (kind, text) => ({ kind, text });

/**
 * @param {Axis} axis
 * @param {number} position
 * @param {boolean} whole - all of the token, and what is known about it
 * @returns {Piece[]}
 */
export function place(axis, position, whole = false) {
  const label = axis.labels[position];
  if (label === String(position)) return [piece("word", `${axis.name} ${position}`)];
  const detail = axis.details?.[position];
  if (whole) {
    const extra = detail && detail !== label ? [piece("word", ` (${shown(detail)})`)] : [];
    return [
      piece("word", `${axis.name} `),
      piece("position", `${position} `),
      piece("token", shown(label)),
      ...extra,
    ];
  }
  const text = shown(label);
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
  return [piece("token", short), piece("position", ` ${position}`)];
}

/**
 * What one cell says: query token → key token: weight 0.123, rank 2 of 7 in row.
 *
 * @param {Panel} panel
 * @param {number} row
 * @param {number} col
 * @returns {Piece[]}
 */
export function cell(panel, row, col) {
  const ends = [
    ...place(panel.rows, row),
    piece("word", " → "),
    ...place(panel.cols, col),
    piece("word", ": "),
  ];
  const { value, masked, exact, block } = cellAt(panel, row, col);
  if (masked) return [...ends, piece("value", "masked")];
  if (!exact) {
    const around = `at most ${number(value)}`;
    return [...ends, piece("value", around), piece("word", `, the largest of ${block} × ${block} cells here`)];
  }
  const said = [...ends, piece("value", `${panel.valueName} ${number(value)}`)];
  if (panel.scale !== "weight" || Number.isNaN(value)) return said;
  const whole = rowAt(panel, row);
  if (whole === null) return said;
  const { rank: place_, of } = rankIn(whole, col);
  return [...said, piece("word", `, rank ${place_} of ${of} in row`)];
}

/**
 * @param {Piece[]} pieces
 */
export const plain = (pieces) => pieces.map(({ text }) => text).join("");

/**
 * Shows the pieces. Text stays text, whatever it holds.
 *
 * @param {Element} element
 * @param {Piece[]} pieces
 */
export function show(element, pieces) {
  element.replaceChildren(
    ...pieces.map(({ kind, text }) => {
      const node = document.createElement(kind === "token" ? "bdi" : "span");
      node.className = kind;
      node.textContent = text;
      return node;
    }),
  );
}

// @ts-check

/**
 * A token as a piece of running text: what stands before it, its own characters, and whether it
 * ends its line.
 *
 * @typedef {{before: string, text: string, breaks: boolean}} Word
 */

const SPACE = "·"; // the sign of a space in a token
const NEWLINE = "⏎";

/**
 * The tokens as the text that they were cut from. Where no token brings its spaces along, each is
 * a word of its own, and ## joins a piece to the one before.
 *
 * @param {string[]} labels
 * @returns {Word[]}
 */
export function running(labels) {
  const spaced = labels.some((label) => label.length > 1 && label.startsWith(SPACE));
  return labels.map((label, i) => {
    const breaks = label.includes(NEWLINE);
    if (spaced) {
      const [lead] = /** @type {RegExpExecArray} */ (/^·*/.exec(label));
      const rest = label.slice(lead.length);
      // A token of nothing but spaces still has to be seen.
      if (rest === "") return { before: "", text: label, breaks };
      return { before: " ".repeat(lead.length), text: rest.replaceAll(SPACE, " "), breaks };
    }
    const joined = label.length > 2 && label.startsWith("##");
    return { before: i === 0 || joined ? "" : " ", text: joined ? label.slice(2) : label, breaks };
  });
}

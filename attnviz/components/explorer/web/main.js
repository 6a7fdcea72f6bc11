// @ts-check
import { Explorer } from "./explorer.js";
import { lookOf } from "./look.js";
import { giveWay, lectured, lecturing, wayIn } from "./lecturing.js";
import { unpack } from "./payload.js";
import { wireOf } from "./wire.js";

/** @type {WeakMap<object, Explorer>} one for each mount: Streamlit calls again on new data or theme */
const explorers = new WeakMap();

/**
 * @typedef {{data: Uint8Array, parentElement: ParentNode,
 *   setStateValue: (key: string, value: unknown) => void,
 *   setTriggerValue: (key: string, value: unknown) => void}} Component
 *
 * @param {Component} component
 */
export default function mount({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = /** @type {HTMLElement} */ (
    parentElement.querySelector(".explorer, .explorer-wire")
  );
  const { figure, note } = unpack(data);
  if (figure === null) {
    const wire = wireOf(note.wire);
    hide(root);
    wire.connect((request) => setTriggerValue("ask", request), note);
    return () => wire.disconnect();
  }
  let explorer = explorers.get(parentElement);
  const report = (/** @type {import("./types.js").Selection & {look: import("./types.js").Look}} */ selection) =>
    setStateValue("selection", selection);
  if (explorer?.root === root) {
    explorer.report = report;
    explorer.show(figure);
  } else {
    explorer?.stop();
    explorer = new Explorer(root, figure, report);
    explorers.set(parentElement, explorer);
    const made = explorer;
    const { key } = figure;
    const { host } = /** @type {ShadowRoot} */ (root.getRootNode());
    if (!lecturing()) made.toolbar.root.append(wayIn(key));
    else if (lectured(key, host)) import("./lecture.js").then(({ Lecture }) => {
      if (explorers.get(parentElement) === made) made.lecture = new Lecture(made);
    });
    else giveWay(host);
    // For tests and benchmarks.
    Object.assign(root, { __explorer: explorer });
  }
  const shown = explorer;
  shown.filing.send = (number, kind) => {
    shown.telling.flush(); // told in a moment, it would break off the run that makes the file
    setTriggerValue("file", { number, kind, selection: { ...shown.selection, look: lookOf(shown.options, shown.zooming.said()) } });
  };
  return () => {
    explorers.get(parentElement)?.stop();
    explorers.delete(parentElement);
  };
}

/** @param {HTMLElement} root - of a mount without a picture */
function hide(root) {
  root.className = "explorer-wire";
  const shadow = root.getRootNode();
  // The host and nothing around it: Streamlit gives the boxes around it to other elements later.
  if (shadow instanceof ShadowRoot) /** @type {HTMLElement} */ (shadow.host).style.display = "none";
}

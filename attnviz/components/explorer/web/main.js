// @ts-check
import { Explorer } from "./explorer.js";
import { unpack } from "./payload.js";

/** @type {WeakMap<object, Explorer>} one for each mount: Streamlit calls again on new data or theme */
const explorers = new WeakMap();

/**
 * @param {{data: Uint8Array, parentElement: ParentNode,
 *   setStateValue: (key: string, value: unknown) => void}} component
 */
export default function mount({ data, parentElement, setStateValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".explorer"));
  const figure = unpack(data);
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
    // For tests and benchmarks.
    Object.assign(root, { __explorer: explorer });
  }
  return () => {
    explorers.get(parentElement)?.stop();
    explorers.delete(parentElement);
  };
}

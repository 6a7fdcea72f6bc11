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
  let explorer = explorers.get(parentElement);
  if (!explorer || explorer.root !== root) {
    explorer?.stop();
    explorer = new Explorer(root, (selection) => setStateValue("selection", selection));
    explorers.set(parentElement, explorer);
    // For tests and benchmarks.
    Object.assign(root, { __explorer: explorer });
  }
  explorer.show(unpack(data));
  return () => {
    explorer.stop();
    explorers.delete(parentElement);
  };
}

// @ts-check
import { Calculator } from "./calculator.js";

/** @type {WeakMap<object, Calculator>} one for each mount: Streamlit calls again on new data */
const mounted = new WeakMap();

/**
 * @param {{data: import("./types.js").Payload, parentElement: ParentNode,
 *   setStateValue: (key: string, value: unknown) => void}} component
 */
export default function mount({ data, parentElement, setStateValue }) {
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".calculator"));
  const report = (/** @type {Record<string, number>} */ values) => setStateValue("values", values);
  let calculator = mounted.get(parentElement);
  if (calculator?.root === root) {
    calculator.report = report;
    calculator.show(data);
  } else {
    calculator?.stop();
    calculator = new Calculator(root, data, report);
    mounted.set(parentElement, calculator);
  }
  return () => {
    mounted.get(parentElement)?.stop();
    mounted.delete(parentElement);
  };
}

// @ts-check
/** @import { Payload, Settings } from "./types.js" */
import { sizeOf } from "./bytes.js";
import { drawCurve } from "./curve.js";
import { ownDesign } from "./design.js";
import { drawStrip } from "./strip.js";
import { shape } from "./svg.js";
import { exact, readable, tokens } from "./words.js";

/**
 * @param {string} tag
 * @param {string} className
 * @param {string} text
 */
function element(tag, className, text = "") {
  const node = document.createElement(tag);
  node.className = className;
  node.textContent = text;
  return node;
}

/** Sliders, numbers, curve and strip: all of it follows a slider while it is dragged. */
export class Calculator {
  /**
   * @param {HTMLElement} root
   * @param {Payload} payload
   * @param {(values: Record<string, number>) => void} report - when a slider is let go
   */
  constructor(root, payload, report) {
    this.root = root;
    this.report = report;
    this.made = "";
    this.sliders = element("div", "sliders");
    this.numbers = element("div", "numbers");
    this.numbers.setAttribute("aria-live", "polite");
    this.curve = shape("svg", { role: "img", class: "curve" });
    this.strip = shape("svg", { role: "img", class: "strip" });
    this.legend = element("p", "legend");
    const right = element("div", "figures");
    right.append(this.curve, element("p", "caption", "What each layer holds at this context"), this.strip, this.legend);
    const body = element("div", "body");
    body.append(this.numbers, right);
    root.replaceChildren(this.sliders, body);
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(right);
    this.show(payload);
  }

  /** @param {Payload} payload */
  show(payload) {
    this.payload = payload;
    /** @type {Record<string, number>} */
    this.values = Object.fromEntries(payload.sliders.map(({ key, value }) => [key, value]));
    const wanted = payload.sliders.map(({ key }) => key).join();
    if (wanted !== this.made) {
      this.made = wanted;
      this.sliders.replaceChildren(...payload.sliders.map((slider) => this.slider(slider)));
    }
    for (const slider of payload.sliders) this.place(slider);
    this.draw();
  }

  /** @param {import("./types.js").Slider} slider */
  slider({ key, label }) {
    const box = element("label", "slider");
    const input = document.createElement("input");
    input.type = "range";
    input.dataset.key = key;
    input.setAttribute("aria-label", label);
    input.addEventListener("input", () => this.moved(input));
    input.addEventListener("change", () => this.report(this.values ?? {}));
    box.append(element("span", "label", label), element("output", "value"), input);
    return box;
  }

  /** @param {string} key */
  input(key) {
    return /** @type {HTMLInputElement} */ (this.sliders.querySelector(`input[data-key="${key}"]`));
  }

  /** @param {import("./types.js").Slider} slider */
  place({ key, values, value }) {
    const input = this.input(key);
    input.min = "0";
    input.max = String(values.length - 1);
    input.value = String(values.indexOf(value));
    this.say(input, value);
  }

  /** @param {HTMLInputElement} input */
  moved(input) {
    const key = input.dataset.key ?? "";
    const slider = this.payload?.sliders.find((each) => each.key === key);
    if (!slider || !this.values) return;
    this.values[key] = slider.values[Number(input.value)];
    this.say(input, this.values[key]);
    this.draw();
  }

  /**
   * @param {HTMLInputElement} input
   * @param {number} value
   */
  say(input, value) {
    const said = value.toLocaleString("en-US");
    input.setAttribute("aria-valuetext", said);
    const shown = input.parentElement?.querySelector(".value");
    if (shown) shown.textContent = said;
  }

  draw() {
    const { payload, values } = this;
    if (!payload || !values) return;
    const own = payload.shape ? ownDesign(payload.shape, values) : null;
    const groups = own?.groups ?? payload.groups ?? [];
    /** @type {Settings} */
    const settings = { ...payload.settings, length: values.context, batch: values.batch };
    const name = own ? "This design" : payload.name; // what a slider changes has no name yet
    const width = Math.max(260, Math.round(this.curve.getBoundingClientRect().width));
    try {
      const sum = sizeOf(groups, settings);
      const designs = [{ name, groups }, ...payload.others];
      this.write(name, sum, settings, payload.free);
      drawCurve(this.curve, designs, settings, { free: payload.free, farthest: payload.farthest, width });
      drawStrip(this.strip, groups, own?.order ?? payload.order, sum.parts, { ...payload, width });
      this.legend.replaceChildren(...groups.map((group) => {
        const entry = element("span", "entry", `${group.count} ${group.kind}`);
        const mark = element("i", "mark");
        mark.style.background = payload.colours[group.kind][payload.dark ? 1 : 0];
        entry.prepend(mark);
        return entry;
      }));
      this.curve.setAttribute("aria-label", `Cache of ${name} against context: ${exact(sum.total)} bytes at ${exact(settings.length)} tokens.`);
      this.strip.setAttribute("aria-label", `Bytes of each of its ${(own?.order ?? payload.order).length} layers.`);
    } catch (problem) {
      this.numbers.replaceChildren(element("p", "problem", problem instanceof Error ? problem.message : String(problem)));
    }
  }

  /**
   * @param {string} name
   * @param {import("./types.js").Sum} sum
   * @param {Settings} settings
   * @param {number} free - bytes beside the weights
   */
  write(name, sum, settings, free) {
    const users = sum.sequence ? exact(BigInt(free) / sum.sequence) : "no limit";
    /** @type {[string, string, string][]} */
    const entries = [
      [name, readable(Number(sum.total)), `${exact(sum.total)} bytes`],
      ["Fixed, per sequence", readable(Number(sum.fixed)), `${exact(sum.fixed)} bytes`],
      ["Per token", readable(sum.perToken), `${exact(sum.perToken)} bytes`],
    ];
    if (sum.held !== null) entries.push(["Held by the library", readable(Number(sum.held)), `${exact(sum.held)} bytes`]);
    const told = entries.map(([label, value, exactly]) => {
      const box = element("div", "metric");
      box.append(element("span", "metric-label", label), element("strong", "metric-value", value), element("span", "metric-exact", exactly));
      return box;
    });
    const each = settings.batch > 1 ? `${exact(settings.batch)} sequences of ` : "";
    const sentence = `${each}${tokens(settings.length)} tokens; accounting: ${settings.accounting}. Beside the weights ${users} such sequences fit.`;
    this.numbers.replaceChildren(...told, element("p", "sentence", sentence));
  }

  stop() {
    this.watch.disconnect();
  }
}

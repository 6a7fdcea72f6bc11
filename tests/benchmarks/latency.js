/*
 * Times one change of a control: from the key event until the last visible change on the page
 * that followed was painted (the first task after the frame that shows it). It listens rather than
 * polls, so as not to slow down what it measures: mutations of the page and of shadow roots, and
 * drawing on canvases, whose pixels are compared. Text that is written anew with the same words,
 * a canvas redrawn with the same pixels and the control itself do not count.
 */
() => {
  const CONTROLS = '[data-testid="stSlider"], [data-testid="stCheckbox"]';
  const DRAWING = ["putImageData", "drawImage", "fillRect", "clearRect", "fill", "stroke", "fillText"];
  const app = document.querySelector('[data-testid="stApp"]');
  const main = document.querySelector('[data-testid="stMain"]');
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const channel = new MessageChannel();
  /** The end of the frame whose animation callbacks are running: its message waits for the paint. */
  const painted = () =>
    new Promise((resolve) => {
      channel.port1.onmessage = resolve;
      channel.port2.postMessage(null);
    });
  const brush = new OffscreenCanvas(64, 64).getContext("2d", { willReadFrequently: true });

  /** @type {Map<HTMLCanvasElement, number>} */
  const seen = new Map();
  /** @type {Set<HTMLCanvasElement>} */
  const drawn = new Set();

  /** @param {HTMLCanvasElement} canvas */
  function pixels(canvas) {
    brush.clearRect(0, 0, 64, 64);
    if (canvas.width && canvas.height) brush.drawImage(canvas, 0, 0, 64, 64);
    let h = canvas.width * 31 + canvas.height;
    for (const value of brush.getImageData(0, 0, 64, 64).data) h = (Math.imul(h, 31) + value) | 0;
    return h;
  }

  for (const name of DRAWING) {
    const original = CanvasRenderingContext2D.prototype[name].original
      ?? CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...given) {
      if (this.canvas.isConnected) drawn.add(this.canvas);
      return original.apply(this, given);
    };
    CanvasRenderingContext2D.prototype[name].original = original;
  }

  const words = (nodes) => [...nodes].map((node) => node.textContent).join("");
  let changed = false;
  let ran = false;
  const mutations = new MutationObserver((records) => {
    for (const { type, target, removedNodes, addedNodes } of records) {
      const element = target instanceof Element ? target : target.parentElement;
      if (element?.closest(CONTROLS)) continue;
      changed ||= type !== "childList" || words(removedNodes) !== words(addedNodes);
    }
  });
  const runs = new MutationObserver(() => (ran = true));

  /** @param {Document | ShadowRoot | Element} root */
  function listen(root) {
    const attributes = { attributeFilter: ["d", "transform", "src"] };
    mutations.observe(root, { childList: true, characterData: true, subtree: true, ...attributes });
    for (const node of root.querySelectorAll("*")) {
      if (node.shadowRoot) listen(node.shadowRoot);
      if (node instanceof HTMLCanvasElement) seen.set(node, pixels(node));
    }
  }

  /** Whether anything visible is new since the last call. */
  function news() {
    let fresh = changed;
    changed = false;
    for (const canvas of drawn) {
      const now = pixels(canvas);
      fresh ||= now !== seen.get(canvas);
      seen.set(canvas, now);
    }
    drawn.clear();
    return fresh;
  }

  /** @param {Event} event */
  async function watch(event) {
    const begin = event.timeStamp;
    let answered = null;
    let quiet = 0;
    // Until the script has run and nothing has changed for a quarter of a second.
    while (performance.now() - begin < 10_000 && !(ran && answered !== null && quiet > 15)) {
      await frame();
      if (news()) {
        quiet = 0;
        await painted();
        answered = performance.now() - begin;
      }
      if (app.dataset.testScriptState === "notRunning") quiet += 1;
    }
    mutations.disconnect();
    runs.disconnect();
    window.__answered = answered;
  }

  listen(main);
  runs.observe(app, { attributeFilter: ["data-test-script-state"] });
  window.__answered = undefined;
  document.addEventListener("keydown", watch, { once: true, capture: true });
}

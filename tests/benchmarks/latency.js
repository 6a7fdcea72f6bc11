/*
 * Times one change of a control: from the key event until the last visible change on the page
 * that followed was painted (the first task after the frame that shows it). It listens rather than
 * polls, so as not to slow down what it measures: mutations of the page and of shadow roots, and
 * drawing on canvases, whose pixels before and after are compared once all is still. Text that is
 * written anew with the same words, a canvas redrawn with the same pixels, the control itself and
 * what only a screen reader is told, later on purpose, do not count.
 */
() => {
  const IGNORED = '[data-testid="stSlider"], [data-testid="stCheckbox"], .unseen';
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

  /** What each canvas showed before the key. @type {Map<HTMLCanvasElement, number>} */
  const seen = new Map();
  /** Those drawn on since the last frame. @type {Set<HTMLCanvasElement>} */
  const drawn = new Set();
  /** When the last drawing on each was on the screen. @type {Map<HTMLCanvasElement, number>} */
  const shown = new Map();

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
      if (element?.closest(IGNORED)) continue;
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

  /** @param {Event} event */
  async function watch(event) {
    const begin = event.timeStamp;
    let answered = null;
    let quiet = 0;
    // Until nothing was drawn or written for a quarter of a second since the script was seen to run,
    // or for a second since anything changed: a quick run comes and goes within one frame.
    const over = () => quiet > 15 && (ran || ((answered !== null || shown.size > 0) && quiet > 60));
    while (performance.now() - begin < 10_000 && !over()) {
      await frame();
      if (changed || drawn.size > 0) {
        quiet = 0;
        const [written, canvases] = [changed, [...drawn]];
        changed = false;
        drawn.clear();
        await painted();
        const now = performance.now() - begin;
        if (written) answered = now;
        for (const canvas of canvases) shown.set(canvas, now);
      }
      if (app.dataset.testScriptState === "notRunning") quiet += 1;
    }
    mutations.disconnect();
    runs.disconnect();
    // Pixels are read at the end: reading them meanwhile would slow down what is timed.
    for (const [canvas, when] of shown) {
      if (pixels(canvas) !== seen.get(canvas)) answered = Math.max(answered ?? 0, when);
    }
    window.__answered = answered;
  }

  listen(main);
  runs.observe(app, { attributeFilter: ["data-test-script-state"] });
  window.__answered = undefined;
  document.addEventListener("keydown", watch, { once: true, capture: true });
}

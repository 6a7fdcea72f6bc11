/*
 * Measures one change of a control: from the key event until the last thing on the page that
 * changed because of it was painted (two animation frames after it was seen in the DOM or on a
 * canvas). Shadow roots are looked into; controls themselves, which answer at once, are not.
 */
() => {
  const scratch = new OffscreenCanvas(48, 48);
  const brush = scratch.getContext("2d", { willReadFrequently: true });
  const CONTROLS = '[data-testid="stSlider"], [data-testid="stNumberInput"], [data-testid="stTextArea"]';

  /** @param {number} seed @param {string | Uint8ClampedArray} values */
  function hash(seed, values) {
    let h = seed;
    for (let i = 0; i < values.length; i += 1) {
      h = (Math.imul(h, 31) + (typeof values === "string" ? values.charCodeAt(i) : values[i])) | 0;
    }
    return h;
  }

  /** @param {ParentNode} root */
  function signature(root, seed = 7) {
    let h = seed;
    for (const node of root.querySelectorAll("*")) {
      if (node.closest(CONTROLS)) continue;
      if (node.shadowRoot) h = signature(node.shadowRoot, h);
      if (node instanceof HTMLCanvasElement && node.width && node.height) {
        brush.clearRect(0, 0, 48, 48);
        brush.drawImage(node, 0, 0, 48, 48);
        h = hash(h, brush.getImageData(0, 0, 48, 48).data);
      } else if (node instanceof HTMLImageElement && node.complete) {
        h = hash(h, node.src);
      } else if (node.children.length === 0 && node.textContent) {
        h = hash(h, node.textContent);
      }
    }
    return h;
  }

  const app = document.querySelector('[data-testid="stApp"]');
  const main = document.querySelector('[data-testid="stMain"]');
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

  /** @param {Event} event */
  async function watch(event) {
    const begin = event.timeStamp;
    let last = signature(main);
    let painted = null;
    let quiet = 0;
    let ran = false;
    const runs = new MutationObserver(() => (ran = true));
    runs.observe(app, { attributeFilter: ["data-test-script-state"] });
    // Until the script has run and nothing has changed for a quarter of a second.
    while (performance.now() - begin < 10_000 && !(ran && painted !== null && quiet > 15)) {
      await frame();
      const now = signature(main);
      if (now === last) {
        quiet += app.dataset.testScriptState === "notRunning" ? 1 : 0;
      } else {
        last = now;
        quiet = 0;
        await frame();
        painted = performance.now() - begin;
        await frame();
        painted = performance.now() - begin;
      }
    }
    runs.disconnect();
    window.__answered = painted;
  }

  window.__answered = undefined;
  document.addEventListener("keydown", watch, { once: true, capture: true });
}

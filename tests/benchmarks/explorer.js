/*
 * Timers for the explorer, put on window.__time. Each resolves to milliseconds, from the event
 * that began it (its own time stamp) to the first task after the frame that shows the outcome.
 */
() => {
  /** @param {Document | ShadowRoot} root @returns {any} */
  const find = (root) => {
    for (const node of root.querySelectorAll("*")) {
      if (/** @type {any} */ (node).__explorer) return node;
      const inside = node.shadowRoot && find(node.shadowRoot);
      if (inside) return inside;
    }
    return null;
  };
  const root = find(document);
  const { __explorer: explorer } = root;
  const view = () => explorer.views.get("weights");
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const painted = () =>
    new Promise((resolve) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = resolve;
      channel.port2.postMessage(null);
    });

  /** @param {string} type @param {() => boolean} done @param {number} most */
  const until = (type, done, most = 5000) =>
    new Promise((resolve) => {
      document.addEventListener(
        type,
        async ({ timeStamp }) => {
          do await frame();
          while (!done() && performance.now() - timeStamp < most);
          await painted();
          resolve(performance.now() - timeStamp);
        },
        { once: true, capture: true },
      );
    });

  window.__time = {
    /** From the key that opens another head to its map painted. @param {string} title */
    head: (title) =>
      until("keydown", () => {
        const { grid } = explorer;
        const there = view().scene.panel.title === title && !root.classList.contains("waiting");
        return Boolean(grid) && there && view().drawn !== "";
      }),
    /** Whether the map of a head is here already. @param {number} layer @param {number} head */
    known: (layer, head) => explorer.figure.known?.(layer, head) != null,
    /** From the pointer's move to the words about the cell, and to these on the screen. */
    hover: () =>
      new Promise((resolve) => {
        document.addEventListener(
          "pointermove",
          ({ timeStamp }) => {
            const watcher = new MutationObserver(async () => {
              watcher.disconnect();
              const said = performance.now() - timeStamp;
              await frame();
              await painted();
              resolve([said, performance.now() - timeStamp]);
            });
            watcher.observe(view().readout, { childList: true, subtree: true, characterData: true });
          },
          { once: true, capture: true },
        );
      }),
    /** The middle of a cell in sight, another for each i. */
    spot: (/** @type {number} */ i) => {
      const { plan } = view().scene;
      const box = view().base.getBoundingClientRect();
      const [down, right] = [(0.3 + 0.015 * i) * plan.h, (0.05 + 0.1 * (i % 3)) * plan.w];
      return [box.left + plan.x + right, box.top + plan.y + down];
    },
    /** From the key that zooms in far to the exact numbers painted, when they had to be fetched. */
    tile: () => until("keydown", () => view().viewport.isZoomed() && view().viewport.missing() === null),
    /** Whether one step closer there is more to see than is here. */
    deeper: () => view().scene.panel.block > 1,
    cursor: (/** @type {number} */ layer, /** @type {number} */ head) => {
      const { grid, figure } = explorer;
      grid.cursor = { layer: figure.grid.layers.indexOf(layer), head };
    },
    whole: () => view().viewport.go({ zoom: 1, row: 0, col: 0 }),
    /** A window one step short of where single cells are worth fetching. */
    near: () => {
      const { viewport } = view();
      const { rows } = viewport.map();
      const { plan, ratio } = view().scene;
      const zoom = Math.max(rows / 384, 0.75 / (plan.cellW * ratio)) / 1.5;
      viewport.go({ zoom, row: 0, col: 0 });
    },
    /** Intervals between frames while the map is zoomed and moved in each of them. */
    frames: async (/** @type {number} */ n) => {
      const { viewport } = view();
      const { rows, cols } = viewport.map();
      const times = [];
      let last = await frame();
      for (let i = 0; i < n; i += 1) {
        if (i % 2) viewport.move(-7, -5);
        else viewport.zoom(i % 4 ? 1.05 : 1.02, rows * 0.4, cols * 0.4);
        const now = await frame();
        times.push(now - last);
        last = now;
      }
      viewport.go({ zoom: 1, row: 0, col: 0 });
      return times;
    },
  };
}

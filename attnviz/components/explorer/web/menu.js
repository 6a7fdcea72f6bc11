// @ts-check
/** @import { Explorer } from "./explorer.js" */
/** @import { Plate } from "./exporting.js" */
/** @import { Made } from "./filing.js" */
/** @import { Sight } from "./sight.js" */
import { csv } from "./csv.js";
import { element } from "./dom.js";
import { png } from "./exporting.js";
import { SENT } from "./filing.js";
import { npz } from "./npz.js";
import { linkOf, snippetOf } from "./sharing.js";
import { allOf } from "./sight.js";
import { svg } from "./svg.js";

/**
 * kind: the ending of the file, and what tells two of one ending apart. make gives the file, says
 * that it is already on its way, or why there is none.
 *
 * @typedef {[word: string, kind: string, make: () => Promise<Made>]} Item
 */

const BOM = "\ufeff"; // without it a spreadsheet takes UTF-8 for something else

/** @param {Blob} blob @param {string} name */
function download(blob, name) {
  const link = element("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * A menu that hands the picture out: as files, as a link, as Python. Its items are made when it is
 * opened.
 *
 * @param {() => Plate} plate
 * @param {Explorer} explorer
 * @param {string} word - what opens it
 */
export function exportMenu(plate, explorer, word = "Export") {
  const name = word === "Export" ? "Export this picture" : word;
  const summary = element("summary", "", { "aria-label": name }, [word]);
  const items = element("div", "items");
  const menu = element("details", "menu", {}, [summary, items]);
  const close = () => {
    menu.open = false;
  };
  summary.onclick = () => {
    if (!menu.open) items.replaceChildren(...files(plate, explorer, close), ...texts(explorer, items));
  };
  menu.onkeydown = (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    close();
    summary.focus();
    event.stopPropagation();
  };
  menu.addEventListener("focusout", (event) => {
    if (!menu.contains(/** @type {Node | null} */ (event.relatedTarget))) close();
  });
  return menu;
}

/** @param {() => Plate} plate @param {Explorer} explorer @param {() => void} close */
function files(plate, explorer, close) {
  const { filing } = explorer;
  /** @type {Item[]} */
  const all = [
    ["PNG image", "png", () => png(plate())],
    ["SVG drawing", "svg", async () => new Blob([svg(plate())], { type: "image/svg+xml" })],
    ...numbers(plate(), explorer),
  ];
  if (filing.send) all.push(["HTML, works offline", "html", () => filing.ask("page")]);
  return all.map(([word, kind, make]) => {
    const button = element("button", "", { type: "button", "data-export": kind }, [word]);
    button.onclick = async () => {
      const { stem } = plate();
      button.textContent = "Making the file …";
      const made = await make();
      if (made === null || typeof made === "string") {
        button.textContent = `${word}: ${made ?? "it could not be made, try again"}`;
        return;
      }
      close();
      if (made !== SENT) download(made, `${stem}.${kind.replace(/-.*/, "")}`);
    };
    return button;
  });
}

/**
 * The numbers behind the picture, as tables and arrays: all of the map, and what is in sight of it
 * where that is less. Of a long text only the server has them all.
 *
 * @param {Plate} plate @param {Explorer} explorer
 * @returns {Item[]}
 */
function numbers(plate, { filing }) {
  const { panel, sight } = plate;
  if (!panel || !sight) return [];
  const table = (/** @type {Sight} */ seen) => new Blob([BOM, csv(panel, seen)], { type: "text/csv" });
  const arrays = (/** @type {Sight} */ seen) => new Blob(/** @type {BlobPart[]} */ (npz(panel, seen, plate)));
  const seen = sight();
  const all = allOf(panel);
  const part = seen.block !== all.block || seen.values.length < all.values.length;
  /** @type {Item[]} */
  const items = part ? [
    ["CSV, what is in sight", "csv-sight", async () => table(sight())],
    ["NPZ, what is in sight", "npz-sight", async () => arrays(sight())],
  ] : [];
  items.push([panel.block > 1 ? "CSV, the overview" : "CSV, whole map", "csv", async () => table(all)]);
  if (panel.block === 1) items.push(["NPZ, whole map", "npz", async () => arrays(all)]);
  else if (filing.send) items.push(["NPZ, whole map", "npz", () => filing.ask("map")]);
  return items;
}

/** @param {Explorer} explorer @param {HTMLElement} items */
function texts({ figure, selection, options, zooming }, items) {
  const link = () => linkOf(figure, selection, { ...options, ...zooming.said() }, window.location.href);
  /** @type {[string, string, () => string][]} */
  const all = [];
  if (!figure.sealed) all.push(["Copy link", "link", link]);
  if (figure.snippet) all.push(["Copy Python", "python", () => snippetOf(figure, selection)]);
  return all.map(([word, kind, text]) => {
    const button = element("button", "", { type: "button", "data-export": kind }, [word]);
    button.onclick = () => copy(button, text(), items);
    return button;
  });
}

/**
 * Into the clipboard, or where the browser has none (a page served by plain http), into a box to
 * be copied from.
 *
 * @param {HTMLElement} button @param {string} text @param {HTMLElement} items
 */
async function copy(button, text, items) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const box = element("textarea", "", { readonly: "", rows: "4", "aria-label": `${button.textContent}: select and copy` });
    box.value = text;
    items.querySelector("textarea")?.remove();
    items.append(box);
    box.focus();
    box.select();
  }
}

// @ts-check
/** @import { Explorer } from "./explorer.js" */
/** @import { Plate } from "./exporting.js" */
import { csv } from "./csv.js";
import { element } from "./dom.js";
import { png } from "./exporting.js";
import { npz } from "./npz.js";
import { linkOf, snippetOf } from "./sharing.js";
import { svg } from "./svg.js";

/** @typedef {[word: string, ending: string, make: () => Promise<Blob | null>]} Item */

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
 */
export function exportMenu(plate, explorer) {
  const summary = element("summary", "", { "aria-label": "Export this picture" }, ["Export"]);
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
function files(plate, { filing }, close) {
  /** @type {Item[]} */
  const all = [
    ["PNG image", "png", () => png(plate())],
    ["SVG drawing", "svg", async () => new Blob([svg(plate())], { type: "image/svg+xml" })],
    ["CSV values", "csv", async () => new Blob([BOM, csv(plate().panel)], { type: "text/csv" })],
    ["NPZ, what is in sight", "npz", async () => new Blob(/** @type {BlobPart[]} */ (npz(plate().panel, plate().sight())))],
  ];
  if (filing.send) all.push(["HTML, works offline", "html", () => filing.ask()]);
  return all.map(([word, ending, make]) => {
    const button = element("button", "", { type: "button", "data-export": ending }, [word]);
    button.onclick = async () => {
      const { stem } = plate();
      button.textContent = "Making the file …";
      const blob = await make();
      if (!blob) {
        button.textContent = `${word}: it could not be made, try again`;
        return;
      }
      close();
      download(blob, `${stem}.${ending}`);
    };
    return button;
  });
}

/** @param {Explorer} explorer @param {HTMLElement} items */
function texts({ figure, selection, options }, items) {
  const link = () => linkOf(figure, selection, options, window.location.href);
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

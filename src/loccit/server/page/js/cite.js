/** Copy a citation: plain, Markdown or BibTeX, as the server writes it. */

import { isAbort } from "./api.js";
import { openDialog } from "./dialogs.js";
import { announce, choices, el } from "./text.js";

const STYLES = [
  ["plain", "Plain"],
  ["markdown", "Markdown"],
  ["bibtex", "BibTeX"],
];
const REMEMBERED = "loccit-cite";

/**
 * A place in a document, or a selection from `start` to `end`, offsets into its text in the state `generation` of the
 * index. `text` is the fingerprint of what stands there: should the document have changed meanwhile, the server cites
 * where the words stand now, or refuses.
 * @typedef {{doc: string, section_id?: string, lines?: number[] | null, pages?: number[] | null, start?: number,
 *   end?: number, generation?: number, text?: string}} Cited
 */

/**
 * The citation of a place, a link to it that stays true, and the words of a selection in quotation marks.
 * @param {import("./api.js").api} api
 * @param {Cited} item
 * @param {string} style
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<{citation: string, address: string, quotation: string}>}
 */
export async function citationOf(api, { lines, pages, ...item }, style, options) {
  const { doc, section_id, start, end, generation, text } = item;
  const params = { doc, section_id, lines: lines?.join("-"), pages: pages?.join("-"), start, end, offsets: "utf16", generation, text, style };
  const { citation, address, quotation } = await api.get("cite", params, options);
  return { citation, address: new URL(address, location.href).href, quotation };
}

/** Copy a text, where there is no other way from a field. @param {string} text @param {HTMLTextAreaElement} [field] */
export async function copyText(text, field) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Over plain HTTP from another machine there is no clipboard; the old way still works.
    // What lies below an open dialog cannot be selected.
    const from = field || (document.querySelector("dialog[open]") || document.body).appendChild(document.createElement("textarea"));
    from.value = text;
    from.select();
    document.execCommand("copy");
    if (!field) from.remove();
  }
}

/**
 * Show the citation of a place.
 * @param {import("./api.js").api} api
 * @param {Cited} item
 */
export function openCite(api, item) {
  const text = /** @type {HTMLTextAreaElement} */ (
    el("textarea", { class: "field citation", readonly: true, rows: 5, "aria-label": "Citation", spellcheck: "false" })
  );
  const copy = /** @type {HTMLButtonElement} */ (el("button", { class: "button primary", text: "Copy" }));
  const copyLink = /** @type {HTMLButtonElement} */ (el("button", { class: "button", text: "Copy link", title: "Leads to this text, even if the document changes" }));
  let running = new AbortController();
  let link = "";

  const load = async (style) => {
    running.abort();
    const mine = (running = new AbortController());
    copy.disabled = copyLink.disabled = true;
    copy.textContent = "Copy";
    try {
      const { citation, address } = await citationOf(api, item, style, { signal: mine.signal });
      text.value = citation;
      link = address;
      copy.disabled = copyLink.disabled = false;
      sessionStorage.setItem(REMEMBERED, style);
    } catch (error) {
      if (!isAbort(error)) text.value = error.message;
    }
  };

  copy.addEventListener("click", async () => {
    await copyText(text.value, text);
    copy.textContent = "Copied";
    announce("Citation copied.");
  });

  copyLink.addEventListener("click", async () => {
    await copyText(link);
    copyLink.textContent = "Link copied";
    announce("Link copied.");
  });

  const remembered = sessionStorage.getItem(REMEMBERED) || "plain";
  const styles = choices("style", "Style", STYLES, load);
  styles.set(remembered);
  openDialog("Cite", [styles.node, text, el("div", { class: "dialog-acts" }, copyLink, copy)]);
  load(remembered).then(() => copy.focus());
}

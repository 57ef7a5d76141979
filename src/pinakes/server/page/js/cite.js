/** Copy a citation: plain, Markdown or BibTeX, as the server writes it. */

import { isAbort } from "./api.js";
import { openDialog } from "./dialogs.js";
import { announce, el } from "./text.js";

const STYLES = [
  ["plain", "Plain"],
  ["markdown", "Markdown"],
  ["bibtex", "BibTeX"],
];
const REMEMBERED = "pinakes-cite";

/**
 * Show the citation of a place in a document.
 * @param {import("./api.js").api} api
 * @param {{doc: string, section_id?: string, lines?: number[] | null, pages?: number[] | null}} item
 */
export function openCite(api, item) {
  const text = /** @type {HTMLTextAreaElement} */ (
    el("textarea", { class: "field citation", readonly: true, rows: 5, "aria-label": "Citation", spellcheck: "false" })
  );
  const copy = /** @type {HTMLButtonElement} */ (el("button", { type: "button", class: "button primary", text: "Copy" }));
  let running = new AbortController();
  const span = (pair) => (pair ? pair.join("-") : "");

  const load = async (style) => {
    running.abort();
    const mine = (running = new AbortController());
    copy.disabled = true;
    copy.textContent = "Copy";
    try {
      const params = { doc: item.doc, section_id: item.section_id, lines: span(item.lines), pages: span(item.pages), style };
      const { citation } = await api.get("cite", params, { signal: mine.signal });
      text.value = citation;
      copy.disabled = false;
      sessionStorage.setItem(REMEMBERED, style);
    } catch (error) {
      if (!isAbort(error)) text.value = error.message;
    }
  };

  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.value);
    } catch {
      // Over plain HTTP from another machine there is no clipboard; the old way still works.
      text.select();
      document.execCommand("copy");
    }
    copy.textContent = "Copied";
    announce("The citation is copied.");
  });

  const remembered = sessionStorage.getItem(REMEMBERED) || "plain";
  const styles = STYLES.map(([value, name]) => {
    const input = el("input", { type: "radio", name: "style", value, checked: value === remembered, on: { change: () => load(value) } });
    return el("label", {}, input, el("span", { text: name }));
  });
  openDialog("Cite", [
    el("fieldset", { class: "modes" }, el("legend", { class: "sr", text: "Style" }), styles),
    text,
    el("div", { class: "dialog-acts" }, copy),
  ]);
  load(remembered).then(() => copy.focus());
}

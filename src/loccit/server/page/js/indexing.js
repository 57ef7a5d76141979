/** What is being indexed now, and, where the server may write, a button to bring the index up to date. */

import { isAbort } from "./api.js";
import { announce, count, el, fileName, replace } from "./text.js";

const EVERY = 2000;

/** Whether a part of the page is indexing. @param {ParentNode} node */
export const isIndexing = (node) => Boolean(node.querySelector(".indexing[aria-busy=true]"));

/**
 * @param {{write: boolean, folder?: string | null, done: () => void}} options `write` says whether the server may index;
 *   with a `folder`, which one is asked for first; `done` is called when the index has changed
 */
export function indexPanel(api, { write, folder = null, done }) {
  const leaving = new AbortController();
  const output = el("div", { class: "indexing-now" });
  const field = folder === null ? null : /** @type {HTMLInputElement} */ (el("input", { class: "field", name: "folder", value: folder, "aria-label": "Folder", autocomplete: "off", spellcheck: "false" }));
  const button = el("button", { class: field ? "button primary" : "button", type: "submit", text: field ? "Index this folder" : "Update the index" });
  const form = el("form", { class: "index-folder", on: { submit: (event) => (event.preventDefault(), busy || run()) } }, field, button);
  const node = el("section", { class: "indexing", "aria-label": "Indexing" }, write && form, output);
  let timer = 0;
  let busy = false;

  const progress = (now) => {
    const part = now.total ? now.done / now.total : 0;
    const bar = el("progress", { max: 1, value: now.total ? part : undefined, "aria-label": "Progress" });
    const of = now.total ? `, ${now.done} of ${now.total}` : "";
    replace(output, el("p", { class: "small" }, `${now.stage || "Indexing"}${of}`, now.item && el("span", { class: "soft", text: ` · ${fileName(now.item)}` })), bar);
  };

  const report = (data) => {
    const parts = [
      [data.added?.length, "added"],
      [data.updated?.length, "updated"],
      [data.removed?.length, "removed"],
      [data.unchanged, "unchanged"],
      [data.failed?.length, "failed"],
    ];
    const text = parts.filter(([number]) => number).map(([number, name]) => `${number} ${name}`).join(", ");
    announce(`Indexing is done: ${text}`);
    replace(output, el("p", { class: "small", text: `Done${data.seconds >= 1 ? ` in ${count(Math.round(data.seconds), "second")}` : ""}: ${text || "nothing to do"}.` }));
  };

  const run = async () => {
    busy = button.disabled = true;
    node.setAttribute("aria-busy", "true");
    let changed = false;
    announce("Indexing started.");
    try {
      await api.events(
        "index",
        { ...(api.library ? { library: api.library } : {}), ...(field?.value.trim() ? { paths: [field.value.trim()] } : {}) },
        (event, data) => {
          if (event === "progress") progress(data);
          else if (event === "error") throw new Error(data.message);
          else if (event === "report") {
            changed = !data.unchanged || [data.added, data.updated, data.removed].some((list) => list?.length);
            report(data);
          }
        },
        { signal: leaving.signal },
      );
      node.removeAttribute("aria-busy");
      if (changed) done();
    } catch (error) {
      if (!isAbort(error)) replace(output, el("p", { class: "bad small", role: "alert", text: error.message }));
    } finally {
      busy = button.disabled = false;
      node.removeAttribute("aria-busy");
    }
  };

  // Another program, or another tab, may be indexing: look now and then, while the page is seen.
  let was = false;
  const look = async () => {
    try {
      const now = busy || document.hidden ? null : await api.get("index", {}, { signal: leaving.signal });
      const active = now && (now.indexing ?? now);
      if (active && active.stage) progress(active);
      else if (was && !busy) {
        replace(output);
        done();
      }
      was = Boolean(active && active.stage);
    } catch {
      // The rest of the page says when the server is away.
    }
    if (!leaving.signal.aborted) timer = setTimeout(look, EVERY);
  };
  look();
  return {
    node,
    unmount: () => {
      leaving.abort();
      clearTimeout(timer);
    },
  };
}

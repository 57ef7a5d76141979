/** A selection of the text: copy it with its citation, or cite its lines. */

import { citationOf, copyText, openCite } from "./cite.js";
import { announce, el } from "./text.js";

/**
 * @param {HTMLElement} root
 * @param {import("./reader-document.js").ReaderDocument} reading
 * @param {import("./reader-marks.js").Marks} marks
 * @param {import("./api.js").api} api
 * @returns {() => void}
 */
export function installSelection(root, reading, marks, api) {
  const life = new AbortController();
  let item = null;
  let quote = "";
  const copy = el("button", { on: { click: () => copyQuote() } }, "Copy with citation");
  const cite = el("button", { on: { click: () => item && openCite(api, item) } }, "Cite");
  const bar = el("div", { class: "selection-bar", role: "toolbar", "aria-label": "Selection", hidden: true }, copy, cite);
  root.append(bar);

  /** The offset in the source of a place in the page. */
  const sourceOf = (node, offset) => {
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    if (node.nodeType !== Node.TEXT_NODE) {
      walk.currentNode = node.childNodes[offset] || node;
      const next = walk.currentNode.nodeType === Node.TEXT_NODE ? walk.currentNode : walk.nextNode();
      return next && marks.places.has(next) ? marks.places.get(next) : null;
    }
    if (marks.places.has(node)) return /** @type {number} */ (marks.places.get(node)) + offset;
    walk.currentNode = node;
    for (let n = 0, next = walk.nextNode(); next && n < 50; next = walk.nextNode(), n += 1) {
      if (marks.places.has(next)) return marks.places.get(next);
    }
    return null;
  };

  async function copyQuote() {
    if (!item) return;
    try {
      const { citation, address } = await citationOf(api, item, "plain");
      await copyText(`“${quote}”\n${citation}\n${address}`);
      announce("The passage and its citation are copied.");
      copy.textContent = "Copied";
    } catch (error) {
      announce(error.message);
      copy.textContent = "Not copied";
    }
  }

  const look = () => {
    const selection = document.getSelection();
    const range = selection?.rangeCount ? selection.getRangeAt(0) : null;
    const words = selection && !selection.isCollapsed ? selection.toString().trim() : "";
    if (!range || words.length < 3 || !root.contains(range.commonAncestorContainer)) {
      bar.hidden = true;
      return;
    }
    const start = sourceOf(range.startContainer, range.startOffset);
    const end = sourceOf(range.endContainer, range.endOffset) ?? start;
    if (start === null || start === undefined) return;
    const last = Math.max(start, (end ?? start) - 1);
    const section = reading.placeAt(start);
    quote = words;
    item = {
      doc: reading.doc,
      section_id: section?.section_id,
      text: reading.words.mark(start, last + 1),
      lines: [reading.lineAt(start), reading.lineAt(last)],
      pages: reading.pages.length ? [reading.pageAt(start), reading.pageAt(last)] : null,
    };
    copy.textContent = "Copy with citation";
    bar.hidden = false;
    const box = range.getBoundingClientRect();
    const { width, height } = bar.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left + box.width / 2 - width / 2, document.documentElement.clientWidth - width - 8));
    const above = box.top - height - 8;
    bar.style.setProperty("left", `${left}px`);
    bar.style.setProperty("top", `${above > 60 ? above : Math.min(box.bottom + 8, innerHeight - height - 8)}px`);
  };

  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(look, 250);
  };
  document.addEventListener("selectionchange", later, { signal: life.signal });
  window.addEventListener("scroll", () => !bar.hidden && later(), { signal: life.signal, passive: true });
  // A click on the bar must not take the selection away.
  bar.addEventListener("pointerdown", (event) => event.preventDefault());
  return () => {
    clearTimeout(timer);
    life.abort();
    bar.remove();
  };
}

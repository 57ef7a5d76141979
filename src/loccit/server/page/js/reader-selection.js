/** A selection of the text: copy it with its citation, or cite its lines. */

import { citationOf, copyText, openCite } from "./cite.js";
import { announce, el } from "./text.js";

// A word, or a sign that counts as one.
const WORD = /[\p{L}\p{N}%‰€$£¥§°]/u;

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
  const copy = el("button", { on: { click: () => copyQuote() } }, "Copy with citation");
  const cite = el("button", { on: { click: () => item && openCite(api, item) } }, "Cite");
  const bar = el("div", { class: "selection-bar", role: "toolbar", "aria-label": "Selection", hidden: true }, copy, cite);
  root.append(bar);

  async function copyQuote() {
    if (!item) return;
    try {
      const { quotation, citation, address } = await citationOf(api, item, "plain");
      await copyText(`${quotation}\n${citation}\n${address}`);
      announce("The passage and its citation are copied.");
      copy.textContent = "Copied";
    } catch (error) {
      announce(error.message);
      copy.textContent = "Not copied";
    }
  }

  const look = () => {
    const selection = document.getSelection();
    const range = selection?.rangeCount && !selection.isCollapsed ? selection.getRangeAt(0) : null;
    const [start, end] = range && root.contains(range.commonAncestorContainer) ? sourceOf(root, range, marks.places) : [0, 0];
    if (!WORD.test(reading.text.slice(start, end))) {
      bar.hidden = true;
      return;
    }
    item = { doc: reading.doc, start, end, generation: reading.data.generation, text: reading.words.mark(start, end) || undefined };
    copy.textContent = "Copy with citation";
    bar.hidden = false;
    const box = range.getBoundingClientRect();
    const { width, height } = bar.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left + box.width / 2 - width / 2, document.documentElement.clientWidth - width - 8));
    const above = box.top - height - 8;
    bar.style.setProperty("left", `${left}px`);
    // In sight even where the selection is not.
    const top = Math.max(60, Math.min(above > 60 ? above : box.bottom + 8, innerHeight - height - 8));
    bar.style.setProperty("top", `${top}px`);
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

/**
 * Where a selection begins and ends in the source. Between the words of the document stand others, of the page itself:
 * the first and the last text count that the document has.
 * @param {HTMLElement} root
 * @param {Range} range
 * @param {import("./reader-marks.js").Marks["places"]} places
 * @returns {[number, number]}
 */
function sourceOf(root, range, places) {
  const { startContainer, startOffset, endContainer, endOffset } = range;
  for (const first of texts(root, startContainer, startOffset, true)) {
    const from = places.get(first);
    if (!from) continue;
    const start = first !== startContainer ? from.s : from.exact ? from.s + startOffset : startOffset < first.length ? from.s : from.e;
    for (const last of texts(root, endContainer, endOffset, false)) {
      const to = places.get(last);
      if (!to) continue;
      const end = last !== endContainer ? to.e : to.exact ? to.s + endOffset : endOffset ? to.e : to.s;
      return [start, Math.max(start, end)];
    }
  }
  return [0, 0];
}

/** The text nodes from a place in the page on, or from there back. */
function* texts(root, container, offset, forward) {
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const next = () => /** @type {Text} */ (forward ? walk.nextNode() : walk.previousNode());
  const child = container.childNodes[forward ? offset : offset - 1];
  // What stands before the first or behind the last child of an element begins or ends with the element itself.
  walk.currentNode = child ? (forward ? child : deepest(child)) : forward ? deepest(container) : container;
  const here = walk.currentNode;
  if (here.nodeType === Node.TEXT_NODE && (child || here === container)) yield /** @type {Text} */ (here);
  for (let node = next(); node; node = next()) yield node;
}

/** The last node inside a node. */
function deepest(node) {
  let last = node;
  while (last.lastChild) last = last.lastChild;
  return last;
}

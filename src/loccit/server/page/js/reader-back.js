/** What refers to a section: a line in the margin, opened on wish. */

import { count, el } from "./text.js";
import { readUrl } from "./router.js";

const SHOWN = 40;

/**
 * @param {import("./reader-document.js").ReaderDocument} document
 * @param {any} item section or clause
 * @returns {HTMLElement | null}
 */
export function backReferences(document, item) {
  const places = new Map();
  for (const one of document.backReferences.get(item.section_id) || []) {
    const key = `${one.from_doc} ${one.from_section}`;
    if (!places.has(key)) places.set(key, one);
  }
  const found = [...places.values()];
  if (!found.length) return null;
  const list = el("ul");
  const box = el(
    "details",
    { class: "back" },
    el("summary", { "aria-label": `${document.nameOf(item)}: referred to by ${count(found.length, "place")}` }, `← ${found.length}`, el("span", { class: "long" }, found.length === 1 ? " reference" : " references")),
    list,
  );
  box.addEventListener("toggle", () => {
    if (box.hasAttribute("open") && !list.childElementCount) fill(list, document, found);
  });
  return box;
}

function fill(list, document, found) {
  for (const item of found.slice(0, SHOWN)) {
    const other = item.from_doc && item.from_doc !== document.doc;
    const here = !other && document.find(item.from_section);
    const name = item.from_label || document.find(item.from_section)?.heading || item.from_title || item.text || "here";
    list.append(el("li", {}, el("a", { href: here ? document.urlOf(here) : readUrl({ doc: item.from_doc || document.doc, section: item.from_section }), title: item.text }, name), other && item.from_title ? `, ${item.from_title}` : ""));
  }
  if (found.length > SHOWN) list.append(el("li", {}, `and ${count(found.length - SHOWN, "other")}`));
}

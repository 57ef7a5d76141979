/** What refers to a section: a line in the margin, opened on wish. */

import { count, el } from "./text.js";
import { readUrl } from "./router.js";

const SHOWN = 40;

/**
 * @param {import("./reader-document.js").ReaderDocument} document
 * @param {any} item section or clause; the document as a whole without it
 * @returns {HTMLElement | null}
 */
export function backReferences(document, item) {
  const found = document.backReferences.get(item ? item.section_id : "") || [];
  if (!found.length) return null;
  const list = el("ul");
  const name = item ? document.nameOf(item) : "The document as a whole";
  const box = el(
    "details",
    { class: "back" },
    el("summary", { "aria-label": `${name}: referred to ${count(found.length, "time")}` }, `← ${found.length}`, el("span", { class: "long" }, found.length === 1 ? " reference" : " references", !item && " to the whole")),
    list,
  );
  box.addEventListener("toggle", () => {
    if (box.hasAttribute("open") && !list.childElementCount) fill(list, document, found);
  });
  return box;
}

/** List the places, each with how often it refers here. */
function fill(list, document, found) {
  const places = new Map();
  for (const one of found) {
    const key = `${one.from_doc} ${one.from_section}`;
    places.set(key, [...(places.get(key) || []), one]);
  }
  for (const [item, ...more] of [...places.values()].slice(0, SHOWN)) {
    const other = item.from_doc && item.from_doc !== document.doc;
    const here = !other && document.find(item.from_section);
    const name = item.from_label || document.find(item.from_section)?.heading || item.from_title || item.text || "here";
    list.append(el("li", {}, el("a", { href: here ? document.urlOf(here) : readUrl({ doc: item.from_doc || document.doc, section: item.from_section }), title: item.text }, name), other && item.from_title ? `, ${item.from_title}` : "", more.length > 0 && `, ${more.length + 1} times`));
  }
  if (places.size > SHOWN) list.append(el("li", {}, `and ${count(places.size - SHOWN, "other place")}`));
}

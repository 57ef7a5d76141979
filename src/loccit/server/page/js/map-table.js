/** The map as a table: the same facts in rows, for screen readers, small screens and exact reading. */

import { el, scrolled, typeName } from "./text.js";
import { mapUrl, readUrl } from "./router.js";

const COLUMNS = [
  ["Document", (place) => place.title.toLowerCase(), false],
  ["Type", (place) => place.file_type, false],
  ["Sections", (place) => -place.sections, true],
  ["Passages", (place) => -place.chunks, true],
  ["Refers to", (place) => -place.out, true],
  ["Referred to", (place) => -place.in, true],
];

/**
 * @param {import("./map-layout.js").Place[]} places
 * @returns {HTMLElement}
 */
export function table(places) {
  const body = el("tbody");
  const heads = COLUMNS.map(([name, , number], k) =>
    el("th", { scope: "col", class: number ? "number" : null }, el("button", { on: { click: () => sort(k) } }, name)));
  const sort = (k) => {
    const key = COLUMNS[k][1];
    const rows = [...places].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
    heads.forEach((head, n) => (n === k ? head.setAttribute("aria-sort", k < 2 ? "ascending" : "descending") : head.removeAttribute("aria-sort")));
    body.replaceChildren(...rows.map(row));
  };
  sort(5);
  return scrolled(
    "map-table",
    "Documents, table",
    el("table", {}, el("caption", { class: "sr" }, "Documents and how often they refer to each other"), el("thead", {}, el("tr", {}, heads)), body),
  );
}

function row(place) {
  const number = (value) => el("td", { class: "number" }, value ? value.toLocaleString("en") : "–");
  return el(
    "tr",
    {},
    el("th", { scope: "row", dir: "auto" }, el("a", { href: mapUrl({ doc: place.doc }) }, place.title), " ", el("a", { class: "small", href: readUrl({ doc: place.doc }), "aria-label": `Read ${place.title}` }, "read")),
    el("td", {}, typeName(place.file_type)),
    number(place.sections),
    number(place.chunks),
    number(place.out),
    number(place.in),
  );
}

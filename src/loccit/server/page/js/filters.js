/** Filters: boxes to tick, made from what the library holds. */

import { FILTERS } from "./state.js";
import { el, languageName, replace, typeName } from "./text.js";

const MANY = 8;
const TITLES = { doc: "Document", type: "Type", language: "Language" };

/**
 * The filters with the documents of a library behind them.
 * @param {(name: string, value: string, on: boolean) => void} change
 */
export function filterPanel(change) {
  const body = el("div", { class: "facets" });
  const summary = el("summary", {}, el("span", { class: "label", text: "Filters" }), el("span", { class: "number" }));
  const node = el("details", { class: "filters", hidden: true }, summary, body);
  // Open where there is a column for it; the person may still close it.
  const wide = matchMedia("(min-width: 62rem)");
  const follow = () => node.toggleAttribute("open", wide.matches);
  wide.addEventListener("change", follow);
  follow();
  return {
    node,
    fill: (documents, filters) => {
      const facets = FILTERS.map((name) => facet(name, values(name, documents), filters[name], change));
      replace(body, facets);
      node.hidden = !facets.some(Boolean);
    },
    set: (filters) => {
      const chosen = FILTERS.reduce((sum, name) => sum + filters[name].length, 0);
      summary.querySelector(".number").textContent = chosen ? String(chosen) : "";
      for (const input of body.querySelectorAll("input[type=checkbox]")) {
        input.checked = filters[input.name].includes(input.value);
      }
    },
    unmount: () => wide.removeEventListener("change", follow),
  };
}

function values(name, documents) {
  if (name === "doc") return documents.map((item) => ({ value: item.id, text: item.title, number: null }));
  const counts = new Map();
  for (const item of documents) {
    const value = name === "type" ? typeName(item.file_type) : item.language;
    if (value) counts.set(value, (counts.get(value) || 0) + 1);
  }
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([value, number]) => ({ value, text: name === "language" ? languageName(value) : value, number }));
}

function facet(name, items, chosen, change) {
  // One value alone cannot narrow anything.
  if (items.length < 2) return null;
  const rows = items.map(({ value, text, number }) => {
    const input = el("input", { type: "checkbox", name, value, checked: chosen.includes(value) });
    input.addEventListener("change", () => change(name, value, input.checked));
    return el("label", { class: "tick" }, input, el("span", { class: "name", text }), number !== null && el("span", { class: "number", text: number }));
  });
  const list = el("div", { class: "ticks" }, rows);
  const narrow =
    items.length > MANY &&
    el("input", {
      type: "search",
      class: "field narrow",
      placeholder: `Among ${items.length}`,
      "aria-label": `Find a ${TITLES[name].toLowerCase()} to filter by`,
      on: {
        input: (event) => {
          const text = event.target.value.toLowerCase();
          for (const [index, row] of rows.entries()) row.hidden = !items[index].text.toLowerCase().includes(text);
        },
      },
    });
  return el("fieldset", { class: `facet ${name}` }, el("legend", { class: "label", text: TITLES[name] }), narrow, list);
}

/** The filters that hold, to take away one by one. */
export function chips(filters, documents, change) {
  const text = {
    doc: (value) => documents.find((item) => item.id === value)?.title || "an unknown document",
    type: (value) => value,
    language: languageName,
  };
  return FILTERS.flatMap((name) =>
    filters[name].map((value) =>
      el(
        "button",
        { class: "chip", "aria-label": `Remove the filter ${TITLES[name]}: ${text[name](value)}`, on: { click: () => change(name, value, false) } },
        el("span", { class: "kind", text: TITLES[name] }),
        el("span", { text: text[name](value) }),
        el("span", { class: "cross", "aria-hidden": "true", text: "×" }),
      ),
    ),
  );
}

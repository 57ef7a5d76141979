/** The list of documents, to sort and to look through. */

import { readUrl } from "./router.js";
import { announce, bytes, count, el, fileName, languageName, replace, typeName } from "./text.js";

const PAGE = 200;
const COLUMNS = [
  { name: "Title", key: (item) => item.title.toLowerCase() },
  { name: "Type", key: (item) => item.file_type },
  { name: "Language", key: (item) => item.language },
  { name: "Pages", key: (item) => item.pages, number: true },
  { name: "Passages", key: (item) => item.total_chunks, number: true },
  { name: "Size", key: (item) => item.size, number: true },
  { name: "Changed", key: (item) => item.modified },
];

/** @param {any[]} documents */
export function documentTable(documents) {
  let by = 0;
  let down = false;
  let shown = PAGE;
  let text = "";
  const body = el("tbody");
  const further = el("p", { class: "further" });
  const headers = COLUMNS.map((column, index) =>
    el(
      "th",
      { scope: "col", class: column.number ? "n" : "" },
      el("button", {
        class: "quiet sort",
        text: column.name,
        on: {
          click: () => {
            // Numbers are most telling from the largest down.
            [by, down] = index === by ? [by, !down] : [index, Boolean(column.number)];
            draw();
          },
        },
      }),
    ),
  );

  const draw = () => {
    const { key } = COLUMNS[by];
    const order = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
    const rows = documents
      .filter((item) => `${item.title} ${item.source_path}`.toLowerCase().includes(text))
      .sort((a, b) => (down ? -1 : 1) * order(key(a), key(b)));
    for (const [index, header] of headers.entries()) {
      if (index === by) header.setAttribute("aria-sort", down ? "descending" : "ascending");
      else header.removeAttribute("aria-sort");
    }
    replace(body, rows.slice(0, shown).map(row));
    const more = () => {
      shown += PAGE;
      draw();
    };
    replace(further, rows.length > shown && el("button", { class: "button", on: { click: more } }, `Show more of ${rows.length}`));
    return rows.length;
  };
  draw();

  const find = el("input", {
    type: "search",
    class: "field",
    placeholder: "Find by title or path",
    "aria-label": "Find a document by title or path",
    on: {
      input: (event) => {
        text = event.target.value.trim().toLowerCase();
        announce(count(draw(), "document"));
      },
    },
  });
  return el(
    "section",
    { class: "documents" },
    el("header", {}, el("h2", { text: "Documents" }), documents.length > 8 && find),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Documents" }, el("table", { class: "tabular" }, el("thead", {}, el("tr", {}, headers)), body)),
    further,
  );
}

function row(item) {
  const date = item.modified.slice(0, 10);
  const cells = [typeName(item.file_type), languageName(item.language), item.pages || "", item.total_chunks.toLocaleString("en"), bytes(item.size), date];
  const name = fileName(item.source_path);
  return el(
    "tr",
    {},
    el(
      "th",
      { scope: "row" },
      el("a", { href: readUrl({ doc: item.id }), text: item.title }),
      name.replace(/\.[^.]+$/, "") !== item.title && el("span", { class: "file", text: name }),
      item.warnings.map((warning) => el("span", { class: "warning", text: warning })),
    ),
    cells.map((cell, index) => el("td", { class: COLUMNS[index + 1].number ? "n" : "", "data-name": COLUMNS[index + 1].name, text: cell })),
  );
}

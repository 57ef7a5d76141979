/** Export: the results of a search as a file. */

import { announce, el } from "./text.js";

const FORMATS = [
  ["csv", "CSV, for a spreadsheet", "csv"],
  ["json", "JSON, for a program", "json"],
  ["markdown", "Markdown, for notes", "md"],
];

/** A menu of formats. @param {Record<string, any>} question as the API is asked */
export function exportMenu(api, question) {
  const summary = el("summary", { class: "quiet", text: "Export" });
  const save = async (format, ending) => {
    menu.open = false;
    summary.focus();
    try {
      download(await api.blob("export", { ...question, format }), `loccit-results.${ending}`);
      announce("File saved.");
    } catch (error) {
      announce(error.message);
    }
  };
  const menu = /** @type {HTMLDetailsElement} */ (
    el(
      "details",
      { class: "menu" },
      summary,
      el("div", { class: "menu-items" }, FORMATS.map(([format, text, ending]) => el("button", { class: "quiet", on: { click: () => save(format, ending) } }, text))),
    )
  );
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    summary.focus();
  });
  menu.addEventListener("focusout", (event) => {
    if (!(event.relatedTarget instanceof Node && menu.contains(event.relatedTarget))) menu.open = false;
  });
  return menu;
}

// A link alone would not send the token.
function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** What the search shows when there are no results: the beginning, nothing found, something wrong. */

import { readUrl } from "./router.js";
import { isFiltered } from "./state.js";
import { ago, count, el, typeName } from "./text.js";

const SHOWN = 60;

/** The first sight: what is here, and what there is to read. */
export function welcome(library, documents) {
  const age = ago(library.updated_at);
  return el(
    "div",
    { class: "welcome" },
    el("p", { class: "lead" }, `${count(documents.length, "document")}, ${count(library.chunks, "passage")}`, age && `, updated ${age}`, "."),
    examples(),
    el("h2", { class: "label", text: "Contents" }),
    el(
      "ul",
      { class: "contents" },
      documents.slice(0, SHOWN).map((item) =>
        el(
          "li",
          {},
          el("a", { href: readUrl({ doc: item.id }), text: item.title }),
          el("span", { class: "leader", "aria-hidden": "true" }),
          el("span", { class: "number", text: item.pages > 0 ? count(item.pages, "page") : typeName(item.file_type) }),
        ),
      ),
    ),
    documents.length > SHOWN && el("p", { class: "soft small" }, `and ${count(documents.length - SHOWN, "other")}; the overview lists all.`),
  );
}

function examples() {
  const rows = [
    ["a question", "what you want to know, in your words"],
    ["Article 6(1)(f)", "a section or clause, by its label"],
    ['"as it is written"', "a phrase, letter for letter"],
  ];
  return el("dl", { class: "pairs quiet-pairs" }, rows.map(([sample, text]) => [el("dt", { text: sample }), el("dd", { text })]));
}

/** Nothing was found: what to try. The search may say more, in the place of the first words. */
export function emptyResults(state, change) {
  const tries = [];
  if (isFiltered(state.filters)) tries.push(["Search in all documents", () => change({ filters: { doc: [], type: [], language: [] } })]);
  if (state.mode !== "hybrid") tries.push(["Search by meaning, words and names together", () => change({ mode: "hybrid" })]);
  return el(
    "div",
    { class: "state found-nothing" },
    el("h2", { text: "Nothing found" }),
    el("p", { class: "soft", text: "Try other words, or fewer of them." }),
    el("div", { class: "tries" }, tries.map(([text, act]) => el("button", { class: "button", on: { click: act } }, text))),
  );
}

const HEADINGS = { 404: "Not found", 503: "Not ready yet" };

/** Something went wrong, in plain words, with a way on. */
export function problemState(error, again) {
  const said = (error.detail || error.message || "Something went wrong").replace(/[^.!?…]$/, "$&.");
  // Not when it is said already, or waiting does not help.
  const wait = error.retryAfter && !/again|index/.test(said) ? ` Try again in ${count(error.retryAfter, "second")}.` : "";
  // The titles of the server are those of HTTP; where it was not reached, they are ours.
  const title = HEADINGS[error.status] || ([0, 401].includes(error.status) && error.title) || "Something went wrong";
  return el(
    "div",
    { class: "state problem", role: "alert" },
    el("h2", { text: title }),
    el("p", { text: said + wait }),
    el("button", { class: "button", on: { click: again } }, "Try again"),
  );
}

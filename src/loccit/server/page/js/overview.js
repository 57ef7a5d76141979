/** The overview: what the library holds, how it is, and what is being indexed now. */

import { documentTable } from "./documents.js";
import { indexPanel } from "./indexing.js";
import { currentLibrary, loadDocuments, loadLibraries } from "./library.js";
import { restoreScroll } from "./router.js";
import { emptyLibrary, stateOf } from "./empty.js";
import { ago, announce, barRows, bytes, count, el, fileName, languageName, replace, typeName } from "./text.js";

/** Show the view. See app.js for the contract. */
export function mount(container, _params, api) {
  let gone = false;
  /** @type {ReturnType<typeof indexPanel> | null} */
  let panel = null;
  let leaveState = () => {};
  const page = el("div", { class: "overview" }, el("p", { class: "soft", text: "Loading…" }));
  replace(container, page);

  const load = async (fresh = false) => {
    let all;
    const indexing = () => (panel ??= indexPanel(api, { write: all.write, done: () => load(true) })).node;
    const instead = ({ node, unmount }) => {
      leaveState();
      leaveState = unmount;
      return node;
    };
    try {
      all = await loadLibraries(fresh);
      const [library, documents] = await Promise.all([currentLibrary(), loadDocuments()]);
      const empty = documents.length ? null : await emptyLibrary(api, load);
      if (gone) return empty?.unmount();
      document.title = "Overview · Loccit";
      if (empty && !library.failures.length) return void replace(page, el("h1", { text: "Overview" }), instead(empty));
      replace(page, el("h1", { text: all.libraries.length > 1 ? library.name : "Overview" }), numbers(library), indexing(), failures(library), shares(library), documents.length > 0 && documentTable(documents), details(library, all.version));
      restoreScroll();
      announce(`${count(library.documents, "document")}, ${count(library.failures.length, "failure")}`);
    } catch (error) {
      const state = await stateOf(error, api, () => load(true));
      if (gone) state.unmount();
      else replace(page, el("h1", { class: "sr", text: "Overview" }), instead(state));
    }
  };
  load(true);
  return () => {
    gone = true;
    leaveState();
    panel?.unmount();
  };
}

function numbers(library) {
  const rows = [
    [library.documents.toLocaleString("en"), library.documents === 1 ? "document" : "documents"],
    [library.chunks.toLocaleString("en"), "passages"],
    [bytes(library.size_bytes), "index"],
    [ago(library.updated_at), "updated"],
  ].filter(([value]) => value);
  return el("dl", { class: "numbers" }, rows.map(([value, name]) => el("div", {}, el("dt", { text: name }), el("dd", { text: value }))));
}

function failures(library) {
  const rows = [];
  if (library.pending_passages) rows.push(el("p", { class: "notice", text: `${count(library.pending_passages, "passage")} have no vectors yet: semantic search does not find them.` }));
  if (library.unpublished_passages) rows.push(el("p", { class: "notice", text: `${count(library.unpublished_passages, "passage")} are not in the database yet.` }));
  if (library.failures.length) {
    rows.push(
      el("h2", { text: `${count(library.failures.length, "file")} could not be read` }),
      el("dl", { class: "failures" }, library.failures.map(({ path, reason }) => [el("dt", { title: path, text: fileName(path) }), el("dd", { text: reason })])),
    );
  }
  return rows.length ? el("section", { class: "troubles" }, rows) : null;
}

function shares(library) {
  const group = (title, counts, name) => {
    const rows = Object.entries(counts).sort((a, b) => b[1] - a[1]);
    if (!rows.length) return null;
    const most = Math.max(...rows.map(([, number]) => number), 1);
    return el(
      "section",
      {},
      el("h2", { class: "label", text: title }),
      barRows(rows.map(([key, number]) => [number.toLocaleString("en"), number / most, name(key)])),
    );
  };
  return el(
    "div",
    { class: "shares" },
    group("Types", library.file_types, (type) => typeName(type) || "none"),
    group("Languages", library.languages, languageName),
  );
}

function details(library, version) {
  const rows = [
    ["Model", `${library.model}, ${library.dimension} dimensions`],
    ["Passage vectors", library.passages.toLocaleString("en")],
    ["Sources", library.roots.join(", ")],
    ["Stored in", library.database || library.path],
    ["Being written by", library.writer],
    ["Generation", library.generation],
    ["Loccit", version],
  ];
  return el(
    "details",
    { class: "more-details" },
    el("summary", { class: "label", text: "Details" }),
    el("dl", { class: "pairs" }, rows.filter(([, value]) => value).map(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })])),
  );
}

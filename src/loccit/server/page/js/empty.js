/** A library without documents: what to do, and, where the server may write, a field for the folder to read. */

import { indexPanel } from "./indexing.js";
import { currentLibrary, loadLibraries } from "./library.js";
import { problemState } from "./states.js";
import { el } from "./text.js";

/**
 * What is shown in place of a view that there is nothing for. Where nothing was indexed yet that is no fault.
 * @param {any} error what went wrong when the library was asked
 * @param {import("./api.js").api} api
 * @param {() => void} again
 * @returns {Promise<{node: HTMLElement, unmount: () => void}>}
 */
export async function stateOf(error, api, again) {
  if (error.status === 503) {
    const library = await loadLibraries(true).then(currentLibrary, () => null);
    if (library?.missing) return emptyLibrary(api, again);
  }
  return { node: problemState(error, again), unmount: () => {} };
}

/**
 * There is nothing to search yet: how to change that. The page shows the documents by itself once there are any.
 * @param {import("./api.js").api} api
 * @param {() => void} done called when something was indexed from here
 */
export async function emptyLibrary(api, done) {
  const { write, folders = [] } = await loadLibraries();
  const head = el("h2", { text: "This library is empty" });
  if (!write) {
    const node = el(
      "div",
      { class: "state" },
      head,
      el("p", {}, "To add documents, run this in a terminal, in the folder where the server was started:"),
      el("p", {}, el("code", { class: "command", text: "loccit index FOLDER" })),
      el("p", {}, "They appear here as soon as they are indexed. To choose a folder on this page instead, start the server with ", el("code", { text: "loccit serve --write" }), "."),
    );
    return { node, unmount: () => {} };
  }
  // What is kept of the library was asked before.
  const indexed = () => (loadLibraries(true), done());
  const panel = indexPanel(api, { write, folder: folders[0] ?? null, done: indexed });
  const words = folders.length ? "Which folder do you want to search? Every readable file in it is indexed; the files stay where they are." : "The sources of its configuration have not been read yet.";
  return { node: el("div", { class: "state" }, head, el("p", { text: words }), panel.node, folders.length > 0 && el("p", { class: "soft small", text: `The server can read what is in ${folders.join(" or ")}.` })), unmount: panel.unmount };
}

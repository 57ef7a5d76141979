/** Which libraries the server has, and their documents; asked once and kept until the index changes. */

import { api } from "./api.js";
import { navigate } from "./router.js";
import { el, replace } from "./text.js";

/** @type {Promise<any> | null} */
let status = null;
/** @type {Map<string, Promise<any[]>>} */
const documents = new Map();

/** The answer of /api/status; asked again when that failed. */
export function loadLibraries(fresh = false) {
  if (fresh) {
    documents.clear();
    document.dispatchEvent(new Event("fresh"));
  }
  if (fresh || !status) {
    status = api.get("status");
    // What may be over soon is not kept.
    const forget = () => (status = null);
    status.then(({ libraries }) => libraries.some(({ problem }) => problem) && forget(), forget);
  }
  return status;
}

/** The state of the library that is chosen. */
export async function currentLibrary() {
  const { libraries } = await loadLibraries();
  return libraries.find((library) => library.name === api.library) || libraries[0] || null;
}

/** The documents of the library that is chosen, by title. */
export function loadDocuments() {
  const key = api.library;
  let answer = documents.get(key);
  if (!answer) {
    answer = api
      .get("documents")
      .then((data) => data.documents.sort((a, b) => a.title.localeCompare(b.title, undefined, { numeric: true })));
    answer.catch(() => documents.delete(key));
    documents.set(key, answer);
  }
  return answer;
}

/** Show in the header which library is asked. */
export function chooseLibrary() {
  const select = document.getElementById("library");
  select.value = api.library || select.options[0]?.value || "";
}

/** Offer the choice between libraries in the header when there are several. */
export function showLibraries({ libraries }) {
  const select = document.getElementById("library");
  select.hidden = libraries.length < 2;
  if (select.hidden) return;
  replace(
    select,
    libraries.map(({ name }) => el("option", { value: name, text: name })),
  );
  chooseLibrary();
  select.onchange = () => {
    // Filters and documents are those of a library; only the query goes along.
    const url = new URL(location.href);
    const query = new URLSearchParams({ library: select.value });
    const words = url.searchParams.get("q");
    if (words && url.pathname === "/") query.set("q", words);
    navigate(`${url.pathname === "/read" ? "/" : url.pathname}?${query}`);
  };
}

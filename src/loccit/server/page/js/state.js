/** What a search asks for, as the address of the page holds it: `/?q=…&mode=…&f=type:pdf,language:en&k=20`. */

import { searchUrl } from "./router.js";

export const MODES = [
  ["hybrid", "All", "By meaning, by words and by name, together"],
  ["semantic", "Meaning", "Passages that say something similar, in whatever words"],
  ["keyword", "Words", "Passages with the words of the query"],
  ["exact", "Exact", "By labels, phrases and names"],
];
export const FILTERS = ["doc", "type", "language"];
export const STEP = 10;
export const MOST = 100;
const LONGEST = 2000;

/**
 * @typedef {{doc: string[], type: string[], language: string[]}} Filters
 * @typedef {{q: string, mode: string, filters: Filters, k: number}} State
 */

/**
 * Read the state from an address; what makes no sense is left out.
 * @param {URLSearchParams} params
 * @returns {State}
 */
export function readState(params) {
  const filters = /** @type {Filters} */ ({ doc: [], type: [], language: [] });
  for (const part of (params.get("f") || "").split(",")) {
    const [name, ...rest] = part.split(":");
    if (FILTERS.includes(name) && rest.length) filters[name].push(rest.join(":"));
  }
  const mode = params.get("mode") || "hybrid";
  return {
    q: (params.get("q") || "").slice(0, LONGEST),
    mode: MODES.some(([name]) => name === mode) ? mode : "hybrid",
    filters,
    k: Math.min(MOST, Math.max(1, Math.trunc(Number(params.get("k"))) || STEP)),
  };
}

/** The address of a state. @param {State} state */
export function stateUrl(state) {
  const f = FILTERS.flatMap((name) => state.filters[name].map((value) => `${name}:${value}`)).join(",");
  return searchUrl({
    q: state.q,
    mode: state.mode === "hybrid" ? "" : state.mode,
    f,
    k: state.k === STEP ? "" : state.k,
  });
}

/** Whether anything is filtered. @param {Filters} filters */
export const isFiltered = (filters) => FILTERS.some((name) => filters[name].length);

/**
 * The filters as the API knows them; it names documents by path.
 * @param {Filters} filters
 * @param {{id: string, source_path: string}[]} documents
 */
export function apiFilters(filters, documents) {
  /** @type {Record<string, string[]>} */
  const wanted = {};
  if (filters.type.length) wanted.type = filters.type;
  if (filters.language.length) wanted.language = filters.language;
  if (filters.doc.length) {
    // An unknown document must leave nothing, not everything.
    wanted.path = filters.doc.map((id) => documents.find((item) => item.id === id)?.source_path || id);
  }
  return Object.keys(wanted).length ? wanted : null;
}

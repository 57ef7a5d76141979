/** The search view: asks as one types, and shows what comes back. */

import { isAbort } from "./api.js";
import { searchBox } from "./box.js";
import { openCite } from "./cite.js";
import { exportMenu } from "./export.js";
import { chips, filterPanel } from "./filters.js";
import { currentLibrary, loadDocuments, loadLibraries } from "./library.js";
import { bar, carryOver, definitions, resultItem, resultMark, sureness } from "./results.js";
import { navigate, restoreScroll } from "./router.js";
import { resultNote } from "./search-note.js";
import { resultPlace } from "./search-place.js";
import { apiFilters, isFiltered, MODES, MOST, readState, stateUrl, STEP } from "./state.js";
import { emptyLibrary, stateOf } from "./empty.js";
import { isIndexing } from "./indexing.js";
import { emptyResults, welcome } from "./states.js";
import { announce, choices, count, el, replace } from "./text.js";
import { explainer } from "./why.js";

/** How many results are shown, of how many: all that hold a quotation are counted, else passages are put in order. */
function counted({ results, considered, total_matches }) {
  const shown = results.length;
  if (considered <= shown) return count(shown, "result");
  return considered === total_matches ? `${shown} of ${count(considered, "result")}` : `Best ${shown} of ${count(considered, "passage")}`;
}

// Waiting before a search: next to nothing for a quick server, longer for one that is slow, so as not to drown it.
const SOONEST = 8;
const LATEST = 250;

/** Show the view. See app.js for the contract. */
export function mount(container, params, api) {
  let state = readState(params);
  let committed = true;
  /** The answer that is shown, to know an equal one. */
  let drawn = "";
  let timer = 0;
  let took = 40;
  let gone = false;
  /** @type {AbortController | null} */
  let running = null;
  /** @type {any[]} */
  let documents = [];
  /** Ends what is shown in place of results. */
  let leaveState = () => {};

  const box = searchBox({
    onInput: (q) => {
      change({ q, k: STEP }, { typing: true });
    },
    onEnter: async () => {
      box.close();
      committed = true;
      if (await now()) place.focus(0);
    },
    onTerm: (q) => change({ q, k: STEP }),
  });
  const modes = choices("mode", "Search by", MODES, (mode) => change({ mode, k: STEP }));
  const setFilter = (name, value, on) => {
    const rest = state.filters[name].filter((item) => item !== value);
    change({ filters: { ...state.filters, [name]: on ? [...rest, value] : rest }, k: STEP });
  };
  const filters = filterPanel(setFilter);
  const summary = el("div", { class: "summary" });
  const chosen = el("div", { class: "chips" });
  const output = el("div", { class: "output" });
  const note = resultNote(output);
  const place = resultPlace(container, output, box.input);
  const form = el("form", { class: "ask", role: "search", on: { submit: (event) => event.preventDefault() } }, el("h1", { class: "sr", text: "Search" }), box.node, el("div", { class: "below" }, modes.node, box.list));
  replace(
    container,
    el("div", { class: "search" }, form, el("aside", { class: "rail", "aria-label": "Filters" }, filters.node), el("section", { class: "found", "aria-label": "Results" }, summary, chosen, note.node, output)),
  );

  /** Take over a change: into the address, the controls and the search. */
  function change(part, { typing = false } = {}) {
    state = { ...state, ...part };
    // While typing the entry of the history is overwritten, unless the state before was a place to come back to.
    if (typing) form.classList.add("typed");
    navigate(stateUrl(state), { replace: typing && !committed, quiet: true });
    committed = !typing;
    place.forget();
    note.wait();
    reflect();
    clearTimeout(timer);
    container.setAttribute("aria-busy", "true");
    const wait = typing ? Math.min(LATEST, Math.max(SOONEST, took / 8)) : 0;
    timer = setTimeout(() => {
      if (typing) box.suggest(state.q);
      search();
    }, wait);
  }

  function reflect() {
    if (box.input.value !== state.q) box.input.value = state.q;
    modes.set(state.mode);
    filters.set(state.filters);
    replace(chosen, chips(state.filters, documents, setFilter));
    document.title = state.q ? `${state.q} · Loccit` : "Loccit";
    document.body.classList.toggle("asked", Boolean(state.q.trim()) || isFiltered(state.filters));
  }

  /** What the API is asked, for this search and its export. */
  function question() {
    return { q: state.q.trim(), mode: state.mode, top_k: state.k, filters: apiFilters(state.filters, documents) };
  }

  /** Ask and show; answers whether something was shown. */
  async function search() {
    timer = 0;
    running?.abort();
    running = null;
    if (!state.q.trim()) return start();
    const mine = (running = new AbortController());
    const began = performance.now();
    container.setAttribute("aria-busy", "true");
    try {
      if (state.filters.doc.length) documents = await loadDocuments();
      const asked = question();
      const answer = await api.get("search", { ...asked, offsets: "utf16" }, { signal: mine.signal });
      if (running !== mine) return;
      took = performance.now() - began;
      if (!answer.results.length) documents = await loadDocuments();
      if (running !== mine) return;
      draw(answer, asked);
      return true;
    } catch (error) {
      if (isAbort(error) || running !== mine) return;
      if (error.status === 422) return unasked(error.message);
      await instead(stateOf(error, api, search));
      announce(error.message);
    } finally {
      if (running === mine) {
        running = null;
        if (!timer) container.removeAttribute("aria-busy");
      }
    }
  }

  /** There is nothing to look for, or not yet: a quotation mark, a filter. Whoever types on is not disturbed. */
  function unasked(text) {
    if (committed || drawn) clear();
    note.settle(committed || /\w/.test(state.q) ? text : "", "Nothing to search for yet", committed);
  }

  /** Search at once, and wait until nothing is pending. */
  function now() {
    clearTimeout(timer);
    return search();
  }

  /** Show what there is to say where there is nothing to search. @param {Promise<{node: HTMLElement, unmount: () => void}>} coming */
  async function instead(coming) {
    const asked = state;
    const { node, unmount } = await coming;
    if (gone || asked !== state) return unmount();
    // The same again is left alone: somebody may be writing into it.
    if (output.textContent === node.textContent && output.textContent) return unmount();
    clear(node);
    leaveState = unmount;
    // Where there is nothing to search, the folder comes first.
    if (document.activeElement === box.input && !state.q) node.querySelector("input")?.focus();
  }

  /** Show something else than results. */
  function clear(node) {
    leaveState();
    leaveState = () => {};
    drawn = "";
    note.hide();
    replace(summary);
    replace(output, node);
  }

  async function start() {
    container.removeAttribute("aria-busy");
    replace(summary);
    note.hide();
    const wait = (error) => !state.q.trim() && instead(stateOf(error, api, start));
    try {
      const coming = loadDocuments();
      let library = await currentLibrary();
      if (library?.problem && !library.missing) wait({ status: 503, detail: library.problem });
      const list = await coming;
      if (library?.problem) library = await currentLibrary();
      if (state.q.trim()) return;
      if (list.length) clear(welcome(library, list));
      else await instead(emptyLibrary(api, start));
      restoreScroll();
    } catch (error) {
      if (isAbort(error) || state.q.trim() || gone) return;
      await wait(error);
      // It may be being read: then this is over soon.
      if (error.status === 503) startIn(1000 * (error.retryAfter || 5));
    }
  }

  /** Start again, but not while documents are read from here: that says itself when it is done. */
  function startIn(wait) {
    timer = setTimeout(() => (isIndexing(output) ? startIn(wait) : (loadLibraries(true), start())), wait);
  }

  function draw(answer, asked) {
    const { results } = answer;
    const same = JSON.stringify([asked, results, answer.confidence, answer.truncated]);
    const text = results.length ? `${counted(answer)}. Best match: ${sureness(answer.confidence)}` : "Nothing found";
    // An equal answer changes nothing: whoever reads, or has opened something, is left in peace.
    if (same !== drawn) fill(answer, asked);
    drawn = same;
    announce(text);
    place.comeBack();
    note.settle(documents.length || results.length ? answer.note : "", text, committed || /\s$/.test(state.q));
  }

  function open(result, link) {
    committed = true;
    place.keep(result, link);
  }

  function fill(answer, asked) {
    const { results } = answer;
    const why = explainer(api, asked, answer);
    const act = { why, cite: (result) => openCite(api, { ...result, text: resultMark(result) }), open };
    const head = [];
    if (results.length) {
      head.push(el("p", { class: "count" }, counted(answer)));
      const words = `Best match: ${sureness(answer.confidence)}`;
      head.push(el("p", { class: "confidence", title: `Confidence ${answer.confidence.toFixed(2)}` }, bar(answer.confidence), words), exportMenu(api, asked));
    }
    if (!results.length && !documents.length) return void instead(emptyLibrary(api, search));
    const items = results.map((result) => resultItem(result, asked.q, act));
    const focus = carryOver(output, items);
    replace(summary, head);
    replace(
      output,
      definitions(results),
      results.length ? el("ol", { class: place.returned ? "results whole" : "results" }, items) : emptyResults(state, change),
      answer.truncated && el("p", { class: "notice", text: "There is more than fits here. Narrow the search to see it." }),
      answer.next_offset !== null && (asked.top_k < MOST ? moreButton() : el("p", { class: "soft small", text: `These are the best ${results.length}. Narrow the search to see others.` })),
    );
    focus();
  }

  function moreButton() {
    const from = state.k;
    const more = async () => {
      change({ k: Math.min(MOST, state.k + STEP) });
      if (await now()) place.focus(from);
    };
    return el("p", { class: "further" }, el("button", { class: "button", on: { click: more } }, "More results"));
  }

  reflect();
  if (state.q.trim()) search();
  else start();
  loadDocuments().then(
    (list) => {
      documents = list;
      filters.fill(list, state.filters);
      reflect();
    },
    () => {},
  );
  // A keyboard on the screen would cover what there is to read.
  if (!state.q && matchMedia("(pointer: fine)").matches) box.input.focus();

  return {
    update: (next) => {
      state = readState(next);
      committed = true;
      place.recall();
      clearTimeout(timer);
      box.close();
      reflect();
      search();
      if (!state.q) box.input.focus();
    },
    unmount: () => {
      gone = true;
      leaveState();
      clearTimeout(timer);
      note.wait();
      running?.abort();
      box.close();
      filters.unmount();
      place.unmount();
      document.body.classList.remove("asked");
      container.removeAttribute("aria-busy");
    },
  };
}

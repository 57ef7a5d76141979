/** The search view: asks as one types, and shows what comes back. */

import { isAbort } from "./api.js";
import { searchBox } from "./box.js";
import { openCite } from "./cite.js";
import { exportMenu } from "./export.js";
import { chips, filterPanel, modeSwitch } from "./filters.js";
import { bindKeys } from "./keys.js";
import { currentLibrary, loadDocuments } from "./library.js";
import { bar, carryOver, definitions, resultItem, sureness } from "./results.js";
import { navigate, restoreScroll, scrollOf } from "./router.js";
import { apiFilters, isFiltered, MOST, readState, stateUrl, STEP } from "./state.js";
import { emptyResults, problemState, welcome } from "./states.js";
import { announce, count, el, replace } from "./text.js";
import { explainer } from "./why.js";

// Waiting before a search: next to nothing for a quick server, longer for one that is slow, so as not to drown it.
const SOONEST = 8;
const LATEST = 250;
// After this long without a key the last word counts as written.
const REST = 600;

/** Show the view. See app.js for the contract. */
export function mount(container, params, api) {
  let state = readState(params);
  let committed = true;
  /** The result that was opened from here, when somebody comes back. @type {{rank: number, top: number, scroll: number} | null} */
  let returned = history.state?.result || null;
  /** The answer that is shown, to know an equal one. */
  let drawn = "";
  let timer = 0;
  let resting = 0;
  let took = 40;
  /** @type {AbortController | null} */
  let running = null;
  /** @type {any[]} */
  let documents = [];

  const box = searchBox({
    onInput: (q) => {
      change({ q, k: STEP }, { typing: true });
    },
    onEnter: async () => {
      box.close();
      committed = true;
      if (await now()) focusResult(0);
    },
    onTerm: (q) => change({ q, k: STEP }),
  });
  const modes = modeSwitch((mode) => change({ mode, k: STEP }));
  const setFilter = (name, value, on) => {
    const rest = state.filters[name].filter((item) => item !== value);
    change({ filters: { ...state.filters, [name]: on ? [...rest, value] : rest }, k: STEP });
  };
  const filters = filterPanel(setFilter);
  const summary = el("div", { class: "summary" });
  const chosen = el("div", { class: "chips" });
  const notice = el("p", { class: "notice", hidden: true });
  const output = el("div", { class: "output" });
  const form = el("form", { class: "ask", role: "search", on: { submit: (event) => event.preventDefault() } }, el("h1", { class: "sr", text: "Search" }), box.node, el("div", { class: "below" }, modes.node, box.list));
  replace(
    container,
    el("div", { class: "search" }, form, el("aside", { class: "rail", "aria-label": "Filters" }, filters.node), el("section", { class: "found", "aria-label": "Results" }, summary, chosen, notice, output)),
  );

  /** Take over a change: into the address, the controls and the search. */
  function change(part, { typing = false } = {}) {
    state = { ...state, ...part };
    // While typing the entry of the history is overwritten, unless the state before was a place to come back to.
    if (typing) form.classList.add("typed");
    navigate(stateUrl(state), { replace: typing && !committed, quiet: true });
    committed = !typing;
    returned = null;
    reflect();
    clearTimeout(timer);
    clearTimeout(resting);
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
    document.title = state.q ? `${state.q} · Pinakes` : "Pinakes";
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
      const answer = await api.get("search", asked, { signal: mine.signal });
      if (running !== mine) return;
      took = performance.now() - began;
      draw(answer, asked);
      return true;
    } catch (error) {
      if (isAbort(error) || running !== mine) return;
      clear(problemState(error, search));
      announce(error.message);
    } finally {
      if (running === mine) {
        running = null;
        if (!timer) container.removeAttribute("aria-busy");
      }
    }
  }

  /** Search at once, and wait until nothing is pending. */
  function now() {
    clearTimeout(timer);
    return search();
  }

  /** Show something else than results. */
  function clear(node) {
    clearTimeout(resting);
    drawn = "";
    notice.hidden = true;
    replace(summary);
    replace(output, node);
  }

  async function start() {
    container.removeAttribute("aria-busy");
    replace(summary);
    notice.hidden = true;
    try {
      const [library, list] = await Promise.all([currentLibrary(), loadDocuments()]);
      if (state.q.trim()) return;
      clear(welcome(library, list));
      restoreScroll();
    } catch (error) {
      if (!state.q.trim()) clear(problemState(error, start));
    }
  }

  /** Remember which result is opened, and where it stood, so that coming back leads there. */
  function open(result, link) {
    committed = true;
    const kept = { rank: result.rank, top: link.getBoundingClientRect().top, scroll: window.scrollY };
    history.replaceState({ ...history.state, result: kept }, "");
  }

  /** Back from a result, or from another search. */
  function comeBack() {
    const link = returned && links()[returned.rank - 1];
    const same = returned?.scroll === scrollOf();
    // Unless it was scrolled since, the result counts: what was open above it then is closed now.
    if (restoreScroll() && link && same) window.scrollBy(0, link.getBoundingClientRect().top - returned.top);
    if (link && same && [document.body, container].includes(document.activeElement)) link.focus({ preventScroll: true });
    returned = null;
  }

  function draw(answer, asked) {
    const { results, note } = answer;
    const same = JSON.stringify([asked, results, answer.confidence, answer.truncated]);
    const text = results.length ? `${count(results.length, "result")}. That the first is what was asked for is ${sureness(answer.confidence)}` : "Nothing found";
    // An equal answer changes nothing: whoever reads, or has opened something, is left in peace.
    if (same !== drawn) fill(answer, asked);
    drawn = same;
    announce(text);
    comeBack();
    settle(note, text);
  }

  /** What waits for the end of typing: a word half written looks misspelt, and explanations cost a search. */
  function settle(note, text) {
    const empty = output.querySelector(".state > .soft");
    if (notice.textContent !== note || empty) notice.hidden = true;
    const rest = () => {
      (empty && note ? empty : notice).textContent = note;
      notice.hidden = !note || Boolean(empty);
      if (note) announce(`${text}. ${note}`);
      for (const panel of output.querySelectorAll(".why:not([hidden])")) panel.dispatchEvent(new Event("ask"));
    };
    clearTimeout(resting);
    if (committed || /\s$/.test(state.q)) rest();
    else resting = setTimeout(rest, REST);
  }

  function fill(answer, asked) {
    const { results } = answer;
    const why = explainer(api, asked, answer);
    const act = { why, cite: (result) => openCite(api, result), open };
    const head = [];
    if (results.length) {
      head.push(el("p", { class: "count", text: count(results.length, "result") }));
      const words = `Best match: ${sureness(answer.confidence)}`;
      head.push(el("p", { class: "confidence", title: `Confidence ${answer.confidence.toFixed(2)}` }, bar(answer.confidence), words), exportMenu(api, asked));
    }
    const items = results.map((result) => resultItem(result, asked.q, act));
    const focus = carryOver(output, items);
    replace(summary, head);
    replace(
      output,
      definitions(results),
      results.length ? el("ol", { class: returned ? "results whole" : "results" }, items) : emptyResults(state, change),
      answer.truncated && el("p", { class: "notice", text: "There is more than fits here. Narrow the search to see it." }),
      results.length === asked.top_k && asked.top_k < MOST && moreButton(),
    );
    focus();
  }

  function moreButton() {
    const from = state.k;
    const more = async () => {
      change({ k: Math.min(MOST, state.k + STEP) });
      if (await now()) focusResult(from);
    };
    return el("p", { class: "further" }, el("button", { type: "button", class: "button", on: { click: more } }, "More results"));
  }

  const links = () => /** @type {HTMLElement[]} */ ([...output.querySelectorAll(".result .open")]);
  const at = () => links().findIndex((link) => link.closest(".result")?.contains(document.activeElement));

  function focusResult(index) {
    const all = links();
    const link = all[Math.max(0, Math.min(index, all.length - 1))];
    link?.focus({ preventScroll: true });
    link?.closest(".result")?.scrollIntoView({ block: "nearest" });
  }

  const move = (step) => (event) => {
    // Arrows belong to radio buttons and boxes; elsewhere among the results they move.
    if (event.target instanceof HTMLInputElement || !links().length) return false;
    if (event.key.startsWith("Arrow") && at() < 0) return false;
    if (step < 0 && at() === 0) box.input.focus();
    else focusResult(at() + step);
  };
  const press = (selector) => () => {
    const button = document.activeElement?.closest(".result")?.querySelector(selector);
    if (!button) return false;
    button.click();
  };
  const unbind = bindKeys({
    "/": () => {
      box.input.focus();
      box.input.select();
    },
    j: move(1),
    k: move(-1),
    ArrowDown: move(1),
    ArrowUp: move(-1),
    w: press(".why-button"),
    c: press(".cite-button"),
    x: press(".more"),
    Escape: () => box.input.focus(),
  });

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
      returned = history.state?.result || null;
      clearTimeout(timer);
      box.close();
      reflect();
      search();
      if (!state.q) box.input.focus();
    },
    unmount: () => {
      clearTimeout(timer);
      clearTimeout(resting);
      running?.abort();
      box.close();
      filters.unmount();
      unbind();
      document.body.classList.remove("asked");
      container.removeAttribute("aria-busy");
    },
  };
}

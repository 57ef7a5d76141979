/** The shell: chooses the view for the address, and holds what all views share. */

import { api } from "./api.js";
import { helpDialog, tokenDialog } from "./dialogs.js";
import { installKeys } from "./keys.js";
import { chooseLibrary, loadLibraries, showLibraries } from "./library.js";
import { stateOf } from "./empty.js";
import { isIndexing } from "./indexing.js";
import { again, overviewUrl, mapUrl, navigate, restoreScroll, searchUrl, start } from "./router.js";
import { installTheme } from "./theme-switch.js";
import { announce, el, replace } from "./text.js";
import { watchLibrary } from "./watch.js";

const VIEWS = {
  "/": { name: "search", title: "Search", load: () => import("./search.js") },
  "/read": { name: "read", title: "Reader", load: () => import("./reader.js") },
  "/map": { name: "map", title: "Map", load: () => import("./map.js") },
  "/overview": { name: "overview", title: "Overview", load: () => import("./overview.js") },
};

const main = document.getElementById("main");
const NONE = { name: "", unmount: null, update: null, place: null };
/** @type {{name: string, unmount: (() => void) | null, update: ((params: URLSearchParams) => void) | null, place: (() => object) | null}} */
let current = NONE;
let turn = 0;
let first = true;
/** Of the view that is shown or still being mounted. */
let life = { gone: false };

/**
 * Show the view of an address. A view module has `mount(container, params, api)`, which returns a function that takes
 * it away, or `{ unmount, update, place }` where `update(params)` takes a new address of the same view, and `place()` says
 * what is to be kept of where one is when the view is shown anew. Whoever comes back is led to the old place by the view,
 * with `restoreScroll` of the router, once it is drawn.
 */
async function show(url, { back }) {
  const view = VIEWS[url.pathname];
  const mine = ++turn;
  const library = url.searchParams.get("library") || "";
  const same = view?.name === current.name && library === api.library;
  api.library = library;
  linkViews(view?.name);
  chooseLibrary();
  if (!view) return notFound(url.pathname);
  if (same && current.update) {
    if (!back && view.name === "search") window.scrollTo(0, 0);
    await current.update(url.searchParams);
    // The reader keeps places of its own.
    if (view.name === "read") restoreScroll(false);
    return;
  }
  leave();
  document.body.dataset.view = view.name;
  document.title = `${view.title} · Loccit`;
  try {
    const module = await view.load();
    if (mine !== turn) return;
    replace(main);
    const mounted = await module.mount(main, url.searchParams, lent(life));
    const parts = typeof mounted === "function" ? { unmount: mounted } : mounted || {};
    if (mine !== turn) return parts.unmount?.();
    current = { ...NONE, name: view.name, ...parts };
    // What had the focus is gone: screen readers go on from the new content.
    if (!first && document.activeElement === document.body) main.focus({ preventScroll: true });
    first = false;
    if (view.name === "read") restoreScroll(false);
    else if (!back) window.scrollTo(0, 0);
  } catch (error) {
    if (mine === turn) await failed(error, mine);
  }
}

/** Ask for everything again and show the view anew, where it is. */
function reload() {
  loadLibraries(true).then(showLibraries, () => {});
  const place = current.place?.() || {};
  leave();
  again(place);
}

/** The API for as long as a view is there: an answer that comes after it was left must not draw over the next. */
function lent(mine) {
  const request = async (...what) => {
    const response = await api.request(...what);
    if (mine.gone) throw new DOMException("The view was left", "AbortError");
    return response;
  };
  return Object.create(api, { request: { value: request } });
}

function leave() {
  life.gone = true;
  life = { gone: false };
  current.unmount?.();
  current = NONE;
}

function linkViews(name) {
  const addresses = { search: searchUrl(), map: mapUrl(), overview: overviewUrl() };
  for (const link of document.querySelectorAll(".views a")) {
    const view = link.dataset.view || "";
    link.setAttribute("href", addresses[view]);
    if (view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.querySelector(".brand")?.setAttribute("href", addresses.search);
}

function notFound(path) {
  leave();
  document.title = "Not found · Loccit";
  const text = `There is no page ${path}.`;
  replace(main, el("div", { class: "state" }, el("h1", { text: "Not found" }), el("p", { text }), home()));
  announce(text);
}

async function failed(error, mine) {
  const { node, unmount } = await stateOf(error, api, reload);
  if (mine !== turn) return unmount();
  current = { ...NONE, unmount };
  node.append(" ", home());
  replace(main, node);
}

const home = () => el("a", { href: searchUrl(), text: "Search" });

api.askToken = tokenDialog;
installTheme(document.getElementById("theme"));
document.getElementById("help")?.addEventListener("click", helpDialog);
installKeys();
start(show);
watchLibrary(document.getElementById("changed"), { reload, waits: () => Boolean(main.querySelector(".state:not(.found-nothing)")), indexes: () => isIndexing(main) });
loadLibraries().then(showLibraries, () => {});

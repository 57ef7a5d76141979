/** The shell: chooses the view for the address, and holds what all views share. */

import { api } from "./api.js";
import { helpDialog, tokenDialog } from "./dialogs.js";
import { installKeys } from "./keys.js";
import { chooseLibrary, loadLibraries, showLibraries } from "./library.js";
import { overviewUrl, mapUrl, navigate, restoreScroll, searchUrl, start } from "./router.js";
import { problemState } from "./states.js";
import { installTheme } from "./theme-switch.js";
import { announce, el, replace } from "./text.js";

const VIEWS = {
  "/": { name: "search", title: "Search", load: () => import("./search.js") },
  "/read": { name: "read", title: "Reader", load: () => import("./reader.js") },
  "/map": { name: "map", title: "Map", load: () => import("./map.js") },
  "/overview": { name: "overview", title: "Overview", load: () => import("./overview.js") },
};

const main = document.getElementById("main");
/** @type {{name: string, unmount: (() => void) | null, update: ((params: URLSearchParams) => void) | null}} */
let current = { name: "", unmount: null, update: null };
let turn = 0;
let first = true;
/** Of the view that is shown or still being mounted. */
let life = { gone: false };

/**
 * Show the view of an address. A view module has `mount(container, params, api)`, which returns a function that takes
 * it away, or `{ unmount, update }` where `update(params)` takes a new address of the same view. Whoever comes back is
 * led to the old place by the view, with `restoreScroll` of the router, once it is drawn.
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
  document.title = `${view.title} · Pinakes`;
  try {
    const module = await view.load();
    if (mine !== turn) return;
    replace(main);
    const mounted = await module.mount(main, url.searchParams, lent(life));
    const parts = typeof mounted === "function" ? { unmount: mounted } : mounted || {};
    if (mine !== turn) return parts.unmount?.();
    current = { name: view.name, unmount: parts.unmount || null, update: parts.update || null };
    // What had the focus is gone: screen readers go on from the new content.
    if (!first && document.activeElement === document.body) main.focus({ preventScroll: true });
    first = false;
    if (view.name === "read") restoreScroll(false);
    else if (!back) window.scrollTo(0, 0);
  } catch (error) {
    if (mine === turn) failed(error);
  }
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
  current = { name: "", unmount: null, update: null };
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
  document.title = "Not found · Pinakes";
  const text = `There is no page ${path}.`;
  replace(main, el("div", { class: "state" }, el("h1", { text: "Not found" }), el("p", { text }), home()));
  announce(text);
}

function failed(error) {
  const state = problemState(error, () => navigate(location.href));
  state.append(" ", home());
  replace(main, state);
}

const home = () => el("a", { href: searchUrl(), text: "Search" });

api.askToken = tokenDialog;
installTheme(document.getElementById("theme"));
document.getElementById("help")?.addEventListener("click", helpDialog);
installKeys();
start(show);
loadLibraries().then(showLibraries, () => {});

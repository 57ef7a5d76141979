/** The shell: chooses the view for the address, and holds what all views share. */

import { api } from "./api.js";
import { helpDialog, tokenDialog } from "./dialogs.js";
import { installKeys } from "./keys.js";
import { loadLibraries, showLibraries } from "./library.js";
import { overviewUrl, mapUrl, rememberScroll, scrollOf, searchUrl, start, navigate } from "./router.js";
import { installTheme } from "./theme-switch.js";
import { announce, el, replace } from "./text.js";

const VIEWS = {
  "/": { name: "search", title: "Search", load: () => import("./search.js") },
  "/read": { name: "read", title: "Reader", load: () => import("./reader.js") },
  "/map": { name: "map", title: "Map", load: () => import("./map.js") },
  "/overview": { name: "overview", title: "Overview", load: () => import("./overview.js") },
};

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
/** @type {{name: string, unmount: (() => void) | null, update: ((params: URLSearchParams) => void) | null}} */
let current = { name: "", unmount: null, update: null };
let turn = 0;
let first = true;

/**
 * Show the view of an address. A view module has `mount(container, params, api)`, which returns a function that takes
 * it away, or `{ unmount, update }` where `update(params)` takes a new address of the same view.
 */
async function show(url, { back }) {
  const view = VIEWS[url.pathname];
  const mine = ++turn;
  const library = url.searchParams.get("library") || "";
  const same = view?.name === current.name && library === api.library;
  api.library = library;
  linkViews(view?.name);
  if (!view) return notFound(url.pathname);
  if (same && current.update) return current.update(url.searchParams);
  leave();
  document.body.dataset.view = view.name;
  document.title = `${view.title} · Pinakes`;
  try {
    const module = await view.load();
    if (mine !== turn) return;
    replace(main);
    const mounted = await module.mount(main, url.searchParams, api);
    const parts = typeof mounted === "function" ? { unmount: mounted } : mounted || {};
    if (mine !== turn) return parts.unmount?.();
    current = { name: view.name, unmount: parts.unmount || null, update: parts.update || null };
    // What had the focus is gone: screen readers go on from the new content.
    if (!first && document.activeElement === document.body) main.focus({ preventScroll: true });
    first = false;
    if (back) restoreScroll(mine);
    else if (view.name !== "read") window.scrollTo(0, 0);
  } catch (error) {
    if (mine === turn) failed(error);
  }
}

function leave() {
  current.unmount?.();
  current = { name: "", unmount: null, update: null };
}

// Results arrive a moment after the view: try until the page is tall enough, and give up when somebody scrolls.
function restoreScroll(mine) {
  const wanted = scrollOf();
  if (!wanted) return;
  const until = performance.now() + 1500;
  const step = () => {
    if (mine !== turn || performance.now() > until) return;
    if (document.documentElement.scrollHeight - innerHeight >= wanted) window.scrollTo(0, wanted);
    else requestAnimationFrame(step);
  };
  step();
}

function linkViews(name) {
  const addresses = { search: searchUrl(), map: mapUrl(), overview: overviewUrl() };
  for (const link of document.querySelectorAll(".views a")) {
    const view = /** @type {HTMLElement} */ (link).dataset.view || "";
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
  const text = error?.message || "Something went wrong.";
  replace(
    main,
    el(
      "div",
      { class: "state", role: "alert" },
      el("h1", { text: error?.title || "This did not work" }),
      el("p", { text }),
      el("p", {}, el("button", { class: "button", on: { click: () => navigate(location.href) } }, "Try again"), " ", home()),
    ),
  );
}

const home = () => el("a", { href: searchUrl(), text: "Search" });

api.askToken = tokenDialog;
installTheme(/** @type {HTMLElement} */ (document.getElementById("theme")));
document.getElementById("help")?.addEventListener("click", helpDialog);
installKeys();
let scrolling = 0;
window.addEventListener(
  "scroll",
  () => {
    clearTimeout(scrolling);
    scrolling = setTimeout(rememberScroll, 150);
  },
  { passive: true },
);
start(show);
loadLibraries().then(showLibraries, () => {});

/**
 * Addresses: the URL holds the whole state of a view. `navigate` goes somewhere, links inside the page are followed
 * without loading it again, and the back button works because everything goes through the history.
 */

/** @type {(url: URL, how: {back: boolean}) => void} */
let listener = () => {};
/** Where to scroll to once the view is drawn; null when there is nothing to go back to. @type {number | null} */
let wanted = null;
let shown = "";
let timer = 0;
const nothing = () => ({});
/** What the view keeps with the place. */
let more = nothing;

/**
 * Start routing: `handle` is called for the present address and after every change.
 * @param {(url: URL, how: {back: boolean}) => void} handle
 */
export function start(handle) {
  listener = handle;
  history.scrollRestoration = "manual";
  window.addEventListener("popstate", () => {
    // A fragment alone is the browser's business (skip link, notes).
    if (shown !== place()) arrive(true);
  });
  document.addEventListener("click", follow);
  window.addEventListener(
    "scroll",
    () => {
      clearTimeout(timer);
      timer = setTimeout(rememberScroll, 150);
    },
    { passive: true },
  );
  // Whoever moves is not pulled back.
  for (const event of ["wheel", "touchmove", "pointerdown", "keydown"]) window.addEventListener(event, () => (wanted = null), { capture: true, passive: true });
  arrive(Boolean(history.state));
}

const place = () => location.pathname + location.search;

function arrive(back) {
  // What was to be kept belongs to the entry that is left.
  clearTimeout(timer);
  wanted = back ? scrollOf() : null;
  shown = place();
  listener(new URL(location.href), { back });
}

/**
 * Go to an address of the page.
 * @param {string} url
 * @param {{replace?: boolean, quiet?: boolean}} [options] `replace` keeps the history as long as it is; `quiet` only
 *   changes the address, for a view that has shown the new state already
 */
export function navigate(url, { replace = false, quiet = false } = {}) {
  const target = new URL(url, location.href);
  if (target.href !== location.href) {
    rememberScroll();
    clearTimeout(timer);
    const state = cameFrom(replace);
    history[replace ? "replaceState" : "pushState"](state && { from: state }, "", target);
    wanted = null;
    shown = place();
  }
  if (!quiet) listener(target, { back: false });
}

/** The search that a document was opened from, and how many entries of the history ago: the way back to it. */
function cameFrom(replace) {
  if (location.pathname === "/" && !replace) return { url: place(), steps: 1 };
  const from = history.state?.from;
  return from ? { url: from.url, steps: from.steps + (replace ? 0 : 1) } : null;
}

/** The search that this document was opened from, if it was. @returns {{url: string, steps: number} | null} */
export const searchBefore = () => history.state?.from || null;

// While a view is being drawn the page is too short to say where somebody was: the place stays as it was kept.
function rememberScroll() {
  if (wanted === null) history.replaceState({ ...history.state, scroll: window.scrollY, ...more() }, "");
}

/** Show the present address anew, where it is scrolled to; `more` is kept with the entry of the history. */
export function again(more = {}) {
  history.replaceState({ ...history.state, scroll: window.scrollY, ...more }, "");
  arrive(true);
}

/** Write the address of what is shown in another way; it stays the same entry of the history. */
export function rewrite(url) {
  history.replaceState(history.state, "", new URL(url, location.href));
  shown = place();
}

/** Have something kept with the entry of the history whenever its place is; returns what ends that. */
export function keepAlso(what) {
  more = what;
  return () => {
    if (more === what) more = nothing;
  };
}

/**
 * Scroll to where the page was when this entry was left: every view calls this when it is drawn, however late.
 * @param {boolean} [go] false when the view has gone there itself
 * @returns {boolean} whether there was a place to go back to
 */
export function restoreScroll(go = true) {
  if (wanted === null) return false;
  if (go) window.scrollTo(0, wanted);
  wanted = null;
  return true;
}

/** Where the page was scrolled to when this entry was left. */
export function scrollOf() {
  return Number(history.state?.scroll) || 0;
}

function follow(event) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) {
    return;
  }
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!link || link.hasAttribute("download") || (link.target && link.target !== "_self")) return;
  const url = new URL(link.href, location.href);
  if (url.origin !== location.origin || /^\/(api|static|mcp)(\/|$)/.test(url.pathname)) return;
  // A fragment alone is the browser's business (skip link, notes).
  if (url.hash && url.pathname === location.pathname && url.search === location.search) return;
  event.preventDefault();
  navigate(url.href);
}

/** An address of the page with the parameters that are not empty; the chosen library is kept. */
function address(path, params) {
  const query = new URLSearchParams();
  const library = new URLSearchParams(location.search).get("library");
  for (const [name, value] of Object.entries({ ...params, library })) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** @param {{q?: string, mode?: string, f?: string, k?: number | string}} [params] */
export const searchUrl = (params = {}) => address("/", params);

/**
 * A place in a document. `place` is its id in the library, `section` the one within the document where that is all there
 * is; `lines`, the first and the last, lead further, and `text` is the fingerprint of what stands there.
 * @param {{doc?: string, place?: string, section?: string, lines?: number[] | null, text?: string, q?: string | null}} params
 */
export const readUrl = ({ doc, place, section, lines, text, q }) => address("/read", { doc, place, section: place ? "" : section, lines: lines?.join("-"), text, q });

/** @param {{doc?: string}} [params] */
export const mapUrl = (params = {}) => address("/map", params);

/** The overview. */
export const overviewUrl = () => address("/overview", {});

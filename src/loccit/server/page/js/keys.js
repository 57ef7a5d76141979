/** Keys that work everywhere; views add their own for as long as they are shown. */

import { helpDialog } from "./dialogs.js";
import { lettersOn } from "./letters.js";
import { mapUrl, navigate, overviewUrl, searchUrl } from "./router.js";

/** @type {Map<string, (event: KeyboardEvent) => void | boolean>} */
const own = new Map();
// When `g` was pressed; no other key follows it at first, though events count from when the page was loaded.
let leader = -Infinity;

/**
 * Add keys for a view; a handler that returns false leaves the key to the browser.
 * @param {Record<string, (event: KeyboardEvent) => void | boolean>} keys by `event.key`
 * @returns {() => void} takes them away again
 */
export function bindKeys(keys) {
  for (const [key, act] of Object.entries(keys)) own.set(key, act);
  return () => {
    for (const [key, act] of Object.entries(keys)) if (own.get(key) === act) own.delete(key);
  };
}

/** Whether somebody is writing, so that letters are text. */
export function isTyping(target) {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button])"))
  );
}

const VIEWS = { s: searchUrl, m: mapUrl, o: overviewUrl };

/** Listen for keys. */
export function installKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.querySelector("dialog[open]") || isTyping(event.target)) return;
    if (event.key.length === 1 && !lettersOn()) return;
    if (event.timeStamp - leader < 1000 && VIEWS[event.key]) {
      leader = -Infinity;
      event.preventDefault();
      return navigate(VIEWS[event.key]());
    }
    leader = event.key === "g" ? event.timeStamp : -Infinity;
    const act = own.get(event.key) || shared[event.key];
    if (act && act(event) !== false) event.preventDefault();
  });
}

const shared = {
  "?": () => helpDialog(),
  "/": () => navigate(searchUrl()),
};

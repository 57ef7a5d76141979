/**
 * Notices that the library has changed, or that the server is away and back, and says so at the edge of the page. What is
 * being read is left alone until somebody wishes to see the change.
 */

import { api } from "./api.js";
import { announce, el, replace } from "./text.js";

const EVERY = 5000;
const AWAY = 2000;

/**
 * @param {HTMLElement} bar where it is said
 * @param {{reload: () => void, waits: () => boolean, indexes: () => boolean}} acts `waits` says whether the view shows
 *   nothing but that it waits for the library or the server: then it is shown anew at once; `indexes`, whether it is the
 *   view itself that changes the library
 */
export function watchLibrary(bar, { reload, waits, indexes }) {
  /** The state of the library that is shown, by its name. @type {Map<string, string>} */
  const shown = new Map();
  let away = false;
  let timer = 0;
  let looks = 0;

  const hide = () => {
    bar.hidden = true;
  };
  const say = (text, ...more) => {
    if (!bar.hidden && bar.firstChild?.textContent === text) return;
    replace(bar, el("span", { text }), ...more);
    bar.hidden = false;
    announce(text);
  };
  const showAnew = () => {
    hide();
    reload();
  };
  const changed = () =>
    say("The library has changed.", el("button", { class: "button", on: { click: showAnew } }, "Reload"), el("button", { class: "quiet icon", "aria-label": "Close the notice", on: { click: hide } }, "×"));

  async function look() {
    clearTimeout(timer);
    if (document.hidden) return;
    const name = api.library;
    const turn = ++looks;
    try {
      const response = await api.send(api.url("state"), {});
      const state = response.ok ? (await response.json()).state : null;
      // An answer that was overtaken tells of a state before the one that is shown.
      if (turn !== looks) return;
      if (away) {
        away = false;
        hide();
        announce("The server is back.");
        if (waits()) showAnew();
      }
      const before = shown.get(name);
      if (state !== null && name === api.library) {
        shown.set(name, state);
        if (before !== undefined && before !== state && !indexes()) {
          if (waits()) showAnew();
          // Where nothing was there yet, or not ready, what is shown is newer than that.
          else if (before) changed();
        }
      }
    } catch {
      if (turn !== looks) return;
      away = true;
      say("The server cannot be reached. The page reconnects when it is back.");
    }
    clearTimeout(timer);
    timer = setTimeout(look, away ? AWAY : EVERY);
  }
  document.addEventListener("visibilitychange", look);
  // A view asks for everything again, and shows what it gets.
  document.addEventListener("fresh", () => {
    shown.delete(api.library);
    look();
  });
  look();
}

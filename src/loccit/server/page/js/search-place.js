/** The place among the results: going from one to the next by keys, and coming back to the one that was opened. */

import { bindKeys } from "./keys.js";
import { restoreScroll, scrollOf } from "./router.js";

/**
 * @param {HTMLElement} container of the view
 * @param {HTMLElement} output where the results are shown
 * @param {HTMLInputElement} input the search box
 */
export function resultPlace(container, output, input) {
  /** The result that was opened from here, when somebody comes back. @type {{rank: number, top: number, scroll: number} | null} */
  let returned = null;
  const recall = () => (returned = history.state?.result || null);
  recall();

  const links = () => [...output.querySelectorAll(".result .open")];
  const at = () => links().findIndex((link) => link.closest(".result")?.contains(document.activeElement));

  function focus(index) {
    const all = links();
    const link = all[Math.max(0, Math.min(index, all.length - 1))];
    link?.focus({ preventScroll: true });
    link?.closest(".result")?.scrollIntoView({ block: "nearest" });
  }

  /** Remember which result is opened, and where it stood, so that coming back leads there. */
  function keep(result, link) {
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

  const move = (step) => (event) => {
    // Arrows belong to radio buttons and boxes; elsewhere among the results they move.
    if (event.target instanceof HTMLInputElement || !links().length) return false;
    if (event.key.startsWith("Arrow") && at() < 0) return false;
    if (step < 0 && at() === 0) input.focus();
    else focus(at() + step);
  };
  const press = (selector) => () => {
    const button = document.activeElement?.closest(".result")?.querySelector(selector);
    if (!button) return false;
    button.click();
  };
  const unmount = bindKeys({
    "/": () => {
      input.focus();
      input.select();
    },
    j: move(1),
    k: move(-1),
    ArrowDown: move(1),
    ArrowUp: move(-1),
    w: press(".why-button"),
    c: press(".cite-button"),
    x: press(".more"),
    Escape: () => input.focus(),
  });

  return {
    focus,
    keep,
    comeBack,
    recall,
    forget: () => (returned = null),
    get returned() {
      return returned !== null;
    },
    unmount,
  };
}

/** The note above the results, and what else waits for the end of typing: a word half written looks misspelt. */

import { announce, el } from "./text.js";

// After this long without a key the last word counts as written.
const REST = 600;

/** @param {HTMLElement} output where the results are shown */
export function resultNote(output) {
  const node = el("p", { class: "notice", hidden: true });
  let timer = 0;
  const wait = () => clearTimeout(timer);
  return {
    node,
    /** Somebody types on: nothing is said before the next answer. */
    wait,
    hide: () => {
      wait();
      node.hidden = true;
    },
    /** Say what the server notes about an answer that is `text`, at once when the query is `written`. */
    settle: (note, text, written) => {
      const empty = output.querySelector(".state > .soft");
      if (node.textContent !== note || empty) node.hidden = true;
      const rest = () => {
        (empty && note ? empty : node).textContent = note;
        node.hidden = !note || Boolean(empty);
        if (note) announce(`${text}. ${note}`);
        // Explanations cost a search each.
        for (const panel of output.querySelectorAll(".why:not([hidden])")) panel.dispatchEvent(new Event("ask"));
      };
      wait();
      if (written) rest();
      else timer = setTimeout(rest, REST);
    },
  };
}

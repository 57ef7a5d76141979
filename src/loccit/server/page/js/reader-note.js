/** What became of the place that an address leads to, where the document has changed since: said above the text. */

import { el, replace } from "./text.js";
import { readUrl } from "./router.js";

const PLACE_ID = /\[([a-z][a-z2-9]{7})\]/;

/**
 * @param {import("./reader-document.js").ReaderDocument} reading
 * @param {import("./api.js").api} api
 */
export function addressNote(reading, api) {
  const words = el("span", { role: "status" });
  const close = el("button", { class: "quiet icon", "aria-label": "Close the note", on: { click: () => (element.hidden = true) } }, "×");
  const element = el("p", { class: "address-note small", hidden: true }, words, close);
  let turn = 0;

  const say = (...content) => {
    replace(words, ...content);
    element.hidden = !content.length;
  };

  /** @param {string} state see `passageOf` */
  const show = async (state, { target, passage, params }) => {
    const mine = ++turn;
    const name = target ? reading.nameOf(target) : "";
    const here = name ? `${name}, where it was, is shown.` : "";
    if (state === "moved") say("The document has changed since this link was made. ", passage ? "Its passage is highlighted at its new place." : `This is where its text is now${name ? `: ${name}` : ""}.`);
    else if (state === "changed") say("The words that this link leads to are no longer in this document: they were changed or removed. ", here);
    else if (state === "unchecked") say("This link names lines by their numbers only. If the document has changed since it was made, the wrong lines may be highlighted.");
    else if (state === "elsewhere") say(`Lines ${params.get("lines")} are not ${name ? `in ${name}` : "in this document"} any more: the document has changed since this link was made. Nothing is highlighted.`);
    else if (state === "gone") {
      const id = params.get("place");
      say(id ? "The place that this link leads to is no longer in this document." : `There is no section “${(params.get("section") || "").slice(0, 80)}” in this document; this is its beginning.`);
      const more = id && (await whereItWent(api, id));
      if (more && mine === turn) say("This link leads to a place that is gone. ", ...more);
    } else say();
  };
  return { element, show };
}

/**
 * What the library knows of a place that is not where it was, with links.
 * @returns {Promise<(string | HTMLElement)[]>}
 */
export async function whereItWent(api, id) {
  try {
    const found = await api.get("section", { ref: id });
    return ["It is in another document now: ", el("a", { href: readUrl({ doc: found.doc, place: id }) }, found.title || found.label || "open it"), "."];
  } catch (error) {
    if (error.status !== 404) return [];
    return linked(error.detail);
  }
}

/** Words of the server, in which the id of a place is a link to it. */
function linked(said) {
  const id = PLACE_ID.exec(said);
  if (!id) return [said];
  return [said.slice(0, id.index), el("a", { href: readUrl({ place: id[1] }) }, "open it"), said.slice(id.index + id[0].length)];
}

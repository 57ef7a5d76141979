/** The search box: a combobox with suggestions in a row below it, so that they never hide the results. */

import { api, isAbort } from "./api.js";
import { plain } from "./passage.js";
import { navigate, readUrl } from "./router.js";
import { announce, count, el, marked, replace } from "./text.js";

const KINDS = { title: "document", label: "section", term: "term" };

/** @param {{onInput: (text: string) => void, onEnter: () => void, onTerm: (text: string) => void}} act */
export function searchBox(act) {
  const input = el("input", {
    id: "query",
    type: "search",
    class: "query",
    role: "combobox",
    "aria-label": "Search the documents",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": "suggestions",
    placeholder: "Ask, or name a section",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    enterkeyhint: "search",
    maxlength: 2000,
  });
  const list = el("ul", { id: "suggestions", class: "suggestions", role: "listbox", "aria-label": "Suggestions", "aria-orientation": "horizontal" });
  const node = el("div", { class: "box" }, el("div", { class: "query-row" }, input, el("kbd", { class: "hint", "aria-hidden": "true", text: "/" })));

  /** @type {any[]} */
  let offered = [];
  let active = -1;
  /** @type {AbortController | null} */
  let running = null;

  const activate = (index) => {
    active = index;
    for (const [position, option] of [...list.children].entries()) {
      option.setAttribute("aria-selected", String(position === index));
      if (position === index) option.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    if (index >= 0) input.setAttribute("aria-activedescendant", `suggestion-${index}`);
    else input.removeAttribute("aria-activedescendant");
  };

  const show = (suggestions, text) => {
    // What is chosen already stays chosen when more is typed, or an answer comes late.
    const { kind, text: name, doc, section_id } = offered[active] || {};
    offered = suggestions;
    replace(list, offered.map((item, index) => option(item, index, text, choose)));
    input.setAttribute("aria-expanded", String(offered.length > 0));
    activate(offered.findIndex((item) => item.kind === kind && item.text === name && item.doc === doc && item.section_id === section_id));
  };

  const close = () => {
    running?.abort();
    show([], "");
  };

  const choose = (item) => {
    close();
    if (item.kind === "term") {
      input.value = item.text;
      act.onTerm(item.text);
    } else navigate(readUrl({ doc: item.doc, section: item.section_id || "" }));
  };

  input.addEventListener("input", () => act.onInput(input.value));
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && offered.length) {
      event.preventDefault();
      // One place more than there are suggestions: the text itself.
      const places = offered.length + 1;
      activate(((active + 1 + step + places) % places) - 1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (active >= 0) choose(offered[active]);
      else act.onEnter();
    } else if (event.key === "Escape" && (active >= 0 || offered.length)) {
      event.preventDefault();
      close();
    }
  });

  const suggest = async (text) => {
    running?.abort();
    if (text.trim().length < 2) return show([], "");
    const mine = (running = new AbortController());
    try {
      const { suggestions } = await api.get("suggest", { q: text.trim(), limit: 8 }, { signal: mine.signal });
      if (running !== mine) return;
      show(suggestions, text.trim());
      if (suggestions.length && document.activeElement === input) announce(count(suggestions.length, "suggestion"));
    } catch (error) {
      // Suggestions are a help: without them the search goes on.
      if (!isAbort(error) && running === mine) show([], "");
    }
  };

  return { node, list, input, suggest, close };
}

function option(item, index, text, choose) {
  const detail = plain(item.detail || "");
  const found = item.text.toLowerCase().indexOf(text.toLowerCase());
  const ranges = found < 0 ? [] : [{ start: found, end: found + text.length, kind: "part" }];
  const kind = KINDS[item.kind] || item.kind;
  return el(
    "li",
    {
      id: `suggestion-${index}`,
      role: "option",
      "aria-selected": "false",
      class: "suggestion",
      title: detail ? `${item.text}: ${detail}` : item.text,
      on: {
        // The click of a mouse must not take the focus out of the box first.
        mousedown: (event) => event.preventDefault(),
        click: () => choose(item),
      },
    },
    el("span", { class: "kind", text: kind }),
    el("span", { class: "what" }, marked(item.text, ranges)),
    detail && detail !== item.text && el("span", { class: "detail", text: detail }),
  );
}

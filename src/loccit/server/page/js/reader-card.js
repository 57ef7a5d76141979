/**
 * Cards: what a reference leads to, or what a term means, beside the words. They come when the pointer rests on the
 * words or the focus is there, stay while the pointer is on them, and go with Escape.
 */

import { isAbort } from "./api.js";
import { el, fileName, place, replace } from "./text.js";
import { blocksOf } from "./markdown-blocks.js";
import { linesOf } from "./markdown-lines.js";
import { Renderer, unmarked } from "./markdown.js";
import { cards } from "./reader-marks.js";

const REST = 180; // milliseconds before a card comes, so that it does not flicker under a moving pointer
const LEAVE = 250;
const LONG = 600; // characters shown: a card is read at a glance
const EDGE = 8; // pixels between a card and what it must not touch

/**
 * @param {HTMLElement} root
 * @param {import("./reader-document.js").ReaderDocument} reading
 * @param {import("./api.js").api} api
 * @returns {() => void}
 */
export function installCards(root, reading, api) {
  const card = el("div", { class: "card", role: "tooltip", id: "reader-card", hidden: true });
  root.append(card);
  const life = new AbortController();
  const answers = new Map();
  let owner = null;
  let timer = 0;
  let running = new AbortController();

  const ownerOf = (target) => {
    const link = target instanceof Element ? target.closest("a.ref, a.term") : null;
    return link && cards.has(link) ? link : null;
  };
  const hide = () => {
    clearTimeout(timer);
    running.abort();
    owner?.removeAttribute("aria-describedby");
    owner = null;
    card.hidden = true;
  };
  const fill = (link, content) => {
    if (owner !== link) return;
    replace(card, ...content);
    card.hidden = false;
    link.setAttribute("aria-describedby", card.id);
    put(card, link);
  };
  const show = async (link) => {
    if (owner === link) return;
    hide();
    owner = link;
    running = new AbortController();
    const what = cards.get(link);
    try {
      const content = what.kind === "term" ? await termCard(reading, api, what.meaning, running.signal) : await referenceCard(reading, api, what.reference, answers, running.signal);
      fill(link, content);
    } catch (error) {
      if (!isAbort(error)) fill(link, [el("p", { class: "soft" }, error.message)]);
    }
  };
  const soon = (act, wait) => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
  const on = (target, event, act, options = {}) => target.addEventListener(event, act, { signal: life.signal, ...options });

  on(root, "pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const link = ownerOf(event.target);
    if (link) soon(() => show(link), REST);
    else if (card.contains(event.target)) clearTimeout(timer);
    else if (owner && !owner.matches(":focus-visible")) soon(hide, LEAVE);
    else if (!owner) clearTimeout(timer);
  });
  on(root, "focusin", (event) => {
    const link = ownerOf(event.target);
    if (link?.matches(":focus-visible")) show(link);
    else if (!card.contains(event.target)) hide();
  });
  on(root, "focusout", () => soon(() => card.contains(document.activeElement) || hide(), LEAVE));
  // A finger cannot hover: the first touch of a term shows what it means, the second leads there.
  on(root, "click", (event) => {
    const link = ownerOf(event.target);
    if (link && link.matches(".term") && matchMedia("(hover: none)").matches && owner !== link) {
      event.preventDefault();
      show(link);
    } else if (!card.contains(event.target)) hide();
  });
  on(document, "keydown", (event) => {
    const step = { ArrowDown: 40, ArrowUp: -40 }[event.key];
    if (event.key === "Escape" && owner) hide();
    else if (step && owner === document.activeElement && card.hasAttribute("tabindex")) card.scrollBy({ top: step });
    else return;
    event.preventDefault();
  });
  const scrolled = () => {
    if (!owner || card.hidden || card.matches(":hover")) return;
    const { top, bottom } = owner.getBoundingClientRect();
    // The tab key scrolls to what it reaches, and the card is wanted there.
    if (owner.matches(":focus-visible") && top >= 0 && bottom <= innerHeight) put(card, owner);
    else hide();
  };
  on(window, "scroll", scrolled, { passive: true });
  return () => {
    hide();
    life.abort();
    card.remove();
  };
}

/** Put a card below the words, or above where there is more room; what does not fit there is scrolled to. */
function put(card, link) {
  const words = link.getClientRects()[0] || link.getBoundingClientRect();
  card.style.removeProperty("max-height");
  card.scrollTop = 0;
  const { width, height } = card.getBoundingClientRect();
  const bar = link.closest(".reader-main")?.querySelector(".reader-bar")?.getBoundingClientRect().bottom || 0;
  const below = innerHeight - words.bottom - 2 * EDGE;
  const above = words.top - Math.max(0, bar) - 2 * EDGE;
  const up = height > below && above > below;
  const room = Math.max(80, up ? above : below);
  const top = up ? words.top - Math.min(height, room) - EDGE : Math.min(words.bottom + EDGE, innerHeight - Math.min(height, room) - EDGE);
  const left = Math.max(EDGE, Math.min(words.left - 12, document.documentElement.clientWidth - width - EDGE));
  card.style.setProperty("max-height", `${room}px`);
  card.style.setProperty("left", `${left}px`);
  card.style.setProperty("top", `${top}px`);
  // What scrolls can be reached by the keyboard.
  if (card.scrollHeight > card.clientHeight) card.setAttribute("tabindex", "0");
  else card.removeAttribute("tabindex");
}

/** Markdown without marks, cut at a word. */
function shown(text, long = LONG) {
  const cut = text.length > long ? text.slice(0, long).replace(/\s+\S*$/, " …") : text;
  const renderer = new Renderer(new Map(), unmarked);
  return el("div", { class: "card-text" }, renderer.blocks(blocksOf(linesOf(cut, 0, cut.length)), 0));
}

async function referenceCard(reading, api, reference, answers, signal) {
  const here = reference.goes === reading.doc ? reading.find(reference.target_section) : null;
  if (here) {
    const heading = here.heading || here.label;
    const section = here.heading ? here : reading.sectionAt(here.start);
    const within = section !== here ? section?.heading : "";
    const text = reading.text.slice(here.heading ? here.body : here.start, Math.min(here.heading ? reading.ownEnd(here) : here.end, here.start + 4 * LONG));
    const inside = reading.sections.filter((other) => other.start > here.start && other.start < here.end);
    return [head(heading, within), text.trim() ? shown(text.trim()) : contents(inside)];
  }
  const key = `${reference.goes} ${reference.target_section}`;
  if (!answers.has(key)) answers.set(key, await elsewhere(api, reference, signal));
  const view = answers.get(key);
  if (view.documentOnly) return [head(view.title, ""), shown(view.text)];
  const text = withoutHeading(view.text).trim();
  return [head(view.heading || view.section_label || view.document_title, `${view.document_title}, ${place(view)}`), shown(text)];
}

async function elsewhere(api, reference, signal) {
  if (reference.target_section) return api.get("section", { ref: reference.target_section, doc: reference.goes }, { signal });
  const data = await api.get("document", { doc: reference.goes, offsets: "utf16", without_terms: true }, { signal });
  return { documentOnly: true, title: data.title, text: withoutHeading(data.text.slice(data.body_start, data.body_start + 2 * LONG)) };
}

const withoutHeading = (text) => text.replace(/^\s*#{1,6}[^\n]*\n/, "");

function contents(sections) {
  return el("ul", { class: "card-contents" }, sections.slice(0, 8).map((section) => el("li", {}, section.heading)), sections.length > 8 && el("li", {}, "…"));
}

const head = (title, where) => el("p", { class: "card-head" }, el("strong", {}, title), where && el("span", { class: "soft" }, where));

async function termCard(reading, api, meaning, signal) {
  const here = meaning.source_doc === reading.doc;
  // What stands elsewhere is named by the answer about the term.
  const { definitions = [] } = here && !meaning.conflict ? {} : await api.get("define", { term: meaning.term }, { signal });
  const title = here ? reading.title : definitions.find(({ definition }) => definition.doc === meaning.source_doc)?.document_title;
  const section = here ? reading.nameOf(reading.find(meaning.source_section) || {}) : "";
  const where = [title, section, place(meaning)].filter(Boolean).join(", ");
  return [head(meaning.term, where), shown(meaning.definition), ...(meaning.conflict ? others(definitions, meaning) : [])];
}

/** What other documents say that a term means. */
function others(definitions, meaning) {
  const rows = definitions
    .filter(({ definition }) => definition.definition_text !== meaning.definition)
    .slice(0, 2)
    .map(({ definition, document_title }) =>
      el("div", { class: "card-other" }, el("p", { class: "small soft" }, document_title || fileName(definition.source_path)), shown(definition.definition_text, 300)));
  return [el("p", { class: "card-warning" }, rows.length ? "Defined differently elsewhere:" : "Other documents define this term differently."), ...rows];
}

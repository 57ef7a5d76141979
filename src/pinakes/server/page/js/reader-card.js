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
const LONG = 600; // characters shown: a card does not scroll

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
  const show = async (link) => {
    if (owner === link) return;
    hide();
    owner = link;
    running = new AbortController();
    const what = cards.get(link);
    try {
      const content = what.kind === "term" ? await termCard(reading, api, what.term, running.signal) : await referenceCard(reading, api, what.reference, answers, running.signal);
      if (owner !== link) return;
      replace(card, ...content);
      card.hidden = false;
      link.setAttribute("aria-describedby", card.id);
      put(card, link);
    } catch (error) {
      if (owner === link && !isAbort(error)) {
        replace(card, el("p", { class: "soft" }, error.message));
        card.hidden = false;
        put(card, link);
      }
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
  on(root, "focusout", () => soon(hide, LEAVE));
  // A finger cannot hover: the first touch of a term shows what it means, its card has the way there.
  on(root, "click", (event) => {
    const link = ownerOf(event.target);
    if (link && link.matches(".term") && matchMedia("(hover: none)").matches && owner !== link) {
      event.preventDefault();
      show(link);
    } else hide();
  });
  on(document, "keydown", (event) => {
    if (event.key === "Escape" && owner) {
      hide();
      event.preventDefault();
    }
  });
  on(window, "scroll", () => owner && !card.hidden && !card.matches(":hover") && hide(), { passive: true });
  return () => {
    hide();
    life.abort();
    card.remove();
  };
}

/** Put a card below the words, or above where there is no room. */
function put(card, link) {
  const words = link.getClientRects()[0] || link.getBoundingClientRect();
  const { width, height } = card.getBoundingClientRect();
  const left = Math.max(8, Math.min(words.left - 12, document.documentElement.clientWidth - width - 8));
  const below = words.bottom + 8;
  const top = below + height > innerHeight - 8 && words.top - height - 8 > 56 ? words.top - height - 8 : below;
  card.style.setProperty("left", `${left}px`);
  card.style.setProperty("top", `${top}px`);
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
  const text = view.text.replace(/^\s*#{1,6}[^\n]*\n/, "").trim();
  return [head(view.heading || view.section_label || view.document_title, `${view.document_title}, ${place(view)}`), shown(text)];
}

async function elsewhere(api, reference, signal) {
  if (reference.target_section) return api.get("section", { ref: reference.target_section, doc: reference.goes }, { signal });
  const data = await api.get("document", { doc: reference.goes }, { signal });
  return { documentOnly: true, title: data.title, text: data.text.slice(data.body_start || 0, (data.body_start || 0) + 2 * LONG).replace(/^\s*#{1,6}[^\n]*\n/, "") };
}

function contents(sections) {
  return el("ul", { class: "card-contents" }, sections.slice(0, 8).map((section) => el("li", {}, section.heading)), sections.length > 8 && el("li", {}, "…"));
}

const head = (title, where) => el("p", { class: "card-head" }, el("strong", {}, title), where && el("span", { class: "soft" }, where));

async function termCard(reading, api, term, signal) {
  const where = (term.source_doc || reading.doc) === reading.doc ? reading.nameOf(reading.find(term.source_section) || {}) : "";
  const nodes = [head(term.term, where), shown(term.definition || "")];
  if (term.conflict) nodes.push(...(await others(reading, api, term, signal)));
  return nodes;
}

/** What other documents say that a term means. */
async function others(reading, api, term, signal) {
  const answer = await api.get("define", { term: term.term }, { signal });
  const rows = (answer.definitions || [])
    .filter(({ definition }) => definition.definition_text !== term.definition)
    .slice(0, 2)
    .map(({ definition, document_title }) =>
      el("div", { class: "card-other" }, el("p", { class: "small soft" }, document_title || fileName(definition.source_path)), shown(definition.definition_text, 300)));
  return [el("p", { class: "card-warning" }, rows.length ? "Defined differently elsewhere:" : "Other documents define this term differently."), ...rows];
}

/** Results: where each stands, what it says, who found it and how sure that is. */

import { fingerprint } from "./fingerprints.js";
import { passage, plain } from "./passage.js";
import { readUrl } from "./router.js";
import { count, el, fileName, marked, place } from "./text.js";
import { queryWords, wordRanges } from "./words.js";

export const LEGS = {
  semantic: "meaning",
  keyword: "words",
  exact: "its name",
  code: "code",
  graph: "references",
  document: "its document",
  section: "its section",
};

/** How sure an answer is, in words. Scores are calibrated: the chance that this is what was asked for. */
export function sureness(score) {
  if (score >= 0.8) return "very likely";
  if (score >= 0.55) return "likely";
  if (score >= 0.3) return "possible";
  if (score >= 0.12) return "doubtful";
  return "very doubtful";
}

/** A small bar for a score. The words beside it say the same. */
export function bar(score) {
  return el("span", { class: "bar", "aria-hidden": "true", style: { "--part": Math.max(0.02, Math.min(1, score)) } });
}

/** The fingerprint of what a result says; a table may be shown with a head that stands further above. */
export const resultMark = ({ content }) => fingerprint(content.replace(/^\s*\|.*\n\s*\|[\s|:-]+(?:\n|$)/, ""));

/** The address of a result in the reader. */
function resultUrl({ doc, place_id, section_id, lines }, text, query) {
  return readUrl({ doc, place: place_id, section: section_id, lines, text, q: query });
}

/**
 * One result.
 * @param {any} result
 * @param {string} query
 * @param {{why: (result: any, into: HTMLElement) => void, cite: (result: any) => void, open: (result: any, link: HTMLElement) => void}} act
 */
export function resultItem(result, query, act) {
  const { node: text, cut, toggle } = passage(result, query);
  const title = result.heading || result.document_title || fileName(result.source_path);
  const id = `result-${result.rank}`;
  const link = el("a", { href: resultUrl(result, resultMark(result), query), class: "open", on: { click: () => act.open(result, link) } }, marked(title, wordRanges(title, queryWords(query))));
  const more = cut && el("button", { class: "quiet more", "aria-expanded": "false", text: "Whole passage" });
  if (more) {
    more.addEventListener("click", () => {
      const whole = toggle();
      more.textContent = whole ? "Shorter" : "Whole passage";
      more.setAttribute("aria-expanded", String(whole));
    });
  }
  const panel = el("div", { class: "why", id: `${id}-why`, hidden: true });
  const why = el("button", { class: "quiet why-button", "aria-expanded": "false", "aria-controls": panel.id, text: "Why" });
  why.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    why.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) act.why(result, panel);
  });
  panel.addEventListener("ask", () => act.why(result, panel));
  const cite = el("button", { class: "quiet cite-button", "aria-haspopup": "dialog", text: "Cite", on: { click: () => act.cite(result) } });
  return el(
    "li",
    { class: "result", id, dataset: { chunk: result.chunk_id } },
    el(
      "article",
      { "aria-labelledby": `${id}-title` },
      trail(result, title),
      el("h2", { id: `${id}-title` }, el("span", { class: "rank", "aria-hidden": "true", text: result.rank }), link),
      text,
      related(result, query),
      el("div", { class: "facts" }, facts(result), el("span", { class: "acts" }, more, why, cite)),
      panel,
    ),
  );
}

/**
 * Open in new results what was open in the old ones that they take the place of, and return a function that gives
 * the focus back once they are shown. What a panel says may be old until it is sent "ask".
 * @param {Element} before
 * @param {HTMLElement[]} items
 */
export function carryOver(before, items) {
  const held = document.activeElement;
  const top = held?.getBoundingClientRect().top;
  const olds = new Map([...before.querySelectorAll(".result")].map((old) => [old.dataset.chunk, old]));
  let focus = () => {};
  for (const item of items) {
    const old = olds.get(item.dataset.chunk);
    if (!old) continue;
    if (old.querySelector(".more[aria-expanded=true]")) item.querySelector(".more")?.click();
    const open = old.querySelector(".why:not([hidden])");
    if (open) {
      const panel = item.querySelector(".why");
      panel.append(...open.childNodes);
      panel.hidden = false;
      item.querySelector(".why-button")?.setAttribute("aria-expanded", "true");
    }
    if (!held || !old.contains(held)) continue;
    const name = ["more", "why-button", "cite-button"].find((one) => held.classList.contains(one)) || "open";
    focus = () => {
      const next = item.querySelector(`.${name}`) || item.querySelector(".open");
      next.focus({ preventScroll: true });
      window.scrollBy(0, next.getBoundingClientRect().top - top);
    };
  }
  return focus;
}

// The document first, then the way down to the section; the heading itself follows in large.
function trail(result, title) {
  const way = result.parent_chain.filter((part, index, all) => !(index === all.length - 1 && part === title));
  const parts = [result.document_title || fileName(result.source_path), ...way];
  const distinct = parts.filter((part, index) => part !== title && parts.indexOf(part) === index);
  if (!distinct.length) distinct.push(fileName(result.source_path));
  return el(
    "p",
    { class: "trail" },
    distinct.map((part, index) => [index ? el("span", { class: "sep", "aria-hidden": "true", text: " › " }) : "", index ? el("span", { class: "sr", text: ", " }) : "", el("span", { text: part })]),
  );
}

function facts(result) {
  const where = place(result);
  const legs = result.matched_by.map((leg) => el("span", { class: `leg ${leg}`, style: { "--leg": `var(--leg-${leg}, var(--leg-other))` }, text: (leg === "exact" && result.as_written && "as written") || LEGS[leg] || leg }));
  return [
    result.section_label && !(result.heading || "").includes(result.section_label) && el("span", { class: "section-label", text: result.section_label }),
    where && el("span", { class: "where", text: where }),
    result.uncertain && el("span", { class: "type", title: "The document contradicts this numbering: cite by lines.", text: "uncertain" }),
    result.from_image && el("span", { class: "type", title: "Read from an image: letters may be wrong.", text: "from an image" }),
    result.chunk_type && result.chunk_type !== "content" && el("span", { class: "type", text: result.chunk_type }),
    legs.length > 0 && el("span", { class: "legs" }, el("span", { class: "sr", text: "found by " }), legs),
    el("span", { class: "sure", title: `Score ${result.fused_score.toFixed(3)}` }, bar(result.fused_score), sureness(result.fused_score)),
  ];
}

function related(result, query) {
  const rows = [];
  const row = (label, ...content) => rows.push(el("p", {}, el("span", { class: "label", text: label }), " ", ...content));
  const seen = new Set();
  const here = (item) => item.doc === result.doc && item.target_section === result.section_id;
  const cited = (result.cross_references || []).filter((item) => item.doc && !here(item) && !seen.has(item.text) && seen.add(item.text));
  if (cited.length) {
    row(
      "Refers to",
      cited.slice(0, 6).flatMap((item, index) => [index ? ", " : "", el("a", { href: readUrl({ doc: item.doc, place: item.target_place_id, section: item.target_section }), text: item.text })]),
      cited.length > 6 && ` and ${count(cited.length - 6, "other")}`,
    );
  }
  if (result.also_in?.length) {
    row(
      "Also in",
      result.also_in.slice(0, 4).flatMap((item, index) => {
        const name = [fileName(item.source_path), item.section].filter(Boolean).join(", ");
        return [index ? "; " : "", item.doc ? el("a", { href: readUrl({ doc: item.doc, place: item.place_id, q: query }), text: name }) : name];
      }),
    );
  }
  return rows.length ? el("div", { class: "related" }, rows) : null;
}

/** Definitions of terms in the query, each once, above the results. */
export function definitions(results) {
  const seen = new Set();
  const entries = results
    .flatMap((result) => result.definitions_context || [])
    .filter((entry) => {
      const key = `${entry.term_normalized}\0${entry.definition_text}`;
      return !seen.has(key) && seen.add(key);
    })
    .slice(0, 3);
  if (!entries.length) return null;
  return el(
    "section",
    { class: "definitions", "aria-label": "Defined terms of the query" },
    el("h2", { class: "label", text: entries.length === 1 ? "Defined term" : "Defined terms" }),
    el(
      "dl",
      {},
      entries.map((entry) => [
        el("dt", { text: entry.term }),
        el(
          "dd",
          {},
          clamped(plain(entry.definition_text), entry.doc && el("a", { href: readUrl({ doc: entry.doc, place: entry.place_id, section: entry.source_section, lines: entry.lines, text: fingerprint(entry.definition_text) }), class: "small", text: fileName(entry.source_path) })),
        ),
      ]),
    ),
  );
}

/** A text of which the first lines are shown, and below it a link, with a button for the rest where there is more. */
function clamped(text, link) {
  const node = el("p", { class: "clamped", text });
  const more = el("button", { class: "quiet", "aria-expanded": "false", hidden: true, text: "More" });
  more.addEventListener("click", () => {
    const whole = !node.classList.toggle("clamped");
    more.textContent = whole ? "Less" : "More";
    more.setAttribute("aria-expanded", String(whole));
  });
  new ResizeObserver(() => {
    if (node.classList.contains("clamped")) more.hidden = node.scrollHeight <= node.clientHeight + 1;
  }).observe(node);
  return [node, link, " ", more];
}

/**
 * Places what is known about a document onto its text: references, clause markers, defined terms and the words that
 * were searched for.
 */

import { fingerprint } from "./fingerprints.js";
import { el } from "./text.js";
import { readUrl } from "./router.js";
import { lastAtOrBelow } from "./reader-document.js";

/** @typedef {import("./reader-document.js").ReaderDocument} ReaderDocument */

export class Marks {
  /**
   * @param {ReaderDocument} document
   * @param {{start: number, end: number} | null} passage where words of the query are marked; everywhere when null
   * @param {RegExp | null} words
   */
  constructor(document, passage, words) {
    this.document = document;
    this.passage = passage;
    this.words = words;
    /** The sentence that answers. @type {{start: number, end: number} | null} */
    this.answer = null;
    /** Where the text nodes stand in the source: what is selected is told by its offsets. @type {WeakMap<Node, {s: number, e: number, exact: boolean}>} */
    this.places = new WeakMap();
    /** Elements of clauses, by id. @type {Map<string, HTMLElement>} */
    this.anchors = new Map();
    this.marks = primaryMarks(document);
  }

  /** Take in the terms that the document has now; returns where they stand. @returns {number[]} */
  addTerms() {
    const terms = freeTerms(this.document.terms, this.marks);
    this.marks = inOrder([...this.marks, ...terms]);
    return terms.map(({ start }) => start);
  }

  /** @returns {import("./markdown.js").Hooks} */
  hooks() {
    return {
      text: (s, text, e, plain) => this.text(s, text, e, plain),
      link: (s, e) => this.link(s, e),
      marker: (s) => this.marker(s),
    };
  }

  text(s, text, e, plain) {
    if (e - s !== text.length || !this.document.text.startsWith(text, s)) return [this.node(s, text, e)];
    const nodes = [];
    let at = s;
    const end = s + text.length;
    const gap = (to) => {
      if (to > at) nodes.push(...this.found(at, text.slice(at - s, to - s)));
      at = Math.max(at, to);
    };
    for (const mark of this.between(s, end)) {
      const from = Math.max(mark.start, s);
      const to = Math.min(mark.end, end);
      if (plain) continue;
      const wrap = mark.make(this);
      gap(from);
      wrap.append(...this.found(from, text.slice(from - s, to - s)));
      nodes.push(wrap);
      at = to;
    }
    gap(end);
    return nodes;
  }

  /** Marks that touch a stretch of the source. */
  *between(start, end) {
    let k = Math.max(0, lastAtOrBelow(this.marks, start, (mark) => mark.start));
    for (; k < this.marks.length && this.marks[k].start < end; k += 1) {
      if (this.marks[k].end > start) yield this.marks[k];
    }
  }

  /** Text with the sentence that answers, and in the passage the words of the query, marked. */
  found(s, text) {
    const { start, end } = this.answer || { start: 0, end: 0 };
    const [from, to] = [Math.max(0, start - s), Math.min(text.length, end - s)];
    if (from >= to) return this.wordsIn(s, text);
    return [...this.wordsIn(s, text.slice(0, from)), el("span", { class: "answer" }, ...this.wordsIn(s + from, text.slice(from, to))), ...this.wordsIn(s + to, text.slice(to))];
  }

  wordsIn(s, text) {
    if (!text) return [];
    if (!this.words || (this.passage && (s + text.length <= this.passage.start || s >= this.passage.end))) return [this.node(s, text)];
    const nodes = [];
    let at = 0;
    for (const match of text.matchAll(this.words)) {
      if (match.index > at) nodes.push(this.node(s + at, text.slice(at, match.index)));
      nodes.push(el("mark", { class: "word" }, this.node(s + match.index, match[0])));
      at = match.index + match[0].length;
    }
    if (at < text.length) nodes.push(this.node(s + at, text.slice(at)));
    return nodes;
  }

  /** A text node that stands for a stretch of the source, which may be written otherwise there: `&amp;` for `&`. */
  node(s, text, e = s + text.length) {
    const node = document.createTextNode(text);
    this.places.set(node, { s, e, exact: e - s === text.length });
    return node;
  }

  /** A link of the document that the index could follow. */
  link(s, e) {
    const { links } = this.document;
    for (let k = Math.max(0, lastAtOrBelow(links, s, (link) => link.start)); k < links.length && links[k].start < e; k += 1) {
      const link = links[k];
      if (link.end > s && link.goes && link.start <= s + 1 && link.end >= e - 1) return referenceLink(this.document, link);
    }
    return null;
  }

  marker(s) {
    const { clauses } = this.document;
    const clause = clauses[lastAtOrBelow(clauses, s, (item) => item.start)];
    if (!clause || clause.start !== s) return null;
    const link = clauseLink(this, clause);
    link.append(this.node(clause.start, clause.marker));
    return link;
  }
}

/** What the cards show, by the element that they belong to. @type {WeakMap<Element, any>} */
export const cards = new WeakMap();

/** Clause markers and references, in order and without overlaps; `make` gives the element for one. */
function primaryMarks(document) {
  const marks = [];
  for (const clause of document.clauses) {
    const end = clause.start + clause.marker.length;
    // In a list the marker is no text of the item, and is placed by `marker`.
    if (document.text.slice(clause.start, end) === clause.marker) {
      marks.push({ start: clause.start, end, make: (owner) => clauseLink(owner, clause) });
    }
  }
  for (const reference of document.links) {
    const make = () => (reference.goes ? referenceLink(document, reference) : deadReference(reference));
    marks.push({ start: reference.start, end: reference.end, make });
  }
  return inOrder(marks);
}

/** Terms where nothing else is marked. */
function freeTerms(terms, firm) {
  const free = terms.filter(({ start, end }) => {
    const k = lastAtOrBelow(firm, start, (mark) => mark.start);
    return end > start && (!firm[k + 1] || firm[k + 1].start >= end) && (!firm[k] || firm[k].end <= start);
  });
  return free.map(({ start, end, meaning }) => ({ start, end, make: () => termLink(meaning) }));
}

function inOrder(marks) {
  const kept = [];
  for (const mark of marks.sort((a, b) => a.start - b.start)) {
    if (!kept.length || mark.start >= kept[kept.length - 1].end) kept.push(mark);
  }
  return kept;
}

function termLink(meaning) {
  const link = el("a", {
    class: meaning.conflict ? "term conflict" : "term",
    // The section alone would lead to its heading, and long lists of definitions have only one.
    href: readUrl({ doc: meaning.source_doc, section: meaning.source_section, lines: meaning.lines, text: fingerprint(meaning.definition) }),
  });
  cards.set(link, { kind: "term", meaning });
  return link;
}

function clauseLink(marks, clause) {
  const link = el("a", {
    class: "marker",
    href: marks.document.urlOf(clause),
    "aria-label": clause.label,
    tabindex: "-1",
  });
  // Of clauses with the same id the first is meant.
  if (marks.document.find(clause.section_id) === clause) marks.anchors.set(clause.section_id, link);
  return link;
}

function referenceLink(document, reference) {
  const here = reference.goes === document.doc && document.find(reference.target_section);
  const link = el("a", { class: "ref", href: here ? document.urlOf(here) : readUrl({ doc: reference.goes, section: reference.target_section }) });
  if (reference.goes !== document.doc) link.classList.add("elsewhere");
  cards.set(link, { kind: "reference", reference });
  return link;
}

function deadReference(reference) {
  return el("span", { class: "ref-unknown", title: reference.reason || "Where this leads is not known" });
}

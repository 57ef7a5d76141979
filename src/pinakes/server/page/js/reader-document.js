/** A document as the reader needs it: the server's answer, and ways to ask what stands where. */

import { linkDefinitions } from "./markdown-lines.js";

/** The index of the last item whose `key` is not above `value`, or -1; items are in order. */
export function lastAtOrBelow(items, value, key) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(items[middle]) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export class ReaderDocument {
  /** @param {any} data answer of `/api/document`, with offsets that fit JavaScript's strings */
  constructor(data) {
    this.data = data;
    this.doc = data.doc;
    this.title = data.title || "Untitled";
    this.text = data.text || "";
    this.bodyStart = data.body_start;
    this.plain = /^\.?(?:txt|text|log)$/i.test(data.file_type || "");
    this.pdf = /^\.?pdf$/i.test(data.file_type || "");
    /** Sections with a heading, in the order of the text. */
    this.sections = ordered(data.sections).filter((section) => section.heading);
    this.sections.forEach((section, index) => Object.assign(section, { index }));
    this.clauses = ordered(data.clauses);
    this.references = ordered(data.references);
    /** Uses of defined terms, each with what the term means. */
    this.terms = [];
    this.pages = data.pages.map((start, index) => ({ start, page: index + 1 }));
    this.definitions = linkDefinitions(this.text);
    this.byId = new Map();
    for (const item of [...this.sections, ...this.clauses]) {
      if (item.section_id && !this.byId.has(item.section_id)) this.byId.set(item.section_id, item);
    }
    this.backReferences = groupBy(data.back_references, (item) => item.target_section);
    this.links = linkTargets(this.references, this.doc);
    this.lineStarts = null;
  }

  /**
   * Take in the uses of defined terms, which come after the text.
   * @param {any} data answer of `/api/terms`
   */
  addTerms({ terms, definitions }) {
    this.terms = ordered(terms);
    for (const term of this.terms) term.meaning = definitions[term.definition];
  }

  /** A section or clause by its id. */
  find(id) {
    return this.byId.get(id) || null;
  }

  /** The innermost section that an offset stands in. */
  sectionAt(offset) {
    return this.sections[lastAtOrBelow(this.sections, offset, (section) => section.start)] || null;
  }

  /** The innermost clause that an offset stands in. */
  clauseAt(offset) {
    for (let k = lastAtOrBelow(this.clauses, offset, (clause) => clause.start), n = 0; k >= 0 && n < 200; k -= 1, n += 1) {
      if (this.clauses[k].end > offset) return this.clauses[k];
    }
    return null;
  }

  /** The line of an offset, counted from 1. */
  lineAt(offset) {
    return lastAtOrBelow(this.starts(), offset, (start) => start) + 1;
  }

  /** Where a line begins. */
  lineStart(line) {
    const starts = this.starts();
    return line <= starts.length ? starts[Math.max(0, line - 1)] : this.text.length;
  }

  starts() {
    if (!this.lineStarts) {
      this.lineStarts = [0];
      for (let at = this.text.indexOf("\n"); at >= 0; at = this.text.indexOf("\n", at + 1)) this.lineStarts.push(at + 1);
    }
    return this.lineStarts;
  }

  /** The page of an offset, or 0. */
  pageAt(offset) {
    return this.pages[lastAtOrBelow(this.pages, offset, (page) => page.start)]?.page || this.pages[0]?.page || 0;
  }

  /** Where a section's own text ends: at its first subsection. */
  ownEnd(item) {
    if (item.index === undefined) return item.end;
    const next = this.sections[item.index + 1];
    return next && next.start < item.end ? next.start : item.end;
  }

  /** How a section or clause is named: its label, or its heading. */
  nameOf(item) {
    return item.label || item.heading || item.title || "";
  }
}

/** In the order of the text, what is outside first. */
const ordered = (items) => items.sort((a, b) => a.start - b.start || b.end - a.end);

/** References that lead somewhere, in order and without overlaps. */
function linkTargets(references, doc) {
  const kept = [];
  for (const reference of references) {
    const last = kept[kept.length - 1];
    if (reference.end <= reference.start || (last && reference.start < last.end)) continue;
    const goes = reference.doc ?? (reference.target_section ? doc : null);
    reference.goes = goes && (reference.target_section || goes !== doc) ? goes : null;
    kept.push(reference);
  }
  return kept;
}

function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(item);
  }
  return groups;
}

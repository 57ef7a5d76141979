/** A document as the reader needs it: the server's answer, and ways to ask what stands where. */

import { BEGINNING, Words } from "./fingerprints.js";
import { linkDefinitions } from "./markdown-lines.js";
import { readUrl } from "./router.js";

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
      for (const id of [item.section_id, item.place_id]) if (id && !this.byId.has(id)) this.byId.set(id, item);
    }
    /** Citations by the ids of the places that they are citations of; those of the whole document have none. */
    this.backReferences = groupBy(data.back_references, (item) => (item.cites.length ? item.cites : [""]));
    this.links = linkTargets(this.references, this.doc);
    this.lineStarts = null;
    this.allWords = null;
  }

  /** The words of the text, to tell and to find fingerprints. */
  get words() {
    return (this.allWords ??= new Words(this.text));
  }

  /** The address of a section or clause, or of the whole document, which finds it again when the document changes. */
  urlOf(item, more = {}) {
    const text = item && this.words.mark(item.start, item.end, BEGINNING);
    return readUrl({ doc: this.doc, place: item?.place_id || this.data.place_id, section: item?.section_id, text, ...more });
  }

  /** The innermost section or clause that an offset stands in. */
  placeAt(offset) {
    return this.clauseAt(offset) || this.sectionAt(offset);
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

  /** The line of the file that an offset stands on, or its paragraph, counted from 1. */
  lineAt(offset) {
    const starts = this.starts();
    return starts[lastAtOrBelow(starts, offset, ({ start }) => start)].line;
  }

  /** Where the line of an offset begins. */
  lineBegin(offset) {
    return this.text.lastIndexOf("\n", offset - 1) + 1;
  }

  /** Where a line begins. */
  lineStart(line) {
    const starts = this.starts();
    const before = lastAtOrBelow(starts, line - 1, (item) => item.line);
    return starts[before + 1]?.start ?? this.text.length;
  }

  /** The lines of the text, with the numbers that they have in the file: where it was converted, they are counted anew now and then. */
  starts() {
    if (!this.lineStarts) {
      const anew = this.data.line_starts;
      this.lineStarts = [];
      for (let at = 0, line = 1, k = 0; ; line += 1) {
        for (; k < anew.length && anew[k][0] <= at; k += 1) line = anew[k][1] + this.text.slice(anew[k][0], at).split("\n").length - 1;
        this.lineStarts.push({ start: at, line });
        const end = this.text.indexOf("\n", at);
        if (end < 0) break;
        at = end + 1;
      }
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

function groupBy(items, keys) {
  const groups = new Map();
  for (const item of items) {
    for (const name of keys(item)) {
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(item);
    }
  }
  return groups;
}

/**
 * The text of a document, shown in slabs. Every slab has its place and an estimated height from the start; the wanted
 * one is filled first, the others when there is time. The browser lays out only those near the screen
 * (`content-visibility`), so that a long document opens and scrolls like a short one.
 */

import { el } from "./text.js";
import { blocksOf } from "./markdown-blocks.js";
import { linesOf, plainBlocksOf } from "./markdown-lines.js";
import { Renderer, unmarked } from "./markdown.js";
import { lastAtOrBelow } from "./reader-document.js";
import { backReferences } from "./reader-back.js";

const SLAB = 5000; // characters of the source
const LINE = 27; // pixels, about; only for heights of what was never shown

/**
 * @typedef {{start: number, section?: any, block?: import("./markdown-blocks.js").Block, pages: number[], element?: HTMLElement}} Unit
 * @typedef {{start: number, units: Unit[], element: HTMLElement, filled: boolean}} Slab
 */

export class Body {
  /**
   * @param {import("./reader-document.js").ReaderDocument} document
   * @param {import("./reader-marks.js").Marks} marks
   * @param {{cite: (item: any) => void, page: (page: number) => void, titleInside: boolean}} acts
   */
  constructor(document, marks, acts) {
    this.document = document;
    this.marks = marks;
    this.acts = acts;
    this.passage = /** @type {{start: number, end: number} | null} */ (null);
    this.renderer = new Renderer(document.definitions, marks.hooks());
    this.element = el("div", { class: "slabs", lang: document.data.language || null });
    this.slabs = this.arrange(unitsOf(document));
    this.element.append(...this.slabs.map((slab) => slab.element));
    this.idle = 0;
  }

  /** @param {Unit[]} units @returns {Slab[]} */
  arrange(units) {
    const slabs = [];
    let slab = null;
    let lines = 0;
    const close = () => slab?.element.style.setProperty("contain-intrinsic-size", `auto ${Math.round(lines * LINE)}px`);
    units.forEach((unit, k) => {
      const next = k + 1 < units.length ? units[k + 1].start : this.document.text.length;
      if (!slab || unit.start - slab.start > SLAB || slab.units.length >= 40) {
        close();
        slab = { start: unit.start, units: [], element: el("div", { class: "slab" }), filled: false };
        slabs.push(slab);
        lines = 0;
      }
      slab.units.push(unit);
      lines += (unit.block?.lines?.length && unit.block.type === "code" ? unit.block.lines.length : (next - unit.start) / 68) + 1;
    });
    close();
    return slabs;
  }

  slabAt(offset) {
    return Math.max(0, lastAtOrBelow(this.slabs, offset, (slab) => slab.start));
  }

  /** Show what a slab holds. */
  fill(index) {
    const slab = this.slabs[index];
    if (!slab || slab.filled) return;
    slab.filled = true;
    for (const unit of slab.units) {
      for (const page of unit.pages) slab.element.append(this.pageNumber(page));
      if (unit.section) this.heading(slab, unit);
      else this.paragraph(slab, unit);
    }
  }

  /** Draw the paragraphs anew in which something is marked that was not known before. @param {number[]} places in order */
  redrawAt(places) {
    this.redraw(({ s, e }, element) => !element.contains(document.activeElement) && (places[lastAtOrBelow(places, e - 1, (at) => at)] ?? -1) >= s);
  }

  /** Draw some paragraphs anew. @param {(block: any, element: HTMLElement) => boolean} wanted */
  redraw(wanted) {
    for (const slab of this.slabs) {
      if (!slab.filled) continue;
      for (const unit of slab.units) {
        const { block, element: old } = unit;
        if (!block || !wanted(block, old)) continue;
        const element = this.renderer.block(block);
        element.classList.add(...old.classList);
        old.replaceWith(element);
        unit.element = element;
        this.mark(unit);
      }
    }
  }

  fillAll() {
    this.slabs.forEach((_slab, index) => this.fill(index));
  }

  /** Fill the rest when the browser has time, the nearest first. */
  fillRest(from) {
    const order = this.slabs.map((_slab, index) => index).filter((index) => !this.slabs[index].filled);
    order.sort((a, b) => Math.abs(b - from) - Math.abs(a - from));
    const later = window.requestIdleCallback || ((act) => setTimeout(() => act({ timeRemaining: () => 8 }), 30));
    const step = (deadline) => {
      do this.fill(order.pop());
      while (order.length && deadline.timeRemaining() > 4);
      if (order.length) this.idle = later(step);
    };
    if (order.length) this.idle = later(step);
  }

  stop() {
    (window.cancelIdleCallback || clearTimeout)(this.idle);
  }

  heading(slab, unit) {
    const { document } = this;
    const { section } = unit;
    const top = this.acts.titleInside && section.index === 0;
    const tag = top ? "h1" : `h${Math.min(6, Math.max(2, section.level + (this.acts.titleInside ? 0 : 1)))}`;
    const name = document.nameOf(section);
    const words = this.headingText(section);
    const element = el(tag, { class: `heading level-${Math.min(6, section.level)}`, id: `s-${section.section_id}`, tabindex: "-1", dir: "auto" }, words);
    const row = el(
      "div",
      { class: `heading-row level-${Math.min(6, section.level)}` },
      element,
      el(
        "span",
        { class: "heading-acts" },
        el("a", { href: document.urlOf(section), "aria-label": `Link to ${name}`, title: "Link to this section" }, "#"),
        el("button", { "aria-label": `Cite ${name}`, title: "Cite this section", on: { click: () => this.acts.cite(section) } }, "Cite"),
      ),
    );
    unit.element = element;
    this.mark(unit);
    slab.element.append(withBack(row, backReferences(document, section)));
  }

  headingText(section) {
    const { text } = this.document;
    const at = text.indexOf(section.heading, section.start);
    const hooks = this.marks.hooks();
    if (at < 0 || at >= Math.max(section.body, section.start + 1)) {
      // It is written otherwise there, such as on two lines: all of it stands for all of that.
      const whole = { ...unmarked, text: (_s, said) => [this.marks.node(section.start, said, section.body)] };
      return new Renderer(this.document.definitions, whole).inline([{ s: section.start, t: section.heading }]);
    }
    const { label, heading } = section;
    if (!label || !heading.startsWith(label) || heading.length <= label.length) return this.renderer.inline([{ s: at, t: heading }]);
    const length = label.length + /^[.:)]*/.exec(heading.slice(label.length))[0].length;
    const rest = { s: at + length, t: heading.slice(length) };
    return [el("span", { class: "no" }, ...hooks.text(at, heading.slice(0, length), rest.s, true)), ...this.renderer.inline([rest])];
  }

  paragraph(slab, unit) {
    const { block } = unit;
    const element = this.renderer.block(block);
    const clause = this.document.clauseAt(block.s);
    if (clause && block.type !== "table") {
      const hangs = clause.start === block.s;
      const depth = clause.depth - (hangs && block.type === "list" ? 1 : 0);
      if (depth > 0) element.classList.add("clause", `d${Math.min(6, depth)}`);
      if (hangs && block.type !== "list") element.classList.add("hangs");
    }
    unit.element = element;
    this.mark(unit);
    const back = clause?.start === block.s ? backReferences(this.document, clause) : null;
    slab.element.append(withBack(element, back));
  }

  /** Show another passage as the one that is meant. */
  show(passage) {
    this.passage = passage;
    for (const slab of this.slabs) if (slab.filled) slab.units.forEach((unit) => this.mark(unit));
  }

  /** Mark what a unit has of the passage; of a list only the items. */
  mark({ section, block, element }) {
    const { passage } = this;
    const mark = (node, start, end) => node.classList.toggle("hit", Boolean(passage && start < passage.end && end > passage.start));
    if (section) mark(element.parentElement, section.start, section.body);
    else if (block.type !== "list") mark(element, block.s, block.e);
    else block.items.forEach((item, k) => mark(element.children[k], item.s, block.items[k + 1]?.s ?? block.e));
  }

  pageNumber(page) {
    const act = () => this.acts.page(page);
    return this.document.pdf
      ? el("button", { class: "page-number", "aria-label": `Page ${page}, show its picture`, title: "Show the picture of this page", on: { click: act } }, `p. ${page}`)
      : el("span", { class: "page-number" }, `p. ${page}`);
  }

  /** The element that shows an offset, once its slab is filled. */
  elementAt(offset) {
    const slab = this.slabs[this.slabAt(offset)];
    return slab ? slab.units[Math.max(0, lastAtOrBelow(slab.units, offset, (unit) => unit.start))]?.element || slab.element : null;
  }

  /** The element inside a block that begins at an offset: an item of a list, a row of a table. */
  innerAt(offset) {
    const element = this.elementAt(offset);
    const walk = element && document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walk?.nextNode(); node; node = walk.nextNode()) {
      const place = this.marks.places.get(node);
      if (place && place.e > offset) return node.parentElement.closest("li, tr, p, pre") || element;
    }
    return element;
  }

  /** Where the sentence that answers begins on the page. */
  answerElement() {
    return this.element.querySelector(".answer");
  }

  /** The offset of what stands at a height of the screen. */
  offsetAt(y) {
    const slab = this.slabs[Math.max(0, lastAtOrBelow(this.slabs, y, ({ element }) => element.getBoundingClientRect().top))];
    let offset = slab?.start ?? 0;
    for (const unit of slab?.units || []) {
      if (!unit.element || unit.element.getBoundingClientRect().top > y) break;
      offset = unit.start;
    }
    return offset;
  }
}

/** A block and what refers to it, which stands beside it or below. */
function withBack(element, back) {
  return back ? el("div", { class: "with-back" }, back, element) : element;
}

/** Headings and blocks in the order of the text, each with the pages that begin there. @returns {Unit[]} */
function unitsOf(document) {
  /** @type {Unit[]} */
  const units = [];
  const read = document.plain ? plainBlocksOf : blocksOf;
  const add = (start, end) => {
    for (const block of read(linesOf(document.text, start, end))) units.push({ start: block.s, block, pages: [] });
  };
  const { sections } = document;
  add(document.bodyStart, sections.length ? sections[0].start : document.text.length);
  sections.forEach((section, k) => {
    units.push({ start: section.start, section, pages: [] });
    add(section.body, k + 1 < sections.length ? sections[k + 1].start : document.text.length);
  });
  let k = 0;
  for (const { start, page } of document.pages) {
    while (k + 1 < units.length && endOf(units[k]) <= start) k += 1;
    units[k]?.pages.push(page);
  }
  return units;
}

const endOf = (unit) => (unit.section ? unit.section.body : unit.block.e);

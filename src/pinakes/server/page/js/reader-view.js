/** The reader: a document with its outline, the passage that was found, and what its words lead to. */

import { openCite } from "./cite.js";
import { bindKeys } from "./keys.js";
import { mapUrl, navigate, readUrl, searchUrl } from "./router.js";
import { announce, count, el, fileName, languageName, replace } from "./text.js";
import { Body } from "./reader-body.js";
import { installCards } from "./reader-card.js";
import { Drawer } from "./reader-drawer.js";
import { Marks } from "./reader-marks.js";
import { Outline } from "./reader-outline.js";
import { PagePane } from "./reader-pages.js";
import { passageOf } from "./reader-passage.js";
import { Position } from "./reader-position.js";
import { installSelection } from "./reader-selection.js";

export { ReaderDocument } from "./reader-document.js";

export class Reader {
  constructor(container, reading, params, api) {
    this.reading = reading;
    this.api = api;
    this.params = params;
    this.life = new AbortController();
    const { passage, target, words } = passageOf(reading, params);
    this.marks = new Marks(reading, passage, words);
    const cite = (item) => openCite(api, { doc: reading.doc, section_id: item?.section_id, lines: item?.lines, pages: item?.pages });
    this.titleInside = sameWords(reading.sections[0]?.heading, reading.title) && reading.sections[0].level <= 1;
    this.body = new Body(reading, this.marks, { cite, titleInside: this.titleInside, page: (page) => this.showPage(page) });
    this.body.passage = this.match = passage;
    this.position = new Position(this.body, (offset) => this.moved(offset));
    this.outline = reading.sections.length ? new Outline(reading, (section) => this.choose(section)) : null;
    this.pane = reading.pdf && reading.pages.length ? new PagePane(reading, api, { go: (page) => this.goPage(page), closed: () => this.paneToggled() }) : null;
    this.cite = () => cite(reading.sectionAt(this.position.offset));
    this.lay(container, params);
    this.ends = [
      installCards(this.root, reading, api),
      installSelection(this.root, reading, this.marks, api),
      bindKeys({ o: () => this.drawer?.toggle(), c: () => this.cite(), n: () => this.step(1), p: () => this.step(-1), m: () => this.toMatch() }),
      () => this.position.stop(),
      () => this.body.stop(),
      () => this.pane?.stop(),
    ];
    window.addEventListener("beforeprint", () => this.body.fillAll(), { signal: this.life.signal });
    this.root.addEventListener("click", (event) => this.follow(event));
    this.begin(passage, target);
  }

  lay(container, params) {
    const { reading } = this;
    const query = params.get("q");
    this.where = el("span", { class: "where", dir: "auto" });
    this.pageButton = this.pane && el("button", { class: "quiet", "aria-pressed": "false", on: { click: () => this.pane.toggle(!this.pane.open) || this.paneToggled() } }, "Page picture");
    this.drawer = this.outline ? new Drawer(this.outline.element, () => this.outline.focus(this.outline.stop)) : null;
    const bar = el(
      "div",
      { class: "reader-bar" },
      this.drawer?.button,
      this.where,
      el(
        "span",
        { class: "reader-acts" },
        this.body.passage && query ? el("button", { class: "quiet", on: { click: () => this.toMatch() } }, "To the match") : null,
        this.pageButton,
        el("button", { class: "quiet", on: { click: () => this.cite() } }, "Cite"),
      ),
    );
    const article = el("article", { class: "document", "aria-label": reading.title }, this.head(query), this.body.element);
    this.root = el("div", { class: this.drawer ? "reader" : "reader bare" }, this.drawer?.element, el("div", { class: "reader-main" }, bar, article), this.pane?.element);
    replace(container, this.root);
  }

  head(query) {
    const { reading } = this;
    const { data } = reading;
    const facts = [
      fileName(data.source_path || ""),
      data.language ? languageName(data.language) : "",
      reading.pages.length ? count(reading.pages.length, "page") : "",
      reading.sections.length > 1 ? count(reading.sections.length, "section") : "",
      data.borne_out ? `borne out: ${data.borne_out}` : "",
    ].filter(Boolean);
    const wanted = this.params.get("section");
    const missing = wanted && !reading.find(wanted) && !this.body.passage ? wanted.slice(0, 80) : "";
    return el(
      "header",
      { class: "document-head" },
      el("p", { class: "document-facts small soft" }, facts.join(" · "), " · ", el("a", { href: mapUrl({ doc: reading.doc }) }, "on the map"), query && [" · ", el("a", { href: searchUrl({ q: query }) }, "back to the results")]),
      this.titleInside ? null : el("h1", { class: "heading level-1", dir: "auto" }, reading.title),
      missing && el("p", { class: "document-note small" }, `There is no section “${missing}” in this document; this is its beginning.`),
    );
  }

  /** Show the wanted place first, the rest when there is time. */
  begin(passage, target) {
    const { kept } = this.position;
    const offset = kept ?? passage?.start ?? target?.start ?? -1;
    const first = this.body.slabAt(Math.max(0, offset));
    for (const index of [first, first + 1, first - 1, 0]) this.body.fill(index);
    if (kept) this.position.go(kept);
    else if (offset > 0) this.position.go(offset, passage ? this.innerOf(passage) : this.anchorOf(target), passage ? this.room() : 0);
    else window.scrollTo(0, 0);
    this.position.start();
    this.addTerms().finally(() => this.life.signal.aborted || this.body.fillRest(first));
    this.flash(target);
    if (target) announce(`${this.reading.title}, ${this.reading.nameOf(target)}`);
  }

  /** Mark the defined terms, once the text is shown: finding them takes the server longer than all the rest. */
  async addTerms() {
    const { reading } = this;
    try {
      const found = await this.api.get("terms", { doc: reading.doc, offsets: "utf16" }, { signal: this.life.signal });
      // Of another state of the library they may stand at other places.
      if (found.generation !== reading.data.generation) return;
      reading.addTerms(found);
      this.body.redraw(this.marks.addTerms());
    } catch {
      // The text can be read without them.
    }
  }

  /** Where a passage begins inside a list or a table. */
  innerOf(passage) {
    return this.body.innerAt(passage.start);
  }

  /** The element of a clause that stands inside a paragraph. */
  anchorOf(target) {
    return target && !target.heading ? this.marks.anchors.get(target.section_id) || null : null;
  }

  flash(target) {
    this.root.querySelector(".target")?.classList.remove("target");
    if (!target) return;
    this.body.fill(this.body.slabAt(target.start));
    this.body.elementAt(target.start)?.classList.add("target");
  }

  /** A new address of the same document only moves the text; answers whether that was all. */
  update(next) {
    const same = (name) => (next.get(name) || "") === (this.params.get(name) || "");
    if (!same("doc") || (next.get("q") && !same("q"))) return false;
    const lines = next.get("lines") ? passageOf(this.reading, next).passage : null;
    const moved = !same("lines");
    if (next.get("q") && lines) this.match = lines;
    this.params = new URLSearchParams([...next, ...(next.get("q") ? [] : [["q", this.params.get("q") || ""]])]);
    if (moved) this.body.show(lines || this.match);
    const target = this.reading.find(next.get("section") || "");
    const { kept } = this.position;
    this.flash(lines ? null : target);
    if (kept !== null) this.position.go(kept);
    else if (lines) this.goLines(lines, target);
    else if (target) this.goTo(target);
    else window.scrollTo(0, 0);
    return true;
  }

  /** To some lines: those that define a term, or those of an address. */
  goLines(lines, target) {
    this.body.fill(this.body.slabAt(lines.start));
    const element = this.innerOf(lines);
    this.position.go(lines.start, element, this.room(lines));
    if (element && !element.hasAttribute("tabindex")) element.setAttribute("tabindex", "-1");
    element?.focus({ preventScroll: true });
    const here = this.reading.clauseAt(lines.start) || target || this.reading.sectionAt(lines.start);
    announce(here ? this.reading.nameOf(here) : "");
  }

  goTo(item) {
    this.body.fill(this.body.slabAt(item.start));
    this.position.go(item.start, this.anchorOf(item));
    this.flash(item);
    const element = item.heading ? this.body.elementAt(item.start) : this.anchorOf(item) || this.body.elementAt(item.start);
    element?.focus({ preventScroll: true });
    announce(this.reading.nameOf(item));
  }

  choose(section) {
    this.drawer?.close();
    navigate(readUrl({ doc: this.reading.doc, section: section.section_id }));
  }

  /** A link to where one is already would otherwise do nothing. */
  follow(event) {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || link.href !== location.href || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const { searchParams } = new URL(link.href);
    if (!searchParams.get("lines") && !this.reading.find(searchParams.get("section") || "")) return;
    event.preventDefault();
    // Not to where it was scrolled to since.
    history.replaceState({ ...history.state, scroll: 0 }, "");
    this.update(searchParams);
  }

  /** To the next section, or the one before. */
  step(by) {
    const { sections } = this.reading;
    const here = this.reading.sectionAt(this.position.offset)?.index ?? -1;
    const next = sections[Math.max(0, Math.min(sections.length - 1, here + by))];
    if (!next) return;
    const { match } = this;
    const lines = match && [match.start, match.end - 1].map((at) => this.reading.lineAt(at));
    // The match is still meant, and somebody who leafs through goes back with one step.
    navigate(readUrl({ doc: this.reading.doc, section: next.section_id, lines, q: this.params.get("q") }), { replace: true, quiet: true });
    this.params = new URLSearchParams(location.search);
    this.goTo(next);
  }

  toMatch() {
    const { match } = this;
    if (!match) return;
    this.body.show(match);
    this.body.fill(this.body.slabAt(match.start));
    this.position.go(match.start, this.innerOf(match), this.room(match));
  }

  /** A passage in the middle of a section is shown with a little of what stands before it. */
  room({ start } = this.match) {
    return start > (this.reading.sectionAt(start)?.body ?? 0) ? 0.15 : 0;
  }

  moved(offset) {
    const section = this.reading.sectionAt(offset);
    this.outline?.mark(section);
    const way = [];
    for (let node = section && this.outline?.nodes[section.index]; node; node = node.parent) way.unshift(node.section);
    const shown = way.length > 1 && this.titleInside ? way.slice(1) : way;
    const page = this.reading.pageAt(offset);
    const text = shown.map((item, k) => (k === shown.length - 1 ? item.heading : this.reading.nameOf(item))).join(" › ");
    this.where.textContent = [text || this.reading.title, page ? `p. ${page}` : ""].filter(Boolean).join(" · ");
    if (page) this.pane?.follow(page);
  }

  showPage(page) {
    this.pane?.toggle(true, page);
    this.paneToggled();
  }

  goPage(page) {
    const start = this.reading.pages.find((item) => item.page === page)?.start;
    if (start !== undefined) this.position.go(start);
  }

  paneToggled() {
    const open = Boolean(this.pane?.open);
    this.pageButton?.setAttribute("aria-pressed", String(open));
    if (this.root.classList.contains("with-pages") === open) return;
    // The text gets another width: what was read, best the passage, stays in sight.
    const { offset } = this.position;
    const { passage } = this.body;
    const hit = this.root.querySelector(".hit");
    const { top, bottom } = hit?.getBoundingClientRect() || { top: 0, bottom: 0 };
    const seen = bottom > 0 && top < innerHeight;
    this.root.classList.toggle("with-pages", open);
    const go = () => (seen ? this.position.go(passage.start, hit, this.room(passage)) : this.position.go(offset));
    requestAnimationFrame(() => requestAnimationFrame(() => this.life.signal.aborted || go()));
  }

  stop() {
    this.life.abort();
    for (const end of this.ends) end();
  }
}

function sameWords(one, other) {
  const plain = (text) => (text || "").replace(/[*_`]/g, "").replace(/\s+/g, " ").trim().toLowerCase();
  return Boolean(one) && plain(one) === plain(other);
}

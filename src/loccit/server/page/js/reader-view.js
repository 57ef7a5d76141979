/** The reader: a document with its outline, the passage that was found, and what its words lead to. */

import { openCite } from "./cite.js";
import { BEGINNING } from "./fingerprints.js";
import { bindKeys } from "./keys.js";
import { mapUrl, navigate, rewrite, searchBefore, searchUrl } from "./router.js";
import { announce, count, el, fileName, languageName, replace } from "./text.js";
import { answerIn } from "./reader-answer.js";
import { backReferences } from "./reader-back.js";
import { Body } from "./reader-body.js";
import { installCards } from "./reader-card.js";
import { Drawer } from "./reader-drawer.js";
import { Marks } from "./reader-marks.js";
import { Matches } from "./reader-matches.js";
import { addressNote } from "./reader-note.js";
import { Outline } from "./reader-outline.js";
import { PagePane } from "./reader-pages.js";
import { passageOf } from "./reader-passage.js";
import { Position } from "./reader-position.js";
import { installSelection } from "./reader-selection.js";

export { ReaderDocument } from "./reader-document.js";

const NEAR = 600; // characters, which take half a screen where it is narrow

export class Reader {
  constructor(container, reading, params, api) {
    this.reading = reading;
    this.api = api;
    this.params = params;
    this.life = new AbortController();
    const found = passageOf(reading, params);
    const { passage, target, words } = found;
    this.marks = new Marks(reading, passage, words);
    this.marks.answer = answerIn(reading, passage, words);
    this.matches = new Matches(reading, words ? passage : null, { go: (match) => this.toMatch(match), away: () => this.awayFrom() });
    this.note = addressNote(reading, api);
    const cite = (item) => openCite(api, citedPlace(reading, item));
    this.titleInside = sameWords(reading.sections[0]?.heading, reading.title) && reading.sections[0].level <= 1;
    this.body = new Body(reading, this.marks, { cite, titleInside: this.titleInside, page: (page) => this.showPage(page) });
    this.body.passage = passage;
    this.position = new Position(this.body, (offset) => this.moved(offset));
    this.outline = reading.sections.length ? new Outline(reading, (section) => this.choose(section)) : null;
    this.pane = reading.pdf && reading.pages.length ? new PagePane(reading, api, { go: (page) => this.goPage(page), closed: () => this.paneToggled() }) : null;
    this.cite = () => cite(this.citable ? this.marked() : reading.sectionAt(this.position.offset));
    this.lay(container, params);
    this.ends = [
      installCards(this.root, reading, api),
      installSelection(this.root, reading, this.marks, api),
      bindKeys({ o: () => this.drawer?.toggle(), c: () => this.cite(), n: () => this.step(1), p: () => this.step(-1), m: () => this.matches.step(1), M: () => this.matches.step(-1) }),
      () => this.position.stop(),
      () => this.body.stop(),
      () => this.pane?.stop(),
    ];
    window.addEventListener("beforeprint", () => this.body.fillAll(), { signal: this.life.signal });
    this.root.addEventListener("click", (event) => this.follow(event));
    this.begin(passage, target);
    this.settle(found);
    const query = params.get("q");
    // A document can be read without its other matches.
    if (words && query) this.matches.load(api, query, this.life.signal).catch(() => {});
  }

  /** Say what became of the place since its address was made, and write down where it stands now. */
  settle({ passage, target, state }) {
    this.note.show(state, { target, passage, params: this.params });
    this.checked = state !== "unchecked";
    if (["", "moved"].includes(state)) {
      const meant = this.params.get("lines") && passage;
      const text = meant && this.reading.words.mark(passage.start, passage.end);
      const lines = meant && [passage.start, passage.end - 1].map((at) => this.reading.lineAt(at));
      rewrite(this.reading.urlOf(target, { q: this.params.get("q"), ...(meant ? { lines, text } : {}) }));
      this.params = new URLSearchParams(location.search);
    }
  }

  lay(container, params) {
    const { reading } = this;
    this.where = el("span", { class: "where", dir: "auto" });
    this.pageButton = this.pane && el("button", { class: "quiet", "aria-pressed": "false", on: { click: () => this.pane.toggle(!this.pane.open) || this.paneToggled() } }, "Page picture");
    this.drawer = this.outline ? new Drawer(this.outline.element, () => this.outline.focus(this.outline.stop)) : null;
    const bar = el(
      "div",
      { class: "reader-bar" },
      el(
        "div",
        { class: "reader-way" },
        this.wayBack(params.get("q")),
        el("a", { class: "reader-title", href: reading.urlOf(null), title: reading.title, dir: "auto" }, reading.title),
      ),
      this.drawer?.button,
      this.where,
      el(
        "span",
        { class: "reader-acts" },
        this.matches.element,
        this.pageButton,
        el("button", { class: "quiet", on: { click: () => this.cite() } }, "Cite"),
      ),
    );
    bar.append(this.note.element);
    const article = el("article", { class: "document", "aria-label": reading.title }, this.head(), this.body.element);
    this.root = el("div", { class: this.drawer ? "reader" : "reader bare" }, this.drawer?.element, el("div", { class: "reader-main" }, bar, article), this.pane?.element);
    replace(container, this.root);
    // On a narrow screen the bar stands below the picture of a page.
    if (this.pane) new ResizeObserver(() => this.root.style.setProperty("--pane", `${this.pane.element.offsetHeight}px`)).observe(this.pane.element);
  }

  /** To where one came from, in the state in which it was left. */
  wayBack(query) {
    const from = searchBefore();
    const asked = from ? new URL(from.url, location.href).searchParams.get("q") : query;
    const back = (event) => {
      const before = searchBefore();
      if (!before || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      history.go(-before.steps);
    };
    return el("a", { class: "reader-back", href: from?.url || searchUrl({ q: query }), on: { click: back } }, el("span", { "aria-hidden": "true" }, "← "), asked ? "Results" : "Search");
  }

  head() {
    const { reading } = this;
    const { data } = reading;
    const facts = [
      fileName(data.source_path || ""),
      data.language ? languageName(data.language) : "",
      reading.pages.length ? count(reading.pages.length, "page") : "",
      reading.sections.length > 1 ? count(reading.sections.length, "section") : "",
      data.borne_out ? `confirmed: ${data.borne_out}` : "",
    ].filter(Boolean);
    return el(
      "header",
      { class: "document-head" },
      el("p", { class: "document-facts small soft" }, facts.join(" · "), " · ", el("a", { href: mapUrl({ doc: reading.doc }) }, "on the map")),
      this.titleInside ? null : el("h1", { class: "heading level-1", dir: "auto" }, reading.title),
      backReferences(reading, null),
    );
  }

  /** Show the wanted place first, the rest when there is time. */
  begin(passage, target) {
    const { kept, room } = this.keptPlace();
    const offset = kept ?? this.marks.answer?.start ?? passage?.start ?? target?.start ?? -1;
    const first = this.body.slabAt(Math.max(0, offset));
    for (const index of [first, first + 1, first - 1, 0]) this.body.fill(index);
    if (kept) this.position.go(kept, null, room);
    else if (passage) this.goMatch(passage);
    else if (offset > 0) this.position.go(offset, this.anchorOf(target));
    else window.scrollTo(0, 0);
    this.position.start();
    this.addTerms().finally(() => this.life.signal.aborted || this.body.fillRest(first));
    this.flash(target);
    if (target) announce(`${this.reading.title}, ${this.reading.nameOf(target)}`);
  }

  /** What is on the screen, by its words: after a change they may stand elsewhere. */
  place() {
    const offset = this.position.here();
    const section = this.reading.sectionAt(offset);
    const end = Math.max(offset + 1, Math.min(offset + 2000, section ? section.end : Infinity));
    const top = this.body.elementAt(offset)?.getBoundingClientRect().top ?? 0;
    return { at: offset, words: this.reading.words.mark(offset, end, BEGINNING), above: (top - this.position.top()) / innerHeight };
  }

  /** Where this entry of the history was left, by its words where the document was loaded anew. */
  keptPlace() {
    const { kept } = this.position;
    const { words, above = 0, ...rest } = history.state || {};
    if (!words) return { kept, room: 0 };
    history.replaceState(rest, "");
    const far = ({ start }) => Math.abs(start - rest.at);
    const [found] = this.reading.words.find(words).sort((a, b) => far(a) - far(b));
    return { kept: found ? this.reading.lineBegin(found.start) : null, room: above };
  }

  /** Mark the defined terms, once the text is shown: finding them takes the server longer than all the rest. */
  async addTerms() {
    const { reading } = this;
    try {
      const found = await this.api.get("terms", { doc: reading.doc, offsets: "utf16" }, { signal: this.life.signal });
      // Of another state of the library they may stand at other places.
      if (found.generation !== reading.data.generation) return;
      reading.addTerms(found);
      this.body.redrawAt(this.marks.addTerms());
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
    const found = passageOf(this.reading, next);
    const { target } = found;
    const lines = next.get("lines") ? found.passage : null;
    const q = this.params.get("q");
    if (next.get("q") && lines) this.mean(lines);
    else if (!same("lines") || !same("text")) this.body.show(lines || this.matches.current);
    this.params = next;
    const { kept } = this.position;
    this.flash(lines ? null : target);
    this.settle(found);
    // Links inside the document do not say what was searched for; it is still what one looks for.
    if (q && !this.params.get("q")) this.params.set("q", q);
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
    navigate(this.reading.urlOf(section));
  }

  /** A link to where one is already would otherwise do nothing. */
  follow(event) {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || link.href !== location.href || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const { searchParams } = new URL(link.href);
    if (!searchParams.get("lines") && !this.reading.find(searchParams.get("place") || searchParams.get("section") || "")) return;
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
    // A match is still meant, and somebody who leafs through goes back with one step.
    if (!this.params.get("lines")) {
      navigate(this.reading.urlOf(next, { q: this.params.get("q") }), { replace: true, quiet: true });
      this.params = new URLSearchParams(location.search);
    }
    this.goTo(next);
  }

  /** Show another passage as the one that was searched for, its words and the sentence that answers marked. */
  mean(match) {
    const { marks, reading } = this;
    const olds = [marks.passage, marks.answer];
    marks.passage = match;
    marks.answer = answerIn(reading, match, marks.words);
    const touched = [...olds, match].filter(Boolean);
    this.body.redraw(({ s, e }) => touched.some(({ start, end }) => s < end && e > start));
    this.matches.set(match);
    this.body.show(match);
  }

  /** Whether the passage that is marked is what somebody looks at, and certainly the one that is meant. */
  get citable() {
    return Boolean(this.checked && this.body.passage && this.awayFrom() === null);
  }

  /** The passage that is marked, as something to cite. */
  marked() {
    const { reading } = this;
    const { start, end } = this.body.passage;
    const ends = [start, end - 1];
    return { section_id: reading.placeAt(start)?.section_id, start, end, lines: ends.map((at) => reading.lineAt(at)), pages: reading.pages.length ? ends.map((at) => reading.pageAt(at)) : null };
  }

  /** Where the reading is, unless the passage that is meant is in view. @returns {number | null} */
  awayFrom() {
    const seen = [...this.root.querySelectorAll(".answer, .hit")].some((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return bottom > this.position.top() && top < innerHeight;
    });
    return seen ? null : this.position.offset;
  }

  /** To a match; the address is that of the match, in the same entry of the history. */
  toMatch(match) {
    this.mean(match);
    const lines = [match.start, match.end - 1].map((at) => this.reading.lineAt(at));
    const text = this.reading.words.mark(match.start, match.end);
    navigate(this.reading.urlOf(this.reading.placeAt(match.start), { lines, text, q: this.params.get("q") }), { replace: true, quiet: true });
    this.params = new URLSearchParams(location.search);
    this.note.show("", {});
    this.checked = true;
    this.goMatch(match);
    const here = this.reading.placeAt(match.start);
    announce(`Match ${this.matches.count.textContent}${here ? `, ${this.reading.nameOf(here)}` : ""}`);
  }

  /** To the sentence of a passage that answers, with some of what stands before it. */
  goMatch(match) {
    const { answer } = this.marks;
    const start = answer?.start ?? match.start;
    this.body.fill(this.body.slabAt(start));
    const section = this.reading.sectionAt(start);
    // Of a sentence near the heading of its section, both are shown.
    if (answer && section && start - section.start < NEAR) this.position.go(section.start, null, 0, start);
    else if (answer) this.position.go(start, this.body.answerElement(), 0.25);
    else this.position.go(start, this.innerOf(match), this.room(match));
  }

  /** A passage in the middle of a section is shown with a little of what stands before it. */
  room({ start }) {
    return start > (this.reading.sectionAt(start)?.body ?? 0) ? 0.15 : 0;
  }

  moved(offset) {
    const section = this.reading.sectionAt(offset);
    this.outline?.mark(section);
    const way = [];
    for (let node = section && this.outline?.nodes[section.index]; node; node = node.parent) way.unshift(node.section);
    const shown = way.length > 1 && this.titleInside ? way.slice(1) : way;
    const page = this.reading.pageAt(offset);
    const above = shown.slice(0, -1).map((item) => `${this.reading.nameOf(item)} › `);
    const here = [shown[shown.length - 1]?.heading, page ? `p. ${page}` : ""].filter(Boolean).join(" · ");
    replace(this.where, above.length > 0 && el("span", { class: "above" }, above.join("")), el("span", {}, here));
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

/** What of a document is cited, with the fingerprint by which it is found when the document has changed meanwhile. */
function citedPlace(reading, item) {
  return { doc: reading.doc, section_id: item?.section_id, lines: item?.lines, pages: item?.pages, text: item && reading.words.mark(item.start, item.end) };
}

function sameWords(one, other) {
  const plain = (text) => (text || "").replace(/[*_`]/g, "").replace(/\s+/g, " ").trim().toLowerCase();
  return Boolean(one) && plain(one) === plain(other);
}

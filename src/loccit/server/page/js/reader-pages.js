/** The picture of a PDF page beside its text, loaded when it is looked at. */

import { isAbort } from "./api.js";
import { el, replace, scrolled } from "./text.js";

export class PagePane {
  /**
   * @param {import("./reader-document.js").ReaderDocument} document
   * @param {import("./api.js").api} api
   * @param {{go: (page: number) => void, closed: () => void}} acts
   */
  constructor(document, api, acts) {
    this.document = document;
    this.api = api;
    this.acts = acts;
    this.numbers = document.pages.map((page) => page.page);
    this.page = 0;
    this.pictures = new Map();
    this.running = new AbortController();
    this.timer = 0;
    this.caption = el("span", { class: "page-caption", "aria-live": "polite" });
    this.frame = scrolled("page-frame", "Picture of the page");
    this.before = this.button("‹", "Page before", -1);
    this.after = this.button("›", "Next page", 1);
    this.element = el(
      "aside",
      { class: "pages", "aria-label": "Page", hidden: true },
      el("div", { class: "pages-bar" }, this.before, this.caption, this.after, el("button", { class: "quiet", "aria-label": "Close the page picture", on: { click: () => this.toggle(false) } }, "×")),
      this.frame,
    );
  }

  button(text, label, by) {
    return /** @type {HTMLButtonElement} */ (el("button", { class: "quiet", "aria-label": label, on: { click: () => this.step(by) } }, text));
  }

  get open() {
    return !this.element.hidden;
  }

  toggle(wanted, page = 0) {
    this.element.hidden = !wanted;
    if (wanted) this.show(page || this.page || this.numbers[0]);
    else this.acts.closed();
  }

  step(by) {
    const next = this.numbers[this.numbers.indexOf(this.page) + by];
    if (next === undefined) return;
    this.show(next);
    this.acts.go(next);
  }

  /** Follow the reading, a moment after it rests. */
  follow(page) {
    if (!this.open || page === this.page) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.show(page), 200);
  }

  async show(page) {
    clearTimeout(this.timer);
    this.page = page;
    const at = this.numbers.indexOf(page);
    this.caption.textContent = `Page ${page} of ${this.numbers[this.numbers.length - 1]}`;
    this.before.disabled = at <= 0;
    this.after.disabled = at >= this.numbers.length - 1;
    this.running.abort();
    this.running = new AbortController();
    try {
      if (!this.pictures.has(page)) {
        this.frame.classList.add("waiting");
        const width = Math.min(1600, Math.round(900 * Math.min(2, devicePixelRatio || 1)));
        this.keep(page, await this.api.dataUrl("page_image", { doc: this.document.doc, page, width }, { signal: this.running.signal }));
      }
      if (this.page !== page) return;
      this.frame.classList.remove("waiting");
      replace(this.frame, el("img", { src: this.pictures.get(page), alt: `Page ${page} of ${this.document.title}` }));
    } catch (error) {
      if (isAbort(error) || this.page !== page) return;
      this.frame.classList.remove("waiting");
      replace(this.frame, el("p", { class: "soft" }, error.message));
    }
  }

  keep(page, picture) {
    if (this.pictures.size >= 12) this.pictures.delete(this.pictures.keys().next().value);
    this.pictures.set(page, picture);
  }

  stop() {
    clearTimeout(this.timer);
    this.running.abort();
  }
}

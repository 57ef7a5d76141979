/** The outline beside the text; on narrow screens a drawer that a button opens. */

import { el } from "./text.js";

export class Drawer {
  /**
   * @param {HTMLElement} content
   * @param {() => void} opened puts the focus into the outline
   */
  constructor(content, opened) {
    this.opened = opened;
    this.button = el("button", { class: "quiet outline-button", "aria-expanded": "false", "aria-controls": "outline", on: { click: () => this.toggle() } }, "Outline");
    const close = el("button", { class: "quiet icon outline-close", "aria-label": "Close the outline", on: { click: () => this.close(true) } }, "×");
    this.element = el(
      "nav",
      { class: "outline", id: "outline", "aria-label": "Outline" },
      el("div", { class: "outline-panel" }, el("div", { class: "outline-head" }, el("h2", { class: "label" }, "Outline"), close), el("div", { class: "outline-scroll" }, content)),
    );
    this.element.addEventListener("click", (event) => event.target === this.element && this.close(true));
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.isOpen) {
        this.close(true);
        event.preventDefault();
        event.stopPropagation();
      }
      if (event.key === "Tab" && this.isOpen) this.keepFocus(event);
    });
  }

  get isOpen() {
    return this.element.classList.contains("open");
  }

  toggle() {
    if (this.isOpen) return this.close(true);
    this.element.classList.add("open");
    this.button.setAttribute("aria-expanded", "true");
    this.opened();
  }

  close(back = false) {
    if (!this.isOpen) return;
    this.element.classList.remove("open");
    this.button.setAttribute("aria-expanded", "false");
    if (back) this.button.focus();
  }

  /** While the drawer covers the text, the tab key stays inside. */
  keepFocus(event) {
    if (getComputedStyle(this.element).position !== "fixed") return;
    const stops = [...this.element.querySelectorAll("button, [tabindex='0']")].filter((item) => item.getClientRects().length);
    const edge = event.shiftKey ? stops[0] : stops[stops.length - 1];
    if (document.activeElement !== edge) return;
    (event.shiftKey ? stops[stops.length - 1] : stops[0]).focus();
    event.preventDefault();
  }
}

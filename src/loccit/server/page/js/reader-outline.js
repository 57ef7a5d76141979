/** The outline of a document as a tree: one stop for the tab key, arrows inside. */

import { el } from "./text.js";

/** Give every section its parent, from the parents that the server names or from the levels. */
function treeOf(sections) {
  const nodes = sections.map((section) => ({ section, children: [], parent: null }));
  const open = [];
  for (const node of nodes) {
    while (open.length && open[open.length - 1].section.level >= node.section.level) open.pop();
    node.parent = open[open.length - 1] || null;
    node.parent?.children.push(node);
    open.push(node);
  }
  return nodes;
}

export class Outline {
  /**
   * @param {import("./reader-document.js").ReaderDocument} document
   * @param {(section: any) => void} choose
   */
  constructor(document, choose) {
    this.document = document;
    this.choose = choose;
    this.nodes = treeOf(document.sections);
    this.roots = this.nodes.filter((node) => !node.parent);
    this.current = null;
    this.element = el("ul", { class: "tree", role: "tree", "aria-label": "Outline" });
    this.element.append(...this.roots.map((node, k) => this.item(node, k, this.roots.length, 1)));
    // A short outline, and the one root of a long one, are open from the start.
    for (const node of this.roots) if (this.nodes.length <= 40 || this.roots.length === 1) this.open(node, true);
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("click", (event) => this.click(event));
    this.rove(this.roots[0]);
  }

  item(node, k, size, level) {
    const { section } = node;
    const label = section.label && section.heading.startsWith(section.label) ? section.label : "";
    const rest = label ? section.heading.slice(label.length).replace(/^[\s.:–—-]+/, "") : section.heading;
    const twist = el("span", { class: "twist", "aria-hidden": "true" }, node.children.length ? "▸" : "");
    const link = el(
      "a",
      { href: this.document.urlOf(section), tabindex: "-1", class: "tree-link" },
      label && el("span", { class: "no" }, label),
      label && rest ? " " : "",
      rest,
    );
    node.link = link;
    node.element = el(
      "li",
      {
        role: "treeitem",
        "aria-level": level,
        "aria-setsize": size,
        "aria-posinset": k + 1,
        "aria-expanded": node.children.length ? "false" : null,
        "aria-selected": "false",
        "aria-label": section.heading,
        tabindex: "-1",
        dir: "auto",
      },
      el("div", { class: "tree-row" }, twist, link),
    );
    byElement.set(node.element, node);
    return node.element;
  }

  open(node, wanted = true) {
    if (!node.children.length || (node.element.getAttribute("aria-expanded") === "true") === wanted) return;
    node.element.setAttribute("aria-expanded", String(wanted));
    if (wanted && !node.group) {
      const level = Number(node.element.getAttribute("aria-level")) + 1;
      node.group = el("ul", { role: "group" }, node.children.map((child, k) => this.item(child, k, node.children.length, level)));
      node.element.append(node.group);
    }
    if (node.group) node.group.hidden = !wanted;
  }

  /** Mark the section that is being read, and open the way to it. */
  mark(section) {
    const node = section ? this.nodes[section.index] : null;
    if (node === this.current) return;
    this.current?.element?.removeAttribute("aria-current");
    this.current?.element?.setAttribute("aria-selected", "false");
    this.current = node;
    if (!node) return;
    const way = [];
    for (let up = node.parent; up; up = up.parent) way.unshift(up);
    way.forEach((up) => this.open(up));
    node.element.setAttribute("aria-current", "location");
    node.element.setAttribute("aria-selected", "true");
    if (!this.element.contains(document.activeElement)) this.rove(node);
    this.reveal(node);
  }

  /** Scroll the outline alone, never the page. */
  reveal(node) {
    const frame = this.element.closest(".outline-scroll");
    if (!frame || frame.matches(":hover")) return;
    const row = node.link.getBoundingClientRect();
    const box = frame.getBoundingClientRect();
    if (row.top < box.top + 24 || row.bottom > box.bottom - 24) frame.scrollTop += row.top - box.top - box.height / 3;
  }

  rove(node) {
    if (!node?.element) return;
    this.stop?.element.setAttribute("tabindex", "-1");
    this.stop = node;
    node.element.setAttribute("tabindex", "0");
  }

  focus(node) {
    this.rove(node);
    node.element.focus();
  }

  click(event) {
    const node = byElement.get(event.target.closest("[role=treeitem]"));
    if (!node || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    this.rove(node);
    if (event.target.closest(".twist") && node.children.length) this.open(node, node.element.getAttribute("aria-expanded") !== "true");
    else this.choose(node.section);
  }

  /** Items that can be seen, from top to bottom. */
  visible() {
    return [...this.element.querySelectorAll("[role=treeitem]")].filter((item) => !item.closest("[hidden]")).map((item) => byElement.get(item));
  }

  key(event) {
    const node = this.stop;
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    const expanded = node.element.getAttribute("aria-expanded") === "true";
    const step = (by) => {
      const shown = this.visible();
      const next = shown[shown.indexOf(node) + by];
      if (next) this.focus(next);
    };
    const acts = {
      ArrowDown: () => step(1),
      ArrowUp: () => step(-1),
      ArrowRight: () => (node.children.length && expanded ? this.focus(node.children[0]) : this.open(node)),
      ArrowLeft: () => (expanded ? this.open(node, false) : node.parent && this.focus(node.parent)),
      Home: () => this.focus(this.visible()[0]),
      End: () => this.focus(this.visible().pop()),
      Enter: () => this.choose(node.section),
      " ": () => this.choose(node.section),
      "*": () => (node.parent?.children || this.roots).forEach((sibling) => this.open(sibling)),
    };
    if (acts[event.key]) {
      acts[event.key]();
      event.preventDefault();
    } else if (event.key.length === 1 && /\S/.test(event.key) && !"?/".includes(event.key)) {
      this.type(event);
    }
  }

  /** Go to the next item that begins with a letter. */
  type(event) {
    const shown = this.visible();
    const at = shown.indexOf(this.stop);
    const letter = event.key.toLowerCase();
    const next = [...shown.slice(at + 1), ...shown.slice(0, at + 1)].find((node) => node.section.heading.toLowerCase().startsWith(letter));
    if (next) this.focus(next);
    event.preventDefault();
  }
}

/** @type {WeakMap<Element, any>} */
const byElement = new WeakMap();

/**
 * Shows Markdown blocks as DOM nodes. Documents are foreign: their words only ever become text nodes, raw HTML is shown
 * as the text that it is, pictures are named and not loaded, and links lead nowhere but to other places of the library.
 *
 * `hooks` decide what becomes of the text: the reader places its marks there by their offsets in the source.
 */

import { el, scrolled } from "./text.js";
import { blocksOf } from "./markdown-blocks.js";
import { inlinesOf } from "./markdown-inline.js";

/** @typedef {import("./markdown-blocks.js").Block} Block */
/** @typedef {import("./markdown-inline.js").Inline} Inline */

/**
 * @typedef {object} Hooks
 * @property {(s: number, text: string, e: number, plain: boolean) => Node[]} text nodes for what stands from `s` to `e` in
 *   the source, perhaps written otherwise; `plain` when it is inside a link already
 * @property {(s: number, e: number) => HTMLElement | null} link the element for a link that stands there
 * @property {(s: number) => HTMLElement | null} marker what stands for the marker of the list item at `s`
 */

/** Hooks that mark nothing. @type {Hooks} */
export const unmarked = {
  text: (_s, text) => [document.createTextNode(text)],
  link: () => null,
  marker: () => null,
};

const RTL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** The direction of a container's text. Its blocks know theirs, and `auto` passes over elements that do. */
function directionOf(lines) {
  const first = lines.find(({ t }) => /\p{L}/u.test(t))?.t || "";
  return RTL.test(/\p{L}/u.exec(first)) ? "rtl" : "ltr";
}

const OVERRIDES = /([\u202d\u202e])/;

export class Renderer {
  /**
   * @param {Map<string, string>} definitions addresses of reference links
   * @param {Hooks} hooks
   */
  constructor(definitions, hooks) {
    this.definitions = definitions;
    this.hooks = hooks;
  }

  /**
   * @param {Block} block
   * @param {number} [depth]
   * @returns {HTMLElement}
   */
  block(block, depth = 0) {
    switch (block.type) {
      case "h":
        return el("p", { class: `minor-heading h${block.level}`, dir: "auto" }, this.inline(block.lines));
      case "code":
        return this.code(block);
      case "quote":
        return el("blockquote", { dir: directionOf(block.lines) }, this.blocks(blocksOf(block.lines, depth + 1), depth + 1));
      case "list":
        return this.list(block, depth);
      case "table":
        return this.table(block);
      case "hr":
        return el("hr");
      case "html":
        return el("p", { class: "raw-block", dir: "auto" }, this.inline(block.lines));
      case "plain":
        return this.plain(block);
      default:
        return el("p", { dir: "auto" }, this.inline(block.lines));
    }
  }

  /** @param {Block[]} blocks */
  blocks(blocks, depth) {
    return blocks.map((block) => this.block(block, depth));
  }

  /** @param {import("./markdown-lines.js").Line[]} lines */
  inline(lines) {
    return this.nodes(merge(inlinesOf(lines, this.definitions)), false);
  }

  code(block) {
    const code = el("code", { class: block.info ? "named" : null });
    for (const { s, t } of block.lines) code.append(...this.hooks.text(s, t, s + t.length, true), "\n");
    return el("pre", { tabindex: "0", dir: "ltr", role: "group", "aria-label": block.info ? `Code, ${block.info}` : "Code" }, code);
  }

  /** Lines that stand as they are; those of a page broken by hand are set anew. */
  plain(block) {
    const long = block.lines.filter(({ t }) => t.length > 45).length;
    const shaped = block.lines.some(({ t }) => /^\s{2,}|\S {3,}\S|\t/.test(t)) || long < block.lines.length / 2;
    const nodes = block.lines.flatMap(({ s, t }, n) => [n ? "\n" : "", ...this.hooks.text(s, t, s + t.length, false)]);
    return el("p", { class: shaped ? "as-is" : null, dir: "auto" }, nodes);
  }

  list(block, depth) {
    const first = block.ordered ? parseInt(block.items[0].marker, 10) : null;
    const list = el(block.ordered ? "ol" : "ul", {
      class: block.loose ? "loose" : null,
      start: first !== null && first !== 1 ? first : null,
      dir: directionOf(block.items.flatMap(({ lines }) => lines)),
    });
    for (const item of block.items) {
      const li = el("li", { dir: "auto" });
      const marker = this.hooks.marker(item.s);
      let lead = [];
      if (marker) {
        li.className = "own-marker";
        lead = [marker, " "];
      }
      if (item.task !== undefined) {
        li.className = "task";
        lead.push(el("span", { class: "box", role: "img", "aria-label": item.task ? "done" : "to do" }, item.task ? "☑" : "☐"), " ");
      }
      for (const child of blocksOf(item.lines, depth + 1)) {
        // In a list without blank lines the text of an item is no paragraph of its own.
        if (child.type === "p" && !block.loose) li.append(...lead, ...this.inline(child.lines));
        else {
          const element = this.block(child, depth + 1);
          (child.type === "p" ? element : li).prepend(...lead);
          li.append(element);
        }
        lead = [];
      }
      li.append(...lead);
      list.append(li);
    }
    return list;
  }

  table(block) {
    const row = (cells, tag) =>
      el("tr", {}, cells.map((cell, n) =>
        // A head without words heads nothing.
        el(cell.t ? tag : "td", { class: block.align[n] || null, scope: tag === "th" && cell.t ? "col" : null, dir: "auto" }, this.inline([cell]))));
    const [head, ...rows] = block.rows;
    const empty = head.every(({ t }) => !t);
    const table = el(
      "table",
      {},
      empty ? null : el("thead", { class: block.continued ? "sr" : null }, row(head, "th")),
      el("tbody", {}, rows.map((cells) => row(cells, "td"))),
    );
    return scrolled("table-frame", "Table", table);
  }

  /**
   * @param {Inline[]} nodes
   * @param {boolean} plain inside a link
   * @returns {Node[]}
   */
  nodes(nodes, plain) {
    return nodes.flatMap((node) => this.node(node, plain));
  }

  node(node, plain) {
    switch (node.type) {
      case "text":
        return this.text(node, plain);
      case "br":
        return [el("br")];
      case "code":
        return [el("code", {}, ...this.hooks.text(node.inner.s, node.text, node.inner.e, true))];
      case "raw":
        return [el("code", { class: "raw" }, ...this.hooks.text(node.s, node.text, node.e, true))];
      case "image":
        return [el("span", { class: "picture", title: node.href }, ...this.hooks.text(node.s, `[picture${node.text ? `: ${node.text}` : ""}]`, node.e, true))];
      case "wiki":
      case "link":
        return [this.link(node, plain)];
      default: // em, strong, del, sup, sub
        return [el(node.type, {}, this.nodes(merge(node.kids), plain))];
    }
  }

  /** Characters that turn the direction of what follows are shown: they can make a text read as what it is not. */
  text(node, plain) {
    if (!OVERRIDES.test(node.text)) return this.hooks.text(node.s, node.text, node.e, plain);
    let at = node.s;
    return node.text.split(OVERRIDES).flatMap((part) => {
      const s = at;
      at += part.length;
      if (OVERRIDES.test(part)) return [el("span", { class: "control", title: "A hidden character that reverses the text" }, "⇄")];
      return part ? this.hooks.text(s, part, at, plain) : [];
    });
  }

  link(node, plain) {
    const inside = node.kids ? (kids) => this.nodes(merge(node.kids), kids) : () => this.hooks.text(node.s, node.text, node.e, true);
    const internal = plain ? null : this.hooks.link(node.s, node.e);
    if (internal) {
      internal.append(...inside(true));
      return internal;
    }
    return el("span", { class: "outlink", title: node.href }, ...inside(plain));
  }
}

/** Join neighbouring stretches of text, so that a term broken over two lines is still found. */
function merge(nodes) {
  const merged = [];
  for (const node of nodes) {
    const last = merged[merged.length - 1];
    const whole = (one) => one.type === "text" && one.text.length === one.e - one.s;
    if (last && whole(last) && whole(node) && last.e === node.s) {
      merged[merged.length - 1] = { ...last, e: node.e, text: last.text + node.text };
    } else {
      merged.push(node);
    }
  }
  return merged;
}

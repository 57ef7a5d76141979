/**
 * Helpers that build the page from text. Nothing here, or anywhere on the page, parses HTML: what documents say only
 * ever becomes text nodes.
 */

const SVG = "http://www.w3.org/2000/svg";
const SAFE_LINK = /^(?:https?:|mailto:|\/(?!\/)|#|\?)/i;

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Make an element. `props`: `class`, `text`, `dataset`, `on` (events), `style` (custom properties), others attributes.
 * A button sends no form unless its type says so.
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function el(tag, props = {}, ...children) {
  return fill(document.createElement(tag), tag === "button" ? { type: "button", ...props } : props, children);
}

/** The same for SVG. @returns {SVGElement} */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") node.setAttribute("class", value);
    else if (name === "text") node.textContent = value;
    else if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    // The content security policy refuses style attributes; the object model may still set properties.
    else if (name === "style") for (const [key, set] of Object.entries(value)) node.style.setProperty(key, String(set));
    else if (name === "href") node.setAttribute("href", safeLink(String(value)));
    else if (/^on/i.test(name)) throw new Error(`Listeners go into "on", not ${name}`);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

/** Append children; strings become text. */
export function append(node, children) {
  for (const child of children.flat(3)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    node.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replace everything inside a node. */
export function replace(node, ...children) {
  const fragment = document.createDocumentFragment();
  append(fragment, children);
  node.replaceChildren(fragment);
}

/** Return an address that is safe to follow, or `#` for others such as `javascript:`. */
export function safeLink(address) {
  return SAFE_LINK.test(address.trim()) ? address.trim() : "#";
}

/**
 * Text with marks: ranges are offsets into the text and may carry a class; they must not overlap (see `mergeRanges`).
 * @param {{start: number, end: number, kind?: string}[]} ranges
 */
export function marked(text, ranges) {
  const nodes = [];
  let at = 0;
  for (const range of ranges) {
    const start = Math.max(range.start, at);
    const end = Math.min(range.end, text.length);
    if (start >= end) continue;
    if (start > at) nodes.push(document.createTextNode(text.slice(at, start)));
    nodes.push(el("mark", { class: range.kind }, text.slice(start, end)));
    at = end;
  }
  if (at < text.length) nodes.push(document.createTextNode(text.slice(at)));
  return nodes;
}

/** Order ranges and drop what overlaps an earlier, or a more important (first in the list), one. */
export function mergeRanges(ranges) {
  const kept = [];
  for (const range of ranges) {
    if (!kept.some((other) => range.start < other.end && other.start < range.end)) kept.push(range);
  }
  return kept.sort((a, b) => a.start - b.start);
}

/** "1 result", "3 results", "1,204 passages". */
export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** A size in bytes in words. */
export function bytes(size) {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let unit = 0;
  let value = size;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** How long ago an ISO time is, in words; empty when there is none. */
export function ago(iso) {
  const then = Date.parse(iso);
  if (Number.isNaN(then)) return "";
  const seconds = Math.max(0, (Date.now() - then) / 1000);
  const steps = [
    [60, 1, "second"],
    [3600, 60, "minute"],
    [86400, 3600, "hour"],
    [86400 * 31, 86400, "day"],
    [86400 * 365, 86400 * 30.4, "month"],
    [Infinity, 86400 * 365, "year"],
  ];
  if (seconds < 10) return "just now";
  const [, size, name] = steps.find(([limit]) => seconds < limit);
  return `${count(Math.max(1, Math.floor(seconds / size)), name)} ago`;
}

/** Where something stands: "p. 7", "pp. 7–9", "lines 14–16", "cell 3, lines 14–16". Pages are preferred, as in a citation. */
export function place(item) {
  const span = (one, many, [first, last]) => (first === last ? `${one} ${first}` : `${many} ${first}–${last}`);
  if (item.pages) return span("p.", "pp.", item.pages);
  const cells = item.cells ? `${span("cell", "cells", item.cells)}, ` : "";
  if (item.lines) return cells + span("line", "lines", item.lines);
  return "";
}

/** The last part of a path. */
export function fileName(path) {
  return path.split(/[\\/]/).pop() || path;
}

const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });

/** The English name of a language code. */
export function languageName(code) {
  try {
    return code ? names.of(code) || code : "unknown";
  } catch {
    return code;
  }
}

/** Say something to screen readers, politely. */
export function announce(text) {
  const region = document.getElementById("live");
  if (region && region.textContent !== text) region.textContent = text;
}

/** A frame around what may be wider than the screen; the keyboard reaches it to scroll. */
export function scrolled(kind, label, ...children) {
  return el("div", { class: kind, tabindex: "0", role: "group", "aria-label": label }, ...children);
}

/** A type of files as it is shown: without the dot. */
export const typeName = (type) => type.replace(/^\./, "");

/**
 * A row of radio buttons.
 * @param {string} name
 * @param {string} legend what is chosen, for those who do not see it
 * @param {string[][]} options value, text and perhaps a longer text of each
 * @param {(value: string) => void} choose
 */
export function choices(name, legend, options, choose) {
  const inputs = options.map(([value]) => el("input", { type: "radio", name, value, on: { change: () => choose(value) } }));
  const labels = options.map(([, text, title], k) => el("label", { title }, inputs[k], el("span", { text })));
  return {
    node: el("fieldset", { class: "modes" }, el("legend", { class: "sr", text: legend }), labels),
    set: (value) => inputs.forEach((input) => (input.checked = input.value === value)),
  };
}

/**
 * Numbers in rows, with bars to compare them.
 * @param {[string, number, string][]} rows the number, how long its bar is (0 to 1), and what it counts
 * @param {string} [kind]
 */
export function barRows(rows, kind = "") {
  const row = ([number, part, text]) =>
    el("li", {}, el("span", { class: "n", text: number }), el("span", { class: "length", "aria-hidden": "true", style: { "--part": part } }), el("span", { text }));
  return el("ol", { class: `funnel tabular ${kind}` }, rows.map(row));
}

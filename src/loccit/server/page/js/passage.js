/** A passage of Markdown as plain, readable text with its marks; offsets of the source are kept all the way. */

import { el, marked, mergeRanges, scrolled } from "./text.js";
import { queryWords, wordRanges } from "./words.js";

const SHORT = 560;
// What is markup inside a line; group 1 to 3 are the parts that stay, 4 is written otherwise.
const INLINE =
  /<!--[^]*?-->|<\/?[a-z][^<>]*>|!?\[\[(?:[^\]|]*\|)?([^\]]*)\]\]|!?\[([^\]]*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)|\\([\\`*_{}[\]()#+\-.!|>~])|\s*\{#[^{}\s]*\}|&(nbsp|amp|lt|gt|quot);|`+|~~|\*\*|__|(?<![\p{L}\p{N}_])_(?=\S)|(?<=\S)_(?![\p{L}\p{N}_])|\*(?=\S)|(?<=\S)\*/giu;

const ENTITIES = { nbsp: "\u00a0", amp: "&", lt: "<", gt: ">", quot: '"' };
// What a series of clauses begins with; bullets have no order.
const FIRST = /^[1aAiI\W]?$/;

/**
 * @typedef {{start: number, end: number, kind: string}} Range
 * @typedef {{kind: string, start: number, end: number, depth?: number, marker?: string, lines: [number, number][]}} Block
 */

/**
 * Render what a result says.
 * @param {any} result of a search
 * @param {string} query
 * @returns {{node: HTMLElement, cut: boolean, toggle: () => boolean}} `toggle` shows all or less, and says which
 */
export function passage(result, query) {
  const source = result.content;
  const exact = (result.matches || []).map(({ start, end }) => ({ start, end, kind: "exact" }));
  const ranges = mergeRanges([...exact, ...wordRanges(source, queryWords(query))]);
  const blocks = withoutHeadings(parse(source), source, result);
  const short = excerpt(blocks, source, ranges);
  const node = el("div", { class: "passage prose" });
  let whole = false;
  const draw = () => node.replaceChildren(...(whole ? blocks : short.blocks).map((block) => render(block, source, ranges)));
  draw();
  return {
    node,
    cut: short.cut,
    toggle: () => {
      whole = !whole;
      draw();
      return whole;
    },
  };
}

/** A line without its markup. @param {string} text */
export const plain = (text) => visible(text, 0, text.length).map(([from, to, other]) => other ?? text.slice(from, to)).join("");

// The heading of the section, and those on the way to it, stand above the passage already.
function withoutHeadings(blocks, source, result) {
  const bare = (text) => plain(text || "").replace(/[^\p{L}\p{N}]+/gu, "").toLowerCase();
  const above = [result.heading, result.document_title, ...(result.parent_chain || [])].map(bare);
  for (;;) {
    const first = blocks[0];
    if (!first || !["heading", "text"].includes(first.kind) || !above.includes(bare(source.slice(...first.lines[0])))) return blocks;
    const lines = first.lines.slice(1);
    blocks = [...(lines.length ? [{ ...first, start: lines[0][0], lines }] : []), ...blocks.slice(1)];
  }
}

/** @returns {Block[]} */
function parse(source) {
  /** @type {Block[]} */
  const blocks = [];
  /** @type {Block | null} */
  let open = null;
  let fence = "";
  let start = 0;
  for (const line of source.split("\n")) {
    const end = start + line.length;
    const block = fence ? null : kindOf(line, start, end);
    if (fence) {
      if (line.trim().startsWith(fence)) [fence, open] = ["", null];
      else if (open) extend(open, start, end);
    } else if (!block) open = null;
    else if (block.kind === "code") {
      fence = block.marker || "";
      open = { ...block, lines: [] };
      blocks.push(open);
    } else if (open && block.kind === open.kind && ["text", "table", "quote"].includes(block.kind)) extend(open, block.start, end);
    else if (open && block.kind === "text" && open.kind === "item") extend(open, block.start, end);
    else {
      open = block;
      blocks.push(block);
      if (block.kind === "heading") open = null;
    }
    start = end + 1;
  }
  return nest(blocks.filter((block) => block.lines.length));
}

/** Clauses stand flush in many documents: what their markers look like tells how deep they are. */
function nest(blocks) {
  /** @type {{style: string, last: string, indent: number}[]} */
  let stack = [];
  /** The clauses that stand together. */
  let run = [];
  for (const block of blocks) {
    if (block.kind !== "item") {
      stack = run = [];
      continue;
    }
    const { marker = "", depth: indent = 0 } = block;
    const mark = /[\p{L}\p{N}]/u.test(marker) ? marker : "•";
    const letter = mark.replace(/[().]/g, "");
    const roman = /^[ivx]+$/.test(letter);
    // "(i)" comes after "(h)" as a letter, and else begins "(i), (ii)".
    const next = (last) => last.length === 1 && letter.charCodeAt(0) === last.charCodeAt(0) + 1;
    const style = (kind) => mark.replace(/[\p{L}\p{N}]+/u, kind);
    const plain = style(/\d/.test(letter) ? "1" : /\p{Lu}/u.test(letter) ? "A" : "a");
    const continued = stack.findIndex((item) => item.style === plain && (!roman || next(item.last)));
    const wanted = roman && continued < 0 ? style("i") : plain;
    let at = stack.findIndex((item) => item.style === wanted);
    if (at < 0 && stack.length && !FIRST.test(letter) && indent <= stack[0].indent) {
      // It goes on with what began before the passage: all so far was inside that.
      for (const inner of run) inner.depth += 1;
      stack = [];
    }
    if (at < 0) at = stack.push({ style: wanted, last: "", indent }) - 1;
    stack.length = at + 1;
    stack[at].last = letter;
    block.depth = Math.max(indent, at);
    run = [...run, block];
  }
  return blocks;
}

function extend(block, start, end) {
  block.lines.push([start, end]);
  block.end = end;
}

function kindOf(line, start, end) {
  const of = (kind, skip, more = {}) => ({ kind, start: start + skip, end, lines: [[start + skip, end]], ...more });
  const match = (pattern) => line.match(pattern);
  let found;
  if (!line.trim()) return null;
  if ((found = match(/^\s*(`{3,}|~{3,})/))) return of("code", 0, { marker: found[1] });
  if ((found = match(/^\s*#{1,6}(?:\s+|$)/))) return found[0] === line ? null : of("heading", found[0].length);
  if (match(/^\s*\|/)) return of("table", 0);
  if (match(/^\s*(?:[-*_=]\s*){3,}$/)) return null;
  if ((found = match(/^(\s*)[-*+•]\s+(?:\[([ xX])\](?:\s+|$))?(?:#{1,6}\s+)?/)))
    return of("item", found[0].length, { marker: found[2] ? (found[2] === " " ? "☐" : "☑") : "•", depth: found[1].length >> 1 });
  if ((found = match(/^(\s*)(\d+[.)]|\([\p{L}\p{N}]{1,4}\))\s+/u)))
    return of("item", found[0].length, { marker: found[2], depth: found[1].length >> 1 });
  if ((found = match(/^\s*>\s?(?:\[![^\]]*\]\s*|#{1,6}\s+)?/))) return of("quote", found[0].length);
  return of("text", line.length - line.trimStart().length);
}

/** @returns {[number, number, string?][]} the parts of a line that are seen, and what they stand for */
function visible(source, start, end) {
  const parts = [];
  let at = start;
  const line = source.slice(start, end);
  for (const match of line.matchAll(INLINE)) {
    const from = start + match.index;
    if (from > at) parts.push([at, from]);
    const kept = match[1] ?? match[2] ?? match[3];
    if (kept) {
      const inner = from + match[0].indexOf(kept, match[3] ? 1 : 0);
      parts.push([inner, inner + kept.length]);
    }
    at = from + match[0].length;
    if (match[4]) parts.push([from, at, ENTITIES[match[4].toLowerCase()]]);
  }
  if (at < end) parts.push([at, end]);
  return parts;
}

function inline(source, start, end, ranges) {
  return visible(source, start, end).flatMap(([from, to, other]) =>
    marked(
      other ?? source.slice(from, to),
      ranges
        .filter((range) => range.start < to && range.end > from)
        .map((range) => ({ ...range, start: Math.max(range.start, from) - from, end: Math.min(range.end, to) - from })),
    ),
  );
}

function render(block, source, ranges) {
  const { lines } = block;
  if (block.kind === "code") {
    const text = lines.map(([from, to]) => source.slice(from, to)).join("\n");
    return el("pre", { tabindex: "0" }, text);
  }
  if (block.kind === "table") return table(block, source, ranges);
  const content = lines.flatMap(([from, to], index) => [index ? " " : "", ...inline(source, from, to, ranges)]);
  const before = block.cutBefore ? "… " : "";
  const after = block.cutAfter ? " …" : "";
  if (block.kind === "item") {
    const marker = el("span", { class: "marker", text: block.marker });
    return el("p", { class: "item", dir: "auto", style: { "--depth": Math.min(block.depth || 0, 4) } }, marker, el("span", {}, before, content, after));
  }
  return el("p", { class: block.kind }, before, content, after);
}

function table(block, source, ranges) {
  const rows = block.lines
    .filter(([from, to]) => !/^[\s|:-]+$/.test(source.slice(from, to)))
    .map(([from, to]) => cells(source, from, to).map(([start, end]) => inline(source, start, end, ranges)));
  const ruled = block.lines.length > 1 && /^[\s|:-]+$/.test(source.slice(...block.lines[1]));
  const row = (tag) => (cellsOf) => el("tr", {}, cellsOf.map((cell) => el(tag, { dir: "auto" }, cell)));
  return scrolled(
    "scroll",
    "Table",
    el("table", {}, ruled && el("thead", {}, row("th")(rows[0])), el("tbody", {}, rows.slice(ruled ? 1 : 0).map(row("td")))),
  );
}

function cells(source, from, to) {
  const parts = [];
  let start = source.indexOf("|", from) + 1;
  for (let at = start; at <= to; at += 1) {
    if (at < to && (source[at] !== "|" || source[at - 1] === "\\")) continue;
    const text = source.slice(start, at);
    if (at < to || text.trim()) {
      const lead = text.length - text.trimStart().length;
      parts.push([start + lead, Math.max(start + lead, start + text.trimEnd().length)]);
    }
    start = at + 1;
  }
  return parts;
}

/** Choose the blocks around the most marks that make a short passage. */
function excerpt(blocks, source, ranges) {
  const length = (block) => block.end - block.start;
  const total = blocks.reduce((sum, block) => sum + length(block), 0);
  if (total <= SHORT * 1.3 || !blocks.length) return { blocks, cut: false };
  const best = richest(blocks, source, ranges);
  const chosen = [];
  let room = SHORT;
  for (const block of blocks.slice(best)) {
    if (chosen.length && (length(block) > room || block.kind === "table")) break;
    chosen.push(length(block) > room && ["text", "item", "quote"].includes(block.kind) ? trim(block, source, ranges, room) : block);
    room -= length(block);
    if (room < 80) break;
  }
  const last = chosen[chosen.length - 1];
  if (last && last.kind === "table") chosen[chosen.length - 1] = { ...last, lines: last.lines.slice(0, 8) };
  return { blocks: chosen, cut: true };
}

/** The block to begin with: what follows it within a short passage has the most marks, different words most of all. */
function richest(blocks, source, ranges) {
  const worth = blocks.map((first, index) => {
    const until = first.start + SHORT;
    const within = ranges.filter((range) => range.start >= first.start && range.end <= Math.max(until, first.end));
    const own = within.some((range) => range.end <= first.end);
    const kinds = new Set(within.map((range) => source.slice(range.start, range.end).toLowerCase().slice(0, 5)));
    const exact = within.filter((range) => range.kind === "exact").length;
    return own || index === 0 ? 3 * kinds.size + 2 * exact + within.length : 0;
  });
  const most = Math.max(...worth);
  // Nearly as good but earlier is better: texts say what they are about first.
  return worth.findIndex((value) => value >= 0.85 * most);
}

// Cut a long block at spaces, so that its first mark stands near the beginning.
function trim(block, source, ranges, room) {
  const first = ranges.find((range) => range.start >= block.start && range.end <= block.end);
  const late = first && first.start - block.start > room * 0.7;
  const from = late ? source.indexOf(" ", first.start - 120) + 1 : block.start;
  const space = source.lastIndexOf(" ", from + room);
  const to = block.end - from <= room ? block.end : space > from ? space : from + room;
  const lines = block.lines.map(([start, end]) => [Math.max(start, from), Math.min(end, to)]).filter(([start, end]) => start < end);
  return { ...block, start: from, end: to, lines, cutBefore: from > block.start, cutAfter: to < block.end };
}

/**
 * The blocks of a Markdown text, with the offsets at which they stand in the source.
 *
 * Headings that make sections are known from the index; what stands between them comes here as lines. Containers
 * (quotes, list items) keep their stripped lines and are read further only when they are shown.
 */

import { endOf, indentOf, isBlank, strip } from "./markdown-lines.js";
import { isTable, readTable } from "./markdown-tables.js";

/**
 * @typedef {import("./markdown-lines.js").Line} Line
 * @typedef {{s: number, lines: Line[], marker: string, task?: boolean}} Item
 * @typedef {object} Block
 * @property {"p"|"h"|"code"|"quote"|"list"|"table"|"hr"|"html"|"plain"} type
 * @property {number} s
 * @property {number} e
 * @property {Line[]} [lines]
 * @property {number} [level] of a heading
 * @property {string} [info] of a code fence
 * @property {boolean} [ordered]
 * @property {boolean} [loose]
 * @property {Item[]} [items]
 * @property {Line[][]} [rows] cells; the first row is the head
 * @property {string[]} [align]
 * @property {boolean} [continued] a long list or table goes on here
 */

const MAX_DEPTH = 12; // deeper nesting is shown as it stands
const MAX_ITEMS = 60; // longer lists go on in another block, so that they can be shown bit by bit

const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;
const ATX = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const QUOTE = /^ {0,3}>[ \t]?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])(?=[ \t]|$)/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const SETEXT = /^ {0,3}(=+|-+)[ \t]*$/;
const COMMENT = /^ {0,3}<!--/;
const VERBATIM = /^ {0,3}<(script|pre|style|textarea)(?=[\s>]|$)/i;
const HTML =
  /^ {0,3}<\/?(?:address|article|aside|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|nav|noframes|ol|optgroup|option|p|param|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?=[\s/>]|$)/i;
const NOTE = /^ {0,3}\[\^[^\]\s]{1,30}\]:/;
const LINK_DEFINITION = /^ {0,3}\[(?!\^)[^\]\n]{1,200}\]:[ \t]*\S/;

function isFence(t) {
  const fence = FENCE.exec(t);
  return Boolean(fence && !(fence[2][0] === "`" && fence[3].includes("`")));
}

/** Whether a line begins a block that may follow a paragraph without a blank line. */
function interrupts(t) {
  if (t.length > 2000) return false;
  if (ATX.test(t) || QUOTE.test(t) || RULE.test(t) || HTML.test(t) || VERBATIM.test(t) || COMMENT.test(t) || NOTE.test(t)) return true;
  if (isFence(t)) return true;
  const item = ITEM.exec(t);
  return Boolean(item && /^(?:[-*+]|1[.)])$/.test(item[2]) && !isBlank(t.slice(item[0].length)));
}

/**
 * Read lines into blocks.
 * @param {Line[]} lines
 * @param {number} [depth] how many containers they stand in
 * @returns {Block[]}
 */
export function blocksOf(lines, depth = 0) {
  /** @type {Block[]} */
  const blocks = [];
  if (depth > MAX_DEPTH) return lines.length ? [block("plain", lines)] : blocks;
  for (let i = 0; i < lines.length; ) {
    const { t } = lines[i];
    if (isBlank(t)) i += 1;
    else i = readers(t)(lines, i, blocks);
  }
  return blocks;
}

/** @returns {(lines: Line[], i: number, blocks: Block[]) => number} what reads a block that begins so */
function readers(t) {
  if (t.length > 20000) return readParagraph;
  if (indentOf(t) >= 4) return readIndented;
  if (isFence(t)) return readFence;
  if (ATX.test(t)) return readHeading;
  if (RULE.test(t)) return readRule;
  if (QUOTE.test(t)) return readQuote;
  if (ITEM.test(t)) return readList;
  if (COMMENT.test(t) || VERBATIM.test(t) || HTML.test(t)) return readHtml;
  if (LINK_DEFINITION.test(t)) return (_lines, i) => i + 1;
  return readParagraph;
}

function block(type, lines, more = {}) {
  return { type, s: lines[0].s, e: endOf(lines[lines.length - 1]), lines, ...more };
}

function readIndented(lines, i, blocks) {
  let end = i;
  for (let j = i; j < lines.length; j += 1) {
    if (isBlank(lines[j].t)) continue;
    if (indentOf(lines[j].t) < 4) break;
    end = j;
  }
  blocks.push(block("code", lines.slice(i, end + 1).map((line) => strip(line, 4))));
  return end + 1;
}

function readFence(lines, i, blocks) {
  const [, indent, fence, info] = /** @type {RegExpExecArray} */ (FENCE.exec(lines[i].t));
  const close = new RegExp(`^ {0,3}\\${fence[0]}{${fence.length},}[ \\t]*$`);
  let end = i + 1;
  while (end < lines.length && !close.test(lines[end].t)) end += 1;
  const inside = lines.slice(i + 1, end).map((line) => strip(line, indent.length));
  const last = Math.min(end, lines.length - 1);
  blocks.push({ type: "code", s: lines[i].s, e: endOf(lines[last]), lines: inside, info: info.trim().split(/\s/)[0] });
  return end + 1;
}

function readHeading(lines, i, blocks) {
  const { s, t } = lines[i];
  const hashes = /** @type {RegExpExecArray} */ (ATX.exec(t));
  const from = hashes[0].length + t.slice(hashes[0].length).search(/\S|$/);
  const words = t.slice(from).replace(/(?:^|[ \t])#+[ \t]*$/, "").trimEnd();
  blocks.push({ type: "h", s, e: s + t.length, level: hashes[1].length, lines: [{ s: s + from, t: words }] });
  return i + 1;
}

function readRule(lines, i, blocks) {
  blocks.push(block("hr", [lines[i]]));
  return i + 1;
}

function readQuote(lines, i, blocks) {
  const inside = [];
  let j = i;
  for (; j < lines.length; j += 1) {
    const mark = QUOTE.exec(lines[j].t);
    // A line without the mark still belongs to the paragraph that was begun.
    if (!mark && (isBlank(lines[j].t) || isBlank(lines[j - 1].t.replace(QUOTE, "")) || interrupts(lines[j].t))) break;
    inside.push(mark ? { s: lines[j].s + mark[0].length, t: lines[j].t.slice(mark[0].length) } : lines[j]);
  }
  blocks.push({ type: "quote", s: lines[i].s, e: endOf(lines[j - 1]), lines: inside });
  return j;
}

function readList(lines, i, blocks) {
  const kind = (t) => {
    const found = t.length > 20000 || RULE.test(t) ? null : ITEM.exec(t);
    return found ? found[2].slice(-1) : "";
  };
  const first = kind(lines[i].t);
  const ordered = /[.)]/.test(first);
  let items = [];
  let loose = false;
  let continued = false;
  let j = i;
  const close = () => {
    if (!items.length) return;
    const last = items[items.length - 1].lines;
    const e = last.length ? endOf(last[last.length - 1]) : items[items.length - 1].s;
    blocks.push({ type: "list", s: items[0].s, e, items, ordered, loose, continued });
    items = [];
    continued = true;
  };
  while (j < lines.length && kind(lines[j].t) === first) {
    const { s, t } = lines[j];
    const [head, indent, marker] = /** @type {RegExpExecArray} */ (ITEM.exec(t));
    const spaces = indentOf(t.slice(head.length));
    const blankItem = isBlank(t.slice(head.length));
    const width = head.length + (spaces > 4 || blankItem ? 1 : spaces);
    const inside = [{ s: s + Math.min(width, t.length), t: t.slice(width) }];
    let blanks = 0;
    for (j += 1; j < lines.length; j += 1) {
      const line = lines[j];
      if (isBlank(line.t)) {
        blanks += 1;
        continue;
      }
      const inItem = indentOf(line.t) >= width;
      const lazy = !blanks && !inItem && !kind(line.t) && !interrupts(line.t) && !isBlank(inside[inside.length - 1].t);
      if (!inItem && !lazy) break;
      if (blanks) loose = true;
      for (; blanks; blanks -= 1) inside.push({ s: line.s, t: "" });
      inside.push(strip(line, width));
    }
    if (blanks && j < lines.length && kind(lines[j].t) === first) loose = true;
    items.push({ s: s + indent.length, marker, lines: inside, ...task(inside) });
    if (items.length >= MAX_ITEMS) close();
  }
  close();
  return j;
}

/** Whether an item has a box to tick, which is taken off its first line. */
function task(inside) {
  const box = /^\[([ xX])\][ \t]+/.exec(inside[0].t);
  if (!box) return {};
  inside[0] = { s: inside[0].s + box[0].length, t: inside[0].t.slice(box[0].length) };
  return { task: box[1] !== " " };
}

function readHtml(lines, i, blocks) {
  const { t } = lines[i];
  const verbatim = VERBATIM.exec(t);
  const close = COMMENT.test(t) ? /-->/ : verbatim ? new RegExp(`</${verbatim[1]}>`, "i") : null;
  let j = i;
  if (close) {
    while (j < lines.length && !close.test(lines[j].t)) j += 1;
    j = Math.min(j + 1, lines.length);
  } else {
    while (j < lines.length && !isBlank(lines[j].t)) j += 1;
  }
  blocks.push(block("html", lines.slice(i, j)));
  return j;
}

function readParagraph(lines, i, blocks) {
  if (i + 1 < lines.length && lines[i].t.includes("|") && isTable(lines, i)) return readTable(lines, i, blocks, interrupts);
  let j = i + 1;
  for (; j < lines.length && !isBlank(lines[j].t); j += 1) {
    const setext = SETEXT.exec(lines[j].t);
    if (setext) {
      blocks.push(block("h", lines.slice(i, j), { level: setext[1][0] === "=" ? 1 : 2 }));
      return j + 1;
    }
    if (interrupts(lines[j].t)) break;
    if (lines[j].t.includes("|") && j + 1 < lines.length && isTable(lines, j)) break;
  }
  const inside = lines.slice(i, j).map((line, n) => (n ? strip(line, 1000) : strip(line, 3)));
  blocks.push(block("p", inside));
  return j;
}

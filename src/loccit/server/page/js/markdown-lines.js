/** Lines of a source with their offsets: what both Markdown and plain text are read from. */

/** @typedef {{s: number, t: string}} Line `s` is where the text `t` begins in the source */

/**
 * Cut a stretch of the source into lines.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @returns {Line[]}
 */
export function linesOf(text, start, end) {
  const lines = [];
  for (let at = start; at < end; ) {
    let next = text.indexOf("\n", at);
    if (next < 0 || next > end) next = end;
    lines.push({ s: at, t: text.slice(at, next) });
    at = next + 1;
  }
  return lines;
}

/** Whether a line has nothing but white space. */
export const isBlank = (t) => !/\S/.test(t);

/** Columns of white space before the text; a tab goes to the next multiple of four. */
export function indentOf(t) {
  let columns = 0;
  for (const c of t) {
    if (c === " ") columns += 1;
    else if (c === "\t") columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}

/** Take away up to so many columns of white space. */
export function strip(line, columns) {
  let at = 0;
  for (let column = 0; at < line.t.length && column < columns; at += 1) {
    if (line.t[at] === " ") column += 1;
    else if (line.t[at] === "\t") column += 4 - (column % 4);
    else break;
  }
  return at ? { s: line.s + at, t: line.t.slice(at) } : line;
}

/** Where a line ends in the source. */
export const endOf = (line) => line.s + line.t.length;

/**
 * Paragraphs of plain text, which stand as they are.
 * @param {Line[]} lines
 * @returns {import("./markdown-blocks.js").Block[]}
 */
export function plainBlocksOf(lines) {
  const blocks = [];
  for (let i = 0; i < lines.length; ) {
    if (isBlank(lines[i].t)) {
      i += 1;
      continue;
    }
    let j = i;
    while (j < lines.length && !isBlank(lines[j].t) && j - i < 200) j += 1;
    blocks.push({ type: "plain", s: lines[i].s, e: endOf(lines[j - 1]), lines: lines.slice(i, j) });
    i = j;
  }
  return blocks;
}

/**
 * Addresses of `[label]: address` lines, by label in lower case.
 * @param {string} text
 * @returns {Map<string, string>}
 */
export function linkDefinitions(text) {
  const found = new Map();
  for (const [, label, address] of text.matchAll(/^ {0,3}\[(?!\^)([^\]\n]{1,200})\]:[ \t]*(\S{1,2000})/gm)) {
    const key = label.trim().toLowerCase();
    if (!found.has(key)) found.set(key, address.replace(/^<|>$/g, ""));
  }
  return found;
}

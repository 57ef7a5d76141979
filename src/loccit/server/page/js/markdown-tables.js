/** Tables of pipes and dashes. */

import { endOf, isBlank } from "./markdown-lines.js";

const MAX_ROWS = 150; // longer tables are shown bit by bit
const DELIMITERS = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** Whether a table begins with this line: its next divides as many columns. */
export function isTable(lines, i) {
  const delimiters = lines[i + 1].t;
  if (delimiters.length > 5000 || !delimiters.includes("-") || !DELIMITERS.test(delimiters)) return false;
  return cells(lines[i]).length === cells(lines[i + 1]).length;
}

/** The cells of a row, where `\|` does not divide. @returns {import("./markdown-lines.js").Line[]} */
function cells({ s, t }) {
  const found = [];
  let at = t.search(/\S|$/);
  if (t[at] === "|") at += 1;
  let end = t.trimEnd().length;
  if (end > at && t[end - 1] === "|" && t[end - 2] !== "\\") end -= 1;
  let from = at;
  for (let k = at; k <= end; k += 1) {
    if (k < end && (t[k] !== "|" || t[k - 1] === "\\")) continue;
    const raw = t.slice(from, k);
    const lead = raw.search(/\S|$/);
    found.push({ s: s + from + lead, t: raw.trim() });
    from = k + 1;
  }
  return found;
}

/** Read a table up to the line that ends it; long ones go on in another block with the same head. */
export function readTable(lines, i, blocks, interrupts) {
  const align = cells(lines[i + 1]).map(({ t }) => (t.endsWith(":") ? (t.startsWith(":") ? "center" : "end") : ""));
  const head = cells(lines[i]);
  let rows = [head];
  let first = i;
  let j = i + 2;
  const close = () => {
    const continued = first !== i;
    blocks.push({ type: "table", s: lines[first].s, e: endOf(lines[j - 1]), rows, align, continued });
    rows = [head];
    first = j;
  };
  for (; j < lines.length && !isBlank(lines[j].t) && !interrupts(lines[j].t); j += 1) {
    if (rows.length > MAX_ROWS) close();
    rows.push(cells(lines[j]).slice(0, head.length));
  }
  if (rows.length > 1 || first === i) close();
  return j;
}

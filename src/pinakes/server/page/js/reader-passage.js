/** Which passage of a document was found: by its lines, or the words that were searched for. */

import { queryWords, wordPattern } from "./words.js";

/**
 * @param {import("./reader-document.js").ReaderDocument} reading
 * @param {URLSearchParams} params
 * @returns {{passage: {start: number, end: number} | null, target: any, words: RegExp | null}}
 */
export function passageOf(reading, params) {
  const words = wordPattern(queryWords(params.get("q") || ""));
  const id = params.get("section") || decodeURIComponent(location.hash.slice(1));
  const target = id ? reading.find(id) : null;
  const passage = byLines(reading, params.get("lines")) || byWords(reading, target, words);
  return { passage, target, words };
}

function byLines(reading, lines) {
  const found = /^(\d+)(?:[-–](\d+))?$/.exec(lines || "");
  if (!found) return null;
  const [first, last] = [Number(found[1]), Number(found[2] || found[1])];
  return { start: reading.lineStart(first), end: Math.max(reading.lineStart(first) + 1, reading.lineStart(last + 1) - 1) };
}

/** In a section that was found: the stretch of paragraphs around the one with the most words of the query. */
function byWords(reading, target, words) {
  if (!target || !words) return null;
  const start = target.start;
  const end = reading.ownEnd(target);
  if (end - start < 2500) return { start, end };
  let best = null;
  for (const match of reading.text.slice(start, end).matchAll(/\S[^]*?(?=\n\s*\n|$)/g)) {
    const kinds = new Set((match[0].match(words) || []).map((word) => word.toLowerCase().slice(0, 4))).size;
    if (kinds && (!best || kinds > best.kinds)) best = { kinds, start: start + match.index, end: start + match.index + match[0].length };
  }
  return best;
}

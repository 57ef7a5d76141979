/**
 * What an address leads to in a document as it is now: a passage by the fingerprint of its words, wherever they stand, or
 * by the words that were searched for. What is no longer there is never shown as if it were.
 */

import { isFingerprint } from "./fingerprints.js";
import { queryWords, wordPattern } from "./words.js";

/**
 * @typedef {{start: number, end: number}} Range
 * @typedef {"" | "moved" | "changed" | "gone" | "unchecked" | "elsewhere"} State what became of it since the address was
 *   made: it stands somewhere else now, its words have changed, its place is gone; nothing is known, because the address
 *   only has numbers of lines; or these are certainly others by now
 * @param {import("./reader-document.js").ReaderDocument} reading
 * @param {URLSearchParams} params
 * @returns {{passage: Range | null, target: any, words: RegExp | null, state: State}}
 */
export function passageOf(reading, params) {
  const words = wordPattern(queryWords(params.get("q") || ""));
  const id = params.get("place") || params.get("section") || decodeURIComponent(location.hash.slice(1));
  const own = id === reading.data.place_id;
  const target = own ? null : reading.find(id);
  const lines = linesOf(params.get("lines"));
  const mark = params.get("text") || "";
  if (isFingerprint(mark)) return { words, ...byMark(reading, mark, target, lines, words, Boolean(id) && !own) };
  if (lines) return { words, ...byLines(reading, lines, target) };
  return { words, target, passage: byWords(reading, target, words), state: id && !own && !target ? "gone" : "" };
}

function linesOf(text) {
  const found = /^(\d+)(?:[-–](\d+))?$/.exec(text || "");
  return found && [Number(found[1]), Number(found[2] || found[1])];
}

function byMark(reading, mark, target, lines, words, named) {
  const far = (range) => [
    target && range.start >= target.start && range.start < target.end ? 0 : 1,
    // A section that has the same words as another is the one that begins with them.
    lines ? Math.abs(reading.lineAt(range.start) - lines[0]) : range.start - (target?.start ?? 0),
  ];
  const [range] = reading.words.find(mark).sort((a, b) => {
    const [one, other] = [far(a), far(b)];
    return one[0] - other[0] || Math.abs(one[1]) - Math.abs(other[1]);
  });
  if (!range) return { passage: null, target, state: target || !named ? "changed" : "gone" };
  const inside = target && range.start >= target.start && range.start < target.end;
  const here = inside || !named ? target : reading.placeAt(range.start);
  if (!lines) {
    // The first words of a place: they must begin it still.
    const begins = inside && reading.words.after(target.start) === reading.words.after(range.start);
    return { passage: byWords(reading, begins ? target : here, words), target: begins ? target : reading.placeAt(range.start), state: begins ? "" : "moved" };
  }
  return { passage: range, target: here, state: here === target && reading.lineAt(range.start) === lines[0] ? "" : "moved" };
}

/** Numbers of lines alone: whether they still are those that were meant, nobody can tell. */
function byLines(reading, [first, last], target) {
  const start = reading.lineStart(first);
  const end = Math.max(start + 1, reading.lineStart(last + 1) - 1);
  const outside = start >= reading.text.length || (target && (end <= target.start || start >= target.end));
  return outside ? { passage: null, target, state: "elsewhere" } : { passage: { start, end }, target, state: "unchecked" };
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

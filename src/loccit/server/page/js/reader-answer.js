/** The sentence of a passage that answers: the one with the most of what was searched for, rare words above all. */

// A sentence ends with its sign, a paragraph, or where an item of a list or a row of a table begins.
const SENTENCE = /\S[^]*?(?:[.!?…。？！]["'”’»)\]*_]*(?=\s|$)|(?=\n\s*\n|\n\s*(?:[-*+•|#]|\(?[\p{L}\p{N}]{1,4}[.)])(?:\s|\|)|\n\s*\|)|$)/gu;
const MARKER = /^(?:(?:[-*+•|>]|\(?[\p{L}\p{N}]{1,4}[.)])\s+)*/u;

/**
 * @param {import("./reader-document.js").ReaderDocument} reading
 * @param {{start: number, end: number} | null} passage
 * @param {RegExp | null} words
 * @returns {{start: number, end: number} | null}
 */
export function answerIn(reading, passage, words) {
  if (!passage || !words) return null;
  const { text } = reading;
  const kind = (word) => word.toLowerCase().slice(0, 5);
  const counts = new Map();
  for (const [word] of text.matchAll(words)) counts.set(kind(word), (counts.get(kind(word)) || 0) + 1);
  let best = null;
  for (const { start: from, end } of withoutHeadings(reading, passage)) {
    for (const match of text.slice(from, end).matchAll(SENTENCE)) {
      const kinds = new Set((match[0].match(words) || []).map(kind));
      const worth = [...kinds].reduce((sum, one) => sum + 1 / Math.log2(2 + counts.get(one)), 0);
      const start = from + match.index;
      if (worth > (best?.worth ?? 0) + 1e-9) best = { worth, start: start + MARKER.exec(match[0])[0].length, end: start + match[0].trimEnd().length };
    }
  }
  return best && { start: best.start, end: best.end };
}

/** The stretches of a passage between headings, which only name what the sentences below them say. */
function withoutHeadings({ sections }, { start, end }) {
  const parts = [{ start, end }];
  for (const section of sections) {
    const last = parts[parts.length - 1];
    if (section.body <= last.start || section.start >= end) continue;
    parts.splice(-1, 1, { start: last.start, end: section.start }, { start: section.body, end });
  }
  return parts.filter((part) => part.start < part.end);
}

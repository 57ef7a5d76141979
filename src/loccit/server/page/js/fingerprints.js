/**
 * Fingerprints of text: what an address keeps of the words it leads to, to find them again in a document that has
 * changed. `fingerprints.py` of the server makes the same ones, and says how.
 */

const WORD = /[0-9A-Za-z\u{80}-\u{10ffff}]+/gu;
const BASES = [0x9e3779b1, 0x85ebca77];
const WIDTH = 7;
const FORM = new RegExp(`^([1-9][0-9]{0,6})-([0-9a-z]{${WIDTH}})([0-9a-z]{${WIDTH}})$`);
/** How many words of a section stand for it. */
export const BEGINNING = 32;

/** The words of a text: where they stand, and their hashes summed up from the beginning. */
export class Words {
  /** @param {string} text */
  constructor(text) {
    this.spans = [...text.matchAll(WORD)].map((match) => ({ start: match.index, end: match.index + match[0].length }));
    this.sums = BASES.map(() => new Int32Array(this.spans.length + 1));
    const known = new Map();
    this.spans.forEach(({ start, end }, k) => {
      const word = text.slice(start, end);
      let value = known.get(word);
      if (value === undefined) known.set(word, (value = hash(word)));
      this.sums.forEach((sums, n) => (sums[k + 1] = Math.imul(sums[k], BASES[n]) + value));
    });
  }

  /**
   * The fingerprint of the words from one offset to another, or of the first of them; empty where there are none.
   * @param {number} start @param {number} end @param {number} [most]
   */
  mark(start, end, most = Infinity) {
    const from = this.after(start);
    const count = Math.min(most, this.after(end) - from);
    return count > 0 ? `${count}-${BASES.map((_base, n) => digits(this.sum(n, from, count, power(BASES[n], count)))).join("")}` : "";
  }

  /** How many words begin before an offset. */
  after(offset) {
    let low = 0;
    let high = this.spans.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.spans[middle].start < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  sum(n, from, count, factor) {
    return (this.sums[n][from + count] - Math.imul(this.sums[n][from], factor)) >>> 0;
  }

  /** Where the words of a fingerprint stand. @param {string} mark @returns {{start: number, end: number}[]} */
  find(mark) {
    const form = FORM.exec(mark);
    if (!form) return [];
    const count = Number(form[1]);
    const wanted = [parseInt(form[2], 36), parseInt(form[3], 36)];
    const factors = BASES.map((base) => power(base, count));
    const found = [];
    for (let from = 0; from + count <= this.spans.length; from += 1) {
      if (wanted.every((value, n) => this.sum(n, from, count, factors[n]) === value)) {
        found.push({ start: this.spans[from].start, end: this.spans[from + count - 1].end });
      }
    }
    return found;
  }
}

/** The fingerprint of a text; empty where it has no words. @param {string} text */
export const fingerprint = (text) => new Words(text).mark(0, text.length);

/** Whether a text of an address is a fingerprint. */
export const isFingerprint = (text) => FORM.test(text || "");

// FNV-1a over units of UTF-16.
function hash(word) {
  let value = 0x811c9dc5;
  for (let k = 0; k < word.length; k += 1) value = Math.imul(value ^ word.charCodeAt(k), 0x01000193);
  return value | 0;
}

function power(base, count) {
  let value = 1;
  for (let square = base | 0, left = count; left; left >>>= 1, square = Math.imul(square, square)) if (left & 1) value = Math.imul(value, square);
  return value;
}

const digits = (value) => value.toString(36).padStart(WIDTH, "0");

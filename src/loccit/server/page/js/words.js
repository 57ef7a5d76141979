/** The words of a query, and where they stand in a text, also with other endings. */

const STOP = new Set(
  ("a an and are as at be by can do does for from has have how i if in into is it its may must no not of on or shall " +
    "should so than that the their then there these this to was what when where which who whom why will with you " +
    "der die das den dem des ein eine einer eines und oder ist sind was wer wie wo mit von zu im in auf für nicht").split(" "),
);

/** The words of a query that are worth marking; numbers such as 6.1 are one. */
export function queryWords(query) {
  const text = query
    .replace(/(^|\s)-\S+/g, " ")
    .replace(/(^|\s)[\p{L}_]+:("[^"]*"|\S+)/gu, " ")
    .toLowerCase();
  const words = [...new Set(text.match(/\d+(?:[./-]\d+)+|[\p{L}\p{N}]+/gu) || [])].filter((word) => word.length > 1 || /\d/.test(word));
  const telling = words.filter((word) => !STOP.has(word));
  return telling.length ? telling : words;
}

/** A pattern that finds the words; null when there are none. @param {string[]} words */
export function wordPattern(words) {
  if (!words.length) return null;
  const last = words.length - 1;
  const stems = words.map((word, index) => {
    if (word.length < 4 || /\d/.test(word)) return word.replaceAll(".", "\\.");
    const stem = word.length > 5 ? word.replace(/(?:ations?|ings?|edly|ed|es|s|ly|e)$/u, "") : word;
    // The last word may still be being typed.
    const more = index === last ? 9 : stem === word ? 2 : 5;
    return `${stem}\\p{L}{0,${more}}`;
  });
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${stems.join("|")})(?![\\p{L}\\p{N}])`, "giu");
}

/** Ranges of a text that the words stand in. */
export function wordRanges(text, words) {
  const pattern = wordPattern(words);
  if (!pattern) return [];
  return [...text.matchAll(pattern)].map((match) => ({ start: match.index, end: match.index + match[0].length, kind: "word" }));
}

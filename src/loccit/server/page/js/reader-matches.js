/** The matches of a document: the passages that the search finds in it, in the order of the text, and the way from one to the next. */

import { resultMark } from "./results.js";
import { el } from "./text.js";

const MOST = 20;
// Less likely than this is called doubtful.
const LEAST = 0.3;

export class Matches {
  /**
   * @param {import("./reader-document.js").ReaderDocument} reading
   * @param {{start: number, end: number} | null} first the one that was opened
   * @param {{go: (match: {start: number, end: number}) => void, away: () => number | null}} acts `away` says where the
   *   reading is when the match is out of view
   */
  constructor(reading, first, acts) {
    this.reading = reading;
    this.acts = acts;
    this.list = first ? [first] : [];
    this.current = first;
    this.count = el("span", { class: "match-count tabular", role: "status" });
    const button = (text, label, key, by) => el("button", { class: "quiet icon", "aria-label": label, title: `${label} (${key})`, on: { click: () => this.step(by) } }, text);
    this.element = el("span", { class: "matches", role: "group", "aria-label": "Matches", hidden: true }, button("↑", "Previous match", "Shift+M", -1), this.count, button("↓", "Next match", "M", 1));
    this.show();
  }

  /** Ask what else the document says of it. */
  async load(api, q, signal) {
    const { results } = await api.get("search", { q, doc: this.reading.doc, top_k: MOST, offsets: "utf16" }, { signal });
    for (const result of results) {
      if (result.fused_score < LEAST) continue;
      const near = (range) => (result.lines ? Math.abs(this.reading.lineAt(range.start) - result.lines[0]) : 0);
      const [range] = this.reading.words.find(resultMark(result)).sort((a, b) => near(a) - near(b));
      if (range && !this.list.some((other) => range.start < other.end && other.start < range.end)) this.list.push(range);
    }
    this.list.sort((a, b) => a.start - b.start);
    this.show();
  }

  /** Another passage is the one that is meant. */
  set(match) {
    if (match && !this.list.some(({ start, end }) => start === match.start && end === match.end)) {
      this.list = [...this.list.filter(({ start, end }) => end <= match.start || start >= match.end), match].sort((a, b) => a.start - b.start);
    }
    this.current = match;
    this.show();
  }

  step(by) {
    const { list, current } = this;
    if (!list.length) return;
    const away = this.acts.away();
    // From where one is, which need not be where the match is.
    const before = list.filter(({ start }) => start <= (away ?? current?.start ?? -1)).length - (away === null && by < 0 ? 1 : 0);
    this.current = list[((by > 0 ? before : before - 1) + list.length) % list.length];
    this.show();
    this.acts.go(this.current);
  }

  show() {
    const at = this.list.findIndex((one) => one.start === this.current?.start);
    this.element.hidden = !this.list.length;
    this.count.textContent = this.list.length ? `${at < 0 ? "–" : at + 1} of ${this.list.length}` : "";
  }
}

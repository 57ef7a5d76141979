/** "Why this result": how the query was read, where each leg had the passage, the stages, and what filters removed. */

import { isAbort } from "./api.js";
import { loadDocuments } from "./library.js";
import { LEGS, sureness } from "./results.js";
import { barRows, count, el, replace, scrolled, svg } from "./text.js";

const ORDER = ["semantic", "keyword", "exact", "code", "graph", "document", "section"];
const EDGES = {
  parent: "contains another match",
  child: "is part of another match",
  next: "follows another match",
  previous: "comes before another match",
  cited_by: "refers to another match",
  link: "another match links to it",
  wiki: "another match links to it",
  backlink: "links to another match",
  transclusion: "another match embeds it",
  transcluded_by: "embeds another match",
  related: "is related to a matching document",
};
const CITED = "another match refers to it";
const STAGES = {
  original_count: "best candidates",
  after_threshold: "above the minimum score",
  looked_at: "read closely",
  after_content_dedup: "without duplicates",
  after_ngram_dedup: "without near-duplicates",
  after_dedup: "without paraphrases",
  after_mmr: "chosen for variety",
  after_doc_limit: "within the limit per document",
  after_parents: "shown",
};
const TIMES = { understand: "reading the query", spelling: "spelling", exact: "names and numbers", keyword: "words", code: "code", embed: "query to vector", semantic: "meaning", rank: "ranking", rerank: "reranking", refine: "refining", focus: "choosing sentences", enrich: "adding context", respond: "answering" };
const FAR = 100;

/**
 * Return a function that explains a result of an answer into a panel; the explanation is asked for once.
 * @param {any} api
 * @param {Record<string, any>} question as the API was asked
 * @param {any} answer
 */
export function explainer(api, question, answer) {
  /** @type {Promise<any> | null} */
  let explained = null;
  const asked = new WeakSet();
  return async (result, panel) => {
    if (asked.has(panel)) return;
    asked.add(panel);
    // What an earlier answer said stays until this one comes.
    if (!panel.querySelector(".verdict")) replace(panel, el("p", { class: "soft small", text: "Asking…" }));
    try {
      explained ??= Promise.all([api.get("search", { ...question, explain: 1 }), removed(api, question)]);
      const [full, without] = await explained;
      const item = full.results.find(({ chunk_id }) => chunk_id === result.chunk_id);
      if (!item) throw new Error("The library has changed since this search. Search again.");
      draw(panel, item, full, without);
    } catch (error) {
      explained = null;
      asked.delete(panel);
      if (!isAbort(error)) replace(panel, el("p", { class: "bad small", role: "alert", text: error.message }));
    }
  };
}

function draw(panel, result, full, without) {
  const told = full.explanation || {};
  replace(
    panel,
    el("p", { class: "verdict" }, verdict(result)),
    legs(result, told),
    el("dl", { class: "reading" }, reading(result, told)),
    el("div", { class: "why-columns" }, stages(full, told, without), times(full.timings_ms)),
    filtered(without),
  );
}

function verdict(result) {
  const { ranks = {}, exact } = result.explanation || {};
  const best = Object.entries(ranks).sort((a, b) => a[1] - b[1])[0];
  const found = best ? `Ranked ${best[1]} by ${LEGS[best[0]] || best[0]}` : "Found";
  const literal = exact ? `; the query names its ${exact}` : "";
  return `${found}${literal}. Overall it comes ${ordinal(result.rank)}. Match: ${sureness(result.fused_score)} (${Math.round(result.fused_score * 100)} %).`;
}

const ordinal = (number) => ["first", "second", "third", "fourth", "fifth"][number - 1] || `at place ${number}`;

/** Each leg as a line from the first place to the hundredth, with a dot where it had the passage. */
function legs(result, told) {
  const { ranks = {}, scores = {} } = result.explanation || {};
  const names = [...new Set([...ORDER, ...Object.keys(ranks)])].filter((name) => name in ranks || told.legs?.some((leg) => leg.name === name));
  const found = new Map((told.legs || []).map((leg) => [leg.name, leg.found]));
  const heaviest = Math.max(...Object.values(told.weights || { one: 1 }));
  const rows = names.map((name) => {
    const rank = ranks[name];
    const weight = told.weights?.[name];
    const of = found.get(name);
    return el(
      "tr",
      { class: rank ? name : `${name} absent` },
      el("th", { scope: "row" }, LEGS[name] || name),
      el("td", { class: "track" }, track(rank, weight === undefined ? 0.5 : weight / heaviest)),
      el("td", { class: "n" }, rank ? `${rank}${of ? ` of ${of}` : ""}` : "none"),
      el("td", { class: "n" }, name in scores ? scores[name].toFixed(name === "keyword" || name === "code" ? 1 : 2) : "–"),
      el("td", { class: "n" }, weight === undefined ? "–" : weight.toFixed(2)),
    );
  });
  const total = el(
    "tr",
    { class: "all" },
    el("th", { scope: "row" }, "together"),
    el("td", { class: "track" }, track(result.rank, 1, true)),
    el("td", { class: "n" }, result.rank),
    el("td", { class: "n" }, result.fused_score.toFixed(2)),
    el("td", { class: "n" }, ""),
  );
  const head = ["Found by", "1st … 100th place", "Place", "Score", "Weight"];
  return scrolled(
    "scroll",
    "Ranks and scores",
    el("table", { class: "legs-table tabular" }, el("thead", {}, el("tr", {}, head.map((text) => el("th", { scope: "col", text })))), el("tbody", {}, rows, total)),
  );
}

// Logarithmic: the way from place 1 to 3 matters as much as from 30 to 100.
function track(rank, weight, final = false) {
  const at = (place) => `${((100 * Math.log(Math.min(place, FAR))) / Math.log(FAR)).toFixed(1)}%`;
  const parts = [svg("line", { x1: 0, x2: "100%", y1: 10, y2: 10, class: "axis" })];
  for (const place of [1, 3, 10, 30, 100]) parts.push(svg("line", { x1: at(place), x2: at(place), y1: 7, y2: 13, class: "axis" }));
  if (rank && final) parts.push(svg("svg", { x: at(rank), overflow: "visible" }, svg("path", { d: "M0 3l7 7-7 7-7-7z", class: "dot" })));
  else if (rank) parts.push(svg("circle", { cx: at(rank), cy: 10, r: (2.5 + 4 * Math.sqrt(weight)).toFixed(1), class: "dot" }));
  return svg("svg", { height: 20, "aria-hidden": "true" }, parts);
}

function reading(result, told) {
  const rows = [];
  const add = (name, text) => text && rows.push(el("dt", { text: name }), el("dd", { text }));
  const pairs = (object) => Object.entries(object || {}).map(([name, value]) => `${name} → ${value}`);
  add("Searched for", told.searched_for !== result.query && told.corrections && Object.keys(told.corrections).length ? told.searched_for : "");
  add("Spelling", pairs(told.corrections).join(", "));
  add("Phrases", (told.phrases || []).map((text) => `“${text}”`).join(", "));
  add("Places named", (told.references || []).map(({ text }) => text).join(", "));
  add("Added words", (told.expansion || []).join(", "));
  add("Left out", (told.excluded || []).join(", "));
  add("Connection", result.explanation?.edge ? EDGES[result.explanation.edge] || CITED : "");
  add("Reranked", told.reranker && result.explanation?.relevance !== undefined ? `${told.reranker}: ${result.explanation.relevance.toFixed(2)}` : told.reranker);
  add("Merged", told.fusion === "rrf" ? `by rank (reciprocal rank fusion, k = ${told.rrf_k})` : told.fusion === "scores" ? "by normalised scores" : told.fusion);
  return rows;
}

/** How many passages were left after each stage; stages that changed nothing are not shown. */
function stages(full, told, without) {
  const rows = [];
  if (without) rows.push(["in the library", without.all], ["passing the filters", without.left]);
  if (told.candidates) rows.push(["found by any leg", told.candidates]);
  let last = told.candidates ?? Infinity;
  for (const [key, text] of Object.entries(STAGES)) {
    const number = full.compression_stats?.[key];
    if (number === undefined || (number >= last && key !== "after_parents")) continue;
    rows.push([text, number]);
    last = number;
  }
  if (rows.length < 2) return null;
  const most = Math.max(...rows.map(([, number]) => number), 1);
  return el(
    "section",
    {},
    el("h3", { class: "label", text: "Passages, stage by stage" }),
    barRows(rows.map(([text, number]) => [number.toLocaleString("en"), Math.sqrt(number / most), text])),
  );
}

function times(timings) {
  const entries = Object.entries(timings || {}).filter(([name, time]) => name !== "total" && time > 0);
  const total = timings?.total || entries.reduce((sum, [, time]) => sum + time, 0);
  if (!entries.length || !total) return null;
  const largest = [...entries].sort((a, b) => b[1] - a[1]).slice(0, 5);
  return el(
    "section",
    {},
    el("h3", { class: "label", text: `Time, ${total.toFixed(total < 10 ? 1 : 0)} ms` }),
    barRows(largest.map(([name, time]) => [time.toFixed(1), time / largest[0][1], TIMES[name] || name]), "time"),
  );
}

/** Which documents and how many passages the filters took out; null without filters. */
async function removed(api, question) {
  if (!question.filters) return null;
  const [all, { documents }] = await Promise.all([loadDocuments(), api.get("documents", { filters: question.filters })]);
  const kept = new Set(documents.map(({ id }) => id));
  const chunks = (list) => list.reduce((sum, item) => sum + item.total_chunks, 0);
  const gone = all.filter(({ id }) => !kept.has(id));
  return { all: chunks(all), left: chunks(documents), documents: all.length, gone };
}

function filtered(without) {
  if (!without) return null;
  const { gone } = without;
  const titles = gone.slice(0, 8).map(({ title }) => title);
  return el(
    "section",
    { class: "removed" },
    el("h3", { class: "label", text: "What the filters removed" }),
    el("p", {
      class: "small",
      text: gone.length
        ? `${count(gone.length, "document")} of ${without.documents}, with ${count(without.all - without.left, "passage")}: ${titles.join("; ")}${gone.length > 8 ? "; …" : "."}`
        : "Nothing: every document passes.",
    }),
  );
}

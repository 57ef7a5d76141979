/** A document of the map, opened: its sections with arcs for the references between them, and where others come in. */

import { count, el, svg, typeName } from "./text.js";
import { mapUrl, readUrl } from "./router.js";

const ROW = 28;
const GUTTER = 84;
const MOST = 600;

/**
 * @param {{doc: string, title: string, chunks: number, file_type: string}} place
 * @param {{sections: any[], links: any[]}} inside answer of `/api/map?doc=`
 * @param {Map<string, {doc: string, title: string}>} byDoc
 * @param {{from: string, to: string, count: number}[]} links between documents
 * @returns {HTMLElement}
 */
export function panel(place, inside, byDoc, links) {
  const into = links.filter((link) => link.to === place.doc && link.from !== place.doc && byDoc.has(link.from));
  return el(
    "section",
    { class: "map-panel", "aria-label": place.title },
    el(
      "header",
      {},
      el("h2", { dir: "auto", tabindex: "-1" }, place.title),
      el("a", { class: "map-close", href: mapUrl(), "aria-label": "Close", title: "Close" }, "×"),
    ),
    el("p", { class: "small soft" }, [typeName(place.file_type).toUpperCase(), count(inside.sections.length, "section"), count(place.chunks, "passage")].filter(Boolean).join(" · ")),
    el("p", {}, el("a", { class: "button", href: readUrl({ doc: place.doc }) }, "Read")),
    into.length > 0 && [el("h3", { class: "label into" }, "Referred to by"), others(into.map((link) => [byDoc.get(link.from), link.count, mapUrl({ doc: link.from })]))],
    inside.document_citations > 0 && el("p", { class: "small soft" }, `As a whole: referred to ${count(inside.document_citations, "time")} by other documents`),
    outward(place, inside, byDoc),
    inside.sections.length > 0 && [el("h3", { class: "label" }, "Sections"), arcs(place, inside)],
  );
}

function others(rows) {
  rows.sort((a, b) => b[1] - a[1]);
  return el("ul", { class: "map-others" }, rows.slice(0, 60).map(([to, times, href]) => el("li", {}, el("a", { href, dir: "auto" }, to.title), el("span", { class: "soft tabular" }, ` ${times}`))));
}

/** Other documents that this one leads to, each with the sections from which. */
function outward(place, inside, byDoc) {
  const out = new Map();
  for (const link of inside.links) {
    if (link.to_doc === place.doc || !byDoc.has(link.to_doc)) continue;
    const found = out.get(link.to_doc) || { times: 0, from: new Set() };
    found.times += link.count;
    found.from.add(link.from_section);
    out.set(link.to_doc, found);
  }
  if (!out.size) return null;
  return [el("h3", { class: "label onto" }, "Leads to"), others([...out].map(([doc, { times }]) => [byDoc.get(doc), times, mapUrl({ doc })]))];
}

/** The sections in their order; arcs beside them join those that refer to each other. */
function arcs(place, { sections, links }) {
  const shown = sections.slice(0, MOST);
  const rowOf = new Map(shown.map((section, k) => [section.section_id, k]));
  const pairs = new Map();
  for (const link of links) {
    const [from, to] = [rowOf.get(link.from_section), link.to_doc === place.doc ? rowOf.get(link.to_section) : undefined];
    if (from === undefined || to === undefined || to === from) continue;
    const key = `${from} ${to}`;
    pairs.set(key, (pairs.get(key) || 0) + link.count);
  }
  const curves = [...pairs].map(([key, times]) => curve(key, times, shown.length));
  const picture = svg("svg", { class: "arcs", width: GUTTER, height: shown.length * ROW, "aria-hidden": "true" }, curves.map(({ path }) => path));
  const least = Math.min(...shown.map((section) => section.level));
  const rows = shown.map((section, k) => row(place, section, section.level - least));
  const list = el("ol", { class: "arc-rows" }, rows);
  const light = (k) => {
    picture.classList.toggle("lighting", k >= 0);
    for (const { path, from, to } of curves) path.classList.toggle("lit", from === k || to === k);
    const near = new Set(curves.filter(({ from, to }) => from === k || to === k).flatMap(({ from, to }) => [from, to]));
    rows.forEach((item, n) => item.classList.toggle("near", k >= 0 && near.has(n)));
  };
  const over = (event) => light(rows.indexOf(event.target.closest("li")));
  list.addEventListener("pointerover", over);
  list.addEventListener("focusin", over);
  list.addEventListener("pointerleave", () => light(-1));
  list.addEventListener("focusout", () => light(-1));
  return el("div", { class: "arc-diagram" }, picture, list, sections.length > MOST && el("p", { class: "small soft" }, `and ${count(sections.length - MOST, "other section")}`));
}

function curve(key, times, rows) {
  const [from, to] = key.split(" ").map(Number);
  const [y1, y2] = [(from + 0.5) * ROW, (to + 0.5) * ROW];
  const reach = Math.min(GUTTER - 6, 10 + (GUTTER - 16) * Math.sqrt(Math.abs(to - from) / Math.max(1, rows)));
  const x = GUTTER - 4;
  const d = `M${x} ${y1}C${x - reach * 1.3} ${y1} ${x - reach * 1.3} ${y2} ${x} ${y2}`;
  return { from, to, path: svg("path", { d, "stroke-width": (1 + Math.log2(times) * 0.5).toFixed(1) }) };
}

function row(place, section, depth) {
  const name = [section.label, section.title].filter(Boolean).join(" ") || section.section_id;
  const { cites, citations } = section;
  const says = [cites && `refers to ${count(cites, "place")}`, citations && `referred to ${count(citations, "time")}`].filter(Boolean).join(", ");
  return el(
    "li",
    { style: { "--deep": Math.min(depth, 6) } },
    el("a", { href: readUrl({ doc: place.doc, section: section.section_id }), dir: "auto", title: name }, section.label && section.title ? [el("span", { class: "no" }, section.label), " ", section.title] : name),
    says && [el("span", { class: "sr" }, `, ${says}`), el("span", { class: "counts soft tabular", "aria-hidden": "true", title: says }, cites ? ` →${cites}` : "", citations ? ` ←${citations}` : "")],
  );
}

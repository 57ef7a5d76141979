/** The map of a library: documents and the references between them, as a picture or as a table. */

import { announce, choices, count, el, replace } from "./text.js";
import { layout } from "./map-layout.js";
import { panel } from "./map-panel.js";
import { Picture } from "./map-picture.js";
import { table } from "./map-table.js";
import { restoreScroll } from "./router.js";

const MOST = 400; // more circles than this say nothing; the table has all

/**
 * @param {HTMLElement} container
 * @param {URLSearchParams} params
 * @param {import("./api.js").api} api
 */
export async function mount(container, params, api) {
  const view = new MapView(container, api);
  await view.load();
  await view.open(params.get("doc") || "");
  restoreScroll();
  return { unmount: () => view.stop(), update: (next) => view.update(next) };
}

class MapView {
  constructor(container, api) {
    this.container = container;
    this.api = api;
    this.turn = 0;
  }

  async load() {
    const { documents, links } = await this.api.get("map");
    this.links = links;
    this.places = layout(documents, links);
    this.byDoc = new Map(this.places.map((place) => [place.doc, place]));
    const drawn = this.places.length > MOST ? [...this.places].sort((a, b) => b.in + b.out - a.in - a.out || b.chunks - a.chunks).slice(0, MOST) : this.places;
    if (!this.places.length) {
      replace(this.container, el("div", { class: "state" }, el("h1", {}, "Map"), el("p", {}, "There are no documents yet.")));
      return;
    }
    this.picture = new Picture(drawn, links);
    this.table = table(this.places);
    this.side = el("div", { class: "map-side", hidden: true });
    this.switch = choices("map-as", "Show as", [["picture", "Picture"], ["table", "Table"]], (as) => this.show(as));
    const between = links.filter((link) => link.from !== link.to).reduce((sum, link) => sum + link.count, 0);
    const says = `${count(this.places.length, "document")}, ${count(between, "reference")} between them`;
    this.root = el(
      "div",
      { class: "map" },
      el(
        "header",
        { class: "map-bar" },
        el("h1", {}, "Map"),
        el("p", { class: "small soft" }, says, drawn.length < this.places.length && `; the picture shows the ${MOST} with the most`),
        this.switch.node,
      ),
      el("div", { class: "map-main" }, this.picture.element, this.table),
      this.side,
    );
    replace(this.container, this.root);
    this.show(matchMedia("(max-width: 600px)").matches ? "table" : "picture");
    this.watch = new ResizeObserver(() => this.picture.fit());
    this.watch.observe(this.picture.element);
  }

  show(as) {
    this.picture.element.hidden = as !== "picture";
    this.table.hidden = as !== "table";
    this.switch.set(as);
    if (as === "picture") this.picture.fit();
  }

  /** Show the sections of a document; an empty id closes them. */
  async open(doc) {
    if (!this.picture) return;
    const mine = ++this.turn;
    const place = this.byDoc.get(doc);
    this.picture.choose(place ? doc : "");
    this.root.classList.toggle("with-side", Boolean(doc));
    this.side.hidden = !doc;
    document.title = `${place ? `${place.title} · ` : ""}Map · Loccit`;
    if (!doc) return;
    if (!place) return replace(this.side, el("p", { class: "map-panel", role: "alert" }, "This document is not in the library."));
    try {
      const inside = await this.api.get("map", { doc });
      if (mine !== this.turn) return;
      replace(this.side, panel(place, inside, this.byDoc, this.links));
      this.side.scrollTop = 0;
      this.side.querySelector("h2")?.focus({ preventScroll: !matchMedia("(max-width: 900px)").matches });
      announce(`${place.title}, ${count(inside.sections.length, "section")}`);
    } catch (error) {
      if (mine === this.turn) replace(this.side, el("p", { class: "map-panel", role: "alert" }, error.message));
    }
  }

  async update(next) {
    await this.open(next.get("doc") || "");
    restoreScroll();
  }

  stop() {
    this.turn += 1;
    this.watch?.disconnect();
  }
}

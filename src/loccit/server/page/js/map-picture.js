/** The map as a picture: documents as circles, references as curves. Drag, wheel, pinch or keys move through it. */

import { count, el, svg } from "./text.js";
import { mapUrl } from "./router.js";

const clamp = (value, low, high) => Math.max(low, Math.min(high, value));

export class Picture {
  /**
   * @param {import("./map-layout.js").Place[]} places
   * @param {{from: string, to: string, count: number}[]} links
   */
  constructor(places, links) {
    this.places = places;
    this.byDoc = new Map(places.map((place) => [place.doc, place]));
    this.links = links.filter(({ from, to }) => from !== to && this.byDoc.has(from) && this.byDoc.has(to));
    this.k = 1;
    this.x = 0;
    this.y = 0;
    this.chosen = "";
    this.above = new Set();
    this.pointers = new Map();
    this.curves = this.links.map((link) => svg("path", { class: "map-link", "marker-end": "url(#map-arrow)", "stroke-width": (1 + Math.log2(link.count) * 0.6).toFixed(1) }));
    this.nodes = places.map((place) => this.node(place));
    this.svg = svg(
      "svg",
      { class: `map-picture${this.links.length > 150 ? " dense" : ""}`, role: "group", "aria-label": "Documents and the references between them" },
      svg("defs", {}, svg("marker", { id: "map-arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0 0.5L8 4L0 7.5z" }))),
      svg("g", {}, this.curves),
      svg("g", {}, this.nodes),
    );
    this.element = el("div", { class: "map-frame" }, this.svg, this.buttons());
    this.listen();
    this.rove(this.nodes[0]);
  }

  node(place) {
    const words = lines(place.title);
    const says = `${place.title}: ${count(place.chunks, "passage")}, refers to others ${count(place.out, "time")}, referred to ${count(place.in, "time")}`;
    return svg(
      "a",
      { class: `map-node${place.alone ? " alone" : ""}`, href: mapUrl({ doc: place.doc }), "aria-label": says, tabindex: "-1", dataset: { doc: place.doc }, draggable: "false" },
      svg("title", {}, says),
      svg("circle", { r: place.r.toFixed(1) }),
      svg("text", { "text-anchor": "middle" }, words.map((line, n) => svg("tspan", { x: 0, y: (place.r + 15 + n * 13).toFixed(0) }, line))),
    );
  }

  buttons() {
    const make = (text, label, act) => el("button", { class: "button", "aria-label": label, title: label, on: { click: act } }, text);
    return el(
      "div",
      { class: "map-zoom" },
      make("+", "Nearer", () => this.zoom(1.4)),
      make("−", "Farther", () => this.zoom(1 / 1.4)),
      make("⤢", "Show all", () => this.fit()),
    );
  }

  /** Bring everything into the frame. */
  fit() {
    const { width, height } = this.svg.getBoundingClientRect();
    if (!width || !this.places.length) return;
    const pad = 70;
    const left = Math.min(...this.places.map((place) => place.x - place.r));
    const right = Math.max(...this.places.map((place) => place.x + place.r));
    const top = Math.min(...this.places.map((place) => place.y - place.r));
    const bottom = Math.max(...this.places.map((place) => place.y + place.r + 32));
    this.k = clamp(Math.min((width - 2 * pad) / Math.max(1, right - left), (height - pad) / Math.max(1, bottom - top)), 0.15, 1.25);
    this.x = width / 2 - ((left + right) / 2) * this.k;
    this.y = height / 2 - ((top + bottom) / 2) * this.k;
    this.place();
  }

  zoom(by, at = null) {
    const { width, height } = this.svg.getBoundingClientRect();
    const [cx, cy] = at || [width / 2, height / 2];
    const k = clamp(this.k * by, 0.1, 6);
    this.x = cx - ((cx - this.x) * k) / this.k;
    this.y = cy - ((cy - this.y) * k) / this.k;
    this.k = k;
    this.place();
  }

  /** Put everything where it is to be seen. Circles grow slower than distances, names not at all. */
  place() {
    const size = clamp(Math.sqrt(this.k), 0.4, 1.6);
    if (this.named !== this.k) this.name(size);
    this.places.forEach((place, n) => {
      const node = this.nodes[n];
      node.setAttribute("transform", `translate(${(place.x * this.k + this.x).toFixed(1)} ${(place.y * this.k + this.y).toFixed(1)})`);
      const [, circle, text] = node.children;
      circle.setAttribute("r", (place.r * size).toFixed(1));
      const up = this.above.has(n) ? 2 * place.r * size + 8 + 13 * text.children.length : 0;
      text.setAttribute("transform", `translate(0 ${(place.r * (size - 1) - up).toFixed(1)})`);
    });
    this.links.forEach((link, n) => this.curves[n].setAttribute("d", this.curve(link, size)));
  }

  /** Show the names that have room below their circle, or else above it, those of the most connected first. */
  name(size) {
    this.named = this.k;
    const order = this.places.map((_place, n) => n).sort((a, b) => weight(this.places[b]) - weight(this.places[a]));
    this.above = new Set();
    const taken = this.places.map(({ x, y, r }) => [x * this.k - r * size, y * this.k - r * size, x * this.k + r * size, y * this.k + r * size]);
    for (const n of order) {
      const place = this.places[n];
      const tspans = [...this.nodes[n].children[2].children];
      const wide = Math.max(...tspans.map((line) => line.textContent.length)) * 6.2;
      const high = tspans.length * 13 + 2;
      const [x, below] = [place.x * this.k, place.y * this.k + place.r * size + 4];
      const room = [below, below - 2 * place.r * size - 8 - high]
        .map((y) => [x - wide / 2, y, x + wide / 2, y + high])
        .find((box) => taken.every((other) => box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1]));
      this.nodes[n].classList.toggle("unnamed", !room);
      if (room && room[1] < below) this.above.add(n);
      if (room) taken.push(room);
    }
  }

  curve({ from, to }, size) {
    const [a, b] = [this.byDoc.get(from), this.byDoc.get(to)];
    const at = (place) => [place.x * this.k + this.x, place.y * this.k + this.y];
    const [[ax, ay], [bx, by]] = [at(a), at(b)];
    const far = Math.hypot(bx - ax, by - ay) || 1;
    const bend = Math.min(40, far * 0.14);
    const mx = (ax + bx) / 2 - ((by - ay) / far) * bend;
    const my = (ay + by) / 2 + ((bx - ax) / far) * bend;
    const edge = (x, y, gap) => {
      const way = Math.hypot(mx - x, my - y) || 1;
      return `${(x + ((mx - x) / way) * gap).toFixed(1)} ${(y + ((my - y) / way) * gap).toFixed(1)}`;
    };
    return `M${edge(ax, ay, a.r * size + 1)}Q${mx.toFixed(1)} ${my.toFixed(1)} ${edge(bx, by, b.r * size + 4)}`;
  }

  /** Mark a document and its neighbours; an empty id marks none. */
  choose(doc) {
    this.chosen = doc;
    this.light(doc);
    const node = this.nodes.find((item) => item.dataset.doc === doc);
    this.nodes.forEach((item) => (item === node ? item.setAttribute("aria-current", "true") : item.removeAttribute("aria-current")));
    if (node) this.rove(node);
  }

  light(doc) {
    const near = new Set([doc]);
    this.links.forEach((link, n) => {
      const on = link.from === doc || link.to === doc;
      this.curves[n].classList.toggle("lit", on);
      this.curves[n].classList.toggle("in", link.to === doc);
      if (on) near.add(link.from).add(link.to);
    });
    this.nodes.forEach((node) => node.classList.toggle("near", near.has(node.dataset.doc)));
    this.svg.classList.toggle("lighting", near.size > 1);
  }

  rove(node) {
    if (!node) return;
    this.stop?.setAttribute("tabindex", "-1");
    this.stop = node;
    node.setAttribute("tabindex", "0");
  }

  listen() {
    const frame = this.svg;
    frame.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = frame.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), [event.clientX - box.left, event.clientY - box.top]);
    }, { passive: false });
    frame.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
      this.dragged = 0;
    });
    frame.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) frame.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    // The end of a drag over a document is no click on it.
    frame.addEventListener("click", (event) => this.dragged > 5 && (event.preventDefault(), event.stopPropagation()), { capture: true });
    frame.addEventListener("pointerover", (event) => this.light(event.target.closest?.(".map-node")?.dataset.doc || this.chosen));
    frame.addEventListener("pointerleave", () => this.light(this.chosen));
    frame.addEventListener("focusin", (event) => {
      const node = event.target.closest(".map-node");
      if (node) {
        this.rove(node);
        this.light(node.dataset.doc);
      }
    });
    frame.addEventListener("focusout", () => this.light(this.chosen));
    frame.addEventListener("keydown", (event) => this.key(event));
  }

  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
      const box = this.svg.getBoundingClientRect();
      const apart = (one) => Math.hypot(one[0] - other[0], one[1] - other[1]) || 1;
      this.zoom(apart(now) / apart(before), [(now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top]);
    } else {
      this.x += dx;
      this.y += dy;
      this.place();
    }
    this.dragged += Math.abs(dx) + Math.abs(dy);
    this.pointers.set(event.pointerId, now);
  }

  key(event) {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (way && event.shiftKey) {
      this.x -= way[0] * 60;
      this.y -= way[1] * 60;
      this.place();
    } else if (way) this.step(way);
    else if (event.key === "+" || event.key === "=") this.zoom(1.3);
    else if (event.key === "-") this.zoom(1 / 1.3);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }

  /** To the nearest document in a direction. */
  step([wx, wy]) {
    const from = this.byDoc.get(this.stop?.dataset.doc);
    let best = null;
    this.places.forEach((place, n) => {
      const along = (place.x - from.x) * wx + (place.y - from.y) * wy;
      const across = Math.abs((place.x - from.x) * wy) + Math.abs((place.y - from.y) * wx);
      if (place === from || along <= 1) return;
      const cost = along + 2 * across;
      if (!best || cost < best.cost) best = { cost, node: this.nodes[n], place };
    });
    if (!best) return;
    best.node.focus({ preventScroll: true });
    this.reveal(best.place);
  }

  reveal(place) {
    const { width, height } = this.svg.getBoundingClientRect();
    const [x, y] = [place.x * this.k + this.x, place.y * this.k + this.y];
    const [dx, dy] = [clamp(x, 60, width - 60) - x, clamp(y, 50, height - 70) - y];
    if (!dx && !dy) return;
    this.x += dx;
    this.y += dy;
    this.place();
  }
}

const weight = (place) => (place.in + place.out) * 1000 + place.chunks;

/** A title in two short lines. */
function lines(title) {
  const out = [""];
  for (const word of title.split(/\s+/)) {
    const last = out[out.length - 1];
    if (last && (last + word).length > 19) out.push(word);
    else out[out.length - 1] = last ? `${last} ${word}` : word;
    if (out.length > 2) break;
  }
  const shown = out.slice(0, 2).map((line) => (line.length > 22 ? `${line.slice(0, 21)}…` : line));
  if (out.length > 2) shown[1] += " …";
  return shown;
}

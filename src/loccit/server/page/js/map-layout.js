/**
 * Where documents stand on the map. The same library always gives the same picture: documents that refer to each other
 * draw together from a fixed beginning, those without references stand in rows below.
 */

/**
 * @typedef {{doc: string, title: string, chunks: number, sections: number, file_type: string, r: number, x: number, y: number,
 *   in: number, out: number, degree: number, alone: boolean}} Place
 */

const ROUNDS = 220;

/** The radius of a document: its area grows with its passages. */
export function radius(chunks, most) {
  return 7 + 23 * Math.sqrt(chunks / Math.max(1, most));
}

/**
 * @param {{doc: string, title: string, chunks: number, sections: number, file_type: string}[]} documents
 * @param {{from: string, to: string, count: number}[]} links
 * @returns {Place[]}
 */
export function layout(documents, links) {
  const most = Math.max(1, ...documents.map((item) => item.chunks));
  const places = documents.map((item) => ({ ...item, r: radius(item.chunks, most), x: 0, y: 0, in: 0, out: 0, degree: 0, alone: true }));
  const byDoc = new Map(places.map((place) => [place.doc, place]));
  const pairs = [];
  for (const { from, to, count } of links) {
    const [a, b] = [byDoc.get(from), byDoc.get(to)];
    if (!a || !b || a === b) continue;
    a.out += count;
    b.in += count;
    a.alone = b.alone = false;
    a.degree += 1;
    b.degree += 1;
    pairs.push({ a, b, weight: 1 + Math.log2(count) });
  }
  const linked = places.filter((place) => !place.alone);
  linked.sort((a, b) => b.in + b.out - (a.in + a.out) || (a.title < b.title ? -1 : 1));
  draw(linked, pairs);
  rows(places.filter((place) => place.alone), linked);
  return places;
}

/** Springs along references, repulsion between all, a gentle pull to the middle; cooling from round to round. */
function draw(nodes, pairs) {
  // A sunflower: the most connected in the middle, nobody on top of another.
  nodes.forEach((node, k) => {
    const angle = k * 2.399963;
    const far = 60 * Math.sqrt(k + 0.5);
    node.x = far * Math.cos(angle);
    node.y = far * Math.sin(angle);
  });
  const ideal = 55;
  const rounds = nodes.length > 250 ? ROUNDS / 2 : ROUNDS;
  for (let round = 0; round < rounds; round += 1) {
    const heat = 40 * (1 - round / rounds) + 0.5;
    const push = nodes.map((node) => ({ x: -node.x * 0.05, y: -node.y * 0.09 }));
    const at = new Map(nodes.map((node, k) => [node, push[k]]));
    for (let i = 0; i < nodes.length; i += 1) {
      for (let j = i + 1; j < nodes.length; j += 1) {
        const dx = nodes[i].x - nodes[j].x || 0.01 * (i + 1);
        const dy = nodes[i].y - nodes[j].y || 0.01 * (j + 1);
        const gap = Math.max(8, Math.hypot(dx, dy) - nodes[i].r - nodes[j].r);
        const force = (ideal * ideal * 0.5) / (gap * Math.hypot(dx, dy));
        push[i].x += dx * force;
        push[i].y += dy * force;
        push[j].x -= dx * force;
        push[j].y -= dy * force;
      }
    }
    for (const { a, b, weight } of pairs) {
      const dx = b.x - a.x;
      const dy = b.y - a.y;
      const far = Math.hypot(dx, dy) || 1;
      // Whoever is tied to many is not torn by each of them.
      const pull = (weight * (far - ideal - a.r - b.r) * 0.12) / far / Math.min(a.degree, b.degree);
      at.get(a).x += dx * pull;
      at.get(a).y += dy * pull;
      at.get(b).x -= dx * pull;
      at.get(b).y -= dy * pull;
    }
    nodes.forEach((node, k) => {
      const size = Math.hypot(push[k].x, push[k].y) || 1;
      node.x += (push[k].x / size) * Math.min(size, heat);
      node.y += (push[k].y / size) * Math.min(size, heat);
    });
  }
  apart(nodes);
}

/** Move documents apart that would cover each other or each other's names. */
function apart(nodes) {
  for (let round = 0; round < 60; round += 1) {
    let moved = false;
    for (let i = 0; i < nodes.length; i += 1) {
      for (let j = i + 1; j < nodes.length; j += 1) {
        const dx = nodes[j].x - nodes[i].x;
        const dy = nodes[j].y - nodes[i].y;
        const needX = Math.max(110, nodes[i].r + nodes[j].r + 10);
        const needY = nodes[i].r + nodes[j].r + 38;
        if (Math.abs(dx) >= needX || Math.abs(dy) >= needY) continue;
        moved = true;
        // Along the shorter way out.
        if (needX - Math.abs(dx) < needY - Math.abs(dy)) {
          const by = ((needX - Math.abs(dx)) / 2 + 0.5) * (dx < 0 ? -1 : 1);
          nodes[i].x -= by;
          nodes[j].x += by;
        } else {
          const by = ((needY - Math.abs(dy)) / 2 + 0.5) * (dy < 0 ? -1 : 1);
          nodes[i].y -= by;
          nodes[j].y += by;
        }
      }
    }
    if (!moved) break;
  }
}

function rows(alone, linked) {
  alone.sort((a, b) => b.chunks - a.chunks || (a.title < b.title ? -1 : 1));
  const left = Math.min(0, ...linked.map((node) => node.x));
  const right = Math.max(0, ...linked.map((node) => node.x));
  const wide = Math.max(3, Math.round((right - left) / 130), Math.ceil(Math.sqrt(alone.length * 2)));
  let y = linked.length ? Math.max(...linked.map((node) => node.y + node.r)) + 100 : 0;
  for (let k = 0; k < alone.length; k += wide) {
    const row = alone.slice(k, k + wide);
    const high = Math.max(...row.map((node) => node.r));
    row.forEach((node, n) => {
      node.x = (left + right) / 2 + (n - (row.length - 1) / 2) * 130;
      node.y = y + high;
    });
    y += 2 * high + 52;
  }
}

/** Emphasis: which runs of `*`, `_` and `~~` belong together. */

/**
 * Pair the runs of `*`, `_` and `~~`, as CommonMark does: openers wait on a stack for the nearest closer that fits.
 * @param {any[]} nodes
 * @returns {import("./markdown-inline.js").Inline[]}
 */
export function emphasise(nodes) {
  /** @type {any[]} */
  const done = [];
  /** @type {{run: any, index: number}[]} */
  let openers = [];
  const bottoms = new Map(); // below which no opener fits a closer of this kind
  for (const node of nodes) {
    done.push(node);
    if (node.type !== "run") continue;
    if (node.canClose) {
      done.pop();
      openers = closeRun(node, done, openers, bottoms);
      if (node.count) done.push(node);
    }
    if (node.count && node.canOpen) openers.push({ run: node, index: done.length - 1 });
  }
  return done.flatMap(leftOver);
}

/** What is left of a run that found no partner is text. */
function leftOver(node) {
  if (node.type !== "run") return [node];
  return node.count ? [{ type: "text", s: node.s, e: node.e, text: node.c.repeat(node.count) }] : [];
}

function closeRun(closer, done, openers, bottoms) {
  const key = `${closer.c}${closer.canOpen}${closer.size % 3}`;
  while (closer.count) {
    let k = openers.length - 1;
    const bottom = bottoms.get(key) ?? 0;
    while (k >= bottom && !fits(openers[k].run, closer)) k -= 1;
    if (k < bottom) {
      bottoms.set(key, openers.length);
      break;
    }
    const { run, index } = openers[k];
    const used = closer.c === "~" || (run.count >= 2 && closer.count >= 2) ? 2 : 1;
    const type = closer.c === "~" ? "del" : used === 2 ? "strong" : "em";
    const kids = done.splice(index + 1).flatMap(leftOver);
    openers = openers.slice(0, run.count > used ? k + 1 : k);
    run.count -= used;
    run.e -= used;
    closer.count -= used;
    closer.s += used;
    done.push({ type, s: run.e, e: closer.s, kids });
    for (const [name, value] of bottoms) bottoms.set(name, Math.min(value, openers.length));
  }
  return openers;
}

function fits(opener, closer) {
  if (opener.c !== closer.c || !opener.count) return false;
  const odd = (opener.canClose || closer.canOpen) && (opener.size + closer.size) % 3 === 0;
  return !odd || (opener.size % 3 === 0 && closer.size % 3 === 0);
}

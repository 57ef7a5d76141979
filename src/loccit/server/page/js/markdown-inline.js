/**
 * What stands inside a block: emphasis, code, links. Gives a tree of nodes, each with its place in the source.
 */

import { emphasise } from "./markdown-emphasis.js";

/** @typedef {import("./markdown-lines.js").Line} Line */
/**
 * @typedef {object} Inline
 * @property {"text"|"em"|"strong"|"del"|"sup"|"sub"|"code"|"link"|"image"|"wiki"|"br"|"raw"} type
 * @property {number} s
 * @property {number} e
 * @property {string} [text]
 * @property {string} [href]
 * @property {Inline[]} [kids]
 */

const LIMIT = 20000; // a longer paragraph is hardly Markdown, and is shown as it stands
const SPECIAL = /[\\`*_~[\]!<&\n]/g;
const PUNCTUATION = /[\p{P}\p{S}]/u;
const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,31}));/y;
const AUTOLINK = /<([a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]{0,2000}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})>/y;
const RAISED = /<(sup|sub)>([^<\n]{1,200})<\/\1>/iy;
const NOTE = /\[\^([\p{L}\p{N}_-]{1,30})\](:(?=\s))?(?![([])/uy;
const BREAK = /<br\s*\/?>\s*\n?/iy;
const COMMENT = /<!--[^]*?-->/y;
const TAG = /<\/?[a-zA-Z][a-zA-Z0-9-]{0,40}(?:[^<>"']|"[^"]*"|'[^']*')*>/y;
// Tags that only shape text: the text is kept, they are not shown.
const QUIET = /^<\/?(?:p|div|span|b|i|u|s|em|strong|small|big|font|center|abbr|cite|q|kbd|code|var|samp|ins|del|mark|a|sup|sub|dl|dt|dd|ul|ol|li|details|summary|section|article|figure|figcaption|h[1-6]|table|thead|tbody|tr|td|th|caption|col|colgroup|hr|blockquote|pre)(?![a-zA-Z0-9-])/i;
const NAMED = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", copy: "©", reg: "®", trade: "™", sect: "§", para: "¶",
  ndash: "–", mdash: "—", hellip: "…", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", bull: "•", middot: "·", times: "×",
  deg: "°", plusmn: "±", frac12: "½", frac14: "¼", frac34: "¾", euro: "€", pound: "£", shy: "\u00ad", auml: "ä", ouml: "ö",
  uuml: "ü", Auml: "Ä", Ouml: "Ö", Uuml: "Ü", szlig: "ß", eacute: "é", egrave: "è", le: "≤", ge: "≥", ne: "≠", rarr: "→",
  larr: "←", laquo: "«", raquo: "»",
};

/**
 * Read the lines of a paragraph.
 * @param {Line[]} lines
 * @param {Map<string, string>} definitions addresses of reference links
 * @returns {Inline[]}
 */
export function inlinesOf(lines, definitions) {
  const text = lines.map((line) => line.t).join("\n");
  if (text.length > LIMIT) return lines.flatMap((line) => [literal(line), literal({ s: line.s + line.t.length, t: "\n" })]);
  return new Reader(text, placesOf(lines), definitions).read();
}

const literal = ({ s, t }) => ({ type: "text", s, e: s + t.length, text: t });

/** Where each stretch of the joined text stands in the source, as [position, offset]; unbroken lines make one. */
function placesOf(lines) {
  const places = [];
  let at = 0;
  for (const { s, t } of lines) {
    const last = places[places.length - 1];
    if (!last || last[1] + (at - last[0]) !== s) places.push([at, s]);
    at += t.length + 1;
  }
  return places;
}

class Reader {
  constructor(text, places, definitions) {
    this.text = text;
    this.places = places;
    this.definitions = definitions;
    /** @type {any[]} */
    this.nodes = [];
    /** Open brackets: index of the node, and whether it is an image. */
    this.brackets = [];
    this.ticks = new Map(); // runs of backticks that are known to have no end
  }

  /** The offset in the source of a position in the joined text. */
  source(position) {
    let k = this.places.length - 1;
    while (k > 0 && this.places[k][0] > position) k -= 1;
    return this.places[k][1] + position - this.places[k][0];
  }

  read() {
    const { text } = this;
    let at = 0;
    while (at < text.length) {
      SPECIAL.lastIndex = at;
      const found = SPECIAL.exec(text);
      const next = found ? found.index : text.length;
      if (next > at) this.say(at, next);
      at = next < text.length ? this.special(next) : next;
    }
    return emphasise(this.nodes);
  }

  /** Add text as it stands, in one piece for each stretch of the source. */
  say(from, to) {
    for (let at = from; at < to; ) {
      const broken = this.places.find(([position]) => position > at && position < to);
      const end = broken ? broken[0] : to;
      this.nodes.push({ type: "text", s: this.source(at), e: this.source(at) + end - at, text: this.text.slice(at, end) });
      at = end;
    }
  }

  /** Add a node that stands for a stretch of the text. */
  add(type, from, to, more = {}) {
    const s = this.source(from);
    this.nodes.push({ type, s, e: Math.max(s, this.source(to - 1) + 1), ...more });
    return to;
  }

  special(at) {
    const { text } = this;
    const c = text[at];
    if (c === "\\") return this.escape(at);
    if (c === "`") return this.code(at);
    if (c === "*" || c === "_" || c === "~") return this.delimiter(at);
    if (c === "[") return this.open(at, false);
    if (c === "!" && text[at + 1] === "[") return this.open(at, true);
    if (c === "]") return this.close(at);
    if (c === "<") return this.angle(at);
    if (c === "&") return this.entity(at);
    if (c === "\n") return this.newline(at);
    this.say(at, at + 1);
    return at + 1;
  }

  escape(at) {
    const next = this.text[at + 1];
    if (next === "\n") return this.add("br", at, at + 2);
    if (next && /[!-/:-@[-`{-~]/.test(next)) return this.add("text", at, at + 2, { text: next });
    this.say(at, at + 1);
    return at + 1;
  }

  newline(at) {
    const last = this.nodes[this.nodes.length - 1];
    if (last?.type === "text" && /[^ ] {2,}$/.test(last.text)) return this.add("br", at, at + 1);
    this.say(at, at + 1);
    return at + 1;
  }

  code(at) {
    const run = /^`+/.exec(this.text.slice(at, at + 100))?.[0] || "`";
    const dead = this.ticks.get(run.length);
    if (dead === undefined || dead > at) {
      for (let close = at + run.length; (close = this.text.indexOf(run, close)) >= 0; ) {
        let end = close;
        while (this.text[end] === "`") end += 1;
        if (end - close === run.length) {
          const raw = this.text.slice(at + run.length, close).replaceAll("\n", " ");
          const padded = /^ .*\S.* $/.test(raw) ? 1 : 0;
          const [from, to] = [at + run.length + padded, close - padded];
          const inner = { s: this.source(from), e: this.source(to - 1) + 1 };
          return this.add("code", at, end, { text: raw.slice(padded, raw.length - padded), inner });
        }
        close = end;
      }
      this.ticks.set(run.length, at);
    }
    this.say(at, at + run.length);
    return at + run.length;
  }

  delimiter(at) {
    const { text } = this;
    const c = text[at];
    let end = at;
    while (text[end] === c) end += 1;
    if (c === "~" && end - at !== 2) {
      this.say(at, end);
      return end;
    }
    const before = at ? text[at - 1] : " ";
    const after = text[end] ?? " ";
    const left = !/\s/.test(after) && (!PUNCTUATION.test(after) || /\s/.test(before) || PUNCTUATION.test(before));
    const right = !/\s/.test(before) && (!PUNCTUATION.test(before) || /\s/.test(after) || PUNCTUATION.test(after));
    const inWord = c === "_";
    const canOpen = left && (!inWord || !right || PUNCTUATION.test(before));
    const canClose = right && (!inWord || !left || PUNCTUATION.test(after));
    const s = this.source(at);
    this.nodes.push({ type: "run", c, s, e: s + end - at, count: end - at, size: end - at, canOpen, canClose });
    return end;
  }

  open(at, image) {
    const wiki = /!?\[\[([^\[\]\n|]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]/y;
    wiki.lastIndex = at;
    const found = wiki.exec(this.text);
    if (found && found.index === at) {
      return this.add("wiki", at, at + found[0].length, { text: found[2] || found[1], href: found[1] });
    }
    NOTE.lastIndex = at;
    const note = image ? null : NOTE.exec(this.text);
    if (note) {
      // A colon belongs to it only where the line begins so.
      const colon = note[2] && (!at || this.text[at - 1] === "\n");
      return this.add("sup", at, at + note[1].length + (colon ? 4 : 3), { kids: [literal({ s: this.source(at + 2), t: note[1] })] });
    }
    const end = at + (image ? 2 : 1);
    // Thousands of open brackets are an attack on the reader, not links.
    if (this.brackets.length < 200) this.brackets.push({ node: this.nodes.length, at, end, image });
    this.say(at, end);
    return end;
  }

  close(at) {
    const bracket = this.brackets.pop();
    const target = bracket && this.target(bracket, at);
    if (!target) {
      this.say(at, at + 1);
      return at + 1;
    }
    const kids = emphasise(this.nodes.splice(bracket.node).slice(1));
    const label = this.text.slice(bracket.end, at);
    if (bracket.image) return this.add("image", bracket.at, target.end, { text: label, href: target.href });
    this.brackets = this.brackets.filter((other) => other.image); // no links inside links
    return this.add("link", bracket.at, target.end, { kids, href: target.href });
  }

  /** Where the link goes whose text ends here, or null when it is no link. */
  target(bracket, at) {
    const inline = /\]\([ \t\n]*(?:<([^<>\n]{0,2000})>|((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.){0,500}\)){0,2000}))(?:[ \t\n]+(?:"[^"]{0,1000}"|'[^']{0,1000}'|\([^()]{0,1000}\)))?[ \t\n]*\)/y;
    inline.lastIndex = at;
    const found = inline.exec(this.text);
    if (found) return { href: found[1] ?? found[2] ?? "", end: at + found[0].length };
    const named = /\]\[([^\[\]]{0,200})\]/y;
    named.lastIndex = at;
    const second = named.exec(this.text);
    const label = second?.[1] || this.text.slice(bracket.end, Math.min(at, bracket.end + 201));
    const href = this.definitions.get(label.trim().toLowerCase().replace(/\s+/g, " "));
    return href === undefined ? null : { href, end: at + (second ? second[0].length : 1) };
  }

  angle(at) {
    const match = (pattern) => {
      pattern.lastIndex = at;
      return pattern.exec(this.text);
    };
    let found;
    if ((found = match(AUTOLINK))) {
      const kids = [literal({ s: this.source(at + 1), t: found[1] })];
      return this.add("link", at, at + found[0].length, { href: found[1], kids });
    }
    if ((found = match(BREAK))) return this.add("br", at, at + found[0].length);
    if ((found = match(RAISED))) {
      const kids = [literal({ s: this.source(at + found[1].length + 2), t: found[2] })];
      return this.add(found[1].toLowerCase(), at, at + found[0].length, { kids });
    }
    if ((found = match(COMMENT))) return at + found[0].length;
    if (this.text.length - at > 1 && /[a-zA-Z/]/.test(this.text[at + 1]) && (found = match(TAG))) {
      if (QUIET.test(found[0])) return at + found[0].length;
      return this.add("raw", at, at + found[0].length, { text: found[0] });
    }
    this.say(at, at + 1);
    return at + 1;
  }

  entity(at) {
    ENTITY.lastIndex = at;
    const found = ENTITY.exec(this.text);
    const decoded = found && decode(found);
    if (!decoded) {
      this.say(at, at + 1);
      return at + 1;
    }
    return this.add("text", at, at + found[0].length, { text: decoded });
  }
}

function decode([, decimal, hex, name]) {
  if (name) return Object.hasOwn(NAMED, name) ? NAMED[name] : "";
  const code = decimal ? Number(decimal) : parseInt(hex, 16);
  return code && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : "\ufffd";
}

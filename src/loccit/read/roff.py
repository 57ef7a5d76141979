"""Manual pages as Markdown: ``.SH`` and ``.SS`` of man, ``.Sh`` and ``.Ss`` of mdoc, examples and text."""

from __future__ import annotations

import re

from loccit.read.written import LineReader, Translated

_REQUEST = re.compile(r"[.'][ \t]*([A-Za-z]{1,3}|\\\")[ \t]*(.*)")
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|(\S+)')
_ESCAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r'\\["#].*'), ""),
    (re.compile(r"\\f(?:\(..|\[[^\]]*\]|.)|\\s(?:[-+]?\d{1,2}|\[[^\]]*\])|\\[mM]\[[^\]]*\]"), ""),
    (re.compile(r"\\[hvwDlLoXZ]'[^']*'|\\k.|\\n(?:\(..|\[[^\]]*\]|.)"), ""),
    (re.compile(r"\\[&|^/,:)%cdurpt]"), ""),
    (re.compile(r"\\[ ~0]"), " "),
    (re.compile(r"\\-"), "-"),
    (re.compile(r"\\e|\\\(rs|\\\[rs\]"), r"\\"),
    (re.compile(r"\\'"), "'"),
    (re.compile(r"\\`"), "`"),
)
_SIGN = re.compile(r"\\[*]?(?:\((..)|\[([^\]]{1,20})\])|\\\*.")
_SIGNS = {
    "em": "—", "en": "–", "hy": "-", "bu": "•", "aq": "'", "dq": '"', "lq": "“", "rq": "”", "oq": "‘", "cq": "’",
    "co": "©", "rg": "®", "tm": "™", "ti": "~", "ha": "^", "at": "@", "sc": "§", "->": "→", "<=": "≤", ">=": "≥",
    "mu": "×", "de": "°", 'L"': "“", 'R"': "”", "Lt": "<", "Gt": ">", "Am": "&", "Ba": "|", "R": "®", "Tm": "™",
}  # fmt: skip
_JOINED = frozenset("BI BR IB IR RB RI".split())
_FONTS = frozenset("B I R SM SB".split())
_CODE = {"nf": "fi", "EX": "EE", "Vb": "Ve", "Bd": "Ed"}
_SKIPPED = {"de": "..", "de1": "..", "ig": "..", "am": ".."}
# Macros of mdoc whose arguments are shown, some of them in brackets.
_AROUND = {
    "Op": ("[", "]"), "Bq": ("[", "]"), "Pq": ("(", ")"), "Dq": ("“", "”"), "Qq": ('"', '"'), "Sq": ("‘", "’"),
    "Aq": ("<", ">"), "Brq": ("{", "}"), "Ql": ("`", "`"), "Oo": ("[", ""), "Po": ("(", ""), "Do": ("“", ""),
    "Oc": ("]", ""), "Pc": (")", ""), "Dc": ("”", ""), "Fl": ("-", ""), "Nd": ("– ", ""),
}  # fmt: skip
_SHOWN = frozenset(
    "Ad An Ap Ar At Bx Cd Cm D1 Dl Do Dv Em Er Ev Fa Fn Fo Fr Ft Fx Ic In It Li Lk Ms Mt Nm No Ns Nx Ox Pa Rs Sx Sy Tn "
    "Ux Va Vt Xr Sc St Rv Ex Lb Bl El Bf Ef TP IP HP UR MT UE ME SY OP TQ".split()
)
_SILENT = frozenset("Bl El Bf Ef TP HP UE ME Rs Rv Ex Ns No Xo Xc Ap TQ SY".split())


def roff_to_markdown(text: str) -> Translated:
    """Translate a manual page; its title is ``name(section)``."""
    return _Page(text.split("\n")).read()


class _Page(LineReader):
    def __init__(self, lines: list[str]) -> None:
        super().__init__(lines)
        self._name = ""

    def _line(self, index: int) -> int:
        line = self._lines[index]
        found = _REQUEST.match(line)
        if not found or line.startswith(("...", "'..")):
            self._out.plain(index + 1, "" if line[:1] in (".", "'") and len(line) < 3 else _plain(line))
            return index + 1
        name, rest = found[1], found[2]
        if name in ("SH", "SS", "Sh", "Ss"):
            return self._heading(index, name, rest)
        if name in _SKIPPED:
            return self._skip(index, _SKIPPED[name])
        if name in _CODE and (name != "Bd" or "-literal" in rest or "-unfilled" in rest):
            return self._code(index, _CODE[name])
        self._out.plain(index + 1, self._request(name, rest))
        return index + 1

    def _heading(self, index: int, name: str, rest: str) -> int:
        words, used = " ".join(_arguments(rest)), 1
        if not words and index + 1 < len(self._lines) and self._lines[index + 1][:1] not in (".", "'"):
            # The title may be on the next line.
            words, used = self._lines[index + 1], 2
        words = _plain(words)
        self._out.blank(index + 1, index + used - 1)
        if words.strip():
            self._out.heading(
                index + used, 1 if name.upper() == "SH" else 2, re.sub(r"([*_`])", r"\\\1", words)
            )
        else:
            self._out.add(index + used, "")
        return index + used

    def _skip(self, index: int, end: str) -> int:
        last = index
        while last < len(self._lines) - 1 and (last == index or self._lines[last].strip() != end):
            last += 1
        self._out.blank(index + 1, last + 1)
        return last + 1

    def _code(self, index: int, end: str) -> int:
        last = index + 1
        found: re.Match[str] | None = None
        while last < len(self._lines):
            found = _REQUEST.match(self._lines[last])
            if found and found[1] in (end, "SH", "SS", "Sh", "Ss"):
                break
            last += 1
        body = [self._shown(line) for line in self._lines[index + 1 : last]]
        closed = last < len(self._lines) and found is not None and found[1] == end
        self._out.code(index + 1, body, last=last + closed)
        return last + closed

    def _shown(self, line: str) -> str:
        found = _REQUEST.match(line)
        return self._request(found[1], found[2]) if found else _plain(line)

    def _request(self, name: str, rest: str) -> str:
        """The words of a line that begins with a macro."""
        words = _arguments(rest)
        if name in ("TH", "Dt"):
            self._title = (
                f"{words[0].lower() if words[0].isupper() else words[0]}({words[1]})"
                if len(words) > 1
                else ""
            )
            if name == "TH" and len(words) > 2 and words[2].strip():
                self._metadata["date"] = _plain(words[2])
            return ""
        if name == "Dd":
            self._metadata["date"] = re.sub(r"\$Mdocdate: (.*?) ?\$", r"\1", rest.strip())
            return ""
        if name in _FONTS or name in _JOINED:
            return _plain(("" if name in _JOINED else " ").join(words))
        if name == "Nm":
            self._name = words[0] if words and not self._name and words[0][:1].isalnum() else self._name
            words = words or [self._name]
        if name == "IP":
            return _plain(words[0]) if words else ""
        if name in _SHOWN or name in _AROUND:
            return _plain(_mdoc([name, *words], self._name))
        return ""


def _arguments(rest: str) -> list[str]:
    rest = re.sub(r'\\".*', "", rest)
    return [
        (found[1] or "").replace('""', '"') if found[2] is None else found[2]
        for found in _ARGUMENT.finditer(rest)
    ]


def _mdoc(words: list[str], name: str) -> str:
    """Words, some of which are macros themselves."""
    if words[0] == "Xr" and len(words) > 2:
        return f"{words[1]}({words[2]})" + "".join(words[3:])
    if words[0] == "Bl" or words[0] in ("El", "Bf", "Ef"):
        return ""
    shown: list[str] = []
    closing: list[str] = []
    glue = False
    for word in words:
        if word in _AROUND:
            opening, end = _AROUND[word]
            shown.append(opening)
            glue = word not in ("Oc", "Pc", "Dc")
            if end:
                closing.append(end)
        elif word == "Ns":
            glue = True
        elif word == "Nm" and word is not words[0]:
            shown.append(name)
        elif word in _SHOWN or word in _SILENT:
            continue
        elif shown and (glue or re.fullmatch(r"[.,;:)\]?!]+", word)):
            shown[-1] += word
            glue = False
        else:
            shown.append(word)
    text = " ".join(shown)
    for end in reversed(closing):
        text += end
    return re.sub(r"(?<=[(\[“‘<{]) ", "", text)


def _plain(text: str) -> str:
    if "\\" not in text:
        return text
    for pattern, shown in _ESCAPES:
        text = pattern.sub(shown, text)
    return _SIGN.sub(lambda sign: _SIGNS.get(sign[1] or sign[2] or "", ""), text)

"""Names: what a document is called, in queries and in other texts.

A document is known by its title, its file name and its aliases, and by the short forms that people use: `RFC 5246` for
``rfc5246.txt``, `PEP 8` for ``peps/pep-0008.rst``, `ArbZG` for an act whose title ends in it, `Ley 7/2001` or
`Regulation (EU) 2016/679` for one with this number. Names are compared as tokens: runs of letters, runs of digits
without leading zeros, and single characters of scripts that do not separate words, so that hyphens, underscores and
accents do not matter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import PurePath
from typing import Any, NamedTuple

from loccit.expressions import expression
from loccit.grammar.text.keys import title_key
from loccit.grammar.text.stopwords import STOPWORDS

FUNCTION_WORDS: frozenset[str] = frozenset().union(*STOPWORDS.values())
"""Words that name nothing, in the form of title keys."""

TITLE, NUMBER, SHORT, FILE = 1.0, 0.95, 0.9, 0.85
"""The confidence that a text means a document: by title, official number, short form, file name."""

INITIALS = 3
"""The number of letters in a name made of initials."""

MAX_NAME = 40
"""The maximum number of words in a name; longer ones are known by their beginning."""
_LONGEST = 400
# Scripts that do not separate words: each character is a token.
_UNPARTED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7a3"
_TOKEN = expression(rf"[{_UNPARTED}]|(?:(?![{_UNPARTED}])[^\W\d_])+|\d+")
_ASCII_TOKEN = expression(r"[a-z]+|[0-9]+")
UNPARTED_RUN = expression(rf"[{_UNPARTED}]{{3,}}")
"""A name in such a script."""
_STATE = "中华人民共和国"
# Files that are named after their folder.
_FOLDER_FILES = frozenset({"index", "readme", "_index", "main"})
# Properties of a document that contain a short name.
_SHORT_NAMES = frozenset(
    "abbreviation abbr acronym short short_title shorttitle short_name shortname jurabk slug identifier id number "
    "citation celex doi permalink official_code".split()
)
_FULL_NAMES = frozenset({"alias", "aliases", "title"})
_HEAD_END = expression(r"[,;:(（\[–—|]|\s-\s")
_BRACKETS = expression(r"\s*[(（\[]([^()（）\[\]]{2,60})[)）\]]")
_DASHES = (":", "–", "—", "-", "|")
# Words after a dash that show that a title follows.
_TITLE_WORDS = 3
# Regulation (EU) 2016/679, Ley Orgánica 3/2018, Richtlinie 95/46/EG: what is numbered by year.
_OFFICIAL = expression(
    r"(?<![^\W_])((?:[^\W\d_]{2,20}[ -]){0,2}[^\W\d_]{3,20})\s+(?:\([A-Z, ]{2,12}\)\s+)?"
    r"(?:(?:No|Nr|N|n|č)[.°º]{0,2}\s*)?(\d{1,4}/\d{1,4})(?:/[A-Z]{2,8})?(?![\w/])"
)
_SAME_NOUN = {
    "verordnung": "regulation", "reglement": "regulation", "reglamento": "regulation", "regolamento": "regulation",
    "regulamento": "regulation", "verordening": "regulation", "regulations": "regulation",
    "richtlinie": "directive", "directiva": "directive", "direttiva": "directive", "diretiva": "directive",
    "richtlijn": "directive", "directives": "directive", "beschluss": "decision", "decisions": "decision",
    "decisione": "decision", "decisao": "decision", "besluit": "decision",
}  # fmt: skip
# What precedes the noun of a numbered act and belongs to it: Real Decreto-ley, Ley Orgánica.
_OF_A_NOUN = frozenset("real ley decreto lei".split())
# Inflections of the last word of a title in running text: des Kündigungsschutzgesetzes, työaikalain.
_INFLECTED = {
    "gesetz": ("gesetzes",), "buch": ("buchs", "buches"), "vertrag": ("vertrags", "vertrages"), "statut": ("statuts",),
    "lag": ("lagen",), "balk": ("balken",), "lov": ("loven",), "laki": ("lain",), "asetus": ("asetuksen",),
}  # fmt: skip
_HEAD = expression(r"[^\W\d_]{2,8}[-_ ]?\d{2,6}(?=[-_ ]+[^\W\d_]{2})")
_NUMBERED = expression(r"([^\W\d_]{2,15}) (\d{1,2}|[12]\d{3})")
_CAMEL = expression(r"(?<=[a-z])(?=[A-Z])")
_ADJECTIVE = expression(r"(?<=\w{4}e)s\b")


class Token(NamedTuple):
    """A token of a name, and its position in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one document: full and short, with the confidence of each; all their words and initials."""

    full: Mapping[str, float] = field(default_factory=dict)
    short: Mapping[str, float] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    initials: frozenset[str] = frozenset()


def name_tokens(text: str) -> list[Token]:
    """Split a text into the tokens by which names are compared, with their positions.

    >>> [token.text for token in name_tokens("pep-0008 RFC5246 Altöl_v 合同法")]
    ['pep', '8', 'rfc', '5246', 'altol', 'v', '合', '同', '法']
    """
    return [Token(_folded(match.group()), *match.span()) for match in _TOKEN.finditer(text)]


@lru_cache(maxsize=1 << 14)
def _folded(token: str) -> str:
    if token.isdecimal():
        digits = "".join(str(unicodedata.decimal(digit)) for digit in token)
        return digits.lstrip("0") or "0"
    return title_key(token) or token.casefold()


def name_key(name: str) -> str:
    """Return the key of a name: its tokens, without positions."""
    name = name[:_LONGEST]
    if name.isascii():
        # Most names are, and a library may have many thousands.
        found = _ASCII_TOKEN.findall(name.lower())[:MAX_NAME]
        return " ".join([token.lstrip("0") or "0" if token[0] == "0" else token for token in found])
    return " ".join([_folded(token) for token in _TOKEN.findall(name)[:MAX_NAME]])


def names_of(source_path: str, title: str, metadata: Mapping[str, Any]) -> Names:
    """Collect the names of a document from its path, title and properties.

    >>> names_of("gdpr.md", "General Data Protection Regulation (EU) 2016/679", {}).full["gdpr"]
    0.85
    """
    path = PurePath(source_path)
    own = name_key(path.stem)
    properties = list(_properties(metadata)) if metadata else []
    titles = list(dict.fromkeys([title, *(value for name, value in properties if name == "title")]))
    full = {own: FILE, f"{own} {name_key(path.suffix)}".rstrip(): FILE}
    if spaced := _CAMEL.sub(" ", path.stem) if not path.stem.islower() else "":
        full.setdefault(name_key(spaced), FILE)
    _add(full, ((value, TITLE) for name, value in properties if name in _FULL_NAMES))
    _add(full, ((whole, TITLE) for whole in titles))
    short = dict.fromkeys((*_tails(own.split(), path), *_heads(path.stem)), NUMBER)
    _add(short, ((value, SHORT) for name, value in properties if name in _SHORT_NAMES))
    for whole in titles:
        _add(short, _short_forms(whole))
    for name in (path.stem, *titles):
        _add(short, ((form, SHORT) for form in unparted_forms(name)))
    short |= {form: SHORT for key, sure in list(short.items()) if sure == SHORT for form in _renumbered(key)}
    full.pop("", None)
    return Names(
        full,
        {key: sure for key, sure in short.items() if key and sure > full.get(key, 0.0)},
        frozenset(word for key in (*full, *short) for word in key.split()),
        frozenset(_initials(title)),
    )


def _add(names: dict[str, float], found: Iterable[tuple[str, float]]) -> None:
    for name, sure in found:
        key = name_key(name)
        names[key] = max(sure, names.get(key, 0.0))


def _properties(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in metadata.items():
        lower = str(name).lower().replace("-", "_")
        if lower in _SHORT_NAMES or lower in _FULL_NAMES:
            values = value if isinstance(value, list) else [value]
            yield from ((lower, str(one)) for one in values[:20] if isinstance(one, (str, int)))


def _short_forms(title: str) -> Iterator[tuple[str, float]]:
    """`PEP 8 – Style Guide for Code` and `Altölverordnung (AltölV)`: both; `Ley 7/2001, de 31 de mayo`: the first."""
    title = title[:_LONGEST]
    # `Ley Orgánica 7/2012, por la que se modifica la Ley Orgánica 10/1995`: the first, and not what it is made for.
    for official, start, _ in islice(official_names(title), 1):
        before = name_tokens(title[:start])
        if not before or before[-1].text not in FUNCTION_WORDS:
            yield official, NUMBER
    plain = _BRACKETS.sub("", title)
    if plain != title:
        yield plain, TITLE
        # Norwegian acts have their short name in square brackets, in small letters.
        yield from (
            (name[1], SHORT)
            for name in _BRACKETS.finditer(title)
            if (_is_name(name[1]) or (name[0].endswith("]") and name[1].isalpha()))
            # `Regulation (EU) 2016/679`
            and not title[name.end() :].lstrip()[:1].isdigit()
        )
    if end := _HEAD_END.search(title):
        head, tail = title[: end.start()].strip(), title[end.end() :]
        tokens = name_tokens(head)
        if len(tokens) > 1 and _is_name(head):
            yield head, NUMBER if tokens[-1].text.isdecimal() else SHORT
        if end.group().strip() in _DASHES and len(name_tokens(tail)) >= _TITLE_WORDS:
            yield tail, SHORT
    yield from ((form, TITLE) for form in _inflected(plain))


def _inflected(title: str) -> Iterator[str]:
    """A title as texts inflect it: `Bürgerlichen Gesetzbuchs`."""
    low = title.rstrip().casefold()
    for ending, others in _INFLECTED.items():
        if low.endswith(ending):
            stem = _ADJECTIVE.sub("n", low.removesuffix(ending))
            yield from (stem + other for other in others)


def _is_name(text: str) -> bool:
    """Whether a part of a title can be a name: `AltölV`, `General Data Protection Regulation`, not `draft`, `2021`."""
    letters = [char for char in text if char.isalpha()]
    capitals = sum(char.isupper() for char in letters)
    return capitals > 1 or (capitals == 1 and any(char.isdigit() for char in text))


def _tails(tokens: list[str], path: PurePath) -> Iterator[str]:
    """The end of a file name with a number: `pep-0280` of `peps-peps-pep-0280`; a folder for its index."""
    if tokens and tokens[-1] in _FOLDER_FILES:
        tokens = tokens[:-1]
        yield " ".join(tokens) if tokens else name_key(path.parent.name)
    at = len(tokens)
    while at and tokens[at - 1].isdecimal():
        at -= 1
    if 0 < at < len(tokens):
        while at > 1 and len(tokens[at - 1]) < 2:
            at -= 1
        yield " ".join(tokens[at - 1 :])


def _heads(stem: str) -> Iterator[str]:
    """The number that a file name begins with: `XLS-65` of `XLS-0065-single-asset-vault`."""
    if match := _HEAD.match(stem):
        yield name_key(match.group())


def _renumbered(key: str) -> Iterator[str]:
    """`AWG 2013` without its year, and `BImSchV 9` as it is spoken: the ninth."""
    if match := _NUMBERED.fullmatch(key):
        letters, number = match.groups()
        yield letters if len(number) == 4 else f"{number} {letters}"


def unparted_forms(name: str) -> Iterator[str]:
    """`zh-行政法规-全国经济普查条例(2018-08-11)`: its runs of characters; an act's without the name of the state."""
    for run in () if name.isascii() else UNPARTED_RUN.findall(name[:_LONGEST]):
        yield run
        if run.startswith(_STATE):
            yield run.removeprefix(_STATE)


def official_names(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the numbered acts that a text names, as they are called in any language, and their spans.

    >>> [name for name, _, _ in official_names("Verordnung (EU) Nr. 2016/679; el Real Decreto-ley 8/2020")]
    ['regulation 2016 679', 'real decreto ley 8 2020']
    """
    for match in _OFFICIAL.finditer(text):
        tokens = name_tokens(match[1])
        first = len(tokens) - 1
        while first and tokens[first - 1].text in _OF_A_NOUN:
            first -= 1
        noun = " ".join(token.text for token in tokens[first:])
        number = " ".join(token.text for token in name_tokens(match[2]))
        yield f"{_SAME_NOUN.get(noun, noun)} {number}", match.start(1) + tokens[first].start, match.end()


def _initials(title: str) -> Iterator[str]:
    words = [word for word in name_key(title).split() if not word.isdecimal()]
    for chosen in (words, [word for word in words if word not in FUNCTION_WORDS]):
        if len(chosen) >= INITIALS:
            yield "".join(word[0] for word in chosen)

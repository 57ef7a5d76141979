"""Titles: which of the words after a label are the title of the place, and where its text begins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from loccit.structure.places.view import AMENDED

_EMPHASIS = re.compile(r"(?P<mark>\*{1,3}|_{1,3})(?P<words>[^*_\n][^*\n]{0,160}?)(?P=mark)(?P<after>[.:]?)")
_UNDERLINE = re.compile(r"<u>(?P<words>[^<\n]{1,160})</u>(?P<after>[.:]?)")
# A span is no emphasis, but it may hold the whole title of a clause: all of its line, or up to a full stop.
_SPAN = re.compile(
    r"<span(?:\s[^<>\n]{0,200})?>(?P<words>[^<\n]{1,160}?)(?P<after>[.:](?=</span>)|(?=</span>[ \t]*(?:\n|\Z)))</span>"
)
# A run-in title ends with a full stop, a colon or a dash, and text follows.
_RUN_IN = re.compile(
    r"(?P<words>[^\s.:;][^.:;\n]*(?:\n[^.:;\n]+){0,2}?)\s?(?P<mark>\.\s?[—–-]|[.:](?=\s+\S)|\s?[—–](?=\s?\w))"
)
_ABBREVIATION = re.compile(r"(?:\b[A-Z]|\b(?:No|Inc|Co|Corp|Ltd|vs|etc|Art|Sec|St|Dr|Mr|Ms))\Z")
_PARAGRAPH_END = re.compile(r"\n(?:[ \t]*(?:\n|\Z)|(?P<rule>[ \t]*[=\-~^_*#\"]{3,}[ \t]*)(?:\n|\Z))")
_FIRST_CLAUSE = re.compile(r"[(（]?[1１a๑१١][.)）]")
_GAP = re.compile(r"\S(?:\t+| {4,})\S")
_BELOW = re.compile(r"[ \t]*(?:\n[ \t]*){1,3}(?P<line>[^\s#>|\-][^\n]{1,150})(?P<next>\n[^\n]{0,80}|\Z)")
_FEWEST_BELOW, _MOST_BELOW = 3, 0.7
QUOTES = "“”\"'‘’«»„"
_MAX_WORDS = 14
_FEW_WORDS = 7
_MAX_LENGTH = 140
_SENTENCES = re.compile(r"(?<!\bNo)(?<!\bvs)(?<!\bInc)(?<=[^\W\d_]{2})\.\s")
# What ends sentences, or parts of them, in other scripts, where no capital tells a title.
_STOPS = re.compile(r"[。！？；।؟۔։]|[，：、،؛․]\Z")
_LETTERS = re.compile(r"[^\W\d_]+")
# Small words that titles do not capitalise, in the languages whose titles are capitalised.
_SMALL = frozenset(
    "a an and as at by for from in into of on or the to upon with without under than per via not no".split()
)
_VERBS = re.compile(
    r"\b(?:shall|will|must|may|can|is|are|was|were|has|have|do|does|means?|agrees?|hereby|muss|müssen|ist|sind|wird|werden)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Title:
    """The words of a title, and where the text after it begins."""

    words: str
    body: int


CLAUSE = re.compile(rf"(?:{AMENDED})?[*_]{{0,3}}(?:\([^\W_]{{1,4}}\)|§\s?\d)")
"""The number of a clause, with which no title begins."""


def read_title(text: str, rest: int, end: int, width: int) -> Title | None:
    """Return the title that the words at ``rest`` are, or begin with; ``width`` is the length of the text's lines."""
    if CLAUSE.match(text, rest):
        return None
    stop = min(end, rest + _MAX_LENGTH + 40)
    ends = _PARAGRAPH_END.search(text, rest, stop)
    paragraph = ends.start() if ends else stop
    title = (
        _emphasised(text, rest, paragraph)
        or _own_line(text, rest, paragraph, width, whole=ends is not None or paragraph >= end)
        or _run_in(text, rest, paragraph)
    )
    # The rule below a title is not part of the text.
    return (
        replace(title, body=ends.end("rule"))
        if title and ends and title.body == ends.start() and ends["rule"]
        else title
    )


def _emphasised(text: str, rest: int, end: int) -> Title | None:
    for pattern in (_EMPHASIS, _UNDERLINE, _SPAN):
        match = pattern.match(text, rest, end)
        # The label may be inside the emphasis: `**4.2 Fees.** The customer …`
        if match is None and text[max(0, rest - 1) : rest] == " ":
            inner = re.compile(r"(?P<words>[^*_\n]{1,120}?)(?P<mark>\*{2,3})(?P<after>[.:]?)").match(
                text, rest, end
            )
            opened = text[text.rfind("\n", 0, rest) + 1 : rest].count("**") % 2
            match = inner if inner and opened else None
        if match:
            words = match["words"].strip().rstrip(".:").strip()
            if words and words[0] not in QUOTES and len(words.split()) <= _MAX_WORDS:
                return Title(words, match.end())
    return None


def _own_line(text: str, rest: int, paragraph: int, width: int, *, whole: bool) -> Title | None:
    """A title on its own line: nothing else in the paragraph, or a short line before a new sentence."""
    words = "" if _GAP.search(text, rest, paragraph) else clean(text[rest:paragraph])
    if words.endswith(":") and len(words.split()) <= 5 and _capitalised(words) and not _VERBS.search(words):
        words = words[:-1]
    if whole and (is_title(words, own_line=True) or _names_thing(words)):
        return Title(words.rstrip("."), paragraph)
    line_end = text.find("\n", rest, paragraph)
    line_end = paragraph if line_end < 0 else line_end
    # Text at the other end of the line is a mark or a date, not part of the title.
    if gap := _GAP.search(text, rest, line_end):
        words = clean(text[rest : gap.start() + 1])
        return Title(words.rstrip("."), line_end) if is_title(words, own_line=True) else None
    if line_end == paragraph:
        return None
    words = clean(text[rest:line_end])
    line_start = text.rfind("\n", 0, rest) + 1
    following = text[line_end + 1 : line_end + 12].lstrip()
    short = line_end - line_start < 0.75 * width
    if (
        short
        and is_title(words, own_line=True)
        and following
        and not following[0].islower()
        and (_capitalised(words) or _FIRST_CLAUSE.match(following))
    ):
        return Title(words.rstrip("."), line_end)
    return None


def _run_in(text: str, rest: int, paragraph: int) -> Title | None:
    match = _RUN_IN.match(text, rest, paragraph)
    if match is None or _ABBREVIATION.search(match["words"]):
        return None
    words = clean(match["words"])
    return Title(words, match.end()) if is_title(words) else None


def _names_thing(words: str) -> bool:
    """Whether a few words name something written in lower case or in quotation marks: `f8 Keystream Generation`."""
    return (
        0 < len(words.split()) <= _FEW_WORDS
        and (words[0].islower() or words[0] in QUOTES)
        and words[-1] not in ".,;:?!"
        and not _VERBS.search(words)
        and not _SENTENCES.search(words)
        and any(word[0].isupper() for word in _LETTERS.findall(words))
    )


def is_title(words: str, *, own_line: bool = False) -> bool:
    """Whether words read like a title rather than a sentence."""
    if not words or len(words) > _MAX_LENGTH or len(words.split()) > _MAX_WORDS:
        return False
    if words[0] in QUOTES or not (words[0].isalnum() or words[0] in "([¿") or words[0].islower():
        return False
    if words.endswith((",", ";", ":")) or _SENTENCES.search(words) or _STOPS.search(words):
        return False
    if own_line:
        return not words.endswith(".") or _capitalised(words)
    return _capitalised(words) or (len(words.split()) <= 6 and not _VERBS.search(words))


def is_name(words: str) -> bool:
    """Whether words are the name by which a place is referred to: `Payment & Taxes`, not `as amended`."""
    return is_title(words) and _capitalised(words)


def _capitalised(words: str) -> bool:
    """Whether the main words are capitalised; in scripts without case all of them are."""
    count = [word for word in _LETTERS.findall(words) if word.lower() not in _SMALL]
    return bool(count) and sum(not word[0].islower() for word in count) >= 0.7 * len(count)


def following_title(text: str, rest: int, end: int) -> Title | None:
    """Return the title on the line below a label that is alone (`ARTICLE I`, then `Definitions`)."""
    match = re.compile(r"[ \t]*(?:\n[ \t]*){0,4}(?P<line>\S[^\n]{0,118})(?P<next>\n[^\n]*|\Z)").match(
        text, rest, end
    )
    if not match:
        return None
    words = clean(match["line"])
    caps = words.isupper()
    if not is_title(words, own_line=True) or not (caps or _capitalised(words)) or words.endswith("."):
        return None
    following = match["next"].strip()
    # A line of running text continues; a title is separate, or in capitals.
    if following and not caps and not (following[0].isdigit() or following[0].isupper()):
        return None
    return Title(words, match.end("line"))


def titles_below(text: str, rests: Sequence[int]) -> dict[int, Title]:
    """Return the titles below separate labels, by the end of the label, if the document has that layout.

    The regulations of the European Union print `Article 6`, and below it `Classification rules for high-risk systems`:
    a single such line could be anything; that most labels have one shows that they are titles.
    """
    found = {rest: title for rest in rests if (title := _line_below(text, rest))}
    return found if len(found) >= max(_FEWEST_BELOW, _MOST_BELOW * len(rests)) else {}


def _line_below(text: str, rest: int) -> Title | None:
    """A short paragraph, or a short line before a new one, that is neither a sentence nor a list item."""
    match = _BELOW.match(text, rest, rest + 400)
    if match is None:
        return None
    words = clean(match["line"])
    following = match["next"].strip()
    if following and following[0].islower():
        # It goes on: a title of two lines, or running text.
        more = _BELOW.match(text, match.end("line"), match.end("line") + 200)
        if more is None or more["next"].strip()[:1].islower():
            return None
        match, words = more, f"{words} {clean(more['line'])}"
    fits = 0 < len(words.split()) <= _MAX_WORDS + 6 and not words[0].islower() and words[0].isalpha()
    return Title(words, match.end("line")) if fits and words[-1] not in ".,;:" else None


def clean(words: str) -> str:
    """Words on one line, without emphasis."""
    return " ".join(re.sub(r"\*+|(?<!\w)_+|_+(?!\w)|</?u>|\\(?=[^\w\s])", "", words).split())

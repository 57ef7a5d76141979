"""Typed query syntax: ``-word``, ``-"two words"``, ``field:value``, ``-field:value``.

Only what can hardly mean anything else is syntax. A minus must follow a space and precede a word (``32.706-2``,
``state-of-the-art``, ``--flag``, ``-n`` and ``-5`` are text), a field must be one that documents have, and the value
must fit it: ``type:pdf`` is a filter; ``type:ClusterIP``, ``std::path`` and ``Note: this`` are text. Anything in
quotation marks or backticks is literal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from loccit.grammar.text.language import LANGUAGE_NAMES
from loccit.index.port.values import parse_date

_QUOTE = r'(?:"[^"]{1,500}"|“[^”]{1,500}”|„[^“”]{1,500}[“”]|«[^»]{1,500}»)'
QUOTED = re.compile(_QUOTE)
"""A quoted phrase with its quotation marks, in any style."""

_PART = re.compile(
    rf"`[^`]{{1,500}}`|(?<!\S)(?P<filter>(?P<without>-)?(?P<name>[A-Za-z_]{{2,12}}):"
    rf"(?:(?P<quoted>{_QUOTE})|(?P<value>[^\s\"“„«:]\S*)))"
    rf"|(?<!\S)-(?:(?P<phrase>{_QUOTE})|(?P<word>[^\W\d_]\S+))|{_QUOTE}"
)
_FIELDS = {name: name for name in "path type language title after before".split()}
_FIELDS |= {name: name for name in "author tags category keywords aliases related".split()}
_FIELDS |= {name: name for name in "date created modified updated code".split()}
_FIELDS |= {"lang": "language", "tag": "tags", "keyword": "keywords", "alias": "aliases", "file_type": "type"}
_TYPES = frozenset(
    "md mdx qmd rmd txt log rst adoc org tex html htm xhtml xml json jsonl ndjson yaml yml toml ini cfg csv tsv "
    "pdf docx docm dotx doc odt ott rtf pptx pptm ppsx potx ppt odp xlsx xlsm xls ods epub eml msg ipynb "
    "py js ts jsx tsx java kt c h cpp hpp cs go rs rb php swift scala sh sql r lua pl css vue".split()
)
_TYPE_NAMES = {"markdown": "md", "text": "txt", "word": "docx", "excel": "xlsx", "powerpoint": "pptx"}
_TYPE_NAMES |= {"htm": "html", "xhtml": "html", "yml": "yaml", "notebook": "ipynb"}
_LANGUAGE_CODES = {name.casefold(): code for code, name in LANGUAGE_NAMES.items()}
_WHOLE_VALUE = frozenset({"path", "title", "after", "before"})
_ONE_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class TypedParts:
    """Filters and exclusions typed into a query, and the remaining ``text``."""

    text: str
    filters: dict[str, list[str]] = field(default_factory=dict)
    excluded_filters: dict[str, list[str]] = field(default_factory=dict)
    excluded_words: tuple[str, ...] = ()
    excluded_phrases: tuple[str, ...] = ()


def read_typed(text: str) -> TypedParts:
    """Separate filters and exclusions from a query.

    >>> parts = read_typed('data breach -draft type:pdf title:"annual report"')
    >>> parts.text, parts.excluded_words, parts.filters
    ('data breach', ('draft',), {'type': ['pdf'], 'title': ['annual report']})
    """
    if ":" not in text and "-" not in text:
        return TypedParts(text)
    filters: dict[str, list[str]] = {}
    excluded: dict[str, list[str]] = {}
    words: list[str] = []
    phrases: list[str] = []

    def take(match: re.Match[str]) -> str:
        if match["filter"] and (values := _values(match)):
            name = _FIELDS[match["name"].lower()]
            chosen = (excluded if match["without"] else filters).setdefault(name, [])
            chosen += [value for value in values if value not in chosen]
            return " "
        phrase = (match["phrase"] or "")[1:-1].strip()
        # `-std::vector` and `-kind:Pod` name no field: they are excluded words.
        word = _trimmed(match["word"] or (match["filter"][1:] if match["without"] and match["value"] else ""))
        if re.search(r"\w", phrase):
            phrases.append(phrase)
        elif len(word) > 1:
            # A compound is excluded as written, not wherever one of its words occurs.
            (words if _ONE_WORD.fullmatch(word) else phrases).append(word)
        else:
            return match.group()
        return " "

    left = " ".join(_PART.sub(take, text).split())
    return TypedParts(left, filters, excluded, tuple(dict.fromkeys(words)), tuple(dict.fromkeys(phrases)))


def _values(match: re.Match[str]) -> list[str]:
    """The values of a filter; none if what looks like a filter is text."""
    written = match["name"]
    name = _FIELDS.get(written.lower(), "")
    if not name or written.isupper():
        return []
    if match["quoted"]:
        values = [match["quoted"][1:-1].strip()]
    elif match["value"].startswith("//"):
        return []
    else:
        whole = match["value"].rstrip(",;") if name == "path" else _trimmed(match["value"])
        values = [whole] if name in _WHOLE_VALUE else [value for value in whole.split(",") if value]
    values = [_fitting(name, value) for value in values]
    return values if all(values) else []


def _fitting(name: str, value: str) -> str:
    """A value in the form that documents have it in, or "" if it cannot be a value of that field."""
    if name == "type":
        known = value.lower().lstrip(".")
        return (
            _TYPE_NAMES.get(known, known) if value[:1] == "." or {known} & (_TYPES | set(_TYPE_NAMES)) else ""
        )
    if name == "language":
        code = value.casefold()
        return code if code in LANGUAGE_NAMES else _LANGUAGE_CODES.get(code, "")
    if name in ("after", "before"):
        # What begins with a year is meant as a date; an invalid one is refused later.
        return value if parse_date(value) or re.match(r"\d{4}", value) else ""
    return value


def _trimmed(value: str) -> str:
    """Strip the punctuation of the surrounding sentence."""
    value = value.rstrip(",;.!?")
    return value[:-1] if value.endswith(")") and "(" not in value else value


# -- what the parts mean for a search ------------------------------------------------------------------------


class Typed(Protocol):
    """A query with typed parts."""

    @property
    def filters(self) -> Mapping[str, Sequence[str]]:
        """Fields, each with the values of which documents must have one."""
        ...

    @property
    def excluded_filters(self) -> Mapping[str, Sequence[str]]:
        """Fields, each with the values that documents must not have."""
        ...

    @property
    def excluded_words(self) -> Sequence[str]:
        """Words that must not occur in a result, in any form."""
        ...

    @property
    def excluded_phrases(self) -> Sequence[str]:
        """Phrases that must not occur in a result."""
        ...


def describe_typed(query: Typed) -> str:
    """Describe the filters and exclusions in the query's own syntax."""
    parts = [
        f"{sign}{name}:{_written(value)}"
        for sign, filters in (("", query.filters), ("-", query.excluded_filters))
        for name, values in filters.items()
        for value in values
    ]
    parts += [f"-{word}" for word in query.excluded_words]
    parts += [f'-"{phrase}"' for phrase in query.excluded_phrases]
    return " ".join(parts)


def _written(value: str) -> str:
    return f'"{value}"' if re.search(r"\s", value) else value

"""Describe: what a document is called, what it is about, and when it is from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pinakes.ingest.parse import Parsed
from pinakes.model import Place

_TITLE_LENGTH = 300
_SUMMARY_LENGTH = 300
# A heading further down than this is the name of a part, even if there is no other.
_TITLE_REACH = 1000
# What programs write into a file's properties when nobody gave it a title.
_NO_TITLE = re.compile(
    r"^(?:microsoft word - .*|(?:microsoft )?powerpoint presentation|untitled(?: document)?\s?\d*"
    r"|document\s?\d*|slide 1|title|.*\.(?:docx?|xlsx?|pptx?|odt|rtf|pdf|txt|html?|md|tex|dvi|indd|qxd|p65))$",
    re.IGNORECASE,
)
# Names of files that say nothing about what is in them.
_NO_NAME = frozenset(
    "readme read me index main default doc docs document home start about page text untitled new".split()
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_MARKUP = re.compile(r"<!--|-->|</?[a-zA-Z][^<>]*>|[*_`>#|]+|!?\[\[?|\]\]?(?:\([^)]*\))?")


def document_title(parsed: Parsed, sections: Sequence[Place], path: str) -> str:
    """Return the title: what the text says itself, the one top heading, the file's properties, or its name.

    Of several top headings the first is the title if it opens the document and the file is named alike, or has no name
    of its own.
    """
    front = parsed.frontmatter.get("title")
    if isinstance(front, (str, int, float)) and not isinstance(front, bool) and str(front).strip():
        return _one_line(str(front), _TITLE_LENGTH)
    if parsed.title.strip():
        return _one_line(parsed.title, _TITLE_LENGTH)
    headings = [section for section in sections if section.level > 0]
    before = parsed.text[parsed.body_start : headings[0].start] if headings else ""
    only = headings and all(section.level > headings[0].level for section in headings[1:])
    if only and len(before) <= _TITLE_REACH:
        return headings[0].heading
    own = parsed.metadata.get("title")
    if isinstance(own, str) and own.strip() and not _NO_TITLE.match(own.strip()):
        return _one_line(own, _TITLE_LENGTH)
    if headings and not before.strip() and _is_title(headings, Path(path).stem):
        return headings[0].heading
    return Path(path).stem.replace("_", " ").replace("-", " ").strip() or path


def _is_title(headings: Sequence[Place], name: str) -> bool:
    """Whether the first of several top headings is a title rather than the name of the first part."""
    first = headings[0]
    if first.label or any(section.level < first.level for section in headings):
        return False
    named = set(_WORD.findall(name.lower()))
    return named <= _NO_NAME or not named.isdisjoint(_WORD.findall(first.heading.lower()))


def document_summary(parsed: Parsed) -> str:
    """Return the description that the document gives of itself, or its first paragraph."""
    for key in ("description", "summary", "abstract"):
        value = parsed.metadata.get(key)
        if isinstance(value, str) and value.strip():
            return _one_line(value, _SUMMARY_LENGTH)
    for block in parsed.blocks:
        if block.kind == "text":
            # Ten times what is kept: enough, however much markup there is, and bounded.
            end = min(block.end, block.start + 10 * _SUMMARY_LENGTH)
            words = _one_line(_MARKUP.sub(" ", parsed.text[block.start : end]), _SUMMARY_LENGTH)
            if len(words) > 40:
                return words
    return ""


def _one_line(text: str, limit: int) -> str:
    return " ".join(text.split())[:limit].rstrip()

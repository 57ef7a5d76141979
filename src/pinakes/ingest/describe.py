"""Describe: what a document is called, what it is about, and when it is from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pinakes.ingest.parse import Parsed
from pinakes.model import Section

_SUMMARY_LENGTH = 300
# What programs write into a file's properties when nobody gave it a title.
_NO_TITLE = re.compile(
    r"^(microsoft word|powerpoint|untitled|document\d*$|slide 1|title$)|\.\w{2,4}$", re.IGNORECASE
)
_MARKUP = re.compile(r"[*_`>#|]+|!?\[\[?|\]\]?(?:\([^)]*\))?")


def document_title(parsed: Parsed, sections: Sequence[Section], path: str) -> str:
    """Return the title: from frontmatter, the one top heading, the file's properties, or its name."""
    front = parsed.frontmatter.get("title")
    if isinstance(front, (str, int, float)) and str(front).strip():
        return str(front).strip()
    headings = [section for section in sections if section.level > 0]
    top = min((section.level for section in headings), default=0)
    tops = [section.heading for section in headings if section.level == top]
    if len(tops) == 1:
        return tops[0]
    own = parsed.metadata.get("title")
    if isinstance(own, str) and own.strip() and not _NO_TITLE.search(own.strip()):
        return own.strip()
    return Path(path).stem.replace("_", " ").replace("-", " ").strip() or path


def document_summary(parsed: Parsed) -> str:
    """Return the description that the document gives of itself, or its first paragraph."""
    for key in ("description", "summary", "abstract"):
        value = parsed.metadata.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()[:_SUMMARY_LENGTH]
    for block in parsed.blocks:
        if block.kind == "text":
            words = " ".join(_MARKUP.sub(" ", parsed.text[block.start : block.end]).split())
            if len(words) > 40:
                return words[:_SUMMARY_LENGTH]
    return ""

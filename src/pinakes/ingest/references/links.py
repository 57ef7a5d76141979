"""Links: Markdown and wiki links, with the headings of this document that they lead to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from pinakes.ingest.parse import Parsed
from pinakes.ingest.references.masks import is_external
from pinakes.ingest.references.places import Places
from pinakes.model import Link, Place
from pinakes.text.keys import title_key

_KINDS = {"markdown": "link", "wiki": "wiki", "transclusion": "transclusion"}
_NOT_SLUG = re.compile(r"[^\w\- ]")
_GIVEN_ID = re.compile(r"\{[^{}\n]{0,80}#([\w:.-]{1,100})[^{}\n]{0,80}\}")
_HTML_ID = re.compile(r"<[a-zA-Z][^<>\n]{0,200}?\b(?:id|name)=[\"']?([\w:.-]{1,100})")
_BLOCK_ID = re.compile(r"(?<!\S)\^([\w-]{1,60})[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FollowedLink:
    """A link and where it leads: a section of this document, another document, or nowhere for a reason."""

    link: Link
    kind: str
    section_id: str
    document: str
    reason: str


def slug_of(heading: str) -> str:
    """The anchor that GitHub gives a heading.

    >>> slug_of("What's new in 4.2?")
    'whats-new-in-42'
    """
    return _NOT_SLUG.sub("", heading.lower()).strip().replace(" ", "-")


class Anchors:
    """The anchors of a document: slugs, ids given in braces or HTML, and blocks marked with ``^``."""

    def __init__(self, parsed: Parsed, places: Places) -> None:
        self._text = parsed.text
        self._places = places
        self._slugs: dict[str, Place] = {}
        self._titles: dict[str, Place] = {}
        self._ids: dict[str, int] | None = None
        counts: dict[str, int] = {}
        for section in places.headings[1:]:
            slug = slug_of(section.heading)
            count = counts.get(slug, 0)
            counts[slug] = count + 1
            self._slugs.setdefault(f"{slug}-{count}" if count else slug, section)
            given = _GIVEN_ID.search(self._text, section.start, section.body)
            if given:
                self._slugs[given[1].lower()] = section
            self._titles.setdefault(title_key(section.heading), section)

    def find(self, anchor: str, wiki: bool) -> Place | None:
        """The section of an anchor; wiki links name headings by their words."""
        name = unquote(anchor).strip()
        if wiki:
            # `#Chapter#Part`: the last heading named is the one meant.
            found = self._titles.get(title_key(name.rsplit("#", 1)[-1]))
            if found:
                return found
        # Not everybody makes slugs as GitHub does: `what-s-next` is close enough to be *What's next*.
        section = self._slugs.get(name.lower()) or self._titles.get(title_key(name))
        if section is not None:
            return section
        if self._ids is None:
            self._ids = {match[1]: match.start() for match in _HTML_ID.finditer(self._text)}
            self._ids.update({f"^{match[1]}": match.start() for match in _BLOCK_ID.finditer(self._text)})
        offset = self._ids.get(name)
        place = self._places.section(self._places.at(offset)) if offset is not None else None
        return place if place is not None and place.ordinal else None


def follow_links(parsed: Parsed, places: Places) -> Iterator[FollowedLink]:
    """Yield the links that stay in the library; images and addresses on the web are left out."""
    anchors: Anchors | None = None
    for link in parsed.links:
        kind = _KINDS.get(link.kind)
        target = link.target.strip()
        if kind is None or not target.strip("#") or is_external(target):
            continue
        if not target.startswith("#"):
            yield FollowedLink(link, kind, "", target, "leads to another document")
            continue
        anchors = anchors or Anchors(parsed, places)
        section = anchors.find(target[1:], kind != "link")
        name = f"no heading called {target[1:]}" if kind != "link" else f"no heading for {target}"
        yield FollowedLink(link, kind, section.section_id if section else "", "", "" if section else name)

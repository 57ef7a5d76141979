"""Ids of places: eight letters and digits that name one place of one document in a library."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Collection
from pathlib import PurePath

LENGTH = 8
# Nothing that looks like another sign (0 and o, 1 and l), so that an id survives being read aloud or typed.
_LETTERS = "abcdefghjkmnpqrstvwxyz"
_SIGNS = f"{_LETTERS}23456789"
# A letter first and two digits at least: no word and no number of a section looks like that.
_SHAPE = re.compile(rf"(?=(?:\D*\d){{2}})[{_LETTERS}][{_SIGNS}]{{{LENGTH - 1}}}\Z")


def place_id(document: str, section_id: str, attempt: int = 0) -> str:
    """Return the id of a place, by the key of its document and its id within it.

    ``attempt`` counts the ids that other places have already.

    >>> is_place_id(place_id("laws/act.md", "sec_306")), place_id("a", "b") == place_id("a", "b", 1)
    (True, False)
    """
    number = 0
    while True:
        said = f"{document}\0{section_id}\0{attempt}\0{number}"
        digest = hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        value, signs = int.from_bytes(digest, "big"), ""
        for _ in range(LENGTH):
            value, sign = divmod(value, len(_SIGNS))
            signs += _SIGNS[sign]
        if is_place_id(signs):
            return signs
        number += 1


def is_place_id(text: str) -> bool:
    """Whether a text looks like the id of a place.

    >>> is_place_id("k7q2m9xt"), is_place_id("schedule"), is_place_id("sec_4_2")
    (True, False, False)
    """
    return _SHAPE.match(text) is not None


def with_place_id(name: str, given: str) -> str:
    """Return what a place is called and its id, as answers print both.

    >>> with_place_id("Section 306", "k7q2m9xt"), with_place_id("", "k7q2m9xt"), with_place_id("Section 306", "")
    ('Section 306 [k7q2m9xt]', '[k7q2m9xt]', 'Section 306')
    """
    return " ".join(filter(None, (name, f"[{given}]" if given else "")))


def library_key(path: str, roots: Collection[str]) -> str:
    """Return what a document is called in its library, wherever that lies: its path from the folder that was indexed.

    The name of that folder is part of it, and as much of what is above it as tells two such folders apart.

    >>> library_key("/home/ann/laws/eu/act.md", ["/home/ann/laws", "/home/ann/laws/eu"])
    'laws/eu/act.md'
    """
    holders = [root for root in roots if path == root or path.startswith(_folder(root))]
    if not holders:
        return unicodedata.normalize("NFC", path)
    root = min(holders, key=len)
    base = PurePath(root).parent.parts if root == path else PurePath(root).parts
    depth = 1
    others = (
        [] if root == path else [other for other in roots if not f"{other}{os.sep}".startswith(_folder(root))]
    )
    while depth < len(base) and any(PurePath(other).parts[-depth:] == base[-depth:] for other in others):
        depth += 1
    parts = PurePath(path).parts[max(0, len(base) - depth) :]
    return unicodedata.normalize("NFC", "/".join(parts))


def _folder(root: str) -> str:
    return root.rstrip(os.sep) + os.sep

"""Popular names of acts: `Bundesurlaubsgesetz` for the `Mindesturlaubsgesetz für Arbeitnehmer (BUrlG)`.

German acts are mostly called by one compound that their title need not have. Two things bear it out: the abbreviation
is made of it (B-Url-G), and what stands before its last word stands in the title too, in other words or order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from pinakes.text.keys import title_key

# The last word of such a name, and what an abbreviation has for it.
_HEADS = {"gesetzbuch": "gb", "gesetz": "g", "verordnung": "v", "ordnung": "o", "satzung": "sa"}
_WORD = r"[^\W\d_]{1,60}"
_JOINT = r"(?:-\s?(?:und|oder|sowie)\s-?|-)"
_NAME = re.compile(
    rf"(?:{_WORD}{_JOINT}){{0,5}}(?P<last>[^\W\d_]{{0,60}}?(?:{'|'.join(_HEADS)}))(?:e?s|en)?(?![^\W_])",
    re.IGNORECASE,
)
_JOINTS = re.compile(r"-\s?(?:und|oder|sowie)\s-?|-", re.IGNORECASE)
_SHORTEST = 4  # letters of a name before its last word, and of what a title has of them
_PIECE = 5  # letters of one of several such pieces
_BORNE_OUT, _ALL = (
    0.4,
    0.85,
)  # the share of these letters that the title has: of an abbreviated name, and of any


def popular_name(text: str, start: int) -> tuple[str, str, int] | None:
    """Read a name at a place of a text: what stands before its last word, that word, and where the name ends.

    >>> popular_name("§ 8 Teilzeit- und Befristungsgesetz", 4)
    ('teilzeitbefristungs', 'gesetz', 35)
    """
    match = _NAME.match(text, start)
    if match is None:
        return None
    whole = title_key(_JOINTS.sub("", match.group()[: match.end("last") - start])).replace(" ", "")
    head = next((head for head in _HEADS if whole.endswith(head)), "")
    body = whole.removesuffix(head)
    return (body, head, match.end()) if head and len(body) >= _SHORTEST else None


def documents_called(
    body: str,
    head: str,
    short: Mapping[str, Collection[int]],
    words: Mapping[int, Collection[str]],
    near: Iterable[int],
) -> frozenset[int]:
    """Return the documents that a name is borne out by: by abbreviation and title, else by most of the title.

    ``short`` has documents by abbreviation, ``words`` the words of their names; ``near`` are those that have a word
    which the name has.
    """
    made = {document for form, own in short.items() if is_made_of(form, body, head) for document in own}
    covered = {document: _covered(body, words[document]) for document in {*made, *near}}
    sure = {
        document: share
        for document, (share, pieces) in covered.items()
        if share >= _BORNE_OUT
        and (
            document in made
            or (share >= _ALL and pieces > 1 and any(word.endswith(head) for word in words[document]))
        )
    }
    best = max(((document in made, share) for document, share in sure.items()), default=(False, 0.0))
    return frozenset(document for document, share in sure.items() if (document in made, share) == best)


def is_made_of(short: str, body: str, head: str) -> bool:
    """Whether an abbreviation has its letters from a name, in order, the first from the first."""
    ending = _HEADS[head]
    if not short.isalpha() or len(short) < 3 or not short.endswith(ending) or short[0] != body[0]:
        return False
    rest = iter(body)
    return all(letter in rest for letter in short.removesuffix(ending))


def _covered(body: str, words: Collection[str]) -> tuple[float, int]:
    """Which share of a name's letters stands in some words, in pieces, and how many longer pieces there are."""
    at = covered = pieces = 0
    while at < len(body):
        end = at
        for word in words:
            while end < len(body) and body[at : end + 1] in word:
                end += 1
        if end - at >= _SHORTEST:
            covered += end - at
            pieces += end - at >= _PIECE
            at = end
        else:
            at += 1
    # What joins two pieces is a part of neither title word.
    return covered / max(1, len(body.removesuffix("s"))), pieces

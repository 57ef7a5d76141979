"""Find all: every occurrence of a phrase, words or a regular expression, read from the documents themselves."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from loccit.answers.verbatim.passages import Positions
from loccit.answers.verbatim.patterns import Pattern, compile_pattern
from loccit.config.bounds import MOST_COUNTED, MOST_HITS
from loccit.errors import UsageError
from loccit.index.port.filters import among
from loccit.index.port.index import SearchIndex
from loccit.index.port.records import StoredText
from loccit.index.port.texts import TextBlock, TextLookup
from loccit.model.verbatim import FoundAll, TextHit
from loccit.search.understand.filters import FEW_DOCUMENTS, NO_DOCUMENT, compile_filters

LIMIT = 100

_LONGEST_LINE = 400


def find_all(
    index: SearchIndex,
    pattern: str,
    kind: str = "phrase",
    *,
    filters: Mapping[str, object] | None = None,
    limit: int = LIMIT,
    cursor: str | None = None,
    ignore_case: bool = True,
) -> FoundAll:
    """Return the occurrences of a pattern, ordered by path and position, starting at the cursor."""
    if not 0 < limit <= MOST_HITS:
        raise UsageError(f"The limit must be between 1 and {MOST_HITS:,}.")
    compiled = compile_pattern(pattern, kind, ignore_case=ignore_case)
    asked = json.dumps([pattern, kind, ignore_case, filters], default=str, sort_keys=True)
    stamp = index.stamp
    begin = read_cursor(cursor, stamp, asked) if cursor else 0
    allowed = passing_documents(index, filters)
    looked = _Looked(index.texts, allowed)
    counted = compiled.count(looked)
    counts: dict[int, int | None] = {**counted.by_document}
    unseen = among(unseen_documents(index), allowed)
    for stored in index.lookup.texts(unseen):
        if count := sum(1 for _ in compiled.spans(stored.text[stored.body_start :])):
            counts[stored.document] = count
    total, documents = sum(filter(None, counts.values())), len(counts)
    many = total > MOST_COUNTED
    if many and not counted.complete:
        # Hits are listed by path: documents that were not reached may come first.
        counts = dict.fromkeys((*looked.written.documents.tolist(), *unseen))
    paths = index.lookup.paths(counts)
    ordered = [(document, counts[document]) for document in sorted(paths, key=lambda each: paths[each])]
    hits = list(islice(_hits(index, compiled, ordered, begin), limit + 1))
    complete = counted.complete and not many
    note = "" if many else _note(index, pattern, kind, allowed, ignore_case, total, counted.complete)
    missing = index.missing
    return FoundAll(
        pattern,
        kind,
        _located(index, hits[:limit]),
        min(total, MOST_COUNTED),
        documents,
        complete=complete and not missing,
        cursor=write_cursor(begin + limit, stamp, asked) if len(hits) > limit and (complete or many) else "",
        note=f"{note} {missing}".strip(),
    )


def _note(
    index: SearchIndex,
    pattern: str,
    kind: str,
    allowed: set[int] | None,
    ignore_case: bool,
    total: int,
    complete: bool,
) -> str:
    """Return what was not counted or, if nothing was found, where to look instead."""
    if not complete:
        return (
            f"Counting stopped at {total:,} hits, because it takes too long. There may be more, and they cannot be "
            "paged through. Narrow the pattern, or search fewer documents."
        )
    if total:
        return ""
    if allowed is not None and not allowed:
        return NO_DOCUMENT
    looked = _Looked(index.texts, allowed)
    said = "Search may find it in other words."
    if not ignore_case:
        others = sum(compile_pattern(pattern, kind).count(looked).by_document.values())
        said = f"{_number(others)} with different capitals." if others else said
    elif kind == "phrase" and len(pattern.split()) > 1:
        together = sum(compile_pattern(pattern, "words").count(looked).by_document.values())
        paragraphs = "1 paragraph" if together == 1 else f"{_number(together)} paragraphs"
        said = f'Its words occur together in {paragraphs} (kind "words").' if together else said
    if index.fields.field_names(FEW_DOCUMENTS):
        said += " Frontmatter is not looked through."
    return f"{said} {only_some(allowed)}".rstrip()


def _number(count: int) -> str:
    return f"{count:,}" if count <= MOST_COUNTED else f"{MOST_COUNTED:,}+"


def only_some(allowed: Collection[int] | None) -> str:
    """Return how many documents were searched; "" if all were."""
    if allowed is None:
        return ""
    return f"Looked for in {len(allowed):,} document{'' if len(allowed) == 1 else 's'} only."


class _Looked:
    """The texts of all documents, or of some."""

    def __init__(self, texts: TextLookup, documents: set[int] | None) -> None:
        self._texts = texts
        self._documents = documents

    @property
    def written(self) -> TextBlock:
        return self._of(self._texts.written)

    @property
    def folded(self) -> TextBlock:
        return self._of(self._texts.folded)

    def _of(self, block: TextBlock) -> TextBlock:
        return block if self._documents is None else block.only(self._documents)


def unseen_documents(index: SearchIndex) -> set[int]:
    """Return documents so new that the texts do not have them yet, because another process is writing."""
    if index.texts.generation == index.stamp:
        return set()
    return index.reading.paths().keys() - set(index.texts.written.documents.tolist())


def _hits(
    index: SearchIndex, pattern: Pattern, counts: Sequence[tuple[int, int | None]], begin: int
) -> Iterator[tuple[StoredText, int, int]]:
    """Return the hits from a number on, from documents with known or unknown counts."""
    for document, count in counts:
        if count is not None and count <= begin:
            begin -= count
            continue
        for stored in index.lookup.texts([document]):
            shift = stored.body_start
            for start, end in pattern.spans(stored.text[shift:]):
                if begin:
                    begin -= 1
                else:
                    yield stored, start + shift, end + shift


def passing_documents(index: SearchIndex, filters: Mapping[str, object] | None) -> set[int] | None:
    """Return the documents that pass filters; None for all."""
    if not filters:
        return None
    compiled = compile_filters([filters], spoken=index.lookup.languages)
    allowed = set(index.fields.matching(compiled.documents))
    for test in compiled.code:
        allowed &= index.keyword.documents_with_code(test.languages)
    return allowed


# -- positions of hits -----------------------------------------------------------------------------------------


def _located(index: SearchIndex, hits: Sequence[tuple[StoredText, int, int]]) -> list[TextHit]:
    standing = index.lookup.standing({(stored.document, start) for stored, start, _ in hits})
    lines: dict[int, Positions] = {}
    found = []
    for stored, start, end in hits:
        if stored.document not in lines:
            lines[stored.document] = Positions.of(index, stored)
        place = standing.get((stored.document, start))
        found.append(
            TextHit(
                source_path=stored.source_path,
                document_title=stored.title,
                section_id=place.section_id if place else "",
                section_label=place.label if place else "",
                heading=place.heading if place else "",
                line=lines[stored.document].line(start),
                text=line_around(stored.text, start, end),
                start=start,
                end=end,
                pages=lines[stored.document].pages(start, end),
                place_id=place.place_id if place else "",
            )
        )
    return found


def line_around(text: str, start: int, end: int) -> str:
    """Return the line in which a span begins; of a very long one, the part around the span.

    >>> line_around("one\\n  two words \\nthree", 6, 9)
    'two words'
    """
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", start)
    last = len(text) if last < 0 else last
    if last - first <= _LONGEST_LINE:
        return text[first:last].strip()
    room = max(0, _LONGEST_LINE - min(end - start, _LONGEST_LINE)) // 2
    low, high = max(first, start - room), min(last, start + _LONGEST_LINE - room)
    return ("…" if low > first else "") + text[low:high].strip() + ("…" if high < last else "")


# -- cursors ---------------------------------------------------------------------------------------------------


def write_cursor(shown: int, stamp: int, asked: str) -> str:
    """Return a cursor: how many hits of a query were shown, in which state of the library."""
    values = [stamp, _mark(asked), shown]
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def read_cursor(cursor: str, stamp: int, asked: str) -> int:
    """Return how many hits were shown, if the cursor belongs to this query and state of the library."""
    try:
        written, mark, shown = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if not isinstance(shown, int) or shown < 0:
            raise ValueError
    except (ValueError, TypeError, binascii.Error):
        raise UsageError("The cursor is invalid; ask again without it.") from None
    if mark != _mark(asked):
        raise UsageError("The cursor belongs to another query; ask again without it.")
    if written != stamp:
        raise UsageError("The library has changed since the cursor was given; ask again without it.")
    return shown


def _mark(asked: str) -> str:
    return hashlib.sha256(asked.encode()).hexdigest()[:12]

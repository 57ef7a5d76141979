"""Obligations: rows of the table of duties, deadlines and amounts, with their number."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from loccit.answers.find_places import find_documents
from loccit.answers.questions import allowed_documents
from loccit.config.bounds import FARTHEST, MOST_ROWS
from loccit.errors import UsageError
from loccit.index.port.index import SearchIndex
from loccit.index.port.obligations import ObligationLookup, ObligationQuery
from loccit.model.obligation import GAPS, KINDS, LANGUAGES, PARTS, ObligationsResponse
from loccit.search.understand.filters import NO_DOCUMENT

_MOST_WORDS = 20
_CURRENCY_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "PERCENT": "%"}


def list_obligations(
    index: SearchIndex,
    document: str | None,
    filters: Mapping[str, object] | None,
    *,
    kind: str | None,
    bearer: str | None,
    text: str | None,
    unit: str | None,
    gap: str | None,
    limit: int,
    offset: int,
) -> ObligationsResponse:
    """Return the rows that pass all conditions, ordered by path and position."""
    if kind is not None and kind not in (*KINDS, *PARTS):
        raise UsageError(
            f"{kind!r} is not a kind of obligation; choose one of {', '.join((*KINDS, *PARTS))}."
        )
    if gap is not None and gap not in GAPS:
        raise UsageError(f"{gap!r} is not a gap; choose one of {', '.join(GAPS)}.")
    if not 1 <= limit <= MOST_ROWS or not 0 <= offset <= FARTHEST:
        raise UsageError(f"limit must be between 1 and {MOST_ROWS:,}, and offset between 0 and {FARTHEST:,}.")
    query = ObligationQuery(
        kind or "", _words("bearer", bearer), _words("text", text), _unit(unit), gap or ""
    )
    documents = set(allowed_documents(index, filters)) if filters else None
    if document is not None:
        named = {entry.id for entry in find_documents(index, document)}
        documents = named if documents is None else documents & named
    lookup = index.obligations
    counts = lookup.counts(query, documents)
    if offset and offset >= counts.total:
        raise UsageError(f"There are {counts.total:,} in all; give a smaller offset.")
    rows = lookup.rows(query, documents, limit, offset)
    after = offset + len(rows)
    looked_at, unread = lookup.looked_at(documents, ("", *LANGUAGES))
    return ObligationsResponse(
        rows=rows,
        total=counts.total,
        offset=offset,
        next_offset=after if rows and after < counts.total else None,
        kinds=counts.kinds,
        gaps=counts.gaps,
        documents=looked_at,
        unread_documents=unread,
        note=" ".join(
            filter(
                None,
                (
                    "" if counts.total else _instead(lookup, query, documents),
                    _by_nobody(lookup, query, documents),
                    _not_analysed(lookup, query, documents),
                    index.missing,
                ),
            )
        ),
    )


def _by_nobody(lookup: ObligationLookup, query: ObligationQuery, documents: Collection[int] | None) -> str:
    """Return the number of rows that a condition on the bearer cannot judge."""
    if not query.bearer:
        return ""
    count = lookup.counts(replace(query, bearer=(), gap="bearer"), documents).total
    rows = f"{count:,} {'row' if count == 1 else 'rows'} without a known bearer"
    return f"{rows} {'meets' if count == 1 else 'meet'} the other conditions." if count else ""


def _not_analysed(lookup: ObligationLookup, query: ObligationQuery, documents: Collection[int] | None) -> str:
    """Return the number of sentences that a condition on what was understood cannot judge."""
    narrow = query.kind not in ("", "unknown") or query.bearer or query.unit
    if not narrow:
        return ""
    wider = replace(query, kind="unknown", bearer=(), unit="", gap="")
    count = lookup.counts(wider, documents).total
    return f"{count:,} of kind unknown may belong here." if count else ""


def _instead(lookup: ObligationLookup, query: ObligationQuery, documents: Collection[int] | None) -> str:
    """Return the number of rows without each of the conditions that no row meets."""
    if documents is not None and not documents:
        return NO_DOCUMENT
    without = {
        "kind": replace(query, kind=""),
        "bearer": replace(query, bearer=()),
        "text": replace(query, words=()),
        "unit": replace(query, unit=""),
        "gap": replace(query, gap=""),
    }
    given = {name: other for name, other in without.items() if other != query}
    fewer = {name: lookup.counts(other, documents).total for name, other in given.items()}
    found = [f"{count:,} without {name}" for name, count in fewer.items() if count]
    if found:
        return f"There are {', '.join(found)}."
    there = lookup.counts(ObligationQuery(), documents).total if given else 0
    return f"There are {there:,} without these conditions." if there else "Search may find it in other words."


def _words(name: str, text: str | None) -> tuple[str, ...]:
    words = tuple((text or "").split())
    if len(words) > _MOST_WORDS:
        raise UsageError(f"{name} may have at most {_MOST_WORDS} words, not {len(words):,}.")
    return words


def _unit(unit: str | None) -> str:
    """Return a unit in the form used in the table: ``Days`` > ``day``, ``eur`` and ``€`` > ``EUR``."""
    named = (unit or "").strip()
    if not named:
        return ""
    upper = named.upper()
    if upper in _CURRENCY_SIGNS:
        return _CURRENCY_SIGNS[upper]
    return upper if len(named) == 3 and upper != "DAY" else named.casefold().removesuffix("s")

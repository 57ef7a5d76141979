"""Quotations, and what the documents say about them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from loccit.model.document import Lines, Pages, span
from loccit.model.place_ids import with_place_id

EXACT, ALTERED, ABSENT = "exact", "altered", "absent"
RIGHT, ELSEWHERE, NOT_SAID = "right", "elsewhere", "not said"
ABSENT_HINT = "What is absent may be said in other words: search for it."


class WordChange(NamedTuple):
    """Words that are the same on both sides, or what stands on one side for what stands on the other."""

    old: str
    new: str

    @property
    def same(self) -> bool:
        """Whether both sides have these words."""
        return self.old == self.new


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A stretch of a document, with the innermost place in which it begins.

    ``name`` is what all of it is called: that place, or a range such as ``Article 6(1)(e)–(f)``.
    """

    source_path: str
    document_title: str
    section_id: str
    section_label: str
    heading: str
    lines: Lines
    text: str
    start: int
    end: int
    pages: Pages | None = None
    place_id: str = ""
    name: str = ""

    @property
    def location(self) -> str:
        """Where it stands, as a citation would say it: ``Section 2(a), lines 12–14``."""
        where = span(self.lines, self.pages, self.source_path)
        return ", ".join(filter(None, (self.name, where)))

    @property
    def address(self) -> str:
        """Where it stands, with the id of its place: ``Section 2(a) [k7q2m9xt], lines 12–14``."""
        where = span(self.lines, self.pages, self.source_path)
        name = with_place_id(self.name, self.place_id)
        return ", ".join(filter(None, (name, where)))


@dataclass(frozen=True, slots=True)
class QuoteCheck:
    """A quotation, and whether documents have it: ``exact``, ``altered`` or ``absent``.

    ``places`` are where it stands, or, of one that is altered, the nearest passage; ``more`` counts further places.
    ``changes`` are the words of an altered one, as they are quoted (``old``) and as they are written (``new``).

    ``cited`` is what is cited beside it, and ``cited_place`` whether it stands there: ``right``, ``elsewhere`` (then
    ``places`` are where it does stand) or ``not said``, if nothing is cited or it is not understood. ``cited_note``
    says what is wrong with the citation, or which part of it could not be checked.
    """

    quotation: str
    status: str
    places: list[TextPlace] = field(default_factory=list)
    more: int = 0
    changes: list[WordChange] = field(default_factory=list)
    cited: str = ""
    cited_place: str = NOT_SAID
    cited_note: str = ""

    @property
    def ok(self) -> bool:
        """Whether it is exact, and no other place is cited than one where it stands."""
        return self.status == EXACT and self.cited_place != ELSEWHERE

    @property
    def rank(self) -> tuple[int, int]:
        """How good it is among what several libraries say of the same quotation; the best is the lowest."""
        status = (EXACT, ALTERED, ABSENT).index(self.status)
        return status, (RIGHT, NOT_SAID, ELSEWHERE).index(self.cited_place)


@dataclass(frozen=True, slots=True)
class QuotesReport:
    """Quotations checked against a library; ``left_out`` counts those that were not, and ``note`` says why."""

    checks: list[QuoteCheck]
    left_out: int = 0
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether every quotation is exact, and stands where it is said to stand."""
        return all(check.ok for check in self.checks)

    @property
    def misplaced(self) -> int:
        """How many quotations stand elsewhere than in the place that is cited beside them."""
        return sum(check.cited_place == ELSEWHERE for check in self.checks)

    @property
    def summary(self) -> str:
        """The counts in words: ``2 exact, 0 altered, 1 absent; 1 not in the cited place``."""
        counts = ", ".join(f"{self.count(status)} {status}" for status in (EXACT, ALTERED, ABSENT))
        return counts + (f"; {self.misplaced} not in the cited place" if self.misplaced else "")

    def count(self, status: str) -> int:
        """Return how many quotations are of a status."""
        return sum(check.status == status for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        counts = {status: self.count(status) for status in (EXACT, ALTERED, ABSENT)}
        return {"ok": self.ok, **counts, "misplaced": self.misplaced, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of a document to quote: its words without markup, whole words only, and where they stand."""

    quotation: str
    place: TextPlace

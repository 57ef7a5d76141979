"""Obligations: who shall do what by when, for how much and unless what, one row a statement of the text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from loccit.model.document import Lines, Pages, span
from loccit.model.place_ids import with_place_id

KINDS = ("duty", "prohibition", "permission", "recommendation", "statement", "unknown")
"""What a row can be. A ``statement`` has no modal: it says a period, a date or an amount (*The fee is EUR 500*).

A sentence with a verb of duty, an amount or a period that no rule understands is ``unknown``.
"""

LANGUAGES = ("en", "de")
"""Languages whose sentences can be taken apart."""

PARTS = ("deadline", "amount")
"""What a row of any kind can have, and so be asked for by."""

GAPS = {
    "bearer": "says that something has to be done, may be done or is forbidden, but not by whom",
    "action": "breaks off before it says what is to be done",
    "deadline": "has words of a deadline without a number or a date",
    "amount": "leaves an amount blank",
    "inherited": "has its verb or its bearer from the sentence that leads to its list",
    "language": "has a verb of duty in a language whose sentences are not taken apart",
}
"""What may not have been understood of a row, in words."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A period or a date, as written and in normal form.

    ``value`` and ``unit`` are those of a period (``30``, ``day``; also ``business day``), ``date`` is ``2018-05-25``,
    or ``--10-30`` for each 30 October. ``relation`` says how it bounds what is said (``within``, ``before``, ``after``,
    ``until``, ``from``, ``on``, ``at least``, ``more than``, ``at most``, ``less than``, ``every``, ``for``; nothing
    where that is not plain), ``event`` what it counts from or up to. Words such as *without undue delay* have neither a
    value nor a date.
    """

    text: str
    value: float | None = None
    unit: str = ""
    date: str = ""
    relation: str = ""
    event: str = ""

    @property
    def normal(self) -> str:
        """The normal form: ``30 day``, ``2018-05-25``, or nothing."""
        return self.date or ("" if self.value is None else f"{self.value:.10g} {self.unit}")


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum of money or a percentage: ``20000000`` ``EUR``, ``4`` ``%``.

    ``bound`` is ``at most``, ``less than``, ``at least``, ``more than`` or nothing.
    """

    text: str
    value: float
    unit: str
    bound: str = ""

    @property
    def normal(self) -> str:
        """The normal form: ``20000000 EUR``."""
        return f"{round(self.value, 2):.15g} {self.unit}"


@dataclass(frozen=True, slots=True)
class Obligation:
    """One statement of a document: what was understood of it, and in ``gaps`` what was not (names of ``GAPS``).

    ``start`` to ``end`` is its sentence in the document's text, ``text`` the beginning of that sentence; ``place`` is
    the number of the innermost place that holds it.
    """

    kind: str
    start: int
    end: int
    lines: Lines
    text: str
    place: int = 0
    bearer: str = ""
    modal: str = ""
    action: str = ""
    exception: str = ""
    deadlines: tuple[Deadline, ...] = ()
    amounts: tuple[Amount, ...] = ()
    gaps: tuple[str, ...] = ()
    pages: Pages | None = None


@dataclass(frozen=True, slots=True)
class ObligationRow:
    """An obligation with the document and the place in which it stands."""

    source_path: str
    document_title: str
    section_id: str
    section_label: str
    heading: str
    obligation: Obligation
    place_id: str = ""

    @property
    def location(self) -> str:
        """Its place, as in a citation: path, then pages or lines."""
        where = span(self.obligation.lines, self.obligation.pages, self.source_path)
        return f"{self.source_path}, {where}" if where else self.source_path

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON values, with the normal forms of its deadlines and amounts."""
        stated = self.obligation
        return {
            **asdict(self),
            "obligation": {
                **asdict(stated),
                "deadlines": [{**asdict(item), "normal": item.normal} for item in stated.deadlines],
                "amounts": [{**asdict(item), "normal": item.normal} for item in stated.amounts],
            },
            "location": self.location,
        }


@dataclass(frozen=True, slots=True)
class ObligationsResponse:
    """Rows of the table of obligations, and what there is besides them.

    ``total`` counts all rows that were asked for, of which ``rows`` begin at ``offset``; ``next_offset`` is where to
    go on, or None at the end. ``kinds`` counts them by ``KINDS`` and by ``PARTS``, ``gaps`` by what was not understood.
    ``unread_documents`` were looked at but are in languages that there are no rules for. ``note`` says
    what there is instead where there are no rows, and how many rows without a known bearer a condition on the bearer
    left out.
    """

    rows: list[ObligationRow]
    total: int
    offset: int = 0
    next_offset: int | None = None
    kinds: dict[str, int] = field(default_factory=dict)
    gaps: dict[str, int] = field(default_factory=dict)
    documents: int = 0
    unread_documents: int = 0
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return {**asdict(self), "rows": [row.to_dict() for row in self.rows]}


def row_line(row: ObligationRow, *, name: str = "") -> str:
    """Return a row as one line, under the ``name`` of its document, if one is given.

    ``Article 33 [k7q2m9xt], line 812: duty: controller | shall | notify | time: within 72 hour (after …)``
    """
    stated = row.obligation
    where = ", ".join(
        filter(
            None,
            (
                name,
                with_place_id(row.section_label or row.heading, row.place_id),
                span(stated.lines, stated.pages, row.source_path),
            ),
        )
    )
    said = [stated.bearer or ("?" if stated.modal else ""), stated.modal, stated.action]
    if stated.kind in ("statement", "unknown"):
        said = [stated.text]
    for word, items in (("time", stated.deadlines), ("amount", stated.amounts)):
        said.append(_listed(word, (_shown(item) for item in items)))
    said.append(stated.exception)
    gaps = [name for name in stated.gaps if name != "inherited"]
    said.append("from its lead-in" if len(gaps) < len(stated.gaps) else "")
    said.append(f"not understood: {', '.join(gaps)}" if gaps else "")
    return " ".join(f"{where}: {stated.kind}: {' | '.join(filter(None, said))}".split())


def _shown(item: Deadline | Amount) -> str:
    if isinstance(item, Amount):
        return " ".join(filter(None, (item.bound, item.normal)))
    if not item.normal:
        return item.text
    return " ".join(filter(None, (item.relation, item.normal, item.event and f"({item.event})")))


def _listed(word: str, items: Iterable[str]) -> str:
    joined = ", ".join(items)
    return f"{word}: {joined}" if joined else ""

"""The table of obligations, written with each document."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loccit.errors import IndexStateError
from loccit.index.folder.seals import OBLIGATIONS, PLACES, check_documents
from loccit.index.port.obligations import ObligationCounts, ObligationQuery
from loccit.model import Lines, Pages
from loccit.model.obligation import GAPS, KINDS, Amount, Deadline, Obligation, ObligationRow

if TYPE_CHECKING:
    from loccit.index.folder.database import Database

_COLUMNS = (
    'document, kind, start, "end", line_first, line_last, page_first, page_last, place, bearer, modal, action, '
    "exception, deadlines, amounts, gaps, text"
)
# A day may be a working or a business day.
_DAYS = ("day", "business day", "working day")


def write_obligations(
    connection: sqlite3.Connection, document: int, obligations: Iterable[Obligation]
) -> None:
    """Write the obligations of a document, inside a transaction."""
    connection.executemany(
        f"INSERT INTO obligations ({_COLUMNS}) VALUES ({', '.join('?' * 17)})",
        [
            (document, item.kind, item.start, item.end, *item.lines, *(item.pages or (None, None)))
            + (item.place, item.bearer, item.modal, item.action, item.exception)
            + (_json(item.deadlines), _json(item.amounts))
            + ("".join(f" {name} " for name in item.gaps), item.text)
            for item in obligations
        ],
    )


def _json(items: Sequence[Deadline | Amount]) -> str:
    return json.dumps([asdict(item) for item in items], ensure_ascii=False) if items else ""


class EmbeddedObligations:
    """Looks up obligations in the record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def rows(
        self, query: ObligationQuery, documents: Collection[int] | None, limit: int, offset: int
    ) -> list[ObligationRow]:
        """Return rows in path and text order."""
        where, values = _where(query, documents)
        rows = self._database.rows(
            "SELECT o.*, d.source_path, d.title AS document_title, p.section_id, p.label, p.place_id, h.heading "
            "FROM obligations o JOIN documents d ON d.id = o.document "
            "LEFT JOIN places p ON p.document = o.document AND p.ordinal = o.place "
            f"LEFT JOIN places h ON h.document = o.document AND h.ordinal = p.section {where} "
            "ORDER BY d.source_path, o.start, o.id LIMIT ? OFFSET ?",
            (*values, limit, offset),
        )
        check_documents(self._database, {row["document"] for row in rows}, OBLIGATIONS, PLACES)
        return [
            ObligationRow(
                row["source_path"],
                row["document_title"],
                row["section_id"] or "",
                row["label"] or "",
                row["heading"] or "",
                _obligation(row),
                row["place_id"] or "",
            )
            for row in rows
        ]

    def counts(self, query: ObligationQuery, documents: Collection[int] | None) -> ObligationCounts:
        """Return the number of rows."""
        where, values = _where(query, documents)
        gaps = ", ".join(f"SUM(o.gaps LIKE '% {name} %')" for name in GAPS)
        total, *by_gap = self._database.rows(f"SELECT COUNT(*), {gaps} FROM obligations o {where}", values)[0]
        where, values = _where(query, documents, any_kind=True)
        kinds: dict[str, int] = dict.fromkeys((*KINDS, "deadline", "amount"), 0)
        for kind, number, deadlines, amounts in self._database.rows(
            "SELECT o.kind, COUNT(*), SUM(o.deadlines != ''), SUM(o.amounts != '') "
            f"FROM obligations o {where} GROUP BY o.kind",
            values,
        ):
            if kind not in kinds:
                raise IndexStateError("The table of obligations was damaged. Run loccit doctor.")
            kinds[kind] += number
            kinds["deadline"] += deadlines
            kinds["amount"] += amounts
        return ObligationCounts(total, kinds, {name: n or 0 for name, n in zip(GAPS, by_gap, strict=True)})

    def looked_at(self, documents: Collection[int] | None, languages: Collection[str]) -> tuple[int, int]:
        """Return the number of documents, and of those in other languages than these."""
        where, values = _among("id", documents)
        marks = ", ".join("?" * len(languages))
        row = self._database.rows(
            f"SELECT COUNT(*), SUM(language NOT IN ({marks})) FROM documents"
            + (f" WHERE {where}" if where else ""),
            (*languages, *values),
        )[0]
        return row[0], row[1] or 0


def _among(column: str, documents: Collection[int] | None) -> tuple[str, list[Any]]:
    if documents is None:
        return "", []
    return f"{column} IN (SELECT value FROM json_each(?))", [json.dumps(sorted(documents))]


def _where(
    query: ObligationQuery, documents: Collection[int] | None, *, any_kind: bool = False
) -> tuple[str, list[Any]]:
    """Return the conditions of a query, and their values."""
    among, values = _among("o.document", documents)
    conditions = [among] if among else []
    if query.kind in KINDS and not any_kind:
        conditions.append("o.kind = ?")
        values.append(query.kind)
    elif query.kind and not any_kind:
        conditions.append({"deadline": "o.deadlines != ''", "amount": "o.amounts != ''"}[query.kind])
    for column, words in (("bearer", query.bearer), ("text", query.words)):
        for word in words:
            conditions.append(f"o.{column} LIKE ? ESCAPE '\\'")
            values.append("%" + "".join(f"\\{sign}" if sign in "\\%_" else sign for sign in word) + "%")
    if query.unit:
        units = _DAYS if query.unit == "day" else (query.unit,)
        tests = ["instr(o.deadlines || o.amounts, ?) > 0" for _ in units]
        conditions.append(f"({' OR '.join(tests)})")
        values += [f'"unit": {json.dumps(unit)}' for unit in units]
    if query.gap:
        conditions.append("o.gaps LIKE ?")
        values.append(f"% {query.gap} %")
    return (f"WHERE {' AND '.join(conditions)}" if conditions else ""), values


def _obligation(row: sqlite3.Row) -> Obligation:
    return Obligation(
        kind=row["kind"],
        start=row["start"],
        end=row["end"],
        lines=Lines(row["line_first"], row["line_last"]),
        text=row["text"],
        place=row["place"],
        bearer=row["bearer"],
        modal=row["modal"],
        action=row["action"],
        exception=row["exception"],
        deadlines=tuple(Deadline(**item) for item in json.loads(row["deadlines"] or "[]")),
        amounts=tuple(Amount(**item) for item in json.loads(row["amounts"] or "[]")),
        gaps=tuple(row["gaps"].split()),
        pages=None if row["page_first"] is None else Pages(row["page_first"], row["page_last"]),
    )

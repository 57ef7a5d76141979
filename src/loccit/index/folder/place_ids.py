"""Ids of places: assigned when a document is stored, kept when it is read again, remembered when deleted."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from loccit.index.folder.seals import insert, is_sound
from loccit.index.port.records import GonePlace
from loccit.model.place_ids import library_key, place_id

if TYPE_CHECKING:
    from loccit.index.folder.database import Database

_REMEMBERED = 20_000
_BEGINNING = 240


def choose_place_ids(
    connection: sqlite3.Connection,
    path: str,
    section_ids: Sequence[str],
    known: Mapping[str, str] | None = None,
    roots: Sequence[str] | None = None,
    renamed_from: str = "",
) -> list[str]:
    """Return an id for each place of a document about to be stored, inside a transaction.

    A place keeps the id that it had in this document, also under the document's previous path; ``known`` are ids
    assigned by another machine.
    """
    had: dict[str, str] = {}
    for before in filter(None, (renamed_from, path)):
        had.update(
            connection.execute(
                "SELECT section_id, place_id FROM gone_places WHERE source_path = ?", (before,)
            )
        )
    had.update(known or {})
    key = library_key(path, _roots(connection) if roots is None else roots)
    chosen: dict[str, str] = {}
    waiting = {name: had.get(name) or place_id(key, name) for name in section_ids}
    attempt = 0
    while waiting:
        attempt += 1
        taken = _taken(connection, list(waiting.values())) | set(chosen.values())
        again: list[str] = []
        for name, wanted in waiting.items():
            if wanted in taken:
                again.append(name)
            else:
                chosen[name] = wanted
                taken.add(wanted)
        # Another place has it: later ones get the next, by position.
        waiting = {name: place_id(path, name, attempt) for name in again}
    connection.executemany("DELETE FROM gone_places WHERE place_id = ?", [(one,) for one in chosen.values()])
    return [chosen[name] for name in section_ids]


def _taken(connection: sqlite3.Connection, ids: Sequence[str]) -> set[str]:
    rows = connection.execute(
        "SELECT p.place_id FROM json_each(?) j CROSS JOIN places p ON p.place_id = j.value AND p.place_id != ''",
        (json.dumps(ids),),
    )
    return {row[0] for row in rows}


def _roots(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT path FROM roots")]


def remember_places(connection: sqlite3.Connection, document: int) -> None:
    """Remember the places of a document about to be deleted, inside a transaction."""
    path, text = connection.execute(
        "SELECT source_path, text FROM documents WHERE id = ?", (document,)
    ).fetchone()
    rows = connection.execute(
        'SELECT p.place_id, p.section_id, p.label, h.heading, p.body, p."end" FROM places p '
        "JOIN places h ON h.document = p.document AND h.ordinal = p.section "
        "WHERE p.document = ? AND p.place_id != '' ORDER BY p.ordinal DESC",
        (document,),
    ).fetchall()
    insert(
        connection,
        "gone_places",
        [(row[0], path, row[1], row[2], row[3], _beginning(text[row[4] : row[5]])) for row in rows],
        "INSERT OR REPLACE",
    )
    connection.execute(
        "DELETE FROM gone_places WHERE number <= (SELECT MAX(number) FROM gone_places) - ?", (_REMEMBERED,)
    )


def _beginning(text: str) -> str:
    words = text[:_BEGINNING].split()
    return " ".join(words[:-1] if len(text) > _BEGINNING and len(words) > 1 else words)


def gone_place(database: Database, wanted: str) -> GonePlace | None:
    """Return what is remembered of a deleted place."""
    rows = database.rows(
        "SELECT place_id, source_path, section_id, label, heading, text, digest FROM gone_places WHERE place_id = ?",
        (wanted,),
    )
    return GonePlace(*tuple(rows[0])[1:6]) if rows and is_sound(rows[0]) else None

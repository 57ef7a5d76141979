"""Names of documents in the record: stored with each document, and looked up by key."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from loccit.grammar.labels.document_keys import (
    LINKS,
    Lead,
    document_keys,
    folder_number,
    folder_of,
    link_keys,
    numbered_file,
    reference_keys,
    related_keys,
    related_names,
)
from loccit.grammar.labels.names import INITIALS
from loccit.index.folder.database import Database, batches, joined
from loccit.index.port.names import BEGINNING, MOST, CalledEntry, Entry, Work

# Documents to check for one that contains several words, all of them common.
_LOOKED_AT = 5000
# Titles to scan for words that none has as a whole.
_TITLES = 20_000
# Works of one name that are distinguished.
_WORKS = 20
_LINK_KINDS = {"markdown": "link", "wiki": "wiki", "transclusion": "transclusion"}
_FEW = 3  # words that begin alike and may still be meant by their beginning
_ENDING = 3  # letters that one of two words has more
# Short names that are looked through for one that an act may go by.
_SHORT_WORDS = 20_000
_LAST = "\U0010ffff"


def write_keys(connection: sqlite3.Connection, document: int) -> None:
    """Write the names of a newly stored document, and what may lead from it to others."""
    path, title, metadata = connection.execute(
        "SELECT source_path, title, metadata FROM documents WHERE id = ?", (document,)
    ).fetchone()
    properties = json.loads(metadata)
    connection.executemany(
        "INSERT OR IGNORE INTO document_names VALUES (?, ?, ?, ?, ?)",
        [
            (one.kind, one.key, one.folder, document, one.sure)
            for one in document_keys(path, title, properties)
        ],
    )
    numbered = numbered_file(path, title)
    if numbered is not None:
        connection.execute("INSERT INTO numbered_files VALUES (?, ?, ?, ?, ?, ?)", (document, *numbered))
    folder = folder_number(folder_of(path))
    connection.executemany(
        "INSERT INTO leads VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (lead.key, lead.source, lead.number, folder, document, lead.start, lead.kind, lead.target)
            for lead in _leads(connection, document, path, properties)
        ],
    )


def _leads(
    connection: sqlite3.Connection, document: int, path: str, metadata: Mapping[str, Any]
) -> Iterable[Lead]:
    rows = connection.execute("SELECT kind, target, start FROM links WHERE document = ?", (document,))
    for kind, target, start in rows.fetchall():
        if (link := _LINK_KINDS.get(kind)) and stays_here(link, target):
            for key in link_keys(link, target, path):
                yield Lead(key, "link", start, "", link, target)
    for name in related_names(metadata):
        for key in related_keys(name, path):
            yield Lead(key, "related", 0, "", "related", name)
    rows = connection.execute(
        "SELECT DISTINCT kind, target, number_key, start FROM refs WHERE document = ? AND target_section = '' "
        "AND target_chunk IS NULL",
        (document,),
    )
    found = {
        Lead(key, "reference", start, "" if kind in LINKS else number)
        for kind, target, number, start in rows.fetchall()
        for key in reference_keys(kind, target, number, path)
    }
    yield from sorted(found)


def stays_here(kind: str, target: str) -> bool:
    """Whether a link may lead to another document of the library: no scheme, no host, not only an anchor."""
    if target.startswith(("#", "//")):
        return False
    return kind != "link" or ":" not in target.partition("/")[0]


class EmbeddedNames:
    """Documents by name, for ``port.names``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        return self._database.rows(query, values)

    # -- documents -------------------------------------------------------------------------------------------

    def entries(self, documents: Collection[int]) -> dict[int, Entry]:
        """Return documents by id, without deleted ones."""
        return {entry.id: entry for entry in self._entries("id", documents)}

    def at(self, paths: Collection[str]) -> dict[str, Entry]:
        """Return documents by their paths."""
        return {entry.source_path: entry for entry in self._entries("source_path", paths)}

    def _entries(self, column: str, values: Collection[int] | Collection[str]) -> Iterable[Entry]:
        for batch in batches(values):
            marks = ",".join("?" * len(batch))
            query = f"SELECT id, source_path, title FROM documents WHERE {column} IN ({marks})"
            yield from (Entry(*row) for row in self._rows(query, batch))

    def first(self, limit: int | None = None) -> list[Entry]:
        """Return the first documents ordered by path, or all."""
        query = "SELECT id, source_path, title FROM documents ORDER BY source_path LIMIT ?"
        return [Entry(*row) for row in self._rows(query, (-1 if limit is None else limit,))]

    # -- names -----------------------------------------------------------------------------------------------

    def called(self, keys: Collection[str], folder: int | None = None) -> dict[str, list[CalledEntry]]:
        """Return the documents with these names, by name; with ``folder``, those in it."""
        kinds = ("full", "short")
        has = ", ".join(
            f"EXISTS (SELECT 1 FROM document_names WHERE kind = '{kind}' AND key = t.key)" for kind in kinds
        )
        known = joined(self._database, "key", [(key,) for key in keys], f"SELECT t.key, {has} FROM t")
        found: dict[str, list[CalledEntry]] = {}
        for key, *there in known:
            for kind, exists in zip(kinds, there, strict=True):
                if exists and key is not None:
                    found.setdefault(key, []).extend(self._called(kind, key, folder))
        return found

    def _called(self, kind: str, key: str, folder: int | None) -> list[CalledEntry]:
        where, values = ("", []) if folder is None else (" AND folder = ?", [folder])
        rows = self._rows(
            "SELECT d.id, d.source_path, d.title, n.sure FROM (SELECT document, sure FROM document_names "
            f"WHERE kind = ? AND key = ?{where} LIMIT {MOST + 1}) n JOIN documents d ON d.id = n.document",
            [kind, key, *values],
        )
        return [CalledEntry(Entry(*row[:3]), kind == "full", row[3]) for row in rows]

    def ending(self, path_keys: Collection[str], *, whole: bool) -> dict[str, list[Entry]]:
        """Return the documents whose paths are, or end with, these, by path key."""
        # Parts end in `/`; what begins with a key sorts before the next character, `0`.
        last = "t.key" if whole else "substr(t.key, 1, length(t.key) - 1) || '0'"
        found: dict[str, list[Entry]] = {}
        rows = joined(
            self._database,
            "key",
            [(key,) for key in path_keys],
            "SELECT t.key, d.id, d.source_path, d.title FROM t CROSS JOIN documents d ON d.id IN (SELECT document "
            f"FROM document_names WHERE kind = 'path' AND key >= t.key AND key <= {last} LIMIT {MOST + 1})",
        )
        for key, *entry in rows:
            found.setdefault(key, []).append(Entry(*entry))
        return found

    def names(self, documents: Collection[int]) -> dict[int, list[str]]:
        """Return the full and short names of some documents."""
        return self._keys(documents, "'full', 'short'")

    def _keys(self, documents: Collection[int], kinds: str) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {document: [] for document in documents}
        for batch in batches(documents):
            rows = self._rows(
                "SELECT document, key FROM document_names INDEXED BY document_names_by_document "
                f"WHERE document IN ({','.join('?' * len(batch))}) AND kind IN ({kinds})",
                batch,
            )
            for document, key in rows:
                found[document].append(key)
        return found

    # -- words of names --------------------------------------------------------------------------------------

    def having(self, word: str, documents: Collection[int] | None = None) -> set[int]:
        """Return the documents with a word in their names, or its letters in their initials."""
        bounds = [("word", form, form) for form in self._forms(word)]
        if len(word) >= INITIALS:
            bounds.append(("initials", word, word + _LAST))
        found: set[int] = set()
        for bound in bounds:
            where = "kind = ? AND key >= ? AND key <= ?"
            if documents is None:
                query = f"SELECT document FROM document_names WHERE {where} LIMIT {MOST + 1}"
                found.update(row[0] for row in self._rows(query, bound))
                continue
            for batch in batches(documents):
                rows = self._rows(
                    "SELECT document FROM document_names INDEXED BY document_names_by_document "
                    f"WHERE {where} AND document IN ({','.join('?' * len(batch))})",
                    [*bound, *batch],
                )
                found.update(row[0] for row in rows)
        return found

    def _forms(self, word: str) -> list[str]:
        """A word in the forms that names have: as it is, else longer, if specific enough, else without its ending."""
        if len(word) < BEGINNING or self._is_word(word):
            return [word]
        longer: list[str] = []
        last = word
        while len(longer) <= _FEW:
            query = "SELECT key FROM document_names WHERE kind = 'word' AND key > ? ORDER BY key LIMIT 1"
            following = self._database.value(query, (last,))
            if following is None or not following.startswith(word):
                break
            last = str(following)
            longer.append(last)
        if 0 < len(longer) <= _FEW:
            return longer
        shorter = (word[:-cut] for cut in range(1, _ENDING + 1) if len(word) - cut >= BEGINNING)
        return next(([other] for other in shorter if self._is_word(other)), [])

    def _is_word(self, word: str) -> bool:
        query = "SELECT 1 FROM document_names WHERE kind = 'word' AND key = ? LIMIT 1"
        return self._database.value(query, (word,)) is not None

    def short_words(self, letter: str) -> dict[str, list[int]]:
        """Return the one-word short names that begin with a letter, with their documents."""
        found: dict[str, list[int]] = {}
        query = (
            "SELECT key, document FROM (SELECT key, document FROM document_names WHERE kind = 'short' "
            f"AND key >= ? AND key < ? LIMIT {_SHORT_WORDS}) WHERE instr(key, ' ') = 0"
        )
        for key, document in self._rows(query, (letter, letter + _LAST)):
            found.setdefault(key, []).append(document)
        return found

    def beginning(self, beginnings: Collection[str]) -> set[int]:
        """Return the documents with words in their names that have some prefixes, a few for each."""
        query = (
            f"SELECT document FROM document_names WHERE kind = 'word' AND key >= ? AND key <= ? LIMIT {MOST}"
        )
        return {row[0] for one in beginnings for row in self._rows(query, (one, one + _LAST))}

    def words(self, documents: Collection[int]) -> dict[int, list[str]]:
        """Return the words in the names of some documents."""
        return self._keys(documents, "'word'")

    def having_all(self, words: Collection[str]) -> set[int]:
        """Return the documents with all of these words in their names, up to ``MOST`` + 1."""
        having = {word: self.having(word) for word in words}
        rarest, *others = sorted(having, key=lambda word: (len(having[word]), word))
        found = set(having[rarest])
        if others and len(found) > MOST:
            query = f"SELECT document FROM document_names WHERE kind = 'word' AND key = ? LIMIT {_LOOKED_AT}"
            found.update(row[0] for row in self._rows(query, (rarest,)))
        for word in others:
            found = found & having[word] if len(having[word]) <= MOST else self.having(word, found)
        return set(sorted(found)[: MOST + 1])

    def abbreviated(self, initials: str) -> set[int]:
        """Return the documents whose titles have exactly these initials, up to ``MOST`` + 1."""
        query = f"SELECT document FROM document_names WHERE kind = 'acronym' AND key = ? LIMIT {MOST + 1}"
        return {row[0] for row in self._rows(query, (initials,))}

    def titled(self, title_key: str) -> list[Entry]:
        """Return the documents with a title, or else those whose titles contain it, ordered by path."""
        find = "SELECT document FROM document_names WHERE kind = 'title' AND key = ? LIMIT ?"
        rows = self._rows(find, (title_key, MOST))
        if not rows:
            hold = (
                f"SELECT document FROM (SELECT document, key FROM document_names WHERE kind = 'title' LIMIT {_TITLES}) "
                "WHERE instr(key, ?) LIMIT ?"
            )
            rows = self._rows(hold, (title_key, MOST))
        found = self.entries([row[0] for row in rows]).values()
        return sorted(found, key=lambda entry: entry.source_path)

    # -- works in numbered files -----------------------------------------------------------------------------

    def works(self, name: str) -> list[Work]:
        """Return the works in numbered files whose folder, or its parent, has a name; the first few."""
        folders: dict[int, None] = {}
        for column in ("name", "above") if name else ():
            after: int | None = None
            while len(folders) < _WORKS:
                # The next folder, without reading all files of the last.
                beyond, values = ("", []) if after is None else (" AND folder > ?", [after])
                query = (
                    f"SELECT folder FROM numbered_files WHERE {column} = ?{beyond} ORDER BY folder LIMIT 1"
                )
                after = self._database.value(query, (name, *values))
                if after is None:
                    break
                folders[after] = None
        return [work for folder in folders if (work := self.work(folder)) is not None]

    def work(self, folder: int) -> Work | None:
        """Return the work whose files are in a folder; only two numbered files may be a coincidence."""
        numbers = self._rows(
            "SELECT DISTINCT kind, number FROM numbered_files WHERE folder = ? LIMIT 3", (folder,)
        )
        if len(numbers) < 3:
            return None
        kinds: set[str] = set()
        last = ""
        while True:
            query = "SELECT kind FROM numbered_files WHERE folder = ? AND kind > ? ORDER BY kind LIMIT 1"
            following = self._database.value(query, (folder, last))
            if following is None:
                return Work(folder, frozenset(kinds))
            last = str(following)
            kinds.add(last)

    def members(self, folder: int, kind: str, number: str) -> list[Entry]:
        """Return the files of a work with a number, two at most."""
        rows = self._rows(
            "SELECT d.id, d.source_path, d.title FROM numbered_files n JOIN documents d ON d.id = n.document "
            "WHERE n.folder = ? AND n.kind = ? AND n.number = ? LIMIT 2",
            (folder, kind, number),
        )
        return [Entry(*row) for row in rows]

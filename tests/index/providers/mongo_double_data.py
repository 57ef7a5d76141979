"""The collections of the double, and the commands on them, with the limits and the error codes of MongoDB."""

from __future__ import annotations

import itertools
from typing import Any

import bson
from tests.index.providers.mongo_double_match import UnknownOperatorError, fields_of, matches
from tests.index.providers.mongo_double_table import LARGEST_DOCUMENT, Document, RefusalError, Table, bad

_LARGEST_BATCH = 100_000
_FIRST_BATCH = 101
# Fields that any command may have.
_ALWAYS = {"$db", "lsid", "$clusterTime", "$readPreference", "writeConcern", "readConcern", "txnNumber"}
_FIELDS = {
    "insert": {"insert", "documents", "ordered"},
    "update": {"update", "updates", "ordered"},
    "delete": {"delete", "deletes", "ordered"},
    "find": {"find", "filter", "projection", "sort", "limit", "batchSize", "singleBatch"},
    "getmore": {"getMore", "collection", "batchSize"},
    "killcursors": {"killCursors", "cursors"},
    "aggregate": {"aggregate", "pipeline", "cursor"},
    "count": {"count", "query"},
    "create": {"create"},
    "drop": {"drop"},
    "createindexes": {"createIndexes", "indexes"},
    "listindexes": {"listIndexes", "cursor"},
    "listcollections": {"listCollections", "filter", "nameOnly", "cursor"},
}


class Warehouse:
    """All databases. What a service has beyond them is in its subclass."""

    def __init__(self) -> None:
        self.tables: dict[tuple[str, str], Table] = {}
        self._cursors: dict[int, tuple[str, list[Document]]] = {}
        self._numbers = itertools.count(1001)

    def run(self, name: str, command: Document) -> Document:
        """Carry out a command."""
        fields = {**_FIELDS, **self.more_commands()}.get(name)
        if fields is None:
            raise RefusalError(59, "CommandNotFound", f"no such command: '{next(iter(command))}'")
        if unknown := sorted(command.keys() - fields - _ALWAYS):
            raise RefusalError(
                40415, "Location40415", f"BSON field '{name}.{unknown[0]}' is an unknown field."
            )
        try:
            answer: Document = getattr(self, f"do_{name}")(command)
        except UnknownOperatorError as error:
            raise bad(f"unknown operator: {error}") from None
        return answer

    def more_commands(self) -> dict[str, set[str]]:
        """Return the commands of the service, with their fields."""
        return {}

    def first_stage(self, table: Table, name: str, spec: Any) -> list[tuple[Document, Document]] | None:
        """Return what a search stage gives: documents with what is known about them; None for other stages."""
        return None

    def table(self, command: Document, *, make: bool = False) -> Table:
        """Return the collection a command is about; an empty one where there is none."""
        key = command["$db"], next(iter(command.values()))
        if make:
            return self.tables.setdefault(key, Table())
        return self.tables.get(key) or Table()

    # -- writing ---------------------------------------------------------------------------------------------

    def do_insert(self, command: Document) -> Document:
        """Add documents; ids that are taken are reported one by one."""
        table, failed = self.table(command, make=True), []
        for at, document in enumerate(_batch(command["documents"])):
            if document["_id"] in table.documents:
                text = f"E11000 duplicate key error collection: _id_ dup key: {{ _id: {document['_id']!r} }}"
                failed.append({"index": at, "code": 11000, "errmsg": text, "keyPattern": {"_id": 1}})
                if command.get("ordered", True):
                    break
                continue
            table.put(document)
        answer: Document = {"n": len(command["documents"]) - len(failed)}
        return {**answer, "writeErrors": failed} if failed else answer

    def do_update(self, command: Document) -> Document:
        """Replace documents, or add them where that is asked for."""
        table, count, added = self.table(command, make=True), 0, []
        for at, update in enumerate(_batch(command["updates"])):
            if update.keys() - {"q", "u", "multi", "upsert"} or any(
                key.startswith("$") for key in update["u"]
            ):
                raise RefusalError(9, "FailedToParse", "the double replaces whole documents only")
            found = table.find(update["q"])
            if found:
                table.put({"_id": found[0]["_id"], **update["u"]})
                count += 1
            elif update.get("upsert"):
                key = update["u"].get("_id", update["q"].get("_id"))
                table.put({"_id": key, **update["u"]})
                added.append({"index": at, "_id": key})
                count += 1
        answer: Document = {"n": count, "nModified": count - len(added)}
        return {**answer, "upserted": added} if added else answer

    def do_delete(self, command: Document) -> Document:
        """Delete documents."""
        table, count = self.table(command), 0
        for one in _batch(command["deletes"]):
            for document in table.find(one["q"])[: one["limit"] or None]:
                table.remove(document["_id"])
                count += 1
        return {"n": count}

    # -- reading ---------------------------------------------------------------------------------------------

    def do_find(self, command: Document) -> Document:
        """Return documents in order, in batches."""
        found = self.table(command).find(command.get("filter", {}))
        for name, direction in reversed(command.get("sort", {}).items()):
            found.sort(key=lambda document: document[name], reverse=direction < 0)
        if command.get("limit"):
            found = found[: command["limit"]]
        shown = [fields_of(document, command.get("projection") or {}) for document in found]
        return self.cursor(command, shown, command.get("batchSize", _FIRST_BATCH))

    def cursor(self, command: Document, rows: list[Document], size: int) -> Document:
        """Return a first batch, and keep the rest; a batch is never larger than a document may be."""
        space = f"{command['$db']}.{next(iter(command.values()))}"
        batch, rest = _cut(rows, size)
        number = 0
        if rest and not command.get("singleBatch"):
            number = next(self._numbers)
            self._cursors[number] = space, rest
        return {"cursor": {"id": bson.Int64(number), "ns": space, "firstBatch": batch}}

    def do_getmore(self, command: Document) -> Document:
        """Return the next batch."""
        number = int(command["getMore"])
        if number not in self._cursors:
            raise RefusalError(43, "CursorNotFound", f"cursor id {number} not found")
        space, rows = self._cursors.pop(number)
        batch, rest = _cut(rows, command.get("batchSize") or len(rows))
        if rest:
            self._cursors[number] = space, rest
        return {"cursor": {"id": bson.Int64(number if rest else 0), "ns": space, "nextBatch": batch}}

    def do_killcursors(self, command: Document) -> Document:
        """Forget cursors."""
        for number in command["cursors"]:
            self._cursors.pop(int(number), None)
        return {"cursorsKilled": command["cursors"]}

    def do_count(self, command: Document) -> Document:
        """Count documents."""
        return {"n": len(self.table(command).find(command.get("query", {})))}

    def do_aggregate(self, command: Document) -> Document:
        """Run a pipeline."""
        rows = self.pipeline(self.table(command), command["pipeline"])
        size = command["cursor"].get("batchSize", _FIRST_BATCH)
        return self.cursor(command, [document for document, _ in rows], size)

    def pipeline(self, table: Table, stages: list[Document]) -> list[tuple[Document, Document]]:
        """Return what the stages leave, each document with what is known about it."""
        rows: list[tuple[Document, Document]] = [(document, {}) for document in table.documents.values()]
        for at, stage in enumerate(stages):
            ((name, spec),) = stage.items()
            searched = self.first_stage(table, name, spec)
            if searched is not None:
                if at:
                    raise RefusalError(
                        40602, "Location40602", f"{name} is only valid as the first stage in a pipeline"
                    )
                rows = searched
            elif name == "$match":
                rows = [row for row in rows if matches(row[0], spec)]
            elif name == "$limit":
                rows = rows[:spec]
            elif name == "$project":
                rows = [(_project(*row, spec), row[1]) for row in rows]
            elif name == "$group" and spec == {"_id": 1, "n": {"$sum": 1}}:
                rows = [({"_id": 1, "n": len(rows)}, {})] if rows else []
            else:
                raise RefusalError(40324, "Location40324", f"Unrecognized pipeline stage name: '{name}'")
        return rows

    # -- collections and indexes -----------------------------------------------------------------------------

    def do_create(self, command: Document) -> Document:
        """Make a collection."""
        key = command["$db"], command["create"]
        if key in self.tables:
            raise RefusalError(48, "NamespaceExists", f"Collection {'.'.join(key)} already exists.")
        self.tables[key] = Table()
        return {}

    def do_drop(self, command: Document) -> Document:
        """Delete a collection with its indexes."""
        self.tables.pop((command["$db"], command["drop"]), None)
        return {}

    def do_listcollections(self, command: Document) -> Document:
        """Name the collections."""
        names = sorted(name for database, name in self.tables if database == command["$db"])
        rows = [{"name": name, "type": "collection"} for name in names]
        return self.cursor(command, [row for row in rows if matches(row, command.get("filter", {}))], 1000)

    def do_createindexes(self, command: Document) -> Document:
        """Make indexes; the same one again is no error."""
        table = self.table(command, make=True)
        for index in command["indexes"]:
            self.check_index(index)
            same = [there for there in table.indexes if there["name"] == index["name"]]
            if not same:
                table.indexes.append({"v": 2, **index})
            elif {**same[0], "v": 2} != {"v": 2, **index}:
                raise RefusalError(
                    86, "IndexKeySpecsConflict", f"An existing index has the name {index['name']}"
                )
        return {"numIndexesAfter": len(table.indexes)}

    def check_index(self, index: Document) -> None:
        """Refuse an index that cannot be."""
        if index.keys() - {"name", "key"} or set(index["key"].values()) - {1, -1}:
            raise RefusalError(67, "CannotCreateIndex", f"Error in specification of index {index['name']}")

    def do_listindexes(self, command: Document) -> Document:
        """Describe the indexes."""
        if (command["$db"], command["listIndexes"]) not in self.tables:
            raise RefusalError(26, "NamespaceNotFound", "ns does not exist")
        return self.cursor(command, self.table(command).indexes, 1000)


def _batch(items: list[Document]) -> list[Document]:
    if not 1 <= len(items) <= _LARGEST_BATCH:
        raise RefusalError(4, "InvalidLength", f"Write batch sizes must be between 1 and {_LARGEST_BATCH}")
    return items


def _cut(rows: list[Document], size: int) -> tuple[list[Document], list[Document]]:
    used = taken = 0
    for row in rows[:size]:
        used += len(bson.encode(row))
        if used > LARGEST_DOCUMENT and taken:
            break
        taken += 1
    return rows[:taken], rows[taken:]


def _project(document: Document, known: Document, spec: Document) -> Document:
    shown = {"_id": document["_id"]}
    for name, wanted in spec.items():
        if isinstance(wanted, dict):
            (meta,) = wanted.values()
            if list(wanted) != ["$meta"] or meta not in known:
                text = f"query requires {meta} metadata, but it is not available"
                raise RefusalError(40218, "Location40218", text)
            shown[name] = known[meta]
        elif name in document:
            shown[name] = document[name]
    return shown

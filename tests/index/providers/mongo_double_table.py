"""A collection of the double, and how the server refuses."""

from __future__ import annotations

from typing import Any

import bson
from tests.index.providers.mongo_double_match import matches

Document = dict[str, Any]
LARGEST_DOCUMENT = 16 * 1024 * 1024


class RefusalError(Exception):
    """An error that the server sends."""

    def __init__(self, code: int, name: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.name = name

    def answer(self) -> Document:
        """Return it as it is sent."""
        return {"ok": 0.0, "code": self.code, "codeName": self.name, "errmsg": str(self)}


def bad(text: str) -> RefusalError:
    """Return the refusal of a value."""
    return RefusalError(2, "BadValue", text)


class Table:
    """A collection: documents by id, and what is indexed."""

    def __init__(self) -> None:
        self.documents: dict[Any, Document] = {}
        self.indexes: list[Document] = [{"v": 2, "key": {"_id": 1}, "name": "_id_"}]
        self.version = 0
        # What a service keeps beside it.
        self.beside: dict[str, Any] = {}

    def put(self, document: Document) -> None:
        """Store a document in place of the one with its id."""
        if len(bson.encode(document)) > LARGEST_DOCUMENT:
            raise RefusalError(10334, "BSONObjectTooLarge", "object to insert too large")
        self.documents[document["_id"]] = document
        self.version += 1

    def remove(self, key: Any) -> None:
        """Delete a document."""
        del self.documents[key]
        self.version += 1

    def find(self, query: Document) -> list[Document]:
        """Return the documents that fit; by their ids where the query names some."""
        wanted = query.get("_id")
        if isinstance(wanted, str):
            keys = [wanted]
        elif isinstance(wanted, dict) and "$in" in wanted:
            keys = wanted["$in"]
        else:
            return [document for document in self.documents.values() if matches(document, query)]
        there = (self.documents[key] for key in keys if key in self.documents)
        return [document for document in there if matches(document, query)]

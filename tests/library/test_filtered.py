"""Filters that leave nothing to look in, whatever is looked for."""

from __future__ import annotations

import pytest

from loccit import Library
from loccit.errors import LoccitError, NotFoundError


@pytest.mark.parametrize(
    "query", ["Section 2", "Section 306", "§ 2(a)", "2", "第二条", "Section 2 of the Harbour Act"]
)
@pytest.mark.parametrize("mode", ["hybrid", "exact", "keyword"])
def test_a_number_where_no_document_passes(library: Library, query: str, mode: str) -> None:
    found = library.search(query, mode=mode, filters={"type": "xlsx"})
    assert found.results == []
    assert "No document has type=xlsx" in found.note


def test_a_number_in_a_library_of_no_documents(library: Library) -> None:
    nothing = library.scoped({"type": "xlsx"})
    assert nothing.search("Section 2").results == []
    assert nothing.documents() == []
    for ask in (nothing.section, nothing.references, nothing.document):
        with pytest.raises(NotFoundError):
            ask("Section 2")
    try:
        assert nothing.define("vessel").definitions == []
    except LoccitError as error:
        assert isinstance(error, NotFoundError)


def test_a_number_and_nothing_but_an_excluded_document(library: Library) -> None:
    assert library.search("Section 2 -type:md").results == []
    assert library.search("Section 2 path:nowhere").results == []

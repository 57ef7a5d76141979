"""A scoped library is a library of some of the documents, whatever is asked of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.ingest.fakes import WordEmbedder

from loccit import Library
from loccit.errors import NotFoundError, UsageError

LEASE = """---
tags: [lease]
---
# Lease

## 1 Definitions

"Rent" means the sum of 900 euros a month.

## 2 Rent

The tenant pays the Rent in advance. See section 1.
"""
LOAN = (
    LEASE.replace("lease", "loan")
    .replace("Lease", "Loan")
    .replace("900", "500")
    .replace("tenant", "borrower")
)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "lease.md").write_text(LEASE)
    (docs / "loan.md").write_text(LOAN)
    (docs / "memo.md").write_text("---\ntags: [loan]\n---\n# Memo\n\nThe borrower paid in advance.\n")
    opened = Library(tmp_path / "index", embedder=WordEmbedder())
    opened.index([docs])
    return opened


def test_every_question_sees_only_the_documents_of_the_scope(library: Library) -> None:
    loans = library.scoped({"tags": "loan"})
    assert isinstance(loans, Library)
    assert {Path(info.source_path).name for info in loans.documents()} == {"loan.md", "memo.md"}
    found = loans.search("who pays in advance")
    assert {Path(result.source_path).name for result in found.results} <= {"loan.md", "memo.md"}
    assert Path(loans.section("2").source_path).name == "loan.md"
    assert "500" in loans.define("Rent").definitions[0].definition.definition_text
    assert [Path(outline.source_path).name for outline in loans.outline()] == ["loan.md", "memo.md"]
    assert {Path(item.source_path).name for item in loans.suggest("le")} <= {"loan.md", "memo.md"}
    with pytest.raises(NotFoundError):
        loans.document("lease.md")
    with pytest.raises(NotFoundError):
        loans.reader(str(library.path.parent / "docs" / "lease.md"))


def test_a_scope_within_a_scope_holds_both_and_is_asked_alike_when_awaited(library: Library) -> None:
    inner = library.scoped({"tags": "loan"}).scoped({"path": "memo.md"})
    assert [Path(info.source_path).name for info in inner.documents()] == ["memo.md"]
    assert asyncio.run(inner.adocuments()) == inner.documents()
    assert asyncio.run(inner.asearch("advance")).results == inner.search("advance").results


def test_a_document_can_be_named_in_a_search(library: Library) -> None:
    found = library.search("who pays in advance", document="lease.md")
    assert {Path(result.source_path).name for result in found.results} == {"lease.md"}
    with pytest.raises(NotFoundError):
        library.search("advance", document="nowhere.md")


def test_a_scope_neither_changes_nor_closes_its_library(library: Library) -> None:
    with library.scoped({"tags": "loan"}) as loans:
        for change in (loans.index, lambda: loans.forget("loan.md"), lambda: loans.migrate(None)):  # type: ignore[arg-type]
            with pytest.raises(UsageError, match="scoped library only answers"):
                change()
    assert library.search("advance").results
    library.index()
    assert len(loans.documents()) == 2

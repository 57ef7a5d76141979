"""The table of obligations: filters, counts, pages, and the command."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ingest.fakes import InlineSandbox, WordEmbedder
from typer.testing import CliRunner

from loccit import Library
from loccit.cli.app import app
from loccit.errors import IndexVersionError, NotFoundError, UsageError
from loccit.index.folder.dump import dump_document, read_dump, restore_document

LEASE = """# Lease

## 1 Rent

1.1 The Tenant shall pay the rent of EUR 900 within 10 days of the start of each month, unless it is waived.

1.2 The deposit is EUR 1,800.

## 2 Use

2.1 The Tenant shall not sublet the flat.

2.2 The Landlord may inspect the flat at least 3 business days after notice. Keys must be returned promptly.
"""
ORDER = "# Verordnung\n\n## § 1\n\n(1) Der Betreiber hat die Unterlagen fünf Jahre aufzubewahren.\n"
NOTE = "# Note\n\nLe locataire doit payer le loyer. Il habite la maison avec ses enfants et son chien.\n"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    monkeypatch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in (("lease.md", LEASE), ("order.md", ORDER), ("note.md", NOTE)):
        (docs / name).write_text(text, encoding="utf-8")
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        library.index(docs)
        yield library


def test_rows_have_who_what_when_how_much_unless_and_where(library: Library) -> None:
    row = library.obligations("lease.md").rows[0]
    stated = row.obligation
    assert (stated.kind, stated.bearer, stated.modal) == ("duty", "The Tenant", "shall")
    assert stated.action.startswith("pay the rent of EUR 900")
    assert [(item.normal, item.event) for item in stated.deadlines] == [
        ("10 day", "of the start of each month")
    ]
    assert [item.normal for item in stated.amounts] == ["900 EUR"]
    assert stated.exception == "unless it is waived"
    assert (row.section_label, row.document_title, stated.lines) == ("1.1", "Lease", (5, 5))
    assert row.location.endswith("lease.md, line 5")


def test_counts_and_what_was_not_understood(library: Library) -> None:
    answer = library.obligations("lease.md")
    assert answer.total == len(answer.rows) == 5 and answer.next_offset is None
    assert answer.kinds == {
        "duty": 2, "prohibition": 1, "permission": 1, "recommendation": 0, "statement": 1, "unknown": 0,
            "deadline": 3, "amount": 2
    }  # fmt: skip
    assert answer.gaps == {
        "bearer": 1,
        "action": 0,
        "deadline": 1,
        "amount": 0,
        "inherited": 0,
        "language": 0,
    }
    assert (answer.documents, answer.unread_documents) == (1, 0)
    everything = library.obligations()
    assert (everything.documents, everything.unread_documents, everything.gaps["language"]) == (3, 1, 1)


def test_filters(library: Library) -> None:
    def found(**wanted: object) -> list[str]:
        return [row.obligation.text for row in library.obligations(**wanted).rows]  # type: ignore[arg-type]

    assert len(found(kind="deadline")) == 4
    assert [text[:3] for text in found(kind="amount")] == ["1.1", "1.2"]
    assert len(found(unit="days")) == 2 and len(found(unit="business day")) == 1
    assert len(found(unit="eur")) == 2 and found(unit="%") == []
    assert found(bearer="tenant", kind="prohibition") == ["2.1 The Tenant shall not sublet the flat."]
    assert (
        library.obligations(bearer="landlord").note
        == "1 row without a known bearer meets the other conditions."
    )
    assert library.obligations(bearer="landlord", unit="day").note == ""
    assert len(found(text="keys RETURNED")) == 1 and found(text="100%") == []
    assert len(found(gap="deadline")) == 1
    assert len(found(filters={"language": "de"})) == 1
    assert len(found(document="order.md", filters={"type": "md"})) == 1
    assert library.obligations(kind="amount").kinds["duty"] == 4
    with pytest.raises(UsageError, match="not a kind"):
        library.obligations(kind="wish")
    with pytest.raises(UsageError, match="between 1 and 1,000"):
        library.obligations(limit=0)
    with pytest.raises(NotFoundError):
        library.obligations("absent.md")


def test_pages_and_scopes(library: Library) -> None:
    first = library.obligations("lease.md", limit=2)
    assert (len(first.rows), first.total, first.next_offset) == (2, 5, 2)
    rest = library.obligations("lease.md", limit=10, offset=2)
    assert len(rest.rows) == 3 and rest.next_offset is None
    with pytest.raises(UsageError, match="There are 7 in all; give a smaller offset"):
        library.obligations(offset=99)
    part = library.scoped({"language": "de"})
    assert part.obligations().total == 1 and part.obligations().documents == 1
    assert asyncio.run(library.aobligations("lease.md")).total == 5


def test_a_document_that_changes_or_goes_takes_its_rows_along(library: Library, tmp_path: Path) -> None:
    (tmp_path / "docs" / "lease.md").write_text("# Lease\n\nThe fee is EUR 5.\n", encoding="utf-8")
    (tmp_path / "docs" / "order.md").unlink()
    library.index(tmp_path / "docs")
    assert [row.obligation.text for row in library.obligations(kind="amount").rows] == ["The fee is EUR 5."]
    assert library.obligations().total == 2


def test_dumps_carry_the_table(library: Library, tmp_path: Path) -> None:
    database = library._index.database
    document = database.value("SELECT id FROM documents WHERE source_path LIKE '%lease.md'")
    before = library.obligations("lease.md").rows
    dump = read_dump(dump_document(database, document))
    restore_document(database, dump, {})
    assert library.obligations("lease.md").rows == before
    with pytest.raises(IndexVersionError, match=r"older version.*another collection"):
        read_dump(zlib.compress(json.dumps({"format": 14}).encode()))


def test_the_command(library: Library, tmp_path: Path) -> None:
    run, where = CliRunner(), ["--index", str(tmp_path / "index")]
    shown = run.invoke(app, ["obligations", "lease.md", "--kind", "deadline", "-n", "1", *where])
    assert shown.exit_code == 0
    said = " ".join(shown.output.split())
    assert re.search(r"1\.1 \[\w{8}\], line 5: duty: The Tenant \| shall \| pay the rent", said)
    assert "1–1 of 3" in shown.output and "More with --offset 1" in shown.output
    assert "not understood: deadline (1)" in shown.output
    data = json.loads(run.invoke(app, ["obligations", "--unit", "EUR", "--json", *where]).stdout)
    assert [row["obligation"]["amounts"][0]["normal"] for row in data["rows"]] == ["900 EUR", "1800 EUR"]
    assert data["total"] == 2 and data["unread_documents"] == 1
    nothing = run.invoke(app, ["obligations", "--text", "zebra", *where])
    assert nothing.exit_code == 4 and "0 of 0 · nothing" in nothing.output
    assert run.invoke(app, ["obligations", "--kind", "wish", *where]).exit_code == 2

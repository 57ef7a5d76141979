"""Suggestions are what an index knows of titles, terms, labels and headings, by what somebody types."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.ingest.fakes import InlineSandbox, WordEmbedder

from loccit import Library
from loccit.errors import UsageError

DOCS = {
    "act.md": (
        "# Harbour Act\n\n## Section 1. Definitions\n\n“Pilot Boat” means a boat.\n\n## Section 2. Fees of the harbour\n\n"
        "Fees are due.\n"
    ),
    "rules.md": "# Rules of the Harbour\n\n## Definitions\n\n“Pilot boat” means a ship.\n\n## Opening hours\n\nAt dawn.\n",
    "über.md": "# Über Häfen\n\n## Fähren\n\nFähren fahren.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("docs")
    for name, text in DOCS.items():
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)
        with Library(folder / ".loccit", embedder=WordEmbedder()) as library:
            library.index(folder)
            yield library


def texts(library: Library, prefix: str, **options: object) -> list[tuple[str, str]]:
    return [(item.kind, item.text) for item in library.suggest(prefix, **options)]  # type: ignore[arg-type]


def test_what_begins_so_comes_before_what_has_a_word_that_does(library: Library) -> None:
    found = texts(library, "harb")
    assert found[0] == ("title", "Harbour Act")
    assert set(found[1:]) == {("title", "Rules of the Harbour"), ("label", "Fees of the harbour")}
    assert texts(library, "of the har") == [
        ("title", "Rules of the Harbour"),
        ("label", "Fees of the harbour"),
    ]


def test_what_holds_it_anywhere_comes_last(library: Library) -> None:
    assert texts(library, "ening") == [("label", "Opening hours")]
    assert texts(library, "en") == [], "two letters are anywhere"


def test_the_same_words_in_many_documents_are_one_suggestion(library: Library) -> None:
    (term,) = (item for item in library.suggest("pilot") if item.kind == "term")
    assert Path(term.source_path).name == "act.md"
    assert "means a boat" in term.detail
    (label,) = library.suggest("definitions")
    assert (label.text, Path(label.source_path).name) == ("Definitions", "act.md")


def test_labels_lead_to_their_place(library: Library) -> None:
    (label,) = library.suggest("section 2")
    assert (label.text, label.section_id, label.detail) == (
        "Section 2",
        "sec_2",
        "Fees of the harbour · Harbour Act",
    )


def test_case_and_accents_do_not_matter(library: Library) -> None:
    assert texts(library, "UBER") == [("title", "Über Häfen")]
    assert texts(library, "fahr") == [("label", "Fähren")]


def test_other_documents_are_left_out(library: Library) -> None:
    rules = {info.source_path for info in library.documents() if info.source_path.endswith("rules.md")}
    (label,) = library.suggest("definitions", paths=rules)
    assert {label.source_path} == rules
    assert library.suggest("harbour act", paths=rules) == []
    assert library.suggest("definitions", paths=set()) == []


@pytest.mark.parametrize("prefix", ["", "  ", "zzz", "%", "_", "\U0010ffff", "a" * 10_000])
def test_nothing_is_suggested_for_what_nothing_begins_with(library: Library, prefix: str) -> None:
    assert library.suggest(prefix) == []


def test_as_many_as_are_wanted(library: Library) -> None:
    assert len(library.suggest("f", 1)) == 1
    for limit in (0, 51):
        with pytest.raises(UsageError, match="between 1 and 50"):
            library.suggest("f", limit)


def test_what_was_removed_is_not_suggested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Quay walls\n\nOld.\n")
    with Library(tmp_path / "index", embedder=WordEmbedder()) as library:
        library.index(docs)
        assert texts(library, "qu") == [("title", "Quay walls")]
        (docs / "a.md").write_text("# Quarry\n\nNew.\n")
        library.index(docs)
        assert texts(library, "qu") == [("title", "Quarry")]
        (docs / "a.md").unlink()
        library.index(docs)
        assert texts(library, "qu") == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12))
def test_any_prefix_can_be_typed(library: Library, prefix: str) -> None:
    assert len(library.suggest(prefix, 3)) <= 3

"""What the terms of a query mean is said by the document that was found, or by one that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pinakes import Library
from pinakes.model import Definition, SearchResponse
from pinakes.search.links.define import asks_for_meaning

GLOSSARY = '# Harbour Dues Act\n\n## 1. Definitions\n\n"vessel" means a craft that floats.\n'


@contextmanager
def library_of(folder: Path, documents: Mapping[str, str]) -> Iterator[Library]:
    for name, text in documents.items():
        (folder / name).write_text(text)
    with Library(folder / ".pinakes") as library:
        library.index([folder], embed=False)
        yield library


def definitions_with(response: SearchResponse, document: str) -> list[Definition]:
    return [
        definition
        for result in response.results
        if Path(result.source_path).name == document
        for definition in result.definitions_context
    ]


def test_a_document_that_names_no_other_borrows_no_definition(tmp_path: Path) -> None:
    documents = {"act.md": GLOSSARY, "own.md": "# Fares\n\n## Boats\n\nEach vessel pays the mooring fare.\n"}
    with library_of(tmp_path, documents) as library:
        response = library.search("mooring fare of a vessel", mode="keyword")
        assert Path(response.results[0].source_path).name == "own.md"
        assert not definitions_with(response, "own.md")


def test_a_document_that_names_another_has_its_definitions(tmp_path: Path) -> None:
    own = (
        "# Fares\n\n## Boats\n\nUnder section 1 of the Harbour Dues Act each vessel pays the mooring fare.\n"
    )
    with library_of(tmp_path, {"act.md": GLOSSARY, "own.md": own}) as library:
        response = library.search("mooring fare of a vessel", mode="keyword")
        found = definitions_with(response, "own.md")
        assert found and {Path(definition.source_path).name for definition in found} == {"act.md"}


def test_whoever_asks_what_a_term_means_is_told_by_any_document(tmp_path: Path) -> None:
    documents = {"act.md": GLOSSARY, "own.md": "# Fares\n\n## Boats\n\nEach vessel pays the mooring fare.\n"}
    with library_of(tmp_path, documents) as library:
        response = library.search("what is a vessel that pays a mooring fare", mode="keyword", top_k=1)
        [definition] = response.results[0].definitions_context
        assert Path(definition.source_path).name == "act.md" and definition.lines == (5, 5)
        # And the same where the query names the document.
        named = library.search("mooring fare vessel harbour dues act", mode="keyword", top_k=1)
        assert named.results[0].definitions_context


def test_documents_that_disagree_are_named_in_the_answer(tmp_path: Path) -> None:
    other = '# Fishery Rules\n\n## 1. Definitions\n\n"Vessel" means a boat with nets.\n'
    with library_of(tmp_path, {"act.md": GLOSSARY, "rules.md": other}) as library:
        response = library.search("vessel", mode="keyword")
        assert response.to_dict()["term_conflicts"] == {"vessel": ["Harbour Dues Act", "Fishery Rules"]} or (
            response.term_conflicts == {"Vessel": ["Fishery Rules", "Harbour Dues Act"]}
        )
        assert "define “" in response.note and "Fishery Rules" in response.format()
        alone = library.search("vessel", mode="keyword", filters={"source_path": "*act.md"})
        assert not alone.term_conflicts and "differently" not in alone.note


def test_documents_that_agree_are_not_in_conflict(tmp_path: Path) -> None:
    with library_of(tmp_path, {"act.md": GLOSSARY, "copy.md": GLOSSARY + "\nMore text.\n"}) as library:
        assert not library.search("vessel", mode="keyword").term_conflicts


def test_what_asks_for_a_meaning() -> None:
    assert asks_for_meaning("Business Days", "Business Day")
    assert asks_for_meaning("definition of consent", "consent")
    assert asks_for_meaning("Was bedeutet Arbeitnehmer?", "Arbeitnehmer")
    assert not asks_for_meaning("when must consent be given", "consent")

"""What the terms of a query mean is said by the document that was found, or by one that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from loccit import Library
from loccit.model import Definition, SearchResponse

GLOSSARY = '# Harbour Dues Act\n\n## 1. Definitions\n\n"vessel" means a craft that floats.\n'


@contextmanager
def library_of(folder: Path, documents: Mapping[str, str]) -> Iterator[Library]:
    for name, text in documents.items():
        (folder / name).write_text(text)
    with Library(folder / ".loccit") as library:
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


def test_a_document_that_the_query_names_is_asked_what_a_term_means(tmp_path: Path) -> None:
    documents = {"act.md": GLOSSARY, "own.md": "# Fares\n\n## Boats\n\nEach vessel pays the mooring fare.\n"}
    with library_of(tmp_path, documents) as library:
        unnamed = library.search("what is a vessel that pays a mooring fare", mode="keyword", top_k=1)
        assert not unnamed.results[0].definitions_context
        named = library.search("mooring fare vessel harbour dues act", mode="keyword", top_k=1)
        [definition] = named.results[0].definitions_context
        assert Path(definition.source_path).name == "act.md" and definition.lines == (5, 5)


def test_definitions_come_from_the_documents_that_were_asked_for(tmp_path: Path) -> None:
    own = (
        "# Fares\n\n## Boats\n\nUnder section 1 of the Harbour Dues Act each vessel pays the mooring fare.\n"
    )
    with library_of(tmp_path, {"act.md": GLOSSARY, "own.md": own}) as library:
        for query in ("mooring fare of a vessel", "what is a vessel under the harbour dues act"):
            alone = library.search(query, mode="keyword", document="own.md")
            assert alone.results and not definitions_with(alone, "own.md")


def test_an_answer_tells_a_definition_once_and_not_beside_its_own_text(tmp_path: Path) -> None:
    fares = "\n\n".join(f"## Fare {number}\n\nEach vessel pays {number} crowns." for number in range(1, 5))
    with library_of(tmp_path, {"act.md": f"{GLOSSARY}\n{fares}\n"}) as library:
        text = library.search("how much does a vessel pay, crowns", mode="keyword", top_k=4).format()
        assert text.count("a craft that floats") == 1 and text.count("crowns.") == 4
        shown = library.search("vessel definitions craft floats", mode="keyword").format()
        assert shown.count("a craft that floats") == 1 and "Defined terms" not in shown


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

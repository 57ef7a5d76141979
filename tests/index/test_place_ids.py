"""Every place has an id of its own in the library, and keeps it as long as it is there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.fakes import InlineSandbox, WordEmbedder

from loccit import Library
from loccit.errors import NotFoundError
from loccit.index.folder import place_ids
from loccit.index.settings import DatabaseSettings
from loccit.model import OutlineNode
from loccit.model.place_ids import is_place_id, library_key, place_id
from loccit.testing.libraries import HashEmbedder

ACT = """# Harbour Act

## Section 1. Pilots

(a) A pilot guides ships through the narrow channel at night.

(b) A pilot keeps a lamp on the landing stage until the tide turns.

## Section 2. Fees

The harbour master collects four silver coins for each ship that enters.
"""
RULES = ACT.replace("Harbour Act", "Market Rules").replace("ship", "cart")


@pytest.fixture(autouse=True)
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)


def opened(index: Path) -> Library:
    return Library(index, embedder=WordEmbedder())


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def ids(library: Library, folder: Path) -> dict[tuple[str, str], str]:
    """The ids of all places, by the file and the id within it."""
    found: dict[tuple[str, str], str] = {}

    def walk(path: str, nodes: list[OutlineNode]) -> Iterator[tuple[str, str, str]]:
        for node in nodes:
            yield path, node.section_id, node.place_id
            yield from walk(path, node.children)

    for outline in library.outline(clauses=True):
        name = Path(outline.source_path).relative_to(folder).as_posix()
        found[name, ""] = outline.place_id
        found.update({(one, section): given for one, section, given in walk(name, outline.nodes)})
    return found


def test_every_place_is_read_by_its_id(tmp_path: Path) -> None:
    write(tmp_path / "docs", {"act.md": ACT, "rules.md": RULES})
    with opened(tmp_path / "index") as library:
        library.index(tmp_path / "docs")
        known = ids(library, tmp_path / "docs")
        assert len(set(known.values())) == len(known) >= 12
        for (name, section), given_id in known.items():
            view = library.section(given_id)
            assert (Path(view.source_path).name, view.section_id) == (name, section)
            assert library.section(f"[{given_id.upper()}]") == view
            assert library.section(f"loccit://section/{given_id}") == view
            assert library.references(given_id).section.place_id == given_id
            assert library.outline(given_id)[0].source_path == view.source_path
        with pytest.raises(NotFoundError, match=r"not of rules\.md"):
            library.section(known["act.md", "sec_1"], document="rules.md")


FILES = st.dictionaries(
    st.sampled_from(["act.md", "old/act.md", "new/act.md", "rules.md"]),
    st.sampled_from(
        [ACT, RULES, ACT + "\n## Section 3. Lamps\n\nLamps burn oil.\n", ACT.replace("(b)", "(c)")]
    ),
    min_size=1,
)


@settings(max_examples=15, deadline=None)
@given(st.lists(FILES, min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_ids_are_unique_and_the_same_after_any_history(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, str]], random: Any
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)
        home = tmp_path_factory.mktemp("history")
        seen: dict[tuple[str, str], str] = {}
        with opened(home / "index") as library:
            for files in states:
                shutil.rmtree(home / "docs", ignore_errors=True)
                # Each file says its name, so that none is taken for another that was renamed.
                write(home / "docs", {name: f"{text}\nRead at {name}.\n" for name, text in files.items()})
                library.index(home / "docs", embed=False)
                known = ids(library, home / "docs")
                assert len(set(known.values())) == len(known)
                seen = {**known, **seen}
                assert all(seen[place] == given_id for place, given_id in known.items())
        # A copy of the documents elsewhere, read one by one in any order, has the same ids.
        last = list(states[-1])
        random.shuffle(last)
        other = tmp_path_factory.mktemp("copy")
        shutil.copytree(home / "docs", other / "docs")
        with opened(other / "index") as library:
            library.index(other / "docs", embed=False)
            again = ids(library, other / "docs")
        with opened(other / "index") as library:
            for name in last:
                (other / "docs" / name).touch()
                library.index(other / "docs", embed=False)
            assert ids(library, other / "docs") == again
        if len(states) == 1:
            assert again == known


def test_ids_outlast_edits_renames_removals_and_other_documents(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs, {"act.md": ACT})
    with opened(tmp_path / "index") as library:
        library.index(docs)
        before = ids(library, docs)
        write(docs, {"act.md": ACT.replace("four", "five"), "eu/act.md": ACT})
        library.index(docs)
        assert before.items() <= ids(library, docs).items()
        (docs / "act.md").unlink()
        library.index(docs)
        write(docs, {"act.md": ACT})
        library.index(docs)
        assert before.items() <= ids(library, docs).items()
        (docs / "act.md").rename(docs / "harbour.md")
        report = library.index(docs)
        assert len(report.renamed) == 1
        after = ids(library, docs)
        assert {after["harbour.md", section] for _, section in before} == set(before.values())


def test_two_places_never_share_an_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def narrow(document: str, section: str, attempt: int = 0) -> str:
        return place_id("", str(hash((document, section, attempt)) % 3), attempt)

    monkeypatch.setattr(place_ids, "place_id", narrow)
    write(tmp_path / "docs", {"act.md": ACT, "rules.md": RULES})
    with opened(tmp_path / "index") as library:
        library.index(tmp_path / "docs")
        known = ids(library, tmp_path / "docs")
        assert len(set(known.values())) == len(known)
        library.index(tmp_path / "docs", rebuild=True)
        assert len(set(ids(library, tmp_path / "docs").values())) == len(known)


def test_a_place_that_is_gone_says_where_its_text_went(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs, {"act.md": ACT})
    with opened(tmp_path / "index") as library:
        library.index(docs)
        known = ids(library, docs)
        # The fees are now Section 7, the lamp is another one, the pilot of (a) is dropped.
        text = ACT.replace("Section 2. Fees", "Section 7. Fees").replace(
            "keeps a lamp", "keeps one large lamp"
        )
        text = text.replace("(a) A pilot guides ships through the narrow channel at night.\n\n(b)", "(c)")
        write(docs, {"act.md": text})
        library.index(docs)
        said = {}
        for section in ("sec_2", "sec_1_a", "sec_1_b"):
            with pytest.raises(NotFoundError) as refused:
                library.section(known["act.md", section])
            said[section] = str(refused.value)
        now = ids(library, docs)
        assert "Its text is now in Section 7" in said["sec_2"] and now["act.md", "sec_7"] in said["sec_2"]
        assert "most similar" in said["sec_1_b"] and now["act.md", "sec_1_c"] in said["sec_1_b"]
        assert "was not found" in said["sec_1_a"] and now["act.md", "sec_1"] in said["sec_1_a"]
        (docs / "act.md").rename(docs / "pilots.txt")
        write(docs, {"pilots.txt": "Something else entirely stands here."})
        library.index(docs)
        with pytest.raises(NotFoundError, match="which was removed"):
            library.section(now["act.md", "sec_7"])
        with pytest.raises(NotFoundError, match="No place in this library has the id"):
            library.section(place_id("nowhere", "at all"))


def test_a_library_in_a_database_has_the_same_ids_everywhere(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs, {"act.md": ACT})
    database = DatabaseSettings("in-memory", collection="places")
    with Library(tmp_path / "here", database=database, embedder=HashEmbedder()) as here:
        here.index(docs)
        with Library(tmp_path / "there", database=database, embedder=HashEmbedder()) as there:
            there.follow()
            assert ids(there, docs) == ids(here, docs)
            write(docs, {"act.md": ACT + "\n## Section 3. Lamps\n\nLamps burn whale oil until dawn.\n"})
            here.index(docs)
            there.follow()
            assert ids(there, docs) == ids(here, docs)
            assert there.section(ids(here, docs)["act.md", "sec_3"]).section_label == "Section 3"


def test_a_document_is_called_by_where_it_lies_in_what_was_indexed() -> None:
    assert library_key("/a/laws/eu/act.md", ["/a/laws", "/a/laws/eu"]) == "laws/eu/act.md"
    assert library_key("/b/c/laws/eu/act.md", ["/b/c/laws"]) == "laws/eu/act.md"
    assert library_key("/a/laws/act.md", ["/a/laws/act.md"]) == "laws/act.md"
    assert library_key("/x/docs/a.md", ["/x/docs", "/y/docs"]) == "x/docs/a.md"
    assert library_key("/y/docs/a.md", ["/x/docs", "/y/docs"]) == "y/docs/a.md"
    assert library_key("/elsewhere/a.md", ["/x/docs"]) == "/elsewhere/a.md"
    assert library_key("/a/caf\u00e9/x.md", ["/a/caf\u00e9"]) == library_key(
        "/b/cafe\u0301/x.md", ["/b/cafe\u0301"]
    )


@given(st.text(), st.text(), st.integers(min_value=0, max_value=9))
def test_ids_look_like_no_word_and_no_number(document: str, section: str, attempt: int) -> None:
    found = place_id(document, section, attempt)
    assert is_place_id(found) and found == place_id(document, section, attempt)
    assert not found.isalpha() and not found.isdigit() and found == found.lower()

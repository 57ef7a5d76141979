"""How fields, boosts and idf make the order of keyword search."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from loccit import Library
from loccit.errors import UsageError
from loccit.index.folder.keyword import DEFAULT_BOOSTS, KeywordEntry, KeywordIndex
from loccit.index.folder.keyword_files import FORMAT
from loccit.index.folder.keyword_schema import document_entries, metadata_text, written_context

FILLER = "the general provisions of this part apply to every contract of the agency "


def entry(chunk: int, body: str, title: str = "", headings: str = "", **more: str) -> KeywordEntry:
    context, path = more.pop("context", ""), more.pop("path", "")
    return KeywordEntry(chunk, chunk, "en", title, headings, body, more, path=path, context=context)


def put(index: KeywordIndex, *entries: KeywordEntry) -> None:
    with index.writer() as writer:
        for one in entries:
            writer.add_document(one.document, [one])
        writer.commit(1)


def found(index: KeywordIndex, query: str, **options: object) -> list[int]:
    hits = index.search(query, languages=["en"], limit=50, **options)  # type: ignore[arg-type]
    return [chunk for chunk, _ in hits]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[KeywordIndex]:
    opened = KeywordIndex.open(tmp_path / "keyword")
    yield opened
    opened.close()


def test_a_common_word_is_common_in_a_title_too(index: KeywordIndex) -> None:
    """Titles are short, so that each word is rare among them; that must not make it weighty."""
    put(
        index,
        *(entry(number, FILLER + "effect", title=f"Note {number}") for number in range(1, 40)),
        entry(50, FILLER + "effect", title="An effect"),
        entry(60, FILLER + "homocysteine", title="Another note"),
    )
    assert found(index, "effect of homocysteine")[0] == 60


def test_what_a_document_says_of_itself_counts_in_the_order_of_the_boosts(index: KeywordIndex) -> None:
    names = ("headings", "description", "aliases", "author")
    others = [entry(number, FILLER, title="Another title") for number in range(20, 60)]
    put(
        index,
        entry(1, FILLER, title="Erasure"),
        *(
            entry(number, FILLER, "Another title", **{name: "erasure"})
            for number, name in enumerate(names, 2)
        ),
        *others,
    )
    assert found(index, "erasure") == [1, 2, 3, 4, 5]
    for number, name in enumerate(names, 2):
        assert found(index, "erasure", boosts={name: 30.0})[0] == number
        assert number not in found(index, "erasure", boosts={name: 0.0})


def test_every_frontmatter_field_is_searched(index: KeywordIndex) -> None:
    names = [name for name in DEFAULT_BOOSTS if name not in ("body", "title", "headings", "path", "context")]
    put(index, *(entry(number, FILLER, **{name: f"word{name}"}) for number, name in enumerate(names, 1)))
    for number, name in enumerate(names, 1):
        assert found(index, f"word{name}") == [number]


def test_a_tag_counts_alike_whether_many_or_few_documents_have_tags(
    index: KeywordIndex, tmp_path: Path
) -> None:
    scores = []
    for name, tags in (("few", ""), ("many", "lamp, oil, wick")):
        own = KeywordIndex.open(tmp_path / name)
        put(own, entry(1, FILLER, tags="keeper"), *(entry(n, FILLER, tags=tags) for n in range(2, 60)))
        scores.append(own.search("keeper", languages=["en"], limit=1)[0][1])
        own.close()
    assert scores[0] == pytest.approx(scores[1])


def test_the_own_heading_counts_more_than_those_above(index: KeywordIndex) -> None:
    put(
        index,
        entry(1, FILLER, headings="Secretariat", path="Chapter VII\nEuropean Board"),
        entry(2, FILLER, headings="European Board", path="Chapter VII"),
        *(entry(number, FILLER) for number in range(3, 20)),
    )
    assert found(index, "European Board") == [2, 1]


def test_a_context_is_searched_and_can_be_left_out(index: KeywordIndex) -> None:
    put(
        index,
        entry(1, "Revenue grew by 3 percent.", context="From the report of ACME for 2023."),
        entry(2, "Revenue grew by 3 percent.", context="From the report of Globex for 2023."),
    )
    assert found(index, "ACME revenue") == [1, 2]
    assert found(index, "Globex", boosts={"context": 0.0}) == []
    with pytest.raises(UsageError):
        found(index, "ACME", boosts={"contexts": 1.0})


def test_arrays_say_the_same_as_pairs(index: KeywordIndex) -> None:
    put(index, *(entry(number, FILLER + "lamp " * (number % 4)) for number in range(1, 40)))
    pairs = index.search("lamp", languages=["en"], limit=25)
    chunks, scores = index.search_arrays("lamp", languages=["en"], limit=25)
    assert chunks.dtype == np.int64
    assert scores.dtype == np.float32
    assert list(zip(chunks.tolist(), scores.tolist(), strict=True)) == pairs
    assert (np.diff(scores) <= 0).all()
    assert [array.size for array in index.search_arrays("nowhere", languages=["en"], limit=5)] == [0, 0]
    only = index.search_arrays("lamp", languages=["en"], limit=25, documents={3, 5})[0]
    assert set(only.tolist()) == {3, 5}


# What goes into the index


def test_entries_come_from_the_record(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text(
        "---\ntitle: The Guide\nauthors: [{name: Ada}, Bob]\nsummary: All of it\nkeywords: [x, 7]\n"
        "type: manual\n---\n# The Guide\n\nIntro.\n\n## Install\n\n### Linux\n\nRun `setup`:\n\n```sh\nmake all\n```\n"
    )
    with Library(tmp_path / "index") as library:
        library.index([folder])
        lookup = library._index.lookup
        first, *_, last = document_entries(lookup, lookup.documents()[0]["id"])
        assert document_entries(lookup, 999) == []
    assert (first.title, first.headings, first.path, first.code) == ("The Guide", "", "", [])
    assert (last.headings, last.path) == ("Linux", "Install")
    assert last.code == [("", "setup"), ("shell", "make all\n")]
    assert last.fields == {
        "author": "Ada, Bob",
        "description": "All of it",
        "keywords": "x, 7",
        "category": "manual",
    }
    assert first.context == last.context == ""


def test_frontmatter_of_any_shape_becomes_text() -> None:
    metadata = {"tags": {"a": ["x", {"b": "y"}]}, "tag": "z", "author": None, "keywords": [True, 3, " "]}
    assert metadata_text(metadata, "tags") == "x, y, z"
    assert metadata_text(metadata, "author") == ""
    assert metadata_text(metadata, "keywords") == "3"


@pytest.mark.parametrize(
    ("context", "left"),
    [
        ("Report\nPart I > Costs", ""),
        ("Report\nI > Costs", ""),  # a long path is cut at its beginning
        ("Rep", ""),  # a long title at its end
        ("Part I > Costs\nWhat the costs were.", "What the costs were."),
        ("Report of the costs of ACME.", "Report of the costs of ACME."),
        ("", ""),
    ],
)
def test_of_a_context_only_what_was_written_is_indexed(context: str, left: str) -> None:
    assert written_context(context, "Report", ("Report", "Part I", "Costs")) == left


def test_an_index_of_the_older_form_is_made_again(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Lamp\n\n```py\ndef light_lamp(): ...\n```\n")
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "notes"])
    manifest = tmp_path / "index" / "keyword" / "generation.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": 1}))
    with Library(tmp_path / "index") as library:
        assert library.search("lamp", mode="keyword").results
        assert library._index.keyword.search_code("light_lamp", limit=5)
    assert json.loads(manifest.read_text())["format"] == FORMAT


def test_a_word_that_the_query_repeats_counts_as_often(index: KeywordIndex) -> None:
    put(index, entry(1, f"{FILLER} the anchor"), entry(2, f"{FILLER} the winch"), entry(3, FILLER))
    assert found(index, "anchor and winch, winch and winch") == [2, 1]
    assert found(index, "anchor, anchor or winch") == [1, 2]
    counts = {
        term.text: term.count for term, _ in index.idf("anchors and winch, the anchor and anchors", ["en"])
    }
    assert counts["winch"] == 1 and sum(counts.values()) == 4

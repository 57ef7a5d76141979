from __future__ import annotations

from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.search.corpus import Entry
from pinakes.search.link_targets import LinkTargets
from pinakes.search.names import names_of

PATHS = [
    "/site/docs/index.md",
    "/site/docs/tasks/_index.md",
    "/site/docs/tasks/moor.md",
    "/site/docs/tasks/config.v1beta1.md",
    "/site/docs/guide/README.md",
    "/site/docs/guide/a note.md",
    "/site/docs/guide/deep/moor.md",
    "/other/docs/tasks/moor.md",
    "/site/notes/Tides.md",
]


def entry(number: int, path: str, *names: str) -> Entry:
    stem = PurePath(path).stem
    return Entry(number, path, stem, names_of(path, stem, {"aliases": list(names)}))


TARGETS = LinkTargets([entry(number, path, f"Title {number}") for number, path in enumerate(PATHS)])


def found(kind: str, target: str, source: str) -> str:
    answer = TARGETS.find(kind, target, source)
    return answer[0].source_path if answer else ""


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("moor.md", "/site/docs/tasks/moor.md"),
        ("moor", "/site/docs/tasks/moor.md"),
        ("./moor.html", "/site/docs/tasks/moor.md"),
        ("moor.md?plain=1", "/site/docs/tasks/moor.md"),
        ("../guide/deep/moor.md", "/site/docs/guide/deep/moor.md"),
        ("../guide/a%20note.md", "/site/docs/guide/a note.md"),
        ("../guide/", "/site/docs/guide/README.md"),
        ("..", "/site/docs/index.md"),
        ("config.v1beta1", "/site/docs/tasks/config.v1beta1.md"),
        ("../../notes/tides.md", "/site/notes/Tides.md"),
        ("/docs/tasks/config.v1beta1/", "/site/docs/tasks/config.v1beta1.md"),
        ("/docs/guide/deep/moor", "/site/docs/guide/deep/moor.md"),
        ("/docs/tasks/", "/site/docs/tasks/_index.md"),
        # Two sites have this path; the nearer one is meant.
        ("/docs/tasks/moor/", "/site/docs/tasks/moor.md"),
        # Shown as a folder, a page starts its own links there.
        ("../moor/", "/site/docs/tasks/moor.md"),
        ("deep/moor.md", ""),
        ("moor.png", ""),
        ("/tasks/no", ""),
    ],
)
def test_a_path_leads_to_its_document(target: str, expected: str) -> None:
    assert found("link", target, "/site/docs/tasks/config.v1beta1.md") == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("tides", "/site/notes/Tides.md"),
        ("Title 8", "/site/notes/Tides.md"),
        ("deep/moor", "/site/docs/guide/deep/moor.md"),
        ("nowhere/tides", "/site/notes/Tides.md"),
        ("moor", "/site/docs/guide/deep/moor.md"),
        ("storm", ""),
        ("", ""),
    ],
)
def test_a_name_leads_to_its_document_and_to_the_nearest_of_several(target: str, expected: str) -> None:
    assert found("wiki", target, "/site/docs/guide/README.md") == expected


@pytest.mark.parametrize(
    ("kind", "target"),
    [("link", "moor.md#the-lines"), ("wiki", "moor#the-lines"), ("transclusion", "moor#the-lines ")],
)
def test_what_follows_the_hash_is_the_anchor(kind: str, target: str) -> None:
    answer = TARGETS.find(kind, target, "/site/docs/tasks/_index.md")
    assert answer is not None and answer[1] == "the-lines"


@given(st.sampled_from(["link", "wiki"]), st.text(max_size=40), st.sampled_from([*PATHS, "", "x"]))
def test_no_text_breaks_the_search_for_a_document(kind: str, target: str, source: str) -> None:
    answer = TARGETS.find(kind, target, source)
    assert answer is None or answer[0].source_path in PATHS

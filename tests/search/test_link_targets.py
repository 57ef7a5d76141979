from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.naming import names_of_all

from loccit.grammar.labels.document_keys import keys_leading_to, link_keys
from loccit.grammar.labels.names import names_of
from loccit.search.resolve.link_targets import LinkTargets

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


@pytest.fixture(scope="module")
def targets() -> Iterator[LinkTargets]:
    documents = [(number, path, PurePath(path).stem) for number, path in enumerate(PATHS, 1)]
    aliases = {number: {"aliases": [f"Title {number}"]} for number, _, _ in documents}
    with names_of_all(documents, aliases) as names:
        yield LinkTargets(names)


def found(targets: LinkTargets, kind: str, target: str, source: str) -> str:
    answer = targets.find(kind, target, source)
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
def test_a_path_leads_to_its_document(targets: LinkTargets, target: str, expected: str) -> None:
    assert found(targets, "link", target, "/site/docs/tasks/config.v1beta1.md") == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("tides", "/site/notes/Tides.md"),
        ("Title 9", "/site/notes/Tides.md"),
        ("deep/moor", "/site/docs/guide/deep/moor.md"),
        ("nowhere/tides", "/site/notes/Tides.md"),
        ("moor", "/site/docs/guide/deep/moor.md"),
        ("storm", ""),
        ("", ""),
    ],
)
def test_a_name_leads_to_its_document_and_to_the_nearest_of_several(
    targets: LinkTargets, target: str, expected: str
) -> None:
    assert found(targets, "wiki", target, "/site/docs/guide/README.md") == expected


@pytest.mark.parametrize(
    ("kind", "target"),
    [("link", "moor.md#the-lines"), ("wiki", "moor#the-lines"), ("transclusion", "moor#the-lines ")],
)
def test_what_follows_the_hash_is_the_anchor(targets: LinkTargets, kind: str, target: str) -> None:
    answer = targets.find(kind, target, "/site/docs/tasks/_index.md")
    assert answer is not None and answer[1] == "the-lines"


@given(st.sampled_from(["link", "wiki"]), st.text(max_size=40), st.sampled_from([*PATHS, "", "x"]))
def test_no_text_breaks_the_search_for_a_document(
    targets: LinkTargets, kind: str, target: str, source: str
) -> None:
    answer = targets.find(kind, target, source)
    assert answer is None or answer[0].source_path in PATHS


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["link", "wiki"]),
            st.lists(
                st.sampled_from(
                    [
                        "..",
                        ".",
                        "docs",
                        "tasks",
                        "moor",
                        "moor.md",
                        "guide",
                        "README.md",
                        "Tides",
                        "index.html",
                    ]
                ),
                min_size=1,
                max_size=4,
            ).map("/".join),
            st.sampled_from(["", "/"]),
        ),
        max_size=4,
    ),
    st.sampled_from(PATHS),
)
def test_what_a_link_leads_to_shares_a_key_with_it(
    targets: LinkTargets, links: list[tuple[str, str, str]], source: str
) -> None:
    for kind, target, root in links:
        answer = targets.find(kind, root + target, source)
        if answer is not None:
            path, title = answer[0].source_path, answer[0].title
            names = names_of(path, title, {}).full
            assert link_keys(kind, root + target, source) & set(keys_leading_to(path, title, names)[0])

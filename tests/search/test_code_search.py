"""Finding code by the names in it, in real documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from loccit import Library
from loccit.index.folder.keyword import KeywordIndex

DOCUMENTS = {
    "auth.md": (
        "# Auth\n\nTokens expire.\n\n## Fetch\n\n```python\ndef getAuthToken(user):\n    return parse_json_data(user)\n```"
        "\n\n## Refresh\n\nThe token of the user is refreshed by the auth service, get it there.\n"
    ),
    "users.md": (
        "# Users\n\n## Look up\n\n```js\nconst user = getUserById(id);\nshow(user.name)\n```\n\n"
        "## Save\n\n```ts\nsave_user(user_id)\n```\n"
    ),
    "native.md": "# Native\n\n```cpp\nstd::vector<int> sizes = read_sizes();\n```\n\nWritten in `C++`.\n",
    "vectors.md": "# Vectors\n\n~~~py\nvector = std / mean\n~~~\n",
    "prose.md": "# getAuthToken in prose\n\nWhoever calls getAuthToken or getUserById waits.\n",
    "long.md": "# Long\n\n```go\n" + "".join(f"callStep{n}(ctx)\n" for n in range(900)) + "```\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("code")
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text)
    with Library(folder / ".loccit") as library:
        assert not library.index([folder]).failed
        yield library


@pytest.fixture
def keyword(library: Library) -> KeywordIndex:
    return library._index.keyword


def places(library: Library, query: str, **options: object) -> list[str]:
    """File and heading of what is found, best first."""
    hits = library._index.keyword.search_code(query, limit=20, **options)  # type: ignore[arg-type]
    chunks = library._index.lookup.chunks([chunk for chunk, _ in hits])
    scores = [score for _, score in hits]
    assert scores == sorted(scores, reverse=True)
    return [
        f"{Path(chunks[chunk].source_path).stem}/{chunks[chunk].heading}".removesuffix("/")
        for chunk, _ in hits
    ]


def test_a_whole_name_is_found_where_it_stands_in_code(library: Library) -> None:
    assert places(library, "getAuthToken") == ["auth/Fetch"]
    assert places(library, "How do I call getUserById?") == ["users/Look up"]
    assert places(library, "what is `std::vector`")[0] == "native/Native"
    assert places(library, "is it C++") == ["native/Native"]


def test_a_name_is_found_in_another_style_of_writing(library: Library) -> None:
    assert places(library, "get_user_by_id") == ["users/Look up"]
    assert places(library, "parseJsonData") == ["auth/Fetch"]


def test_a_part_of_a_name_finds_it_after_the_whole(library: Library) -> None:
    found = places(library, "what about `user` here")
    assert set(found) == {"auth/Fetch", "users/Look up", "users/Save"}
    assert found[-1] == "users/Save"  # which has it only within names
    assert places(library, "userById") == ["users/Look up"]


def test_one_word_of_a_name_is_not_the_name(library: Library) -> None:
    assert places(library, "getAccountToken") == []


def test_the_other_words_decide_between_places_with_the_name(library: Library) -> None:
    assert places(library, "`user` show name")[0] == "users/Look up"
    assert places(library, "`user` parse data")[0] == "auth/Fetch"


def test_a_question_in_plain_words_finds_nothing(library: Library) -> None:
    assert places(library, "how do I get the token of a user") == []
    assert places(library, "") == []
    assert library._index.keyword.search_code("getAuthToken", limit=0) == []


def test_code_is_found_in_one_language_or_some_documents(library: Library, keyword: KeywordIndex) -> None:
    assert places(library, "`user`", language="ts") == ["users/Save"]
    assert places(library, "`user`", language="cobol") == []
    users = next(row["id"] for row in library._index.lookup.documents() if "users" in row["source_path"])
    assert set(places(library, "`user`", documents={users})) == {"users/Look up", "users/Save"}
    assert keyword.code_languages() == {
        "go": keyword.code_languages()["go"],
        "python": 2,
        "cpp": 1,
        "javascript": 1,
        "typescript": 1,
    }


def test_every_part_of_a_long_listing_has_its_language(library: Library) -> None:
    assert places(library, "callStep899", language="golang") == ["long/Long"]


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"code": "python"}, {"auth", "vectors"}),
        ({"code_language": ["js", "c++"]}, {"users", "native"}),
        ({"language": "Python"}, {"auth", "vectors"}),
        ({"code": "py", "path": "auth.md"}, {"auth"}),
        ({"code": "cobol"}, set()),
    ],
)
def test_documents_are_filtered_by_the_language_of_their_code(
    library: Library, filters: dict[str, object], names: set[str]
) -> None:
    assert {Path(info.source_path).stem for info in library.documents(filters)} == names


def test_a_search_for_code_in_a_language_finds_chunks_that_have_it(library: Library) -> None:
    def found(query: str, filters: dict[str, object]) -> set[str]:
        results = library.search(query, filters=filters).results
        return {f"{Path(result.source_path).stem}/{result.heading}" for result in results}

    # The other section of the same document is about the user and the token too, and has no code.
    assert found("token of the user", {"code": "python"}) == {"auth/Fetch", "vectors/Vectors"}
    assert found("user", {"code": "ts"}) == {"users/Save"}
    response = library.search("user", filters={"code": "cobol"})
    assert not response.results
    assert "No document has code in cobol; languages here: " in response.note
    assert not found("user -code:javascript", {"path": "users.md"}) & {"users/Look up"}

"""Expansion: words that a short query means, from the dictionary and from the concept vocabulary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit import Library
from loccit.index.folder.concepts import ConceptIndex
from loccit.index.folder.keyword import KeywordEntry, KeywordIndex
from loccit.models.embedding.protocol import Vectors
from loccit.search.understand.expansion import Expansion, added_words, complete, expand, expansions

TEXTS = (
    "Authentication by token comes before authorization.",
    "Authentication fails when the clock is wrong; authenticated users wait.",
    "The configuration of the server; a port; the portable fan has portions.",
    "A port and another port on the server.",
    "The car carries carriages.",
)


@pytest.fixture(scope="module")
def dictionary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeywordIndex]:
    opened = KeywordIndex.open(tmp_path_factory.mktemp("expansion") / "keyword")
    with opened.writer() as writer:
        for number, text in enumerate(TEXTS, 1):
            writer.add_document(number, [KeywordEntry(number, number, "en", "", "", text)])
        writer.commit(1)
    yield opened
    opened.close()


# -- completions ---------------------------------------------------------------------------------------------


def test_an_abbreviation_is_completed(dictionary: KeywordIndex) -> None:
    assert complete("auth problems", dictionary, ["en"]) == ["authentication", "authorization"]
    assert complete("config", dictionary, ["en"]) == ["configuration"]
    assert complete("auth", dictionary, ["en"], k=1) == ["authentication"]


def test_one_form_of_a_word_is_enough(dictionary: KeywordIndex) -> None:
    assert "authenticated" not in complete("auth", dictionary, ["en"], k=10)


@pytest.mark.parametrize(
    "text",
    [
        "port",  # in use itself
        "authentication",  # long enough
        "au",  # too short to tell
        "auth2",
        "xyz",
    ],
)
def test_what_abbreviates_nothing(dictionary: KeywordIndex, text: str) -> None:
    assert complete(text, dictionary, ["en"]) == []


def test_a_word_of_the_language_abbreviates_nothing(dictionary: KeywordIndex) -> None:
    assert complete("conf auth", dictionary, ["en"], known=lambda word: word == "auth") == ["configuration"]


# -- concepts ------------------------------------------------------------------------------------------------


class Compass:
    """A vocabulary in the plane: each term points in a direction, given in degrees."""

    def __init__(self, **degrees: float) -> None:
        self._terms = {term.replace("_", " "): angle for term, angle in degrees.items()}

    def nearest(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
        scored = [(term, float(at(angle) @ vector)) for term, angle in self._terms.items()]
        return sorted(scored, key=lambda pair: -pair[1])[:limit]


def at(degrees: float) -> Vectors:
    angle = np.radians(degrees)
    return np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)


def test_the_nearest_terms_are_added_unless_the_query_says_them() -> None:
    vocabulary = Compass(
        logins=1, login=2, signing_in=10, login_page=20, passwords=30, password=31, garden=90
    )
    found = expand(at(0), "login", vocabulary, k=3)
    assert [term for term, _ in found] == ["signing in", "login page", "passwords"]
    assert [similarity for _, similarity in found] == sorted((s for _, s in found), reverse=True)


def test_terms_that_are_far_are_not_added() -> None:
    vocabulary = Compass(near=20, far=50)
    assert [term for term, _ in expand(at(0), "x", vocabulary, min_similarity=0.9)] == ["near"]
    assert expand(at(180), "x", vocabulary) == []
    assert expand(at(0), "x", Compass()) == []


def test_only_new_words_are_searched_for() -> None:
    found = [Expansion("login pages", 0.8), Expansion("pages of passwords", 0.7)]
    assert added_words(found, "the login page", ["en"]) == "passwords"
    assert added_words([], "login", ["en"]) == ""


def test_completions_come_first_and_share_the_number_of_terms(dictionary: KeywordIndex) -> None:
    vocabulary = Compass(authentication=1, credentials=5, tokens=9, clocks=12)
    found = expansions("auth", ["en"], dictionary, vocabulary, at(0), k=3)
    assert [item.term for item in found] == ["authentication", "authorization", "credentials"]
    assert [item.similarity for item in found[:2]] == [1.0, 1.0]
    assert [item.term for item in expansions("auth", ["en"], dictionary, k=3)] == [
        "authentication",
        "authorization",
    ]


def test_a_query_that_says_enough_is_left_alone(dictionary: KeywordIndex) -> None:
    vocabulary = Compass(credentials=5)

    def added(text: str) -> list[str]:
        return [item.term for item in expansions(text, ["en"], dictionary, vocabulary, at(0), k=3)]

    assert added("the auth") == ["authentication", "authorization", "credentials"]
    assert added("auth failure") == ["authentication", "authorization"]
    assert added("auth failure clock server token") == []


@given(st.text(max_size=60), st.integers(1, 5), st.lists(st.text(min_size=1, max_size=20), max_size=8))
def test_nothing_is_added_twice_or_beyond_the_limit(text: str, k: int, terms: Sequence[str]) -> None:
    class Fixed:
        def nearest(self, vector: Vectors, limit: int) -> list[tuple[str, float]]:
            return [(term, 0.9) for term in terms][:limit]

    found = expand(at(0), text, Fixed(), k=k)
    assert len(found) <= k
    assert len(found) == len(set(found))


# -- with documents ------------------------------------------------------------------------------------------


def test_auth_finds_the_document_about_authentication(small: Library, tmp_path: Path) -> None:
    texts = {
        "login.md": "# Signing in\n\nAuthentication needs a password and a token from the phone.",
        "garden.md": "# Garden\n\nTomatoes want sun, water and patience.",
        "ship.md": "# Harbour\n\nShips pay dues when they enter.",
    }
    for name, text in texts.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    small.index([tmp_path / "docs"])
    index, embedder = small._index, small.embedder
    concepts = ConceptIndex(tmp_path / "concepts", embedder.name, embedder.dimension)
    concepts.update(index.record, embedder, index.record.generation())
    vector = embedder.embed_query("auth")
    found = expansions("auth", ["en"], index.keyword, concepts, vector)
    assert found[0].term == "authentication"
    near = dict(expand(vector, "auth", concepts, min_similarity=0.4))
    assert "authentication" in near
    assert not {"tomatoes", "ships"} & near.keys()
    hits = index.keyword.search(added_words(found, "auth", ["en"]), languages=["en"], limit=5)
    chunks = index.lookup.chunks([chunk for chunk, _ in hits])
    assert Path(chunks[hits[0][0]].source_path).name == "login.md"

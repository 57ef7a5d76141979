"""Sources keep their numbers, and the numbers of an answer are read as they were meant."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.chat.conversation import Deadline
from loccit.chat.turn import Sources, cited_numbers
from loccit.model import Lines, SearchResult

WORDS = st.text(alphabet="abc .,\n", max_size=20)


def result(path: str, section: str, line: int, rank: int = 1) -> SearchResult:
    return SearchResult(
        rank, f"{path}:{line}", "text", 0.5, path, ["Act"], section, heading="H", lines=Lines(line, line + 1)
    )


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.integers(1, 3)), max_size=30))
def test_a_place_has_one_number_and_numbers_have_no_gaps(places: list[tuple[str, str, int]]) -> None:
    sources = Sources()
    numbers = {place: sources.number("tool", result(*place)) for place in places}
    assert numbers == {place: sources.number("tool", result(*place, rank=7)) for place in places}
    assert sorted(numbers.values()) == list(range(1, len(set(places)) + 1))
    for (path, section, _), number in numbers.items():
        source = sources.get(number)
        assert source is not None
        assert (source.number, source.source_path, source.section_id) == (number, path, section)


def test_the_same_place_in_two_tools_is_two_sources() -> None:
    sources = Sources()
    assert sources.number("one", result("a", "x", 1)) != sources.number("two", result("a", "x", 1))


@given(st.lists(st.tuples(WORDS, st.lists(st.integers(1, 999), min_size=1, max_size=4), st.booleans())))
def test_every_number_is_found_once_in_the_order_of_the_text(
    pieces: list[tuple[str, list[int], bool]],
) -> None:
    text, expected = "", list[int]()
    for words, numbers, together in pieces:
        marks = (
            f"[{', '.join(map(str, numbers))}]" if together else "".join(f"[{number}]" for number in numbers)
        )
        text += f"{words} {marks}"
        expected += numbers
    assert cited_numbers(text) == list(dict.fromkeys(expected))


@given(st.text(alphabet="[]0123456789,-–; `\nab", max_size=60))
def test_no_text_is_too_strange(text: str) -> None:
    found = cited_numbers(text)
    assert len(found) == len(set(found))
    assert all(str(number) for number in found)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("within one hour[1].", [1]),
        ("see [2-4]", [2, 3, 4]),
        ("see [9–7], [0], [1-99999]", []),
        ("a [link](http://x) and [Source 3]", [3]),
        ("[1](#one) counts, `x[2]` does not", [1]),
        ("```\ny[5]\n```\nnor that [6]", [6]),
        ("an unclosed block ```\ny[5]", []),
        ("(2) and [two] are none", []),
    ],
)
def test_forms_of_citations(text: str, numbers: list[int]) -> None:
    assert cited_numbers(text) == numbers


def test_an_answer_is_told_from_its_sources() -> None:
    sources = Sources()
    sources.number("tool", result("a.md", "x", 1))
    known, unknown = sources.cited("It is so [1], and so [8].")
    assert [source.source_path for source in known] == ["a.md"]
    assert unknown == [8]


def test_a_time_limit_stands_still_while_it_is_paused() -> None:
    async def scene() -> list[str]:
        happened = list[str]()
        over = asyncio.Event()

        def expire() -> None:
            happened.append("expired")
            over.set()

        deadline = Deadline(0.05, expire)
        with deadline.paused():
            with deadline.paused():
                await asyncio.sleep(0.1)
            await asyncio.sleep(0.1)
            happened.append("pause over")
        await over.wait()
        return happened

    assert asyncio.run(scene()) == ["pause over", "expired"]


def test_a_cancelled_time_limit_has_no_consequence() -> None:
    async def scene() -> list[str]:
        happened = list[str]()
        Deadline(0.01, lambda: happened.append("expired")).cancel()
        await asyncio.sleep(0.05)
        return happened

    assert asyncio.run(scene()) == []

"""Focus: what is shown of ranked chunks, whatever they are, and what is chosen of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search.snippets.reading import Reading

from loccit.grammar.text.analysis import query_terms
from loccit.model import Pages
from loccit.search.candidates import Candidate
from loccit.search.select.parents import Expanded
from loccit.search.select.snippets import Asked, Mentions, focus
from loccit.search.select.snippets.evidence import SHORT
from loccit.structure import Positions

QUERY = "lantern tide"
VECTOR = np.ones(2, np.float32)


@dataclass
class Case:
    """Some candidates of a reading, and what was asked for."""

    reading: Reading
    candidates: list[Candidate]
    threshold: float
    limit: int
    vector: bool = True

    def run(self) -> list[Expanded]:
        terms = query_terms(QUERY, ["en"])
        asked = Asked(Mentions(terms), [2.0, 1.0], VECTOR if self.vector else None, floor=0.1)
        return focus(
            self.candidates,
            self.reading.chunks,
            asked,
            self.reading,
            self.reading,
            threshold=self.threshold,
            limit=self.limit,
        )


SENTENCES = [
    "The lantern is lit at dusk and put out at dawn by the keeper of the light.",
    "The tide turns twice a day.",
    "Nobody knows who built the pier, and nobody has asked for a very long time indeed.",
    "潮が満ちると、すべての船は港に入らなければならない。" * 4,
    "without any end " * 40,
    "A vessel reports its arrival to the office, which keeps a record of it.",
]
BLOCKS = [
    "```python\n" + "light.lantern()\n" * 20 + "```",
    "| Light | Colour |\n|---|---|\n" + "| lantern | white |\n" * 30,
    "   indented\n\n  - item of a list\n  - another",
    "",
    "\n \n\t\n",
]


def body(random: Random) -> str:
    return "\n\n".join(
        random.choice(BLOCKS)
        if random.random() < 0.3
        else random.choice(" \n").join(random.choices(SENTENCES, k=random.randint(3, 20)))
        for _ in range(random.randint(1, 6))
    )


def make_case(random: Random) -> Case:
    """Some documents, some of their chunks as candidates, and scores: from a seed, for Hypothesis prefers small."""
    reading = Reading()
    for _ in range(random.randint(1, 2)):
        text = random.choice(["", "\n\n \n"]) + "".join(
            f"## Section {number}\n\n{body(random)}\n\n" for number in range(random.randint(1, 3))
        )
        pages = [(0, 1), *((at, at) for at in sorted(random.sample(range(2, len(text)), 4)))]
        reading.add(
            text,
            pages=random.choice([pages, ()]),
            max_tokens=random.choice([100, 350, 800]),
            overlap=random.choice([0, 30]),
        )
    ids = random.sample(sorted(reading.chunks), random.randint(1, min(12, len(reading.chunks))))
    for chunk in ids:
        middle, size = len(reading.chunks[chunk].content) // 2, len(reading.chunks[chunk].content)
        if random.random() < 0.7:
            scores = random.uniform(-0.2, 0.9), random.uniform(-0.2, 0.9)
            reading.scores[chunk] = [(0, middle, scores[0]), (middle, size, scores[1])]
    named = random.choice([0, 0, 1, 2])
    best = sorted((random.random() for _ in ids), reverse=True)
    return Case(
        reading,
        [
            Candidate(chunk, score, pin=0.8 if rank < named else 0.0)
            for rank, (chunk, score) in enumerate(zip(ids, best, strict=True))
        ],
        random.choice([0.0, 0.5, 0.81, 1.0]),
        random.randint(1, 12),
        random.random() < 0.8,
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 32))
def test_whatever_was_found(seed: int) -> None:
    case = make_case(Random(seed))
    reading = case.reading
    results = case.run()
    # At most so many, in the order of the candidates.
    assert len(results) <= case.limit
    order = [candidate.chunk for candidate in case.candidates]
    places = [order.index(result.candidate.chunk) for result in results]
    assert all(a < b for a, b in pairwise(places))
    # Nothing is lost: what is no result of its own is in one.
    merged = [chunk for result in results for chunk in result.merged]
    settled = [result.candidate.chunk for result in results] + merged
    assert len(settled) == len(set(settled))
    if len(results) < case.limit:
        assert set(settled) == set(order)
    shown: dict[int, list[tuple[int, int]]] = {}
    for result in results:
        chunk, found = result.chunk, reading.chunks[result.candidate.chunk]
        members = [reading.chunks[member] for member in result.members]
        text = reading.texts[chunk.document]
        assert (chunk.id, chunk.chunk_index, chunk.section_id) == (
            found.id,
            found.chunk_index,
            found.section_id,
        )
        # A contiguous part of the document, of one section.
        assert {(member.document, member.section) for member in members} == {(found.document, found.section)}
        assert all(a.end == b.start for a, b in pairwise(members))
        assert members[0].start <= chunk.start < chunk.end <= members[-1].end
        assert found in members and set(result.merged) <= set(result.members) - {found.id}
        assert (
            chunk.content[chunk.prefix :] == text[chunk.start : chunk.end].rstrip()
            or not found.content[found.prefix :]
        )
        assert chunk.content.strip() or not found.content.strip()
        # It says where it stands.
        positions = Positions(text, reading.pages[chunk.document])
        assert chunk.lines == positions.lines(chunk.start, chunk.end)
        assert chunk.pages == positions.pages(chunk.start, chunk.end)
        if result.candidate.pin > 0:
            assert chunk == found
        shown.setdefault(chunk.document, []).append((chunk.start, chunk.end))
    # No text is shown twice.
    for spans in shown.values():
        assert all(a[1] <= b[0] for a, b in pairwise(sorted(spans)))


# -- what is chosen ----------------------------------------------------------------------------------------------

DULL = [
    f"Entry {number} of the log says that nothing at all was seen from the pier on that day."
    for number in range(90)
]
LIT = "The lantern is lit when the tide turns, and the keeper writes down the hour."


def log(*answers: int, entries: int = 40) -> str:
    """A log whose answers stand at some of its entries."""
    lines = [LIT if number in answers else line for number, line in enumerate(DULL[:entries])]
    return "# Log\n\n" + "\n".join(lines)


def candidates(*chunks: int, pin: float = 0.0) -> list[Candidate]:
    return [Candidate(chunk, 0.9 - 0.05 * rank, pin=pin) for rank, chunk in enumerate(chunks)]


def one_chunk(text: str, **options: object) -> tuple[Reading, int]:
    reading = Reading()
    [chunk] = reading.add(text, max_tokens=2000, **options)  # type: ignore[arg-type]
    return reading, chunk.id


def test_the_sentences_that_answer_are_shown() -> None:
    reading, chunk = one_chunk(log(17))
    [result] = Case(reading, candidates(chunk), 0.81, 5).run()
    whole = reading.chunks[chunk]
    assert LIT in result.chunk.content
    # A little around it is shown as well, because what is next to an answer often belongs to it.
    assert len(result.chunk.content) < len(whole.content) / 2
    assert result.chunk.tokens < whole.tokens / 2
    assert 10 < result.chunk.lines.first < 20 < result.chunk.lines.last < 30


def test_answers_near_each_other_are_one_result_and_far_ones_are_not() -> None:
    reading, chunk = one_chunk(log(10, 15))
    [near] = Case(reading, candidates(chunk), 0.9, 5).run()
    assert near.chunk.content.count(LIT) == 2
    reading, chunk = one_chunk(log(2, 37))
    [far] = Case(reading, candidates(chunk), 0.9, 5).run()
    assert far.chunk.content.count(LIT) == 1


def test_a_threshold_of_0_shows_all_and_of_1_the_best_alone() -> None:
    reading, chunk = one_chunk(log(17))
    [everything] = Case(reading, candidates(chunk), 0.0, 5).run()
    assert everything.chunk == reading.chunks[chunk]
    [best] = Case(reading, candidates(chunk), 1.0, 5).run()
    assert LIT in best.chunk.content and len(best.chunk.content) < 300


def test_what_is_named_stays_whole() -> None:
    reading, chunk = one_chunk(log(17))
    [result] = Case(reading, candidates(chunk, pin=0.9), 0.81, 5).run()
    assert result.chunk is reading.chunks[chunk]


@pytest.mark.parametrize("name", ["lights.py", "lights.C", "Makefile"])
def test_source_code_stays_whole(name: str) -> None:
    reading, chunk = one_chunk(log(17), name=name)
    [result] = Case(reading, candidates(chunk), 0.81, 5).run()
    assert result.chunk is reading.chunks[chunk]


def test_the_meaning_of_a_passage_decides_where_words_do_not() -> None:
    reading, chunk = one_chunk(log())
    size = len(reading.chunks[chunk].content)
    reading.scores[chunk] = [(0, size // 2, 0.2), (size // 2, size, 0.7)]
    [result] = Case(reading, candidates(chunk), 0.9, 5).run()
    assert result.chunk.start >= size // 2 - 300
    [blind] = Case(reading, candidates(chunk), 0.9, 5, vector=False).run()
    assert blind.chunk.start == 0


def test_a_table_means_what_the_best_of_its_rows_mean() -> None:
    rows = "".join(f"| light {number} | at the pier |\n" for number in range(40))
    reading, chunk = one_chunk(f"# Lights\n\n{' '.join(DULL[:12])}\n\n| Light | Place |\n|---|---|\n{rows}")
    content = reading.chunks[chunk].content
    table, size = content.index("| Light"), len(content)
    reading.scores[chunk] = [(0, table, 0.4), (table, table + 200, 0.8), (table + 200, size, 0.2)]
    [result] = Case(reading, candidates(chunk), 1.0, 5).run()
    assert result.chunk.content == content[table:]


def test_a_run_goes_on_in_the_next_chunk_of_its_section() -> None:
    reading = Reading()
    first, second, *_ = reading.add(log(*range(40)), max_tokens=100)
    assert first.section == second.section
    [result] = Case(reading, candidates(second.id, first.id), 0.81, 5).run()
    assert result.candidate.chunk == second.id
    assert result.members == (first.id, second.id) and result.merged == (first.id,)
    assert result.chunk_ids == ("/1/document.md_chunk_0", "/1/document.md_chunk_1")
    assert result.chunk.content == reading.texts[1][: second.end].rstrip()
    # The text between them stands there once.
    assert result.chunk.prefix == 0 and result.chunk.content.count("# Log") == 1


def test_a_run_ends_with_its_section() -> None:
    reading = Reading()
    text = f"## A\n\n{LIT * 4}\n\n## B\n\n{LIT * 4}\n"
    first, second = reading.add(text)
    results = Case(reading, candidates(first.id, second.id), 0.0, 5).run()
    assert [result.chunk for result in results] == [first, second]


def test_a_run_does_not_reach_into_a_chunk_that_was_not_found() -> None:
    reading = Reading()
    first, second, third, *_ = reading.add(log(*range(40)), max_tokens=100)
    results = Case(reading, candidates(first.id, third.id), 0.0, 5).run()
    assert [result.chunk for result in results] == [first, third]
    assert second.id not in results[0].members


def test_a_run_does_not_reach_into_what_is_named() -> None:
    reading = Reading()
    first, second, *_ = reading.add(log(*range(40)), max_tokens=100)
    named = Candidate(second.id, 1.0, pin=0.9)
    results = Case(reading, [named, Candidate(first.id, 0.9)], 0.0, 5).run()
    assert [result.chunk for result in results] == [second, first]


def test_a_result_has_a_longest_length() -> None:
    reading = Reading()
    chunks = reading.add("# Log\n\n" + "\n".join([LIT] * 200), max_tokens=800)
    results = Case(reading, candidates(*(chunk.id for chunk in chunks)), 0.0, 20).run()
    assert len(chunks) > 3 and len(results) > 1
    assert max(len(result.chunk.content) for result in results) <= 5000
    assert sum(len(result.chunk.content) for result in results) > 0.9 * len(reading.texts[1])


def test_the_limit_counts_results_and_not_chunks() -> None:
    reading = Reading()
    chunks = reading.add(log(*range(40)), max_tokens=100)
    other = reading.add(f"# Other\n\n{LIT}")
    found = candidates(chunks[0].id, chunks[1].id, other[0].id)
    assert len(Case(reading, found, 0.5, 2).run()) == 2
    assert [result.candidate.chunk for result in Case(reading, found, 0.5, 2).run()] == [
        chunks[0].id,
        other[0].id,
    ]


def test_a_chunk_that_lends_a_sentence_is_still_a_result() -> None:
    reading = Reading()
    first, second = reading.add(log(*range(38, 42), 72, 73, entries=80), overlap=0)
    assert LIT in first.content[-100:] and LIT in second.content[:100] and LIT in second.content[-800:]
    size = len(second.content)
    reading.scores = {
        first.id: [(0, len(first.content), 0.7)],
        second.id: [(0, size // 2, 0.6), (size // 2, size, 0.7)],
    }
    one, two = Case(reading, candidates(first.id, second.id), 0.85, 5).run()
    assert one.members == (first.id, second.id) and two.members == (second.id,)
    assert one.merged == two.merged == ()
    assert one.chunk.end <= two.chunk.start


def test_a_table_that_goes_on_keeps_its_head() -> None:
    rows = "".join(f"| lantern {number} | at the tide gauge |\n" for number in range(90))
    reading = Reading()
    chunks = reading.add(
        f"# Lights\n\n| Light | Place |\n|---|---|\n{rows}\n" + " ".join(DULL[:18]), max_tokens=700
    )
    last = chunks[-1]
    assert last.content.startswith("| Light | Place |") and last.prefix and DULL[0] in last.content
    [result] = Case(reading, candidates(last.id), 1.0, 5).run()
    shown = result.chunk
    assert shown.content.startswith("| Light | Place |\n|---|---|\n| lantern")
    assert DULL[17] not in shown.content and shown.end < last.end
    assert shown.lines == Positions(reading.texts[1], ()).lines(shown.start, shown.end)


def test_pages_are_those_of_the_part() -> None:
    text = log(30)
    second = text.index(DULL[20])
    reading, chunk = one_chunk(text, pages=[(0, 6), (second, 7)])
    assert reading.chunks[chunk].pages == Pages(6, 7)
    [result] = Case(reading, candidates(chunk), 0.81, 5).run()
    assert LIT in result.chunk.content and result.chunk.pages == Pages(7, 7)


def test_a_document_that_is_gone_is_shown_as_it_was_found() -> None:
    reading = Reading()
    first, second, *_ = reading.add(log(*range(40)), max_tokens=100)
    reading.texts[1] = ""
    [result] = Case(reading, candidates(first.id, second.id), 0.0, 5).run()
    assert result.chunk == first


def test_nothing_found_is_nothing_shown() -> None:
    assert Case(Reading(), [], 0.81, 5).run() == []


def test_a_section_of_half_a_page_is_shown_whole() -> None:
    reading, chunk = one_chunk(log(3, entries=8))
    assert reading.chunks[chunk].tokens <= SHORT
    [result] = Case(reading, candidates(chunk), 1.0, 5).run()
    assert result.chunk == reading.chunks[chunk]

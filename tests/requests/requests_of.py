"""Makes requests: values of each argument, at, within and past what is declared, and every two arguments together."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from tests.requests.documents import DOCUMENTS
from tests.requests.questions import Kind, Question

# What may be written in any text, in several scripts: of every kind of argument, and of none.
_TEXTS = (
    *(
        "vessel",
        "the",
        "Harbour Master",
        "collision within one hour",
        "who must report?",
        "Consent",
        "保护",
        "السفينة",
        "Meldung",
    ),
    *(
        "Section 21",
        "Section 306",
        "Article 6(1)(f)",
        "Article 6",
        "§ 4",
        "§ 4(1)",
        "第十条",
        "المادة 3",
        "21",
        "4.2",
        "(a)",
    ),
    *(
        "Articles 5 and 6",
        "Section 10 to Section 22",
        "next section after Section 21",
        "parent of Section 21(a)",
        "sec_21",
    ),
    *(
        "act.md",
        "regulation.md",
        "法.md",
        "قانون.md",
        "ordnung.md",
        "plan.md",
        "notes/plan.md",
        "old/plan.md",
        "nothing.md",
    ),
    *(
        "Harbour Act",
        "Data Regulation",
        "loccit://document/act.md",
        "z6ab8kz4",
        "../act.md",
        "/etc/passwd",
        "~",
    ),
    *(
        '"gale warning"',
        '"',
        "“",
        "''",
        "()",
        "(",
        "[",
        "\\",
        "?!",
        "-",
        "-vessel",
        "vessel -harbour",
        "type:md",
        "tags:law data",
    ),
    *(
        "[0-9]+ days",
        "(a|b){1000}",
        ".*",
        "a*",
        r"\b",
        "(?i)VESSEL",
        "get_user()",
        "`get_user`",
        "🚢",
        "é",
        "e\u0301",
        "ﬁne",
    ),
    *(
        "",
        " ",
        "\t\n",
        "\0",
        "a\0b",
        "\ud800",
        "ves\udcffsel",
        "\u202e",
        "a\nb",
        "1-3",
        "9-1",
        "duty",
        "EUR",
        "day",
        "2024-03-01",
    ),
    *(
        "next",
        "hybrid",
        "null",
        "0",
        "-1",
        "1e9",
        "true",
        "x" * 200,
        "a " * 900,
        "第" * 400,
        "Section 1, " * 60,
    ),
)
_FILTERS: tuple[Any, ...] = (
    {},
    {"type": "md"},
    {"type": ["md", "csv"]},
    {"type": "xlsx"},
    {"language": "de"},
    {"language": "python"},
    {"language": ["xx", "中文"]},
    {"tags": "law"},
    {"tags": "nothing"},
    {"author": "ferrer"},
    {"author": "?!"},
    {"title": "harbour"},
    {"title": "数据"},
    {"path": "*.md"},
    {"path": "notes"},
    {"path": "["},
    {"path": "../*"},
    {"after": "2024-01-01"},
    {"before": "2025-01-01", "after": "2026-01-01"},
    {"after": "soon"},
    {"date": ">=2024"},
    {"date": "2024..2023"},
    {"code": "python"},
    {"foo": "bar"},
    {"Foo Bar": True, "n": 3, "x": 1.5},
    {"tags": ""},
    {"tags": []},
    {"": "x"},
    {"type": "md", "tags": "law", "language": "en"},
    {"type": "md", "path": "table.csv"},
    {"tags": "a\0b"},
    {"\ud800": "x"},
    {"title": "x" * 10_001},
    {"tags": [f"t{number}" for number in range(150)]},
    {f"field{number}": "x" for number in range(51)},
)


def values_of(name: str, kind: Kind) -> list[Any]:
    """Return the values to try for an argument, besides leaving it out."""
    if kind.choices:
        return [*kind.choices, "nonsense", "", kind.choices[0].upper()]
    if kind.type == "boolean":
        return [True, False]
    if kind.type == "object":
        return list(_FILTERS)
    if kind.type in ("integer", "number"):
        ends = {
            end for bounds in kind.bounds for low, high in [bounds] for end in (low - 1, low, high, high + 1)
        }
        numbers = {*ends, 3, 7, 0, -1, 10**12}
        return [int(one) for one in sorted(numbers)] + ([0.25, 0.5] if kind.type == "number" else [])
    longest = ["x" * (most + past) for most in kind.longest if most < 100_000 for past in (0, 1)]
    if kind.type == "array":
        return [[one] for one in _TEXTS] + [[], ["vessel", ""], ["a vessel shall"] * 51, [*longest]]
    return [*_TEXTS, *longest]


def _likely(name: str, kind: Kind) -> list[Any]:
    """Return values with which most requests have an answer, so that other arguments matter."""
    if name in ("document", "old", "new"):
        return list(DOCUMENTS)[:5]
    texts: dict[str, list[Any]] = {
        "reference": ["Section 21", "Article 6", "第十条", "المادة 3", "§ 4"],
        "term": ["vessel", "Consent"],
        "quotations": [
            ["shall report a collision to the Harbour Master"],
            ["a fine of EUR 600 is due"],
            ["“shall report a collision to the Harbour Master” (Section 1)"],
        ],
        "text": ["vessel", 'It says "shall report a collision to the Harbour Master".'],
        "bearer": ["master"],
        "unit": ["hour", "day"],
        "lines": ["1-40", "20-22"],
    }
    return texts.get(name, ["vessel", "harbour master", "Section 21"] if kind.type == "string" else [])


def pairs_of(question: Question, seed: int) -> Iterator[dict[str, Any]]:
    """Return requests of which each has two arguments on trial: every two together, and each alone."""
    chance = random.Random(f"{question.name} {seed}")
    names = sorted(question.kinds)
    alone = [(name,) for name in names]
    for tried in [(), *alone, *itertools.combinations(names, 2)]:
        yield _request(question, tried, chance)


def requests_of(question: Question, seed: int) -> Iterator[dict[str, Any]]:
    """Return any number of requests: each argument is left out, likely, or anything."""
    chance = random.Random(f"{question.name} any {seed}")
    names = sorted(question.kinds)
    # Each value of each argument once, the rest of the request being likely.
    for name in names:
        for value in values_of(name, question.kinds[name]):
            yield {**_request(question, (), chance), name: value}
    while True:
        yield _request(question, chance.sample(names, min(len(names), chance.randint(1, 4))), chance)


def _request(question: Question, tried: Any, chance: random.Random) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for name, kind in question.kinds.items():
        if name in tried:
            given[name] = chance.choice(values_of(name, kind))
        elif kind.required or (name in ("reference", "text") and chance.random() < 0.8):
            likely = _likely(name, kind) or values_of(name, kind)
            given[name] = chance.choice(likely)
    return given

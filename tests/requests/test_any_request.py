"""Any request, not the usual ones: made from the declared arguments of every question, put to every interface.

Whatever is asked, there is an answer or an error of ours that names the argument, and the same in all interfaces. What a
filter leaves is a part of what there is without it. No one is told of an inner failure.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient
from tests.requests import documents
from tests.requests.comparing import faults_of
from tests.requests.interfaces import ANSWER, BUDGET, Interfaces
from tests.requests.questions import Question, questions
from tests.requests.requests_of import pairs_of, requests_of, values_of
from tests.server.conftest import served

from loccit import Library
from loccit.ask.catalog import TOOLS
from loccit.server.http import build_app
from loccit.server.services import IndexService, LibraryRegistry

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"
QUESTIONS = questions()
# The long run tries others each time; a failure names the seed.
SEED = int.from_bytes(os.urandom(4), "big") if LONG else 1
REQUESTS = 850 if LONG else 0
FILTERED = [name for name, question in QUESTIONS.items() if "filters" in question.kinds]


@pytest.fixture(scope="module")
def interfaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Interfaces]:
    """A small mixed library in all interfaces."""
    folder = tmp_path_factory.mktemp("requests")
    documents.write(folder / "docs")
    path = folder / ".loccit"
    registry = LibraryRegistry([IndexService(lambda: path, create_at=path)], token_budget=BUDGET)
    with Library(path) as library, pytest.MonkeyPatch.context() as patch:
        assert not library.index(folder / "docs").failed
        patch.chdir(folder)
        for name in ("LOCCIT_INDEX", "LOCCIT_TOKEN", "LOCCIT_DEBUG"):
            patch.delenv(name, raising=False)
        application = build_app(registry)
        with TestClient(application, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
            yield Interfaces(library, client, registry)
    registry.close()


def wrong(interfaces: Interfaces, question: Question, given: dict[str, Any]) -> list[str]:
    """Return what is wrong with a request, in all interfaces that can express it."""
    asked = {name: interfaces.ask(question, name, given) for name in question.interfaces}
    found = {name: outcome for name, outcome in asked.items() if outcome is not None}
    return [f"{question.name} {given!r}: {kind}: {said}" for kind, said in faults_of(question, given, found)]


def test_every_tool_is_in_all_interfaces() -> None:
    for name in TOOLS:
        assert set(QUESTIONS[name].interfaces) == {"python", "cli", "http", "mcp"}
        taken = [set(interface.takes) for interface in QUESTIONS[name].interfaces.values()]
        # What only one of them has is a matter of that interface: pages, budgets, what is printed.
        shared = {argument for argument in set.union(*taken) if sum(argument in one for one in taken) > 1}
        assert shared >= {item.name for item in TOOLS[name].takes if item.required}


@pytest.mark.randomised
@pytest.mark.parametrize("name", QUESTIONS)
def test_any_request(interfaces: Interfaces, name: str) -> None:
    question = QUESTIONS[name]
    pairs = [given for seed in range(3) for given in pairs_of(question, SEED + seed)]
    requests = [*pairs, *islice(requests_of(question, SEED), REQUESTS)]
    faults = [fault for given in requests for fault in wrong(interfaces, question, given)]
    assert not faults, f"{len(faults)} faults of {len(requests)} requests, seed {SEED}:\n" + "\n".join(
        faults[:10]
    )


def test_the_same_over_a_socket(interfaces: Interfaces) -> None:
    path = Path(interfaces.library.path)
    registry = LibraryRegistry([IndexService(lambda: path, create_at=path)], token_budget=BUDGET)
    with served(registry) as address, httpx.Client(base_url=address) as client:
        there = Interfaces(interfaces.library, client, registry)
        for question in QUESTIONS.values():
            for given in islice(pairs_of(question, SEED), 3):
                assert there.ask(question, "http", given) == interfaces.ask(question, "http", given)


@pytest.mark.randomised
@pytest.mark.parametrize("name", FILTERED)
def test_what_a_filter_leaves_is_a_part(interfaces: Interfaces, name: str) -> None:
    question = QUESTIONS[name]
    filters = [one for one in values_of("filters", question.kinds["filters"]) if one]
    answered = 0
    for given in islice(pairs_of(question, SEED + 1), None if LONG else 8):
        # All of them, so that none is left out for room.
        plain = {
            key: value
            for key, value in given.items()
            if key in ("pattern", "query", "kind", "text", "bearer")
        }
        plain |= {"limit": 1000} if "limit" in question.kinds else {}
        plain |= {"top_k": 100} if "top_k" in question.kinds else {}
        whole = interfaces.ask(question, "python", plain)
        if whole is None or whole.kind != ANSWER:
            continue
        for one in filters if LONG else filters[:: len(filters) // 7]:
            part = interfaces.ask(question, "python", {**plain, "filters": one})
            if part is not None and part.kind == ANSWER:
                answered += 1
                assert not Counter(_named(part)) - Counter(_named(whole)), (plain, one)
    assert answered > 3


def _named(outcome: Any) -> list[Any]:
    """Return what was found, without its rank; of quotations those that were."""
    found = [one[0] if isinstance(one, tuple) else one for one in outcome.essence[1]]
    return [one for one in found if one not in ("altered", "absent")]

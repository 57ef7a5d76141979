"""What must hold of the outcomes of a request, whatever it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.requests.interfaces import ANSWER, BROKEN, MISSING, REFUSED, Outcome
from tests.requests.questions import Question

from loccit.ask.catalog import TOOLS
from loccit.config.settings import TOKEN_BUDGETS
from loccit.errors import UsageError


def faults_of(
    question: Question, given: dict[str, Any], found: dict[str, Outcome]
) -> Iterator[tuple[str, str]]:
    """Return what is wrong with the outcomes of a request: the kind of fault, and what shows it."""
    for interface, outcome in found.items():
        if outcome.kind == BROKEN:
            yield f"broken in {interface}", outcome.said
        elif outcome.kind == REFUSED and not _names(question, given, outcome.said):
            yield "names no argument", f"{interface}: {outcome.said}"
    if "mcp" in found and _is_tidied(question, given):
        found = {name: outcome for name, outcome in found.items() if name != "mcp"}
    kinds = {interface: outcome.kind for interface, outcome in found.items() if outcome.kind != BROKEN}
    errors = set(kinds.values()) == {REFUSED, MISSING} and len(given) > 1
    if len(set(kinds.values())) > 1 and not errors:
        said = "; ".join(f"{name}: {found[name].said[:200]}" for name in kinds)
        yield "not the same", f"{kinds}: {said}"
        return
    answers = {name: outcome.essence for name, outcome in found.items() if outcome.kind == ANSWER}
    if not answers:
        return
    (first, (numbers, items)), *others = answers.items()
    for name, (other_numbers, other_items) in others:
        least = min(len(items), len(other_items))
        # Not every interface has room for as much of a result in a small budget.
        some = bool(items) == bool(other_items) or "token_budget" in given
        if numbers != other_numbers or items[:least] != other_items[:least] or not some:
            yield "not the same answer", f"{first}: {numbers} {items}; {name}: {other_numbers} {other_items}"


def _names(question: Question, given: dict[str, Any], said: str) -> bool:
    """Whether a message has the name of an argument that was given or that is required, in one of its forms."""
    called = [one.takes for one in question.interfaces.values()]
    # A filter's name is what a person wrote, whatever they are called together.
    filters = given.get("filters")
    wanted = [
        *given,
        *(filters if isinstance(filters, dict) else ()),
        *(name for name, kind in question.kinds.items() if kind.required),
    ]
    names = {
        form
        for name in wanted
        for takes in called
        for form in (name, takes.get(name, name).strip("-"))
        if form
    }
    words = {part for name in names for part in (name, name.replace("_", " "), name.rstrip("s"))}
    return any(re.search(re.escape(word), said, re.IGNORECASE) for word in words)


def _is_tidied(question: Question, given: dict[str, Any]) -> bool:
    """Whether a tool takes a request for another: to models, what is empty is missing, and case does not matter."""
    # An answer of a tool has to fit whole, with what is said besides its results.
    if 0 < given.get("token_budget", 0) < TOKEN_BUDGETS[0]:
        return True
    try:
        return TOOLS[question.name].read(given) != given
    except UsageError:
        return False

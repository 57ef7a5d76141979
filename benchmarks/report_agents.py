"""The parts of the page about what agents are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Table = Callable[[Sequence[tuple[str, ...]], tuple[str, ...]], str]

_NOTE = (
    "A scripted agent answers twelve questions over one library (the GDPR, six parts of the FAR, the examples and two "
    "versions of a policy) through `loccit mcp` over stdio, with answers as text. It knows what its question says, "
    "what the tools say of themselves, and what was answered before. Tokens are all that it receives, counted with "
    "the bundled tokenizer. An answer is complete when it has every fact that a reader found in the documents; "
    "`noise` are entries of a list that hold none. Goals: each within four calls, all complete, and a third fewer "
    "tokens than at `da82e05`, where the same scripts do without the tools that were not there yet."
)


def render(data: dict[str, Any], table: Table) -> str:
    """Return what became of each task, beside an earlier state where that was measured."""
    now, before = data["now"], data.get("before")
    earlier = {row["number"]: row for row in before["tasks"]} if before else {}
    rows = []
    for row in now["tasks"]:
        question = data["questions"][str(row["number"])].partition("?")[0].rstrip(".")
        cells = [f"{row['number']}. {question}", *_cells(row), str(row["noise"])]
        rows.append((*cells, *(_cells(earlier[row["number"]]) if earlier else ())))
    rows.append(("all", *_sums(now), str(sum(row["noise"] for row in now["tasks"])), *_sums(before)))
    beside = ("calls at da82e05", "tokens", "facts") if before else ()
    head = ("task", "calls", "tokens", "facts", "noise", *beside)
    listed = f"The list of tools has {now['tools']:,} tokens"
    listed += f" (at `da82e05` {before['tools']:,})" if before else ""
    sent = f"; the calls themselves have {_total(now, 'sent'):,}"
    sent += f" ({_total(before, 'sent'):,})" if before else ""
    return f"{table(rows, head)}\n\n{_NOTE} {listed}{sent}."


def render_lean(data: dict[str, Any]) -> str:
    """Return how much of an answer is text of the documents."""
    return (
        f"{data['questions']} questions to the library of the research tasks, answered with five passages as text: "
        f"{data['mean']:.0%} of the tokens are text of the documents on average, {data['lowest']:.0%} at least; "
        f"{data['below']} answers are below the goal of 75 %. An answer has {data['tokens_p50']:,} tokens (p50), of "
        "which some 35 and 20 to 30 a passage say where it stands."
    )


def _cells(row: dict[str, Any]) -> tuple[str, str, str]:
    facts = row["facts"] - len(row["missing"])
    return str(row["calls"]), f"{row['received']:,}", f"{facts} of {row['facts']}"


def _total(part: dict[str, Any], name: str) -> int:
    return sum(int(row[name]) for row in part["tasks"])


def _sums(part: dict[str, Any] | None) -> tuple[str, ...]:
    if part is None:
        return ()
    missing = sum(len(row["missing"]) for row in part["tasks"])
    facts = _total(part, "facts")
    return str(_total(part, "calls")), f"{_total(part, 'received'):,}", f"{facts - missing} of {facts}"

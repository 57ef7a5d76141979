"""How much of an answer is text of the documents: the five passages of a search, as an agent is given them.

    python -m benchmarks.lean [--index DIR] [--questions FILE]

Asks the library of ``benchmarks.agent_tasks`` (the GDPR, parts of the FAR, the examples, a policy) in words that nobody
tuned the answers to, with ``search_documents`` and five results, answered as text. ``share`` is the tokens of the
passages, and of the definitions of their terms, beside those of the whole answer. ``--questions`` names a file with
other questions, one a line.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.common import RESULTS, percentile, save
from loccit import Library
from loccit.ask.catalog import SEARCH
from loccit.ask.fit import Limit, Tokens
from loccit.server.services import TOKEN_BUDGET

RESULTS_EACH = 5
GOAL = 0.75

QUESTIONS = (
    # The GDPR.
    "who has to appoint a data protection officer",
    "conditions for consent of a child",
    "when is an impact assessment needed",
    "transfer of data to a country without an adequacy decision",
    "tasks of the lead supervisory authority",
    "what must a record of processing contain",
    "right to have inaccurate data corrected",
    "liability of a processor for damage",
    "binding corporate rules approval",
    "profiling and automated decisions",
    "joint controllers arrangement",
    "Article 83(5)",
    # The FAR.
    "micro-purchase threshold",
    "late bids in sealed bidding",
    "who may suspend a contractor",
    "termination for convenience settlement proposal",
    "responsibility determination of a prospective contractor",
    "simplified acquisition oral solicitation",
    "cancelling an invitation for bids after opening",
    "protest to the agency before award",
    "definition of commercial product",
    "claims certification by the contractor",
    "mistakes in bids discovered after award",
    "33.206",
    # The examples and the policy.
    "how often is the pump serviced",
    "what to do when the ticket gate fails",
    "fee for late payment",
    "who keeps the lighthouse diary",
    "dangerous cargo notice period",
    "retention period of payroll records",
    "Hafenmeister Befugnisse",
    "pilot licence revocation",
    "limitation of liability of the supplier",
    "revenue of the year",
    "error codes of the API",
    "Section 306",
)


def measured(index: Path, questions: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return of each question how many tokens its answer has, and how many of them are of the documents."""
    rows = []
    with Library(index, create=False) as library:
        tokens = Tokens(library.tokenizer)
        limit = Limit(TOKEN_BUDGET, tokens)
        for question in questions:
            given = SEARCH.read({"query": question, "top_k": RESULTS_EACH})
            found = SEARCH.find(library, given)
            whole = tokens.count(SEARCH.answer([("", found)], given, limit).text)
            quoted = sum(
                tokens.count(text)
                for result in found.with_definitions_once()
                for text in (
                    result.content,
                    *(entry.definition_text for entry in result.definitions_context),
                )
            )
            rows.append({"question": question, "tokens": whole, "share": quoted / whole})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", type=Path, default=RESULTS / "agent_tasks" / "now")
    parser.add_argument("--questions", type=Path)
    options = parser.parse_args()
    if not options.index.exists():
        print(f"skipped: there is no index at {options.index}; run python -m benchmarks agent_tasks first")
        return
    asked = options.questions.read_text(encoding="utf-8").splitlines() if options.questions else QUESTIONS
    rows = measured(options.index, tuple(question for question in asked if question.strip()))
    for row in sorted(rows, key=lambda row: row["share"]):
        print(f"{row['share']:.2f} {row['tokens']:5,}  {row['question']}")
    shares = [row["share"] for row in rows]
    figures = {
        "questions": len(rows),
        "mean": sum(shares) / len(shares),
        "p50": percentile(shares, 0.5),
        "lowest": min(shares),
        "below": sum(share < GOAL for share in shares),
        "tokens_p50": percentile([row["tokens"] for row in rows], 0.5),
    }
    for name, value in figures.items():
        print(f"{name:12} {value:.2f}")
    if options.questions is None:
        save("lean", figures)


if __name__ == "__main__":
    main()

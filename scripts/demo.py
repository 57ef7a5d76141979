"""Index the example documents and show a few searches that make the point.

    make demo

Runs the real commands, one after the other, in an index of its own under build/.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
INDEX = ROOT / "build" / "demo-index"

STEPS: list[tuple[str, list[str]]] = [
    (
        "A folder of Markdown, Word, PDF and plain text becomes one index. No account, no key, no download.",
        ["index", "examples"],
    ),
    (
        "By meaning: the contract speaks of leaving early, never of cancelling whenever one likes.",
        ["search", "can we cancel the contract whenever we like", "--top-k", "1"],
    ),
    (
        "In a PDF, with the page to cite.",
        ["search", "how many salmon were counted at the fish ladder", "--top-k", "1"],
    ),
    (
        "By exact reference: that very clause, with the way down to it and its parts.",
        ["section", "Section 403(b)(2)"],
    ),
    (
        "The contract is a Word file whose clause numbers exist only as automatic numbering. They are kept.",
        ["search", "clause 4.2(a)", "--top-k", "1"],
    ),
    (
        "What a term means here, with what it does not include.",
        ["define", "vessel"],
    ),
    (
        "A question that uses a defined term brings the definition along, and shows what the passage refers to.",
        ["search", "when may a detained vessel leave", "--top-k", "1"],
    ),
    (
        "What a section refers to, and who refers to it, down to the clause and the line.",
        ["refs", "Section 403"],
    ),
    (
        "Word for word: a quoted phrase returns every occurrence.",
        ["search", '"reasonable best efforts"'],
    ),
    (
        "In another language: how fast may I go?",
        ["search", "Wie schnell darf ich fahren?", "--top-k", "1"],
    ),
    (
        "What the documents do not say is admitted.",
        ["search", "best pizza in Naples", "--top-k", "1"],
    ),
]


def main() -> int:
    """Run the steps; return the exit code of the first that fails."""
    shutil.rmtree(INDEX, ignore_errors=True)
    for number, (why, command) in enumerate(STEPS, 1):
        print(f"\n\033[1m{number}. {why}\033[0m" if sys.stdout.isatty() else f"\n{number}. {why}")
        print(f"$ loccit {shlex.join(command)}\n", flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "loccit", *command, "--index", str(INDEX)], cwd=ROOT, check=False
        )
        if done.returncode:
            return done.returncode
    print(
        f"\nThe index is in {INDEX.relative_to(ROOT)}. Try your own: loccit index PATH, then loccit search …"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

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
        "By exact reference, the way people write it: the very section comes first, whichever document it is in.",
        ["search", "Section 403(b)(2)", "--top-k", "1"],
    ),
    (
        "The contract is a Word file whose clause numbers exist only as automatic numbering. They are kept.",
        ["search", "clause 4.2(a)", "--path", "service-agreement.docx", "--top-k", "1"],
    ),
    (
        "By meaning: the contract speaks of leaving early, never of cancelling whenever one likes.",
        ["search", "can we cancel the contract whenever we like", "--top-k", "1"],
    ),
    (
        "By meaning in a PDF, with the page to cite.",
        ["search", "how many fish came back", "--top-k", "1"],
    ),
    (
        "Word for word: a quoted phrase returns every occurrence.",
        ["search", '"reasonable best efforts"'],
    ),
    (
        "By identifier: an error code in a table of the manual.",
        ["search", "E17", "--top-k", "1"],
    ),
    (
        "In another language.",
        ["search", "Darf ich im Hafen Abwasser ablassen?", "--top-k", "1"],
    ),
    (
        "What the documents do not say is admitted.",
        ["search", "best pizza in Naples", "--top-k", "1"],
    ),
    (
        "The structure is there to walk through.",
        ["outline", "hafenordnung.md"],
    ),
]


def main() -> int:
    """Run the steps; return the exit code of the first that fails."""
    shutil.rmtree(INDEX, ignore_errors=True)
    for number, (why, command) in enumerate(STEPS, 1):
        print(f"\n\033[1m{number}. {why}\033[0m" if sys.stdout.isatty() else f"\n{number}. {why}")
        print(f"$ pinakes {shlex.join(command)}\n", flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "pinakes", *command, "--index", str(INDEX)], cwd=ROOT, check=False
        )
        if done.returncode:
            return done.returncode
    print(
        f"\nThe index is in {INDEX.relative_to(ROOT)}. Try your own: pinakes index PATH, then pinakes search …"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

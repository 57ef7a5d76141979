"""How long it takes to start: the import, the help, and a first search in a new process.

python -m benchmarks.startup
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from benchmarks.common import percentile, save

EXAMPLES = Path(__file__).parent.parent / "examples"
ROUNDS = 7


def seconds(command: list[str]) -> float:
    """Return the median processor time of a command, after one run to warm the disk cache."""
    times = []
    for _ in range(ROUNDS + 1):
        before = getrusage(RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = getrusage(RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return percentile(times[1:], 0.5)


def main() -> None:
    python = sys.executable
    loccit = [python, "-m", "loccit"]
    with tempfile.TemporaryDirectory() as scratch:
        where = ["--index", str(Path(scratch) / "index")]
        subprocess.run([*loccit, "index", str(EXAMPLES), *where, "--quiet"], check=True, capture_output=True)
        empty = seconds([python, "-c", "pass"])
        figures = {
            "python alone": empty,
            "import loccit": seconds([python, "-c", "import loccit"]) - empty,
            "from loccit import Library": seconds([python, "-c", "from loccit import Library"]) - empty,
            "loccit --help": seconds([*loccit, "--help"]),
            "loccit search, hybrid": seconds([*loccit, "search", "notice of arrival", *where]),
            "loccit search, keyword": seconds([*loccit, "search", "notice", "--mode", "keyword", *where]),
            "loccit grep": seconds([*loccit, "grep", "notice", *where]),
            "loccit define": seconds([*loccit, "define", "vessel", *where]),
            "loccit section": seconds([*loccit, "section", "Section 306", *where]),
        }
    for name, value in figures.items():
        print(f"{name:28} {value:.3f} s")
    save("startup", figures)


if __name__ == "__main__":
    main()

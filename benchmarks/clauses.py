"""Look-ups of clauses below headings: is the first result that clause?

    python -m benchmarks.clauses [--misses]

Indexes the GDPR without vectors and asks for deep clauses such as ``Article 30(1)(g)`` in several ways. A query counts
when the label of the first result is the expected one and the words after its marker are the expected words.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.common import eval_dir, read_jsonl, save
from loccit import Library
from loccit.evaluation.judge import is_clause


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    folder = eval_dir("gdpr")
    rows = read_jsonl(folder / "clauses.jsonl")
    right = 0
    with tempfile.TemporaryDirectory() as scratch, Library(Path(scratch) / "index") as library:
        library.index([folder / "docs"], embed=False)
        for row in rows:
            results = library.search(row["query"]).results
            first = results[0] if results else None
            hit = first is not None and is_clause(first, row)
            right += hit
            if options.misses and not hit:
                label = first.section_label if first else "(nothing)"
                print(f"  miss {row['query']!r}: wanted {row['label']}, got {label}")
    print(f"clauses, first result right: {right} of {len(rows)} ({right / len(rows):.1%})")
    save("clauses", {"right": right, "asked": len(rows)})


if __name__ == "__main__":
    main()

"""Look-ups by number and title: is the section that was asked for the first result?

    python -m benchmarks.lookups [gdpr far] [--mode hybrid] [--misses]

Indexes the documents of each set into a temporary folder and asks every query of ``lookups.jsonl``. A query
counts when the first result stands in the expected section: its heading is the expected heading, or carries
the expected label.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.common import eval_dir, load, percentile, read_jsonl, save
from loccit import Library
from loccit.evaluation.judge import is_section


def measure(name: str, mode: str, show_misses: bool, index: Path | None) -> dict[str, Any]:
    folder = eval_dir(name)
    rows = read_jsonl(folder / "lookups.jsonl")
    right: dict[str, int] = defaultdict(int)
    asked: dict[str, int] = defaultdict(int)
    seconds = []
    with tempfile.TemporaryDirectory() as scratch, Library(index or Path(scratch) / "index") as library:
        report = library.index([folder / "docs"])
        for row in rows:
            start = time.perf_counter()
            response = library.search(row["query"], mode=mode)
            seconds.append(time.perf_counter() - start)
            hit = bool(response.results) and is_section(response.results[0], row)
            asked[row["kind"]] += 1
            right[row["kind"]] += hit
            if show_misses and not hit:
                got = response.results[0].heading if response.results else "(nothing)"
                print(f"  miss {row['kind']}: {row['query']!r} wanted {row['heading']!r}, got {got!r}")
    return {
        "set": name,
        "mode": mode,
        **{f"{kind}_top1": right[kind] / asked[kind] for kind in sorted(asked)},
        "queries": dict(asked),
        "chunks": report.chunks,
        "p50_ms": percentile(seconds, 0.5) * 1000,
        "index_seconds": report.seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=["gdpr", "far"])
    parser.add_argument("--mode", default="hybrid")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--index", type=Path, help="keep the index here instead of a temporary folder")
    options = parser.parse_args()
    results = [measure(name, options.mode, options.misses, options.index) for name in options.sets]
    for result in results:
        figures = "  ".join(f"{key} {value:.1%}" for key, value in result.items() if key.endswith("_top1"))
        print(f"{result['set']:6} {result['mode']:8} {figures}  p50 {result['p50_ms']:.1f} ms")
    # Sets that were not measured this time keep their figures.
    measured = {(result["set"], result["mode"]) for result in results}
    kept = [row for row in load("lookups").get("results", []) if (row["set"], row["mode"]) not in measured]
    save("lookups", {"results": sorted([*kept, *results], key=lambda row: (row["mode"], row["set"]))})


if __name__ == "__main__":
    main()

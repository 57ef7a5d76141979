"""Run every benchmark, or those that are named, and write the figures into docs/benchmarks.md.

    make bench
    python -m benchmarks scale --chunks 5000 80000

What begins with the first option goes to the benchmark before it.
"""

from __future__ import annotations

import runpy
import sys

from benchmarks import report

SUITES = (
    "startup",
    "install_size",
    "ingest",
    "search_speed",
    "peers",
    "find_all",
    "scale",
    "mcp_speed",
    "agent_tasks",
    "lean",
    "server_load",
    "stores",
    "retrieval",
    "structure",
    "lookups",
    "places",
    "clauses",
    "definitions",
    "obligations",
    "references",
    "markup_headings",
    "docx_structure",
    "pdf_headings",
)


def main() -> None:
    given = sys.argv[1:]
    options = next((place for place, word in enumerate(given) if word.startswith("-")), len(given))
    wanted = given[:options] or SUITES
    if options < len(given) and len(wanted) != 1:
        sys.exit("Options are those of one benchmark: name it before them.")
    sys.argv = [sys.argv[0], *given[options:]]
    for name in wanted:
        print(f"\n== {name}", flush=True)
        try:
            runpy.run_module(f"benchmarks.{name}", run_name="__main__")
        except SystemExit as leave:
            if leave.code:
                raise
    report.main()


if __name__ == "__main__":
    main()

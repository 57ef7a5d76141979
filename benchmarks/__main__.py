"""Run every benchmark and write the figures into docs/benchmarks.md.

make bench
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
    "mcp_speed",
    "server_load",
    "stores",
    "retrieval",
    "lookups",
    "places",
    "clauses",
    "definitions",
    "references",
    "markup_headings",
    "docx_structure",
    "pdf_headings",
)


def main() -> None:
    wanted = sys.argv[1:] or SUITES
    sys.argv = sys.argv[:1]
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

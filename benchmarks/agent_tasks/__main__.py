"""Twelve research tasks through MCP: are the answers complete, in how many calls, and for how many tokens?

    python -m benchmarks agent_tasks [--before CHECKOUT] [--only 1 4] [--output both] [--transcripts DIR]

A scripted agent answers twelve questions over one library: the GDPR, six parts of the FAR, the examples and two
versions of a policy. It talks to ``loccit mcp`` over stdio. ``--before`` runs the same scripts against the server
of another checkout, such as ``git worktree add ../before da82e05``; what that server lacks, they do without.
``--transcripts`` keeps what was said.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.agent_tasks.agent import environment
from benchmarks.agent_tasks.perform import perform, write_library
from benchmarks.agent_tasks.tasks import TASKS
from benchmarks.common import RESULTS, eval_dir, load, save

FAR_PARTS = (2, 9, 13, 14, 33, 49)


def evaluation_sources() -> list[Path]:
    """Return the documents of the evaluation sets that the questions are about."""
    far = eval_dir("far") / "docs"
    return [eval_dir("gdpr") / "docs" / "gdpr.md", *(far / f"Part{number}.docx" for number in FAR_PARTS)]


def measured(name: str, library: Path, options: argparse.Namespace, source: Path | None) -> dict[str, Any]:
    """Index the library with the package of a checkout, and do the tasks with its server."""
    index = RESULTS / "agent_tasks" / name
    # Vectors of texts that were seen before are kept; all else is made by the code that is measured.
    command = [sys.executable, "-m", "loccit", "index", str(library), "--index", str(index), "--rebuild"]
    subprocess.run(command, env=environment(source), check=True, stdout=subprocess.DEVNULL)
    tasks = [task for task in TASKS if not options.only or task.number in options.only]
    transcripts = options.transcripts and options.transcripts / name
    listed, outcomes = asyncio.run(perform(index, tasks, options.output, source, transcripts))
    print(f"\n{name}: the list of tools has {listed:,} tokens")
    for outcome in outcomes:
        state = "complete" if outcome.complete else f"{len(outcome.missing)} missing: {outcome.missing}"
        print(
            f"{outcome.number:3} {outcome.calls:3} calls {outcome.received:7,} received {outcome.sent:5,} sent "
            f"{outcome.noise:3} noise  {state}"
        )
    print(f"    {sum(outcome.received for outcome in outcomes):15,} received in all")
    return {"tools": listed, "tasks": [asdict(outcome) for outcome in outcomes]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="a checkout to measure too")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of tasks")
    parser.add_argument("--output", choices=("text", "both"), default="text")
    parser.add_argument("--transcripts", type=Path)
    options = parser.parse_args()
    library = write_library(RESULTS / "agent_tasks" / "library", evaluation_sources())
    # What was measured of another checkout stays until it is measured again.
    figures = {**load("agent_tasks"), "now": measured("now", library, options, None)}
    if options.before:
        figures["before"] = measured("before", library, options, options.before)
    figures["questions"] = {str(task.number): task.question for task in TASKS}
    if not options.only:
        save("agent_tasks", figures)


if __name__ == "__main__":
    main()

"""Does tasks and judges what an agent was told: is it complete, and how much of it was there to read?"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.agent_tasks.agent import Agent, serving
from benchmarks.agent_tasks.tasks import Task

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a task: tokens that the agent received and sent, facts that are missing, entries without one."""

    number: int
    calls: int
    received: int
    sent: int
    facts: int
    missing: list[str]
    noise: int

    @property
    def complete(self) -> bool:
        """Whether the agent was told every fact."""
        return not self.missing


def write_library(folder: Path, sources: Iterable[Path] = ()) -> Path:
    """Lay out the documents of the tasks: the examples, the policy and further files."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(EXAMPLES, folder / "examples")
    (folder / "policy").mkdir()
    for policy in HERE.glob("*.md"):
        shutil.copy(policy, folder / "policy")
    for source in sources:
        shutil.copy(source, folder)
    return folder


def judge(task: Task, agent: Agent, entries: Sequence[str]) -> Outcome:
    """Compare what an agent was told with what is there to be told."""
    told = "\n".join(reply.text for reply in agent.replies)
    missing = [f"{fact.place}: {'; '.join(fact.says)}" for fact in task.facts if not fact.within(told)]
    noise = sum(not any(fact.said(entry) for fact in task.facts) for entry in entries)
    return Outcome(
        task.number, len(agent.replies), agent.received, agent.sent, len(task.facts), missing, noise
    )


async def perform(
    index: Path,
    tasks: Sequence[Task],
    output: str,
    source: Path | None = None,
    transcripts: Path | None = None,
) -> tuple[int, list[Outcome]]:
    """Do the tasks; return the tokens of the list of tools, and what became of each task."""
    outcomes = []
    async with serving(index, output, source) as server:
        for task in tasks:
            agent = server.agent()
            try:
                entries = await task.work(agent)
            except LookupError as error:
                # An agent that does not find what it looks for gives up; what it was told still counts.
                print(f"{task.number}: gave up: {error}")
                entries = []
            outcomes.append(judge(task, agent, entries))
            if transcripts:
                transcripts.mkdir(parents=True, exist_ok=True)
                (transcripts / f"{task.number:02}.txt").write_text(agent.transcript(), encoding="utf-8")
    return server.listed, outcomes

"""The section of docs/benchmarks.md about questions that need the structure of documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.report_retrieval import share

Table = Callable[[Sequence[tuple[str, ...]], tuple[str, ...]], str]

_GROUPS = ("all", "reference", "definition", "parent", "plain", "dev", "test")
_BARE = "keyword and semantic alone"
_MEASURES = ("recall@1", "recall@5", "recall@10", "mrr@10", "reached@5")
_NOTE = (
    "The questions of `structure_questions.jsonl` ([how they were made](evaluation.md#questions-that-need-structure)): "
    "the answer does not have their words, but a passage that has them refers to it (`reference`), a defined term "
    "decides (`definition`), or what stands above an item says what it is about (`parent`); `plain` is the control. "
    "recall@k: a result among the first k overlaps the words of the answer; reached@5: or one of the first five refers "
    "to the place of the answer, or brings it along as a definition."
)


def render(data: dict[str, Any], table: Table) -> str:
    """Return the section: how many answers are found, and what each stage adds."""
    first, *others = data["results"]
    bare = next(one for one in others if one["way"] == _BARE)
    rows = [
        (
            group,
            str(first["means"][group]["questions"]),
            *(share(first["means"][group][measure]) for measure in _MEASURES),
            *(share(bare["means"][group][measure]) for measure in _MEASURES[-2:]),
        )
        for group in (*_GROUPS, *data["chunks"])
    ]
    found = table(rows, ("", "questions", *_MEASURES, *(f"{measure}, {_BARE}" for measure in _MEASURES[-2:])))
    changes = [
        (
            one["way"],
            *(_change(one["changes"][group]["mrr@10"]) for group in _GROUPS),
            _change(one["changes"]["all"]["recall@5"]),
            f"{one['means']['all']['characters@5']:,.0f}",
        )
        for one in others
        if any(_moved(one["changes"][group]["mrr@10"]) for group in _GROUPS)
    ]
    idle = [
        one["way"].removeprefix("without ") for one in others if not _moved(one["changes"]["all"]["mrr@10"])
    ]
    ablation = table(changes, ("change of mrr@10", *_GROUPS, "all, recall@5", "characters of 5 results"))
    shown = first["means"]["all"]["characters@5"]
    last = (
        "Bold where chance alone would hardly give it (paired sign-flip test, p < .05; one of twenty such comparisons "
        f"comes out so by chance). As configured, five results have {shown:,.0f} characters; results that show more "
        "overlap more."
    )
    if idle:
        last += f" Without any effect on the order: {', '.join(idle)}."
    return "\n\n".join((_NOTE, found, ablation, last))


def _moved(change: dict[str, Any]) -> bool:
    return bool(change["wins"] + change["losses"])


def _change(change: dict[str, Any]) -> str:
    mark = "**" if change["p"] < 0.05 else ""
    return f"{mark}{change['change']:+.3f}{mark}" if _moved(change) else "0"

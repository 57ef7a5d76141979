"""The section of docs/benchmarks.md about ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Table = Callable[[Sequence[tuple[str, ...]], tuple[str, ...]], str]

_MODES = ("hybrid", "semantic", "keyword", "exact")
# What the ranking is to reach: set and measure > goal, and the least of it.
_GOALS = {
    ("anthropic_contextual", "pass@5"): (".912", ".865"),
    ("anthropic_contextual", "pass@10"): (".948", ".933"),
    ("anthropic_contextual", "pass@20"): (".963", ".950"),
    ("scifact", "ndcg@10"): (".760", ".735"),
    ("cranfield", "ndcg@10"): (".440", ".415"),
    ("own", "hit@10"): (".900", ".900"),
}
_SHOWN = {
    "fixed chunks": ("pass@5", "pass@10", "pass@20"),
    "spans": ("span_recall@5", "span_precision@5", "span_iou@5"),
    "library": ("ndcg@10", "recall@10", "hit@10"),
    "retrieval": ("ndcg@10", "recall@10", "recall@100"),
}


def share(value: float) -> str:
    """Print a share without its leading 0."""
    return f"{value:.3f}".removeprefix("0") if value < 1 else "1.00"


def render(data: dict[str, Any], table: Table) -> str:
    """Return the section: every mode on every set, windows instead of structure, and what each stage adds."""
    rows, calibration = [], []
    for row in data["results"]:
        for metric in _SHOWN[row["kind"]]:
            goal, least = _GOALS.get((row["set"], metric), ("", ""))
            values = [share(row["modes"][mode][metric]) for mode in _MODES]
            rows.append((row["set"], metric, f"**{values[0]}**", *values[1:], goal, least))
        latency = row["modes"]["hybrid"]["latency_ms"]
        times = f"{latency['p50']:.1f} / {latency['p95']:.1f} ms"
        error = "" if row["calibration_error"] is None else f"{row['calibration_error']:.3f}"
        sizes = (f"{row['documents']:,}", f"{row['chunks']:,}", f"{row['questions']:,}")
        calibration.append((row["set"], *sizes, times, error))
    parts = [
        table(rows, ("set", "measure", *_MODES, "goal", "at least")),
        table(
            calibration,
            ("set", "documents", "chunks", "questions", "hybrid p50 / p95, 100 results", "confidence off by"),
        ),
        *[_windows(row, table) for row in data["results"] if row.get("windows")],
        _against_semantic(data["results"]),
        _ablation(data["results"], table),
    ]
    return "\n\n".join(part for part in parts if part)


def _windows(row: dict[str, Any], table: Table) -> str:
    metrics = ("span_recall@5", "span_precision@5", "span_iou@5")
    ways = {"structure (the default)": row["modes"]["hybrid"]}
    ways |= {f"windows of {size} tokens, whole": values for size, values in row["windows"].items()}
    focused = row.get("focused_windows", {})
    ways |= {f"windows of {size} tokens, focused": values for size, values in focused.items()}
    rows = [(name, *(share(values[metric]) for metric in metrics)) for name, values in ways.items()]
    return f"`{row['set']}`, divided in other ways:\n\n" + table(rows, ("hybrid", *metrics))


def _against_semantic(results: Sequence[dict[str, Any]]) -> str:
    gains = []
    for row in results:
        semantic = row["modes"]["semantic"].get("ndcg@10")
        if semantic:
            gains.append(row["modes"]["hybrid"]["ndcg@10"] / semantic - 1)
    mean = sum(gains) / len(gains) if gains else 0.0
    return (
        f"Hybrid search against search by meaning alone: **{mean:+.1%}** nDCG@10 on average over the sets "
        "(goal: +20 %)."
    )


def _ablation(results: Sequence[dict[str, Any]], table: Table) -> str:
    names = list(
        dict.fromkeys(name for row in results for name in row["changes"] if name.startswith("without "))
    )
    rows, idle = [], []
    for name in names:
        changes = [row["changes"].get(name) for row in results]
        if any(map(_moved, changes)):
            rows.append((name, *map(_change, changes)))
        else:
            idle.append(name.removeprefix("without "))
    if not names:
        return ""
    head = ("change of the main measure", *(f"{row['set']} ({row['main']})" for row in results))
    note = "Bold where chance alone would hardly give it (paired sign-flip test, p < .05)."
    if idle:
        note += f" Without any effect here, mostly because they are off by default: {', '.join(idle)}."
    return (table(rows, head) + "\n\n" if rows else "") + note


def _moved(change: dict[str, Any] | None) -> bool:
    return bool(change and change["wins"] + change["losses"])


def _change(change: dict[str, Any] | None) -> str:
    if change is None:
        return ""
    mark = "**" if change["p"] < 0.05 else ""
    return f"{mark}{change['change']:+.4f}{mark}" if _moved(change) else "0"

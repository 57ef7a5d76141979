"""How ``pinakes eval`` shows what it measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pinakes.cli.figures import plural
from pinakes.cli.safe import one_line
from pinakes.evaluation.columns import shown_metrics
from pinakes.evaluation.runs import Compared, Run, SetRun, Variant
from pinakes.evaluation.significance import Difference

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

_FAILED = 3


def summary(run: Run) -> list[RenderableType]:
    """Return everything that is printed about a run."""
    lines: list[RenderableType] = []
    for one in run.sets:
        lines += ["", *_set(one)]
    if run.comparison:
        lines += ["", *_comparison(run)]
    return lines[1:]


def _set(one: SetRun) -> Iterable[RenderableType]:
    from rich.text import Text

    yield Text(one_line(one.name), style="bold").append(
        f"  {one.kind} · {plural(one.documents, 'document')}, {plural(one.chunks, 'chunk')}, "
        f"{plural(one.questions, 'question')}",
        style="dim",
    )
    for failure in one.failed[:_FAILED]:
        yield Text(f"  could not be read: {one_line(failure)}", style="red")
    if len(one.failed) > _FAILED:
        yield Text(f"  and {len(one.failed) - _FAILED:,} more", style="red")
    if one.without_answer:
        yield Text(f"  left out, without an answer: {plural(one.without_answer, 'question')}", style="yellow")
    yield _values(one, one.plain)
    if one.differences:
        first = one.variants[0].name
        yield Text(f"{one.main} against {first}", style="dim")
        moved = [(name, change) for name, change in one.differences.items() if change.moved]
        if moved:
            yield _changes(moved, "variant")
        if len(moved) < len(one.differences):
            same = ", ".join(name for name, change in one.differences.items() if not change.moved)
            yield Text(f"no question changes: {same}", style="dim")
    yield from _confidence(one.variants[0])


def _confidence(variant: Variant) -> Iterable[Text]:
    from rich.text import Text

    if variant.calibration:
        yield Text(
            f"confidence is off by {variant.calibration.error:.3f} on average (0 would be perfect)",
            style="dim",
        )
    if variant.offtopic:
        stray = variant.offtopic
        apart = (
            f"; told apart from right answers in {stray.told_apart:.0%}"
            if stray.told_apart is not None
            else ""
        )
        yield Text(
            f"{plural(stray.questions, 'off-topic question')}: confidence {stray.confidence:.2f} on average, "
            f"above 0.5 in {stray.above_half:.0%}{apart}",
            style="dim",
        )


def _values(one: SetRun, variants: Sequence[Variant]) -> Table:
    metrics = shown_metrics(one.kind)
    table = _table("mode", *metrics, "p50 ms", "p95 ms")
    for variant in variants:
        latency = variant.metrics["latency_ms"]
        values = [
            _value(f"{variant.metrics[name]:.4f}", strong=name == one.main and variant is one.variants[0])
            for name in metrics
        ]
        table.add_row(variant.name, *values, f"{latency['p50']:.1f}", f"{latency['p95']:.1f}")
        groups = variant.groups if variant is one.variants[0] else {}
        for group, figures in groups.items():
            cells = [f"{figures[name]:.4f}" for name in metrics]
            table.add_row(f"  {one_line(group)} ({figures['questions']:,})", *cells, style="dim")
    return table


def _comparison(run: Run) -> Iterable[RenderableType]:
    from rich.text import Text

    yield Text(f"Compared with {one_line(run.compared_with)}", style="bold")
    yield _changes(
        [
            (f"{compared.set}, {compared.variant}", compared.differences[name])
            for compared in run.comparison
            for name in _compared(compared)
        ],
        "set, mode",
        metric=True,
    )
    for compared in run.comparison:
        if compared.only_before or compared.only_now:
            yield Text(
                f"{compared.set}, {compared.variant}: compared on the questions of both; "
                f"{compared.only_before:,} were only asked before, {compared.only_now:,} only now",
                style="yellow",
            )


def _compared(compared: Compared) -> list[str]:
    """The main measure, and those that changed for sure."""
    return [
        name
        for name, change in compared.differences.items()
        if name == compared.main or (change.significant and change.change)
    ]


def _changes(rows: Sequence[tuple[str, Difference]], what: str, *, metric: bool = False) -> Table:
    values = ("measure", "before", "now") if metric else ("value",)
    table = _table(what, *values, "change", "95 % interval", "p", "better/worse/same")
    for name, change in rows:
        style = ("green" if change.change > 0 else "red") if change.significant and change.change else ""
        now = f"{change.after:.4f}"
        table.add_row(
            one_line(name),
            *((change.metric, f"{change.before:.4f}", now) if metric else (now,)),
            _value(f"{change.change:+.4f}", style=style),
            f"{change.low:+.3f} to {change.high:+.3f}",
            f"{change.p:.3f}" if change.p >= 0.001 else "<.001",
            f"{change.wins} / {change.losses} / {change.ties}",
        )
    return table


def _table(first: str, *columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(first, overflow="fold")
    for column in columns:
        table.add_column(column, justify="left" if column == "measure" else "right", no_wrap=True)
    return table


def _value(text: str, *, style: str = "", strong: bool = False) -> Text:
    from rich.text import Text

    return Text(text, style="bold" if strong else style)

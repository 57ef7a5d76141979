"""``loccit eval``: measure how good the answers are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loccit.cli.errors import SOME_FAILED
from loccit.cli.options import JsonOption
from loccit.cli.output import message, one_line, plural, print_json, show
from loccit.errors import UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from loccit.cli.progress import Silent
    from loccit.evaluation.runs import Compared, Run, SetRun, Variant
    from loccit.evaluation.significance import Difference
    from loccit.model import Progress

COMPARE = "What to compare"
OUTPUT = "Output"
CACHE = "Indexes"
_FAILED = 3


def evaluate(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR", help="Folders with evaluation sets.", show_default=False)
    ],
    mode: Annotated[
        list[str] | None,
        typer.Option(
            "--mode",
            "-m",
            metavar="MODE",
            help="hybrid (the default), semantic, keyword, exact, or all. May be repeated.",
            rich_help_panel=COMPARE,
        ),
    ] = None,
    ablate: Annotated[
        bool,
        typer.Option(
            "--ablate",
            help="Switch off each stage in turn, and run each mode by itself.",
            rich_help_panel=COMPARE,
        ),
    ] = False,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            "-s",
            metavar="NAME=VALUE",
            help="Change a setting; loccit config settings lists them. May be repeated.",
            rich_help_panel=COMPARE,
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare",
            metavar="RUN.json",
            help="Compare with a saved run.",
            rich_help_panel=COMPARE,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", "-n", min=1, metavar="N", help="Use this many questions of each set, evenly spaced."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="RUN.json", help="Save the run, to compare with later.", rich_help_panel=OUTPUT
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE.html", help="Write an HTML report.", rich_help_panel=OUTPUT),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show no progress.", rich_help_panel=OUTPUT)
    ] = False,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache",
            metavar="DIR",
            help="Keep the indexes of the sets here; by default in ~/.cache/loccit/eval.",
            rich_help_panel=CACHE,
        ),
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Keep nothing.", rich_help_panel=CACHE)
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure search quality on questions with known answers.

    A set of your own is a folder with docs/, queries.jsonl (id, text) and qrels.tsv (query-id, corpus-id,
    score; with a header line), where corpus-id is a path below docs/, or path#section_id.

    [bold]Examples[/bold]
    $ loccit eval my-questions/ --mode all
    $ loccit eval my-questions/ --out before.json
    $ loccit eval my-questions/ --set fusion=rrf --compare before.json --report change.html
    """
    from loccit.config.overrides import parse_settings
    from loccit.evaluation import compare_runs, load_run, run, save_run
    from loccit.evaluation.cache import default_folder

    if cache is not None and no_cache:
        raise UsageError("Give --cache or --no-cache, not both.")
    for target in (out, report):
        # Known before the work is done, not after.
        if target is not None and (target.is_dir() or not target.absolute().parent.is_dir()):
            raise UsageError(
                f"{target} cannot be written: its folder does not exist, or it is a folder itself."
            )
    settings = parse_settings(setting or ())
    before = load_run(compare) if compare else None
    with _Phases(quiet) as progress:
        done = run.evaluate(
            folders,
            modes=mode or (),
            ablate=ablate,
            limit=limit,
            settings=settings,
            cache=None if no_cache else cache or default_folder(),
            progress=progress,
        )
    if before is not None:
        where = str(compare)
        done = replace(done, compared_with=where, comparison=compare_runs(before, done, where))
    if out:
        save_run(done, out)
    if report:
        from loccit.evaluation.report_html import write_report

        write_report(done, report, before)
    if as_json:
        print_json(done.to_dict())
    else:
        show(*_summary(done))
    for target in (out, report):
        if target:
            message(f"Wrote {target}")
    if any(one.failed for one in done.sets):
        raise typer.Exit(SOME_FAILED)


class _Phases(ExitStack):
    """Shows one phase at a time: a set is read, embedded, and asked in several ways, and then the next one is."""

    def __init__(self, quiet: bool) -> None:
        super().__init__()
        self._quiet = quiet
        self._phase = ""
        self._reporter: Silent | None = None

    def __call__(self, step: Progress) -> None:
        """Take note of a step."""
        from loccit.cli.progress import reporter

        phase = f"{step.stage} {step.item if step.stage == 'ask' else ''}"
        if phase != self._phase or self._reporter is None:
            self.close()
            self._phase, self._reporter = phase, self.enter_context(reporter(self._quiet))
        self._reporter(step)


def _summary(run: Run) -> list[RenderableType]:
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
        yield Text(
            f"  skipped, because they have no answer: {plural(one.without_answer, 'question')}",
            style="yellow",
        )
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
    from loccit.evaluation.metrics import shown_metrics

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
                f"{compared.set}, {compared.variant}: compared on their common questions; "
                f"{compared.only_before:,} are only in the old run, {compared.only_now:,} only in the new one",
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

"""``pinakes eval``: measure how good the answers are."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated

import typer

from pinakes.cli.errors import SOME_FAILED
from pinakes.cli.options import JsonOption
from pinakes.cli.output import message, print_json, show
from pinakes.errors import UsageError

if TYPE_CHECKING:
    from pinakes.cli.progress import Silent
    from pinakes.model import Progress

COMPARE = "What to compare"
OUTPUT = "Output"
CACHE = "Indexes"


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
            help="Switch each stage off in turn, and ask in each mode alone.",
            rich_help_panel=COMPARE,
        ),
    ] = False,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            "-s",
            metavar="NAME=VALUE",
            help="Use another setting than the default; pinakes config settings lists them. May be repeated.",
            rich_help_panel=COMPARE,
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            "--compare",
            metavar="RUN.json",
            help="Compare with a run that was saved.",
            rich_help_panel=COMPARE,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", "-n", min=1, metavar="N", help="Ask so many questions of each set, spread evenly."
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
        typer.Option(
            "--report", metavar="FILE.html", help="Write a report to look at.", rich_help_panel=OUTPUT
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Show no progress.", rich_help_panel=OUTPUT)
    ] = False,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache",
            metavar="DIR",
            help="Keep the indexes of the sets here; by default in ~/.cache/pinakes/eval.",
            rich_help_panel=CACHE,
        ),
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Keep nothing.", rich_help_panel=CACHE)
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure how good the answers are, on questions with known answers.

    A set of your own is a folder with docs/, queries.jsonl (id, text) and qrels.tsv (query-id, corpus-id,
    score; with a header line), where corpus-id is a path below docs/, or path#section_id.

    [bold]Examples[/bold]
    $ pinakes eval my-questions/ --mode all
    $ pinakes eval my-questions/ --out before.json
    $ pinakes eval my-questions/ --set fusion=rrf --compare before.json --report change.html
    """
    from pinakes.config.overrides import parse_settings
    from pinakes.evaluation import compare_runs, load_run, run, save_run
    from pinakes.evaluation.cache import default_folder

    if cache is not None and no_cache:
        raise UsageError("Give --cache or --no-cache, not both.")
    for target in (out, report):
        # Known before the work is done, not after.
        if target is not None and (target.is_dir() or not target.absolute().parent.is_dir()):
            raise UsageError(f"{target} cannot be written: there is no such folder, or it is one.")
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
        from pinakes.evaluation.report_html import write_report

        write_report(done, report, before)
    if as_json:
        print_json(done.to_dict())
    else:
        from pinakes.cli.eval_text import summary

        show(*summary(done))
    for target in (out, report):
        if target:
            message(f"Written: {target}")
    if any(one.failed for one in done.sets):
        raise typer.Exit(SOME_FAILED)


class _Phases:
    """Shows one phase at a time: a set is read, embedded, and asked in several ways, and then the next one is."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._phase = ""
        self._shown = ExitStack()
        self._reporter: Silent | None = None

    def __enter__(self) -> _Phases:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shown.close()

    def __call__(self, step: Progress) -> None:
        """Take note of a step."""
        from pinakes.cli.progress import reporter

        phase = f"{step.stage} {step.item if step.stage == 'ask' else ''}"
        if phase != self._phase or self._reporter is None:
            self._shown.close()
            self._phase, self._reporter = phase, self._shown.enter_context(reporter(self._quiet))
        self._reporter(step)

"""``loccit index``: read documents into the index."""

from __future__ import annotations

import glob
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loccit.cli.database import (
    CollectionOption,
    ConnectionEnvOption,
    ConnectionOption,
    DatabaseOption,
    NativeOption,
    SettingsOption,
    given_database,
)
from loccit.cli.errors import SOME_FAILED
from loccit.cli.folder import FOLDER, index_path
from loccit.cli.options import IndexOption, JsonOption, QuietOption, setting_option
from loccit.cli.output import display_path, duration, message, one_line, plural, print_json, show, size
from loccit.errors import UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from loccit.config.settings import IndexSettings, Settings
    from loccit.model import IndexReport
    from loccit.model.report import ContextEstimate

CHUNKING = "Chunks and vectors"
SCANS = "Scanned pages"
CONTEXTS = "Contexts by a language model"
_NAMED = 5
_OFF = ("", "none", "off")
_NO_MODEL = "Name the model to estimate for, as in: --context-model anthropic:claude-haiku-5-5"


def index(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="PATH", help="Files and folders; without any, those indexed before."),
    ] = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Read every document again.")] = False,
    retry_failed: Annotated[
        bool,
        typer.Option("--retry-failed", help="Try failed documents again, even if they have not changed."),
    ] = False,
    embed: Annotated[
        bool,
        typer.Option(
            "--embed/--no-embed", help="Compute vectors now, or leave semantic search to a later run."
        ),
    ] = True,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            "-w",
            min=1,
            metavar="N",
            help="How many files to read in parallel; with a database, how many processes read, embed and publish.",
        ),
    ] = None,
    wait: Annotated[
        bool,
        typer.Option("--wait/--no-wait", help="If another process is writing: wait, or exit with an error."),
    ] = True,
    strategy: Annotated[
        str | None, setting_option("chunking_strategy", "--strategy", metavar="NAME", panel=CHUNKING)
    ] = None,
    max_tokens: Annotated[
        int | None, setting_option("max_chunk_tokens", "--max-tokens", metavar="N", panel=CHUNKING)
    ] = None,
    overlap: Annotated[
        int | None, setting_option("chunk_overlap", "--overlap", metavar="N", panel=CHUNKING)
    ] = None,
    context: Annotated[
        bool | None, setting_option("contextual_embeddings", "--context/--no-context", panel=CHUNKING)
    ] = None,
    model: Annotated[
        str | None, setting_option("embedding_model", "--model", metavar="NAME", panel=CHUNKING)
    ] = None,
    offline: Annotated[
        bool,
        typer.Option(
            "--offline",
            help="Download no model: one that is not on this machine is an error.",
            rich_help_panel=CHUNKING,
        ),
    ] = False,
    concepts: Annotated[
        bool | None, setting_option("concept_vocabulary", "--concepts/--no-concepts", panel=CHUNKING)
    ] = None,
    ocr: Annotated[str | None, setting_option("ocr", "--ocr", metavar="WHICH", panel=SCANS)] = None,
    ocr_languages: Annotated[
        str | None, setting_option("ocr_languages", "--ocr-languages", metavar="NAMES", panel=SCANS)
    ] = None,
    ocr_max_pages: Annotated[
        int | None, setting_option("ocr_max_pages", "--ocr-max-pages", metavar="N", panel=SCANS)
    ] = None,
    context_model: Annotated[
        str | None,
        setting_option(
            "context_model", "--context-model", metavar="NAME", panel=CONTEXTS, more="none turns it off."
        ),
    ] = None,
    context_tokens: Annotated[
        int | None, setting_option("context_max_tokens", "--context-tokens", metavar="N", panel=CONTEXTS)
    ] = None,
    context_window: Annotated[
        int | None, setting_option("context_window_tokens", "--context-window", metavar="N", panel=CONTEXTS)
    ] = None,
    context_concurrency: Annotated[
        int | None,
        setting_option("context_concurrency", "--context-concurrency", metavar="N", panel=CONTEXTS),
    ] = None,
    max_cost: Annotated[
        float | None, setting_option("context_max_cost", "--max-cost", metavar="DOLLARS", panel=CONTEXTS)
    ] = None,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Read what is new, estimate the cost of contexts, and send nothing.",
            rich_help_panel=CONTEXTS,
        ),
    ] = False,
    database: DatabaseOption = None,
    connection: ConnectionOption = None,
    connection_env: ConnectionEnvOption = None,
    collection: CollectionOption = None,
    native: NativeOption = None,
    options: SettingsOption = None,
    runner: Annotated[
        str | None,
        typer.Option(
            "--runner",
            metavar="NAME",
            help="Where --workers run: local (processes here) or ray (a cluster).",
            rich_help_panel="Database",
        ),
    ] = None,
    group: Annotated[
        bool,
        typer.Option(
            "--group", help="Let your group read and write the index; by default it is private to you."
        ),
    ] = False,
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Keep running, and index again whenever something changes; stop with Ctrl-C."
        ),
    ] = False,
    quiet: QuietOption = False,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read documents into the index, and keep it up to date.

    Only new and changed files are read. Without an index here or above, one is created in ./.loccit.
    An interrupted run resumes where it stopped. The index stores the settings for chunks and vectors;
    changing one re-reads every document.
    With [cyan]--watch --json[/cyan], standard output has one line of JSON for each run that changed something.

    [bold]Examples[/bold]
    $ loccit index docs/ contracts/lease.docx
    $ loccit index
    $ loccit index notes/ --index ~/notes.loccit --no-embed
    $ loccit index scans/ --ocr-languages eng,deu
    $ loccit index docs/ --watch
    $ loccit index texte/ --model multilingual
    $ loccit index --context-model anthropic:claude-haiku-5-5 --estimate
    $ loccit index docs/ --database postgres --collection laws
    $ loccit index docs/ --workers 8 --runner ray
    """
    from loccit.cli.progress import reporter
    from loccit.cli.status import failure_lines
    from loccit.library import Library

    target = index_path(index) or Path(FOLDER)
    if not target.exists():
        _refuse_missing(paths, database)
    elif _renewed(target):
        message(f"The index at {target} is of an older version of Loccit: its files are read again.")
    held_by = given_database(
        target,
        database,
        connection=connection,
        connection_env=connection_env,
        collection=collection,
        native=native,
        options=options,
    )
    chunking = {
        "chunking_strategy": strategy,
        "max_chunk_tokens": max_tokens,
        "chunk_overlap": overlap,
        "contextual_embeddings": context,
        "embedding_model": model,
        "concept_vocabulary": concepts,
        "ocr": ocr,
        "ocr_languages": ocr_languages,
        "ocr_max_pages": ocr_max_pages,
    }
    contexts = {
        "context_model": context_model if estimate else _model_name(context_model),
        "context_max_tokens": context_tokens,
        "context_window_tokens": context_window,
        "context_concurrency": context_concurrency,
        "context_max_cost": max_cost,
    }
    if estimate and watch:
        raise UsageError("--estimate runs once and --watch keeps running; give only one.")
    if estimate and not context_model and not target.exists():
        raise UsageError(_NO_MODEL)
    # What is only estimated must not be what the next run does.
    settings = _settings(target, chunking if estimate else {**chunking, **contexts})
    if model is not None:
        _provide(model, target, rebuild=rebuild, offline=offline, quiet=quiet)
    how: dict[str, Any] = {
        "rebuild": rebuild,
        "retry_failed": retry_failed,
        "workers": workers,
        "runner": runner or "",
        "wait": wait,
        "on_wait": lambda holder: message(f"Waiting for another process to finish writing: {holder}"),
        "embed": embed and not estimate,
    }
    if watch:
        from loccit.cli.watching import keep_current

        with Library(target, settings=settings, database=held_by) as library:
            if group:
                library.share_with_group()
            show_run = partial(_summary, target=target)
            keep_current(library, paths, quiet=quiet, as_json=as_json, summary=show_run, **how)
        return
    with (
        Library(target, settings=settings, database=held_by) as library,
        reporter(quiet) as progress,
    ):
        if group:
            library.share_with_group()
        wanted = _with(library.index_settings, contexts)
        if estimate and wanted.context_model in _OFF:
            raise UsageError(_NO_MODEL)
        report = library.index(paths or None, progress=progress, **how)
        expected = library.estimate_contexts(wanted) if estimate else None
    if expected is not None:
        if as_json:
            print_json(expected.to_dict())
        else:
            show(*_estimate_lines(expected), *failure_lines(report.failed))
    elif as_json:
        print_json(report.to_dict())
    else:
        show(*_summary(report, target))
    if report.failed:
        raise typer.Exit(SOME_FAILED)


def _renewed(target: Path) -> bool:
    from loccit.index.folder.rebuild import renew

    return renew(target)


def _refuse_missing(paths: list[Path] | None, database: str | None) -> None:
    """Refuse what cannot be indexed before a folder for the index is made."""
    if not paths and database:
        raise UsageError(
            f"Name what to index: loccit index PATH --database {database}. To use a library that is already in the "
            f"database: loccit connect {database}"
        )
    if not paths:
        raise UsageError("There is no index yet. Create one with: loccit index PATH")
    for path in paths:
        if not os.path.lexists(path.expanduser()) and not glob.has_magic(str(path)):
            raise UsageError(f"There is no file or folder {str(path)!r}.")


def _settings(target: Path, given: dict[str, Any]) -> Settings | None:
    """Return the settings of the index with those that were given put in; None when none were."""
    if all(value is None for value in given.values()):
        return None
    from loccit.config.settings import IndexSettings, Settings
    from loccit.library import Library

    known = IndexSettings()
    if (target / "record.sqlite3").exists():
        with Library(target) as library:
            known = library.index_settings
    return Settings(index=_with(known, given))


def _provide(model: str, target: Path, *, rebuild: bool, offline: bool, quiet: bool) -> None:
    """Fetch a model of the hub that is not on this machine, once it is clear that the index can take it."""
    from loccit.cli.progress import reporter
    from loccit.errors import ModelMismatchError
    from loccit.library import Library
    from loccit.model import Progress
    from loccit.models.embedding import load_embedder
    from loccit.models.embedding.hub import cached_folder, not_here, plan_download
    from loccit.models.embedding.registry import hub_name

    name = hub_name(model)
    if name is None or cached_folder(name) is not None:
        return
    if not rebuild and (target / "record.sqlite3").exists():
        with Library(target) as library:
            known = library.status().model
        if known and known != name:
            raise ModelMismatchError(
                f"The index at {target} was made with the embedding model {known}, not with {name}. Nothing was "
                f"downloaded. Use that model, or rebuild the index with: loccit index --rebuild --model {model}"
            )
    if offline:
        raise not_here(
            name, "--offline forbids downloading it. Leave that out, or name a folder: --model FOLDER."
        )
    download = plan_download(name)
    message(
        f"Downloading {name}: {plural(len(download.files), 'file')}, {size(download.size)}, from {download.source} "
        f"into {display_path(str(download.target))}"
    )
    with reporter(quiet) as progress:
        download.run(lambda done, total: progress(Progress("fetch", -(-done // 10**6), -(-total // 10**6))))
    # Files that do not belong together are found before anything is read.
    load_embedder(model).embed_query("a")


def _with(settings: IndexSettings, given: dict[str, Any]) -> IndexSettings:
    return replace(settings, **{name: value for name, value in given.items() if value is not None})


def _summary(report: IndexReport, target: Path) -> list[RenderableType]:
    from rich.text import Text

    from loccit.cli.status import failure_lines
    from loccit.ingest.discover import skipped_line

    counts = [
        (len(report.added), "added", "green"),
        (len(report.updated), "updated", "green"),
        (len(report.renamed), "renamed", "green"),
        (len(report.removed), "removed", "yellow"),
        (report.unchanged, "unchanged", "dim"),
        (len(report.failed), "failed", "bold red"),
    ]
    line = Text()
    for count, name, style in counts:
        if count:
            line.append(", " if line else "").append(f"{count:,} {name}", style=style)
    if not line:
        line.append("No readable documents found", style="yellow")
    if report.chunks:
        line.append(f" · {plural(report.chunks, 'chunk')}")
    if report.embedded:
        line.append(f" · {plural(report.embedded, 'passage')} embedded")
    line.append(f" · {duration(report.seconds)}")
    lines: list[RenderableType] = [line.append(f" · {display_path(str(target))}", style="dim")]
    lines += _report_lines(report)
    if said := skipped_line(report.skipped):
        lines.append(Text(said, style="dim"))
    lines += [Text(f"  {display_path(old)} → {display_path(new)}") for old, new in report.renamed[:_NAMED]]
    lines += [Text(f"  removed {display_path(gone)}", style="dim") for gone in report.removed[:_NAMED]]
    lines += failure_lines(report.failed)
    lines += [Text(f"warning: {one_line(warning)}", style="yellow") for warning in report.warnings]
    return lines


def _model_name(given: str | None) -> str | None:
    """Return the model that an option names, empty for none; one that cannot be is refused before any work is done."""
    if given is None or given.strip().lower() in _OFF:
        return None if given is None else ""
    from loccit.models.llm import load_model

    load_model(given)
    return given.strip()


def _estimate_lines(estimate: ContextEstimate) -> list[RenderableType]:
    """Return what an estimate says, in words."""
    from rich.text import Text

    if not estimate.chunks:
        return [Text(f"Every chunk has its context from {estimate.model}.")]
    known = estimate.chunks - estimate.calls
    wanting = f"{plural(estimate.chunks, 'chunk')} of {plural(estimate.documents, 'document')} need a context"
    if known:
        wanting += f", {known:,} of which reuse a stored one or share one"
    line = f"{plural(estimate.calls, 'prompt')} · {estimate.input_tokens:,} tokens in"
    line += _cached(estimate.input_tokens, estimate.cached_tokens)
    line += f" · at most {estimate.output_tokens:,} out{_dollars(estimate.dollars)}"
    return [Text(f"{wanting}."), Text(f"{estimate.model}: {line}"), Text("Nothing was sent.", style="dim")]


def _report_lines(report: IndexReport) -> list[RenderableType]:
    """Return what the contexts of a run took, if there were any."""
    from rich.text import Text

    if not report.contexts and not report.context_calls:
        return []
    line = f"  {plural(report.contexts, 'context')}"
    if report.context_calls:
        line += f" · {plural(report.context_calls, 'prompt')} · {report.context_input_tokens:,} tokens in"
        line += _cached(report.context_input_tokens, report.context_cached_tokens)
        line += f" · {report.context_output_tokens:,} out{_dollars(report.context_dollars)}"
    else:
        line += ", all reused"
    return [Text(line)]


def _cached(tokens: int, cached: int) -> str:
    return f" ({100 * cached // tokens} % from the cache)" if cached else ""


def _dollars(dollars: float | None) -> str:
    if dollars is None:
        return ""
    return f" · about ${dollars:,.2f}" if dollars >= 0.01 else " · less than $0.01"

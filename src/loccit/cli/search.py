"""``loccit search``: find passages."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import typer

from loccit.cli.errors import NOTHING_FOUND
from loccit.cli.options import IndexOption, JsonOption, meant, open_library, setting_option
from loccit.cli.output import display_path, message, print_json, safe, show
from loccit.config.bounds import LONGEST_TEXT
from loccit.errors import UsageError

if TYPE_CHECKING:
    from loccit.config import Settings

FILTERS = "Filters"
RANKING = "Ranking"
OUTPUT = "Output"


class Format(str, Enum):
    """How results are printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LLM = "llm"
    PATHS = "paths"


def search(
    words: Annotated[
        list[str],
        typer.Argument(metavar="QUERY", help="What to look for; - reads it from standard input."),
    ],
    mode: Annotated[str | None, setting_option("search_mode", "--mode", "-m", metavar="MODE")] = None,
    top_k: Annotated[int | None, setting_option("top_k", "--top-k", "-k", metavar="N")] = None,
    min_score: Annotated[float | None, setting_option("min_score", "--min-score", metavar="S")] = None,
    token_budget: Annotated[
        int | None, typer.Option("--token-budget", metavar="N", help="Limit the answer to this many tokens.")
    ] = None,
    offset: Annotated[
        int,
        typer.Option(
            "--offset",
            min=0,
            metavar="N",
            help="Skip this many results, to continue after those already shown.",
        ),
    ] = 0,
    filter_: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            "-f",
            metavar="KEY=VALUE",
            help="Only documents with this value in their frontmatter. Repeat a key to allow several values.",
            rich_help_panel=FILTERS,
        ),
    ] = None,
    path: Annotated[
        list[str] | None,
        typer.Option(
            "--path",
            "-p",
            metavar="GLOB",
            help="Only in this folder, or matching this pattern.",
            rich_help_panel=FILTERS,
        ),
    ] = None,
    type_: Annotated[
        list[str] | None,
        typer.Option(
            "--type", "-t", metavar="EXT", help="Only this type of file: pdf, md, …", rich_help_panel=FILTERS
        ),
    ] = None,
    language: Annotated[
        list[str] | None,
        typer.Option(
            "--language", "-l", metavar="CODE", help="Only this language: en, de, …", rich_help_panel=FILTERS
        ),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            "--after", metavar="DATE", help="Only documents of this date or later.", rich_help_panel=FILTERS
        ),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(
            "--before", metavar="DATE", help="Only documents from before this date.", rich_help_panel=FILTERS
        ),
    ] = None,
    reranker: Annotated[
        str | None,
        typer.Option(
            "--reranker",
            metavar="NAME",
            help="Let a reranker reorder the top results: a folder, org/name, cohere:…, jina:…, tei:URL, llm:….",
            rich_help_panel=RANKING,
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Change a search setting for this query, as in mmr_enabled=true or disabled=graph,smoothing; "
            "loccit config settings lists them.",
            rich_help_panel=RANKING,
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Show whole passages, as they are written.", rich_help_panel=OUTPUT)
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Show how each result was found, and how long it took.", rich_help_panel=OUTPUT
        ),
    ] = False,
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="STAGE",
            help="Stop after a stage, and show the results so far: understand, retrieve, fuse, hierarchy, smoothing, "
            "graph, recency, rank, select or present.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    format_: Annotated[
        Format,
        typer.Option(
            "--format",
            "-o",
            metavar="FORMAT",
            help="text; markdown, to paste into notes; llm, for a model to read and cite; paths, for other programs.",
            rich_help_panel=OUTPUT,
        ),
    ] = Format.TEXT,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find passages by meaning, by keyword and by exact reference at once.

    Quotes around the query are not needed. Quotes [italic]inside[/italic] it search for an exact phrase; -word excludes
    passages with the word, and field:value searches only documents with that value (type:pdf, tags:runbook).

    [bold]Examples[/bold]
    $ loccit search who must report a collision, and how soon
    $ loccit search Section 306(b)
    $ loccit search '"dangerous cargo" tank' --type md -k 3
    $ loccit search on-call --filter tags=runbook --after 2025-01-01
    $ echo "warranty period" | loccit search - --format llm --token-budget 2000
    """
    query = _query(words)
    filters = _filters(filter_ or (), path, type_, language, after, before)
    with open_library(index) as library:
        library.settings = _settings(library.settings, set_ or (), reranker)
        response = library.search(
            query,
            top_k=top_k,
            mode=mode,
            filters=filters or None,
            min_score=min_score,
            token_budget=token_budget,
            offset=offset,
            explain=explain,
            until=until,
        )
    if as_json:
        print_json(response.to_dict())
    elif until not in (None, "present"):
        from loccit.cli.search_explain import unfinished

        show(*unfinished(response))
    elif not response.results:
        message(response.note or "Nothing found.")
    elif format_ is Format.TEXT:
        from loccit.cli.search_text import show_response

        show_response(response, full=full)
    elif format_ is Format.MARKDOWN:
        from loccit.cli.search_text import as_markdown

        typer.echo(as_markdown(response))
    elif format_ is Format.LLM:
        typer.echo(safe(response.format()))
    else:
        for line in dict.fromkeys(display_path(result.source_path) for result in response.results):
            show(line)
    if not response.results and until in (None, "present"):
        raise typer.Exit(NOTHING_FOUND)


def _query(words: list[str]) -> str:
    if words != ["-"]:
        return " ".join(words)
    if sys.stdin.isatty():
        message("Type the query; end with Ctrl-D.")
    return sys.stdin.read(LONGEST_TEXT + 1)


def _settings(settings: Settings, pairs: Iterable[str], reranker: str | None) -> Settings:
    """Put in what was given for this query."""
    from loccit.config.overrides import changed_search

    changed = changed_search(settings.search, pairs)
    if reranker is not None:
        changed = replace(changed, rerank_model=reranker, rerank_enabled=True)
    return replace(settings, search=changed)


def _filters(
    pairs: Iterable[str],
    path: list[str] | None,
    type_: list[str] | None,
    language: list[str] | None,
    after: str | None,
    before: str | None,
) -> dict[str, object]:
    several: dict[str, list[str]] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise UsageError(f"A filter is KEY=VALUE, as in tags=runbook, not {pair!r}.")
        several.setdefault(key.strip(), []).append(value.strip())
    for key, values in (
        ("path", [meant(item) for item in path or ()]),
        ("type", type_),
        ("language", language),
    ):
        several.setdefault(key, []).extend(values or ())
    filters: dict[str, object] = {key: values for key, values in several.items() if values}
    filters.update({key: value for key, value in (("after", after), ("before", before)) if value is not None})
    return filters

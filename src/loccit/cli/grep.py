"""``loccit grep``: every place where something is written."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from loccit.cli.errors import NOTHING_FOUND
from loccit.cli.options import DocumentOption, IndexOption, JsonOption, meant, open_library
from loccit.cli.output import display_path, message, one_line, print_json, show
from loccit.config.bounds import MOST_HITS
from loccit.errors import UsageError


def grep(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="PATTERN", help="A phrase; line breaks, case and kinds of quotes do not matter."
        ),
    ],
    regex: Annotated[
        bool, typer.Option("--regex", "-E", help="A regular expression, in RE2 syntax.")
    ] = False,
    all_words: Annotated[
        bool, typer.Option("--words", "-w", help="All of these words in one paragraph, in any order.")
    ] = False,
    match_case: Annotated[bool, typer.Option("--match-case", "-c", help="Match case.")] = False,
    document: DocumentOption = None,
    filter_: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            "-f",
            metavar="KEY=VALUE",
            help="Only matching documents: tags=runbook, path=docs, type=pdf, language=en, after=2025-01-01.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=MOST_HITS, metavar="N", help="Show at most this many.")
    ] = 100,
    cursor: Annotated[
        str | None,
        typer.Option(
            "--cursor",
            metavar="CURSOR",
            help="Continue where the previous answer ended; it prints the cursor.",
        ),
    ] = None,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """List every occurrence of a phrase, of several words together, or of a regular expression.

    Unlike search, which shows the best passages, this lists all of them, by document and line, and counts them.

    [bold]Examples[/bold]
    $ loccit grep personal data breach
    $ loccit grep --words Harbour Master shall
    $ loccit grep --regex '[0-9]+ (working )?days' --document harbour-safety-act.md
    """
    if regex and all_words:
        raise UsageError("Give --regex or --words, not both.")
    filters = _filters(filter_ or [])
    with open_library(index) as library:
        found = library.find_all(
            " ".join(words),
            kind="regex" if regex else "words" if all_words else "phrase",
            filters=filters or None,
            document=None if document is None else meant(document),
            limit=limit,
            cursor=cursor,
            ignore_case=not match_case,
        )
    if as_json:
        print_json(found.to_dict())
    else:
        from loccit.search.verbatim.render import found_lines

        *lines, counted = found_lines(found, display_path)
        show(*map(one_line, lines))
        sys.stdout.flush()  # so that the count comes last
        message(counted)
        if found.cursor:
            message(f"Continue with: --cursor {found.cursor}")
    if not found.hits:
        raise typer.Exit(NOTHING_FOUND)


def _filters(pairs: list[str]) -> dict[str, object]:
    several: dict[str, list[str]] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise UsageError(f"A filter is KEY=VALUE, as in tags=runbook, not {pair!r}.")
        several.setdefault(key.strip(), []).append(value.strip())
    # A date is one, not a list.
    return {key: values[0] if len(values) == 1 else values for key, values in several.items()}

"""``loccit verify``: whether the quotations of a text are what the documents say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from loccit.cli.errors import NOTHING_FOUND, SOME_FAILED
from loccit.cli.options import DocumentOption, IndexOption, JsonOption, meant, open_library
from loccit.cli.output import display_path, message, one_line, print_json, show
from loccit.config.bounds import LONGEST_DRAFT
from loccit.errors import UsageError


def verify(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A file of any type that can be indexed; - for standard input."),
    ],
    document: DocumentOption = None,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check the quotations of a file against the documents.

    Looks up everything of three words or more in quotation marks or block quotes. Line breaks, kinds of quotes, case,
    ellipses and [b]rackets may differ; a word, a number or a "not" may not. What is cited beside a quotation, such as
    (act.md, Section 2) or p. 4, is checked too. The exit code is 3 if any quotation is altered, absent or not in the
    cited place, and 4 if there is none at all.

    [bold]Examples[/bold]
    $ loccit verify answer.md
    $ loccit chat agent.yaml -m "When must a collision be reported?" | loccit verify -
    """
    text = _text(file)
    with open_library(index) as library:
        report = library.verify_quotes(text, document=None if document is None else meant(document))
    if as_json:
        print_json(report.to_dict())
    else:
        from loccit.search.verbatim.render import quote_lines

        for check in report.checks:
            show(*map(one_line, quote_lines(check, display_path)[:1]))
            show(*("  " + one_line(line) for line in quote_lines(check, display_path)[1:]))
        sys.stdout.flush()  # so that the count comes last
        message(f"{report.summary if report.checks else 'No quotations'}. {report.note}".strip())
    if not report.checks:
        raise typer.Exit(NOTHING_FOUND)
    if not report.ok:
        raise typer.Exit(SOME_FAILED)


def _text(file: str) -> str:
    if file == "-":
        return sys.stdin.read(LONGEST_DRAFT + 1)
    path = Path(file).expanduser()
    if not path.is_file():
        raise UsageError(f"{file} is not a file. Give one, or - for standard input.")
    from loccit.comparing import read_files
    from loccit.config import IndexSettings

    return read_files([path], IndexSettings())[0].document.text

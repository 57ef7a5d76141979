"""``loccit diff``: what changed between two documents, place by place."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loccit.cli.options import IndexOption, JsonOption, index_path, meant, open_library
from loccit.cli.output import message, one_line, print_json, show

if TYPE_CHECKING:
    from loccit.model.comparison import Comparison


def diff(
    old: Annotated[
        str,
        typer.Argument(metavar="OLD", help="A document of the library, or any file."),
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The document or file to compare it with.")],
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what was added, removed, moved, renumbered or changed between two documents or two versions of one.

    Sections and clauses are matched by their words, labels and titles, so a new section is one difference, however
    many numbers it shifts. Each difference shows both places; [-words-] were removed, {+words+} were added.

    [bold]Examples[/bold]
    $ loccit diff old/policy.md new/policy.md
    $ loccit diff agreement-2023.docx agreement-2024.docx --json
    """
    comparison = _compare(meant(old), meant(new), index)
    if as_json:
        print_json(comparison.to_dict())
        return
    from loccit.search.verbatim.render import difference_counts, difference_lines

    for difference in comparison.differences:
        first, *rest = difference_lines(difference)
        show(one_line(first), *("  " + one_line(line) for line in rest))
    sys.stdout.flush()  # so that the count comes last
    message(difference_counts(comparison))


def _compare(old: str, new: str, index: Path | None) -> Comparison:
    given = index_path(index)
    if (given is None or not given.exists()) and Path(old).is_file() and Path(new).is_file():
        # Two files can be compared where nothing is indexed.
        from loccit.comparing import compare_files

        return compare_files(Path(old), Path(new))
    with open_library(index) as library:
        return library.compare(old, new)

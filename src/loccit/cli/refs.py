"""``loccit refs``: what a section refers to, and what refers to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from loccit.cli.options import DocumentOption, IndexOption, JsonOption, open_library
from loccit.cli.output import display_path, one_line, print_json, show

if TYPE_CHECKING:
    from rich.console import RenderableType

    from loccit.model import Citation, ReferencesResponse

# What leads here from elsewhere says so only where there is doubt.
_DOUBTFUL = 0.8


def refs(
    words: Annotated[
        list[str], typer.Argument(metavar="REF", help="The section: its label, heading or id; or several.")
    ],
    document: DocumentOption = None,
    index: IndexOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what a section, or several, refer to, and what refers to them or to their parts.

    References that lead nowhere in the library are shown with the reason.

    [bold]Examples[/bold]
    $ loccit refs Section 403(b)(2)
    $ loccit refs Sections 402, 403 and 405
    $ loccit refs "Article 6" --json
    """
    with open_library(index) as library:
        answer = library.references(" ".join(words), document=document)
    if as_json:
        print_json(answer.to_dict())
        return
    for number, one in enumerate((answer, *answer.also)):
        _show(one, apart=bool(number))


def _show(answer: ReferencesResponse, *, apart: bool) -> None:
    from loccit.cli.search_text import breadcrumb

    show(
        *([""] if apart else []),
        breadcrumb(answer.section.parent_chain, answer.section.document_title),
        "",
        *_list("Refers to", answer.cites, outgoing=True),
        "",
        *_list("Referred to by", answer.cited_by, outgoing=False),
        *(
            ["", *_list("What contains it is referred to by", answer.around, outgoing=False)]
            if answer.around
            else []
        ),
        *_of_document(answer),
    )


def _of_document(answer: ReferencesResponse) -> list[RenderableType]:
    """What other documents say of the document as a whole; of a part of it, only how much that is."""
    from rich.text import Text

    title, count = "The document as a whole is referred to by", answer.document_citations
    if not count:
        return []
    if answer.document_cited_by:
        return ["", *_list(title, answer.document_cited_by, outgoing=False)]
    return ["", Text(f"{title} ({count})", style="bold")]


def _list(title: str, citations: Sequence[Citation], *, outgoing: bool) -> list[RenderableType]:
    from rich.text import Text

    from loccit.model.document import line_word
    from loccit.model.place_ids import with_place_id

    lines: list[RenderableType] = [Text(f"{title} ({len(citations)})", style="bold")]
    for citation in citations:
        reference = citation.reference
        line = Text("  ").append(one_line(reference.text), style="cyan" if reference.resolved else "yellow")
        if not outgoing:
            # The head of a document has no heading.
            place = one_line(citation.section_label or citation.heading) or "the head"
            line.append(f"  in {place}, {line_word(citation.source_path)} {citation.line}  ").append(
                f"{display_path(citation.source_path)}  [{citation.place_id}]", style="dim"
            )
        elif reference.resolved:
            target = with_place_id(reference.target_section or "the document", reference.target_place_id)
            elsewhere = reference.target_path != citation.source_path
            where = f"  {display_path(reference.target_path)}" if elsewhere else ""
            line.append(f"  {one_line(target)}{where}", style="dim")
        if reference.resolved and (outgoing or reference.sure < _DOUBTFUL):
            line.append(f"  sure: {reference.sure:.2f}", style="dim")
        if reference.reason or not reference.resolved:
            line.append(f"  {one_line(reference.reason or 'not in the library')}", style="yellow")
        lines.append(line)
    return lines if citations else [*lines, Text("  nothing", style="dim")]

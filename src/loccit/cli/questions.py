"""The commands that ask: what each request becomes on the command line, and how its answer is shown."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loccit.ask import questions as ask
from loccit.ask.request import Arg
from loccit.cli.asking import NOTHING_FOUND, Asked, Command, Extras
from loccit.cli.folder import index_path, open_library
from loccit.cli.output import display_path, message, one_line, safe, show
from loccit.config.bounds import LONGEST_DRAFT, LONGEST_TEXT
from loccit.errors import UsageError

if TYPE_CHECKING:
    from loccit.config import Settings
    from loccit.model import (
        Comparison,
        DefineResponse,
        DocumentInfo,
        FoundAll,
        ObligationsResponse,
        Outline,
        QuotesReport,
        ReferencesResponse,
        SearchResponse,
        SectionsResponse,
    )

Given = Mapping[str, Any]
SOME_FAILED = 3
EMPTY = "The index has no documents. Add some with: loccit index PATH"
RANKING = "Ranking"


class Format(str, Enum):
    """How results are printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LLM = "llm"
    PATHS = "paths"


class Search(Command):
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

    request: ClassVar[Asked] = ask.Search
    extras: ClassVar[Extras] = {
        "explain": (
            Arg(
                name="reranker",
                flags=("--reranker",),
                metavar="NAME",
                help="Let a reranker reorder the top results: a folder, org/name, cohere:…, jina:…, tei:URL, llm:….",
                panel=RANKING,
            ),
            Arg(
                name="set_",
                flags=("--set",),
                metavar="NAME=VALUE",
                help="Change a search setting for this query, as in mmr_enabled=true or disabled=graph,smoothing; "
                "loccit config settings lists them.",
                several=True,
                panel=RANKING,
            ),
            Arg(
                name="full",
                kind=bool,
                default=False,
                flags=("--full",),
                help="Show whole passages, as they are written.",
                panel=ask.OUTPUT_PANEL,
            ),
        ),
        "index": (
            Arg(
                name="format_",
                kind=Format,
                default=Format.TEXT,
                flags=("--format", "-o"),
                metavar="FORMAT",
                help="text; markdown, to paste into notes; llm, for a model to read and cite; paths, for other "
                "programs.",
                panel=ask.OUTPUT_PANEL,
            ),
        ),
    }

    def values(self, given: Given) -> dict[str, Any]:
        """Return the arguments; a query of ``-`` is read from standard input."""
        if given["query"] != ["-"]:
            return super().values(given)
        if sys.stdin.isatty():
            message("Type the query; end with Ctrl-D.")
        return super().values({**given, "query": [sys.stdin.read(LONGEST_TEXT + 1)]})

    def ask(self, request: ask.Search, given: Given) -> SearchResponse:
        """Search with the settings of this query."""
        with open_library(given["index"]) as library:
            library.settings = _settings(library.settings, given["set_"] or (), given["reranker"])
            return request.ask(library)

    def show(self, answer: SearchResponse, given: Given) -> None:
        """Show the results in the wanted format."""
        if not self._whole(given):
            from loccit.cli.search_explain import unfinished

            show(*unfinished(answer))
        elif not answer.results:
            message(answer.note or "Nothing found.")
        elif given["format_"] is Format.TEXT:
            from loccit.cli.search_text import show_response

            show_response(answer, full=given["full"])
        elif given["format_"] is Format.MARKDOWN:
            from loccit.cli.search_text import as_markdown

            print(as_markdown(answer))
        elif given["format_"] is Format.LLM:
            print(safe(answer.format()))
        else:
            for line in dict.fromkeys(display_path(result.source_path) for result in answer.results):
                show(line)

    def code(self, answer: SearchResponse, given: Given) -> int:
        """Say whether a whole search found nothing."""
        return NOTHING_FOUND if not answer.results and self._whole(given) else 0

    @staticmethod
    def _whole(given: Given) -> bool:
        return given["until"] in (None, "present")


def _settings(settings: Settings, pairs: Iterable[str], reranker: str | None) -> Settings:
    """Put in what was given for this query."""
    from loccit.config.overrides import changed_search

    changed = changed_search(settings.search, pairs)
    if reranker is not None:
        changed = replace(changed, rerank_model=reranker, rerank_enabled=True)
    return replace(settings, search=changed)


class Grep(Command):
    """List every occurrence of a phrase, of several words together, or of a regular expression.

    Unlike search, which shows the best passages, this lists all of them, by document and line, and counts them.

    [bold]Examples[/bold]
    $ loccit grep personal data breach
    $ loccit grep --words Harbour Master shall
    $ loccit grep --regex '[0-9]+ (working )?days' --document harbour-safety-act.md
    """

    request: ClassVar[Asked] = ask.FindAll

    def show(self, answer: FoundAll, given: Given) -> None:
        """Show a line a hit, and the count."""
        from loccit.answers.verbatim.render import found_lines

        *lines, counted = found_lines(answer, display_path)
        show(*map(one_line, lines))
        sys.stdout.flush()  # so that the count comes last
        message(counted)
        if answer.cursor:
            message(f"Continue with: --cursor {answer.cursor}")

    def code(self, answer: FoundAll, given: Given) -> int:
        """Say whether there is a hit."""
        return 0 if answer.hits else NOTHING_FOUND


class Section(Command):
    """Print a section, or several, by label, heading or id.

    [bold]Examples[/bold]
    $ loccit section Section 306
    $ loccit section "Article 6(1)(f)"
    $ loccit section 4.2 --document service-agreement.docx
    $ loccit section Sections 402 to 404
    $ loccit section next section after 403
    """

    request: ClassVar[Asked] = ask.Sections

    def data(self, answer: SectionsResponse) -> Any:
        """Return the only section by itself."""
        return answer.sections[0].to_dict() if answer.single else answer.to_dict()

    def show(self, answer: SectionsResponse, given: Given) -> None:
        """Show them one after the other, and what they refer to."""
        from loccit.cli.views import show_section

        for number, view in enumerate(answer.sections):
            show_section(view, apart=bool(number))
        for item in answer.cited:
            show("", f"Cited as “{one_line(item.text)}”{f': {one_line(item.reason)}' if item.reason else ''}")
            if item.section is not None:
                show_section(item.section)


class Define(Command):
    """Show how the documents define a term, and where they disagree.

    [bold]Examples[/bold]
    $ loccit define vessel
    $ loccit define personal data breach
    $ loccit define Services --document service-agreement.docx
    """

    request: ClassVar[Asked] = ask.Define

    def show(self, answer: DefineResponse, given: Given) -> None:
        """Show the definitions."""
        from loccit.cli.views import definition_lines

        show(*definition_lines(answer))

    def code(self, answer: DefineResponse, given: Given) -> int:
        """Say whether there is one."""
        return 0 if answer.definitions else NOTHING_FOUND


class Refs(Command):
    """Show what a section, or several, refer to, and what refers to them or to their parts.

    References that lead nowhere in the library are shown with the reason.

    [bold]Examples[/bold]
    $ loccit refs Section 403(b)(2)
    $ loccit refs Sections 402, 403 and 405
    $ loccit refs "Article 6" --json
    """

    request: ClassVar[Asked] = ask.References

    def show(self, answer: ReferencesResponse, given: Given) -> None:
        """Show the references of each."""
        from loccit.cli.views import show_references

        for number, one in enumerate((answer, *answer.also)):
            show_references(one, apart=bool(number))


class Verify(Command):
    """Check the quotations of a file against the documents.

    Looks up everything of three words or more in quotation marks or block quotes. Line breaks, kinds of quotes, case,
    ellipses and [b]rackets may differ; a word, a number or a "not" may not. What is cited beside a quotation, such as
    (act.md, Section 2) or p. 4, is checked too. The exit code is 3 if any quotation is altered, absent or not in the
    cited place, and 4 if there is none at all.

    [bold]Examples[/bold]
    $ loccit verify answer.md
    $ loccit chat agent.yaml -m "When must a collision be reported?" | loccit verify -
    """

    request: ClassVar[Asked] = ask.VerifyQuotes

    def values(self, given: Given) -> dict[str, Any]:
        """Return the arguments, with the text of the file."""
        return {**super().values(given), "text": _text(given["text"])}

    def show(self, answer: QuotesReport, given: Given) -> None:
        """Show the quotations with what is wrong about them, and the count."""
        from loccit.answers.verbatim.render import quote_lines

        for check in answer.checks:
            first, *rest = map(one_line, quote_lines(check, display_path))
            show(first, *("  " + line for line in rest))
        sys.stdout.flush()  # so that the count comes last
        message(f"{answer.summary if answer.checks else 'No quotations'}. {answer.note}".strip())

    def code(self, answer: QuotesReport, given: Given) -> int:
        """Say whether there are quotations, and all is well with them."""
        return NOTHING_FOUND if not answer.checks else 0 if answer.ok else SOME_FAILED


def _text(file: str) -> str:
    if file == "-":
        return sys.stdin.read(LONGEST_DRAFT + 1)
    path = Path(file).expanduser()
    if not path.is_file():
        raise UsageError(f"{file} is not a file. Give one, or - for standard input.")
    from loccit.answers.comparing import read_files
    from loccit.config import IndexSettings

    return read_files([path], IndexSettings())[0].document.text


class Diff(Command):
    """Show what was added, removed, moved, renumbered or changed between two documents or two versions of one.

    Sections and clauses are matched by their words, labels and titles, so a new section is one difference, however
    many numbers it shifts. Each difference shows both places; [-words-] were removed, {+words+} were added.

    [bold]Examples[/bold]
    $ loccit diff old/policy.md new/policy.md
    $ loccit diff agreement-2023.docx agreement-2024.docx --json
    """

    request: ClassVar[Asked] = ask.Compare

    def ask(self, request: ask.Compare, given: Given) -> Comparison:
        """Compare documents or files; two files also where nothing is indexed."""
        old, new, folder = request.old, request.new, index_path(given["index"])
        if (folder is None or not folder.exists()) and Path(old).is_file() and Path(new).is_file():
            from loccit.answers.comparing import compare_files

            return compare_files(Path(old), Path(new))
        with open_library(given["index"]) as library:
            return library.compare(old, new)

    def show(self, answer: Comparison, given: Given) -> None:
        """Show the differences, and the count."""
        from loccit.answers.verbatim.render import difference_counts, difference_lines

        for difference in answer.differences:
            first, *rest = difference_lines(difference)
            show(one_line(first), *("  " + one_line(line) for line in rest))
        sys.stdout.flush()  # so that the count comes last
        message(difference_counts(answer))


class Outlines(Command):
    """Print the tree of headings, with lines or pages.

    [bold]Examples[/bold]
    $ loccit outline
    $ loccit outline harbour-safety-act.md --depth 2
    $ loccit outline service-agreement.docx --clauses
    $ loccit outline annual-report.pdf --json
    """

    request: ClassVar[Asked] = ask.Outlines

    def values(self, given: Given) -> dict[str, Any]:
        """Return the arguments; JSON gives the tree whole."""
        return {**super().values(given), "clauses": given["clauses"] or given["as_json"]}

    def show(self, answer: list[Outline], given: Given) -> None:
        """Show the trees, as deep as wanted."""
        if not answer:
            message(EMPTY)
            return
        from loccit.cli.views import outline_tree

        depth = given["depth"]
        levels = depth if depth is not None else (None if given["document"] is not None else 1)
        show(*(outline_tree(entry, levels) for entry in answer))

    def code(self, answer: list[Outline], given: Given) -> int:
        """Say whether there is any."""
        return 0 if answer else NOTHING_FOUND


class Obligations(Command):
    """List duties, prohibitions, permissions, deadlines and amounts, each with its place.

    The table is built during indexing, for English and German. What was not understood is marked and counted.

    [bold]Examples[/bold]
    $ loccit obligations service-agreement.docx --kind deadline --unit day
    $ loccit obligations --bearer "harbour master" --kind duty
    $ loccit obligations --kind amount --text fine --json
    """

    request: ClassVar[Asked] = ask.Obligations

    def show(self, answer: ObligationsResponse, given: Given) -> None:
        """Show the rows, and the counts."""
        from loccit.cli.views import obligation_lines

        show(*obligation_lines(answer))

    def code(self, answer: ObligationsResponse, given: Given) -> int:
        """Say whether there is any."""
        return 0 if answer.rows else NOTHING_FOUND


class Documents(Command):
    """List the documents of the index.

    [bold]Examples[/bold]
    $ loccit documents
    $ loccit ls --json
    """

    request: ClassVar[Asked] = ask.Documents

    def show(self, answer: list[DocumentInfo], given: Given) -> None:
        """Show a table."""
        if not answer:
            message(EMPTY)
            return
        from loccit.cli.views import document_table

        show(document_table(answer))

    def code(self, answer: list[DocumentInfo], given: Given) -> int:
        """Say whether there is any."""
        return 0 if answer else NOTHING_FOUND


COMMANDS: dict[str, type[Command]] = {
    "search": Search,
    "grep": Grep,
    "section": Section,
    "define": Define,
    "refs": Refs,
    "verify": Verify,
    "diff": Diff,
    "outline": Outlines,
    "obligations": Obligations,
    "documents": Documents,
    "ls": Documents,
}
"""The commands by name, in the order of the help."""

"""The questions: of each, its arguments with their bounds and words, and how it is put to a library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from loccit.ask.request import Arg, Request
from loccit.config.bounds import (
    DEEPEST,
    DEPTHS,
    FARTHEST,
    LONGEST_DRAFT,
    LONGEST_PATTERN,
    LONGEST_QUOTATION,
    LONGEST_TERM,
    MOST_HITS,
    MOST_QUOTATIONS,
    MOST_ROWS,
    PATTERNS,
    STEPS,
)
from loccit.config.settings import TOKEN_BUDGETS, setting
from loccit.model.obligation import GAPS, KINDS, PARTS

if TYPE_CHECKING:
    from loccit.library import Library
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
        Status,
    )

FILTERS_PANEL = "Filters"
OUTPUT_PANEL = "Output"


def _setting(name: str, **words: Any) -> Arg:
    """Return an argument that stands in for a setting: the library checks it, and has the default."""
    known = setting(name)
    bounds = known.schema()
    return Arg(
        help=known.said(),
        http=known.help,
        brief="",
        bounds=(bounds["minimum"], bounds["maximum"]) if known.bounds else None,
        choices=known.choices,
        of_setting=True,
        **words,
    )


_DOCUMENT = Arg(
    help="Look in this document: its path, file name or title.",
    flags=("--document", "-d"),
    metavar="DOC",
    http="Id of a document, as in /api/documents.",
    http_name="doc",
    brief="",
    aliases="doc file path filename file_name file_path filepath document_name document_path document_title doc_name "
    "doc_id document_id source source_path title in_document uri",
)
_FILTERS = Arg(
    http="Which documents to search, as a JSON object of names and values; the same as on the command line.",
    brief="",
    aliases="filter where metadata metadata_filter metadata_filters",
)
_BUDGET = Arg(
    brief="",
    aliases="budget max_tokens tokens token_limit max_token limit_tokens maximum_tokens",
    bounds=TOKEN_BUDGETS,
)
_LIMIT = Arg(
    flags=("--limit", "-n"),
    metavar="N",
    brief="",
    aliases="k n top_k max_results num_results n_results count max size page_size maximum_results",
    bounds=(1, MOST_ROWS),
)
_OFFSET = Arg(
    brief="",
    aliases="start skip from start_at position next_offset cursor",
    bounds=(0, FARTHEST),
)
_REFERENCE = Arg(
    metavar="REF",
    words=True,
    http_name="ref",
    brief="",
    aliases="ref section section_id section_ref section_reference section_name section_label section_number id name "
    "heading label number clause article target citation query q text",
)


@dataclass(frozen=True, slots=True)
class Search(Request["SearchResponse"]):
    """Find passages by meaning, keyword and exact reference."""

    query: Annotated[
        str,
        Arg(
            help="What to look for; - reads it from standard input.",
            metavar="QUERY",
            words=True,
            http="What to look for.",
            http_name="q",
            brief="Question, key words, section number or quoted phrase.",
            aliases="q question text search search_query query_text query_string input prompt keywords search_term "
            "search_terms queries",
        ),
    ]
    mode: Annotated[
        str | None,
        _setting(
            "search_mode",
            flags=("--mode", "-m"),
            metavar="MODE",
            aliases="search_mode search_type strategy method",
            shown_default=setting("search_mode").default,
        ),
    ] = None
    top_k: Annotated[
        int | None,
        _setting(
            "top_k",
            flags=("--top-k", "-k"),
            metavar="N",
            aliases="k limit n max_results num_results n_results number_of_results count max top top_n size results "
            "result_count page_size maximum_results similarity_top_k",
            shown_default=setting("top_k").default,
        ),
    ] = None
    min_score: Annotated[
        float | None,
        _setting(
            "min_score",
            flags=("--min-score",),
            metavar="S",
            aliases="threshold score_threshold minimum_score min_similarity cutoff",
        ),
    ] = None
    document: Annotated[
        str | None, replace(_DOCUMENT, flags=(), metavar="", brief="File name, path or title.")
    ] = None
    filters: Annotated[
        Mapping[str, object] | None,
        replace(
            _FILTERS,
            flags=("--filter", "--path", "--type", "--language", "--after", "--before"),
            panel=FILTERS_PANEL,
            brief="type: pdf, language, title, author, after, before, path, metadata.",
        ),
    ] = None
    token_budget: Annotated[
        int | None,
        replace(
            _BUDGET,
            help="Limit the answer to this many tokens.",
            flags=("--token-budget",),
            metavar="N",
            http="Token limit for all results together.",
            http_bounds=(1, TOKEN_BUDGETS[1]),
        ),
    ] = None
    offset: Annotated[
        int,
        replace(
            _OFFSET,
            help="Skip this many results, to continue after those already shown.",
            flags=("--offset",),
            metavar="N",
            http="How many results to skip: `next_offset` of the previous answer.",
            brief="next_offset of the answer before.",
            bounds=(0, DEEPEST),
            flag_bounds=(0, None),
        ),
    ] = 0
    explain: Annotated[
        bool,
        Arg(
            help="Show how each result was found, and how long it took.",
            flags=("--explain",),
            panel=OUTPUT_PANEL,
            http="Explain how each result was found.",
        ),
    ] = False
    until: Annotated[
        str | None,
        Arg(
            help="Stop after a stage, and show the results so far: understand, retrieve, fuse, hierarchy, smoothing, "
            "graph, recency, rank, select or present.",
            flags=("--until",),
            metavar="STAGE",
            panel=OUTPUT_PANEL,
        ),
    ] = None

    def ask(self, library: "Library") -> "SearchResponse":
        """Search."""
        return library.search(**self.given())


@dataclass(frozen=True, slots=True)
class Sections(Request["SectionsResponse"]):
    """Read sections."""

    reference: Annotated[
        str | Sequence[str],
        replace(
            _REFERENCE,
            help="The section: its label, its heading, or the id of the place; or several.",
            http="A number, label, heading or id of a place; empty with `doc` for all of it.",
            blank=True,
            brief="As printed (4.2, Article 6(1)), a heading, or ids in brackets; several with commas.",
            may_lack=True,
        ),
    ]
    document: Annotated[str | None, _DOCUMENT] = None
    step: Annotated[
        str | None,
        Arg(
            help="The next, previous or parent one.",
            flags=("--step", "-s"),
            metavar="STEP",
            http="The next, previous or parent place instead.",
            brief="",
            aliases="move direction relative",
            choices=STEPS,
        ),
    ] = None
    lines: Annotated[
        str | None,
        Arg(
            help="Only these lines of it.",
            flags=("--lines", "-l"),
            metavar="FIRST-LAST",
            http="Only some of its lines: 2031-2035.",
            brief="12-15",
            aliases="line line_range range",
        ),
    ] = None
    exact: Annotated[
        bool,
        Arg(
            help="With --near, a number of no place leads to the nearest line that has it.",
            flags=("--exact/--near",),
            http="If false, a number of no place leads to the nearest line that has it.",
            brief="False: the nearest line too.",
            aliases="strict",
        ),
    ] = True
    with_references: Annotated[
        bool,
        Arg(
            help="Also show what it refers to.",
            flags=("--with-references", "-r"),
            http="Also what they refer to.",
            brief="What they cite too.",
            aliases="include_references references cited with_cited follow",
        ),
    ] = False
    offset: Annotated[int, _OFFSET] = 0
    token_budget: Annotated[int | None, _BUDGET] = None

    def ask(self, library: "Library") -> "SectionsResponse":
        """Read them."""
        return library.sections(
            self.reference,
            document=self.document,
            step=self.step,
            lines=self.lines,
            exact=self.exact,
            with_references=self.with_references,
        )


@dataclass(frozen=True, slots=True)
class Define(Request["DefineResponse"]):
    """Ask how the documents define a term."""

    term: Annotated[
        str,
        Arg(
            help="The term, in singular or plural, upper or lower case.",
            metavar="TERM",
            words=True,
            http="The term.",
            brief="",
            aliases="word phrase name definition concept expression terms query q text",
            longest=LONGEST_TERM,
        ),
    ]
    document: Annotated[str | None, _DOCUMENT] = None
    token_budget: Annotated[int | None, _BUDGET] = None

    def ask(self, library: "Library") -> "DefineResponse":
        """Look it up."""
        return library.define(self.term, document=self.document)


@dataclass(frozen=True, slots=True)
class Outlines(Request["list[Outline]"]):
    """Ask for the trees of headings."""

    document: Annotated[
        str | None,
        replace(_DOCUMENT, help="Path, file name or title; every document by default.", flags=()),
    ] = None
    depth: Annotated[
        int | None,
        Arg(
            help="How many levels; by default all of DOC, or 1 of every document.",
            flags=("--depth", "-n"),
            metavar="N",
            brief="",
            aliases="level levels max_depth max_level max_levels",
            bounds=DEPTHS,
            flag_bounds=DEPTHS,
        ),
    ] = None
    clauses: Annotated[
        bool,
        Arg(
            help="Also show the numbered clauses below the headings.",
            flags=("--clauses", "-c"),
            http="Also the numbered parts below headings.",
            brief="Numbered clauses too.",
            aliases="include_clauses with_clauses numbering",
        ),
    ] = False
    token_budget: Annotated[int | None, _BUDGET] = None

    def ask(self, library: "Library") -> "list[Outline]":
        """Return them whole; ``depth`` is for showing them."""
        return library.outline(self.document, clauses=self.clauses)


@dataclass(frozen=True, slots=True)
class References(Request["ReferencesResponse"]):
    """Ask what sections refer to, and what refers to them."""

    reference: Annotated[
        str | Sequence[str],
        replace(
            _REFERENCE,
            help="The section: its label, heading or id; or several.",
            http="A number, label, heading or id of a place.",
        ),
    ]
    document: Annotated[str | None, _DOCUMENT] = None
    token_budget: Annotated[int | None, _BUDGET] = None

    def ask(self, library: "Library") -> "ReferencesResponse":
        """Follow them."""
        return library.references(self.reference, document=self.document)


@dataclass(frozen=True, slots=True)
class FindAll(Request["FoundAll"]):
    """Ask for every occurrence of a pattern."""

    pattern: Annotated[
        str,
        Arg(
            help="A phrase; line breaks, case and kinds of quotes do not matter.",
            metavar="PATTERN",
            words=True,
            http="A phrase, words or a regular expression.",
            brief="",
            aliases="query q text phrase words regex regexp expression string search term",
            longest=LONGEST_PATTERN,
        ),
    ]
    kind: Annotated[
        str,
        Arg(
            switches={
                "regex": ("--regex", "-E", "A regular expression, in RE2 syntax."),
                "words": ("--words", "-w", "All of these words in one paragraph, in any order."),
            },
            http="A phrase; words, all of them in one paragraph; or a regular expression in the syntax of RE2.",
            brief="",
            aliases="mode pattern_type match",
            choices=PATTERNS,
            shown_default=PATTERNS[0],
        ),
    ] = PATTERNS[0]
    match_case: Annotated[bool, Arg(help="Match case.", flags=("--match-case", "-c"), http="Match case.")] = (
        False
    )
    document: Annotated[str | None, _DOCUMENT] = None
    filters: Annotated[
        Mapping[str, object] | None,
        replace(
            _FILTERS,
            flags=("--filter",),
            help="Only matching documents: tags=runbook, path=docs, type=pdf, language=en, after=2025-01-01.",
        ),
    ] = None
    limit: Annotated[
        int,
        replace(
            _LIMIT,
            help="Show at most this many.",
            http="Maximum hits per answer.",
            bounds=(1, MOST_HITS),
            flag_bounds=(1, MOST_HITS),
        ),
    ] = 100
    cursor: Annotated[
        str | None,
        Arg(
            help="Continue where the previous answer ended; it prints the cursor.",
            flags=("--cursor",),
            metavar="CURSOR",
            http="Where to continue: the cursor of the previous answer.",
            brief="Of the answer before.",
            aliases="next next_cursor page_token after_cursor offset",
        ),
    ] = None
    token_budget: Annotated[int | None, _BUDGET] = None

    def ask(self, library: "Library") -> "FoundAll":
        """Find them."""
        return library.find_all(
            self.pattern,
            kind=self.kind,
            filters=self.filters,
            document=self.document,
            limit=self.limit,
            cursor=self.cursor,
            ignore_case=not self.match_case,
        )


@dataclass(frozen=True, slots=True)
class VerifyQuotes(Request["QuotesReport"]):
    """Ask whether quotations are what the documents say."""

    quotations: Annotated[
        Sequence[str] | None,
        Arg(
            http="Quotations: bare, or in quotation marks with what is cited behind them.",
            brief="",
            aliases="quotes quotation quote passages",
            longest=LONGEST_QUOTATION,
            most=MOST_QUOTATIONS,
        ),
    ] = None
    text: Annotated[
        str | None,
        Arg(
            help="A file of any type that can be indexed; - for standard input.",
            metavar="FILE",
            http="A text; what it has in quotation marks is checked.",
            # Bodies are short.
            http_longest=20_000,
            blank=True,
            brief="",
            aliases="answer draft content response",
            longest=LONGEST_DRAFT,
            typed=True,
        ),
    ] = None
    filters: Annotated[Mapping[str, object] | None, replace(_FILTERS, brief=None)] = None
    document: Annotated[str | None, _DOCUMENT] = None
    offset: Annotated[int, _OFFSET] = 0
    token_budget: Annotated[int | None, _BUDGET] = None

    def ask(self, library: "Library") -> "QuotesReport":
        """Check them."""
        return library.verify_quotes(
            self.quotations or self.text or "", document=self.document, filters=self.filters
        )


@dataclass(frozen=True, slots=True)
class Compare(Request["Comparison"]):
    """Ask what changed between two documents."""

    old: Annotated[
        str,
        Arg(
            help="A document of the library, or any file.",
            metavar="OLD",
            http="Id of a document.",
            brief="",
            aliases="a first before left old_document document_a document1 doc_a doc1 base source",
        ),
    ]
    new: Annotated[
        str,
        Arg(
            help="The document or file to compare it with.",
            metavar="NEW",
            http="Id of another document, or of a later version.",
            brief="",
            aliases="b second after right new_document document_b document2 doc_b doc2 other target",
        ),
    ]
    offset: Annotated[int, _OFFSET] = 0
    token_budget: Annotated[int | None, _BUDGET] = None

    def ask(self, library: "Library") -> "Comparison":
        """Compare documents of the library; only a person at the command line may name other files."""
        return library.compare(self.old, self.new, files=False)


@dataclass(frozen=True, slots=True)
class Obligations(Request["ObligationsResponse"]):
    """Ask who must do what, by when and for how much."""

    document: Annotated[
        str | None,
        replace(_DOCUMENT, help="The document: its path, file name or title; all by default.", flags=()),
    ] = None
    kind: Annotated[
        str | None,
        Arg(
            help="Only a duty, prohibition, permission, recommendation or statement; or anything with a deadline or an "
            "amount.",
            flags=("--kind", "-k"),
            metavar="KIND",
            http="Rows of a kind, or that have a deadline or an amount.",
            brief="",
            aliases="modal category",
            choices=(*KINDS, *PARTS),
        ),
    ] = None
    bearer: Annotated[
        str | None,
        Arg(
            help="Only if the bearer contains these words.",
            flags=("--bearer", "-b"),
            metavar="WORDS",
            http="Words of the bearer: who has the duty or right.",
            brief="",
            aliases="who party subject actor responsible",
        ),
    ] = None
    text: Annotated[
        str | None,
        Arg(
            help="Only sentences with these words.",
            flags=("--text",),
            metavar="WORDS",
            http="Words of the sentence.",
            brief="",
            aliases="query q words contains what search",
        ),
    ] = None
    unit: Annotated[
        str | None,
        Arg(
            help="Only with this unit: day, month, EUR, %, …",
            flags=("--unit", "-u"),
            metavar="UNIT",
            http="Unit of a deadline or an amount: day, EUR, %.",
            brief="",
            aliases="currency",
        ),
    ] = None
    filters: Annotated[Mapping[str, object] | None, replace(_FILTERS, flags=("--path",))] = None
    gap: Annotated[
        str | None,
        Arg(
            help="Only rows without this: bearer, action, deadline, amount, language; or inherited ones.",
            flags=("--not-understood",),
            metavar="PART",
            http="Rows in which this part was not understood.",
            choices=tuple(GAPS),
        ),
    ] = None
    limit: Annotated[
        int, replace(_LIMIT, help="Show at most this many rows.", http="Maximum rows per answer.")
    ] = 100
    offset: Annotated[
        int,
        replace(
            _OFFSET,
            help="Skip this many rows.",
            flags=("--offset",),
            metavar="N",
            http="How many rows to skip.",
        ),
    ] = 0
    token_budget: Annotated[int | None, _BUDGET] = None

    def ask(self, library: "Library") -> "ObligationsResponse":
        """List them."""
        return library.obligations(**self.given("token_budget"))


@dataclass(frozen=True, slots=True)
class Documents(Request["list[DocumentInfo]"]):
    """Ask which documents there are."""

    filters: Annotated[Mapping[str, object] | None, _FILTERS] = None
    offset: Annotated[int, _OFFSET] = 0
    token_budget: Annotated[int | None, _BUDGET] = None

    def ask(self, library: "Library") -> "list[DocumentInfo]":
        """List them."""
        return library.documents(self.filters)


@dataclass(frozen=True, slots=True)
class IndexStatus(Request["Status"]):
    """Ask what the index holds."""

    def ask(self, library: "Library") -> "Status":
        """Say it."""
        return library.status()


@dataclass(frozen=True, slots=True)
class IndexDocuments(Request[None]):
    """Have the index brought up to date; only servers that were started so do it."""

    paths: Annotated[
        Sequence[str] | None,
        Arg(brief="", aliases="path files file folder folders directory source sources"),
    ] = None

"""The catalogue of tools: each is described once, for MCP, for Python, for a conversation and for the adapters.

A tool says what it is called, what it is for and what it takes, how a library is asked, and how what was found is
written down: as text for a model, and as values for a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pinakes.config.settings import MODES, TOKEN_BUDGETS, setting
from pinakes.errors import UsageError
from pinakes.model import (
    Comparison,
    DefineResponse,
    DocumentInfo,
    FoundAll,
    ObligationRow,
    Outline,
    QuotesReport,
    ReferencesResponse,
    SearchResponse,
    SectionView,
    Status,
)
from pinakes.model.comparison import KINDS as DIFFERENCES
from pinakes.model.obligation import KINDS, PARTS
from pinakes.search.verbatim.patterns import KINDS as PATTERNS
from pinakes.tools import answers, listings
from pinakes.tools.arguments import Argument, normalize, parameters
from pinakes.tools.schemas import list_of, values_of

if TYPE_CHECKING:
    from pinakes.library import Library


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told of a tool; ``output`` returns the JSON Schema of the values that it answers with."""

    name: str
    title: str
    description: str
    takes: tuple[Argument, ...]
    output: Callable[[], dict[str, Any]]

    def read(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Return the arguments of a call as they were meant; a UsageError says all that is wrong with them."""
        return normalize(self.name, self.takes, given)

    def parameters(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        return parameters(self.takes)


@dataclass(frozen=True, slots=True)
class AgentTool(ToolSpec):
    """A tool that asks a library.

    Where there are several libraries, a tool that asks ``everywhere`` puts together what each of them has, as a list;
    others take what the first one has that is not ``empty``. One that ``resumes`` goes on at an offset where an answer
    was cut. One that ``fits`` what it finds to the budget is told it when it asks, as ``token_budget``.
    """

    ask: Callable[[Library, answers.Arguments], Any]
    write: Callable[..., answers.Answer]
    everywhere: bool = False
    resumes: bool = False
    fits: bool = False
    empty: Callable[[Any], bool] = lambda _: False

    def answer(
        self, found: list[tuple[str, Any]], given: answers.Arguments, limit: answers.Limit
    ) -> answers.Answer:
        """Return what was found, each with the name of its library, as an answer."""
        if self.everywhere:
            return self.write(found, given, limit)
        ((library, value),) = found
        return self.write(value, library, given, limit)


_DOCUMENT = Argument(
    "document",
    "string",
    "Only in this document: file name, path or title.",
    aliases="doc file path filename file_name file_path filepath document_name document_path "
    "document_title doc_name doc_id document_id source source_path title in_document uri",
)
_BUDGET = Argument(
    "token_budget",
    "integer",
    "Most tokens of the answer.",
    aliases="budget max_tokens tokens token_limit max_token limit_tokens maximum_tokens",
    bounds=TOKEN_BUDGETS,
)
_FILTERS = Argument(
    "filters",
    "object",
    "Only documents with this type, language, title, author, after, before, path or field of their metadata: "
    '{"type": "pdf", "after": "2024"}.',
    aliases="filter where metadata metadata_filter metadata_filters",
)
_SAME_FILTERS = replace(_FILTERS, description="As in search_documents.")
_REFERENCE = Argument(
    "reference",
    "string",
    "The section as printed (Article 6(1)(f), 4.2, Annex II), its heading, section id, uri, or PATH#id.",
    aliases="ref section section_id section_ref section_reference section_name section_label "
    "section_number id name heading label number clause article target citation query q text",
    required=True,
)
_LIMIT = Argument(
    "limit",
    "integer",
    "Most entries.",
    aliases="k n top_k max_results num_results n_results count max size page_size maximum_results",
    bounds=(1, 1000),
)
OFFSET = Argument(
    "offset",
    "integer",
    "Where an answer that was cut goes on.",
    aliases="start skip from start_at position next_offset cursor",
    bounds=(0, 1_000_000_000),
)
_NEXT = {"type": "integer", "description": "Where to go on; absent when nothing is left."}
_TOTAL = {"type": "integer", "description": "How many there are in all."}

SEARCH = AgentTool(
    "search_documents",
    "Search documents",
    "Find passages by meaning, keyword and exact reference at once, each with its citation: file, section and lines or "
    "pages. Put a phrase in double quotes, name a section (Article 6(1)(f)) to get just that. Cite what you use.",
    (
        Argument(
            "query",
            "string",
            "A question, key words, a section number, or a phrase in double quotes.",
            aliases="q question text search search_query query_text query_string input prompt keywords search_term "
            "search_terms queries",
            required=True,
        ),
        Argument(
            "top_k",
            "integer",
            "Most results.",
            aliases="k limit n max_results num_results n_results number_of_results count max top top_n size "
            "results result_count page_size maximum_results",
            bounds=setting("top_k").bounds,
        ),
        Argument(
            "mode",
            "string",
            "How to search; hybrid by default.",
            aliases="search_mode search_type strategy method",
            choices=MODES,
        ),
        _DOCUMENT,
        _FILTERS,
        Argument(
            "min_score",
            "number",
            "Leave out what scores below.",
            aliases="threshold score_threshold minimum_score min_similarity cutoff",
            bounds=setting("min_score").bounds,
        ),
        _BUDGET,
    ),
    lambda: values_of(
        SearchResponse,
        ("query", "results", "confidence", "truncated"),
        notice={"type": "string", "description": "How to take the contents of the results."},
        within={
            "SearchResult": {
                "location": {"type": "string", "description": "Where it stands, as a citation would say it."},
                "uri": {"type": "string", "description": "The resource that holds the whole section."},
            }
        },
    ),
    ask=lambda library, given: library.search(**given),
    write=answers.search,
    fits=True,
)
READ = AgentTool(
    "read_section",
    "Read a section",
    "Read a section or clause in full, or what stands around a passage that was found.",
    (_REFERENCE, _DOCUMENT, _BUDGET),
    lambda: values_of(
        SectionView,
        ("source_path", "text", "truncated"),
        location={"type": "string"},
        offset={"type": "integer", "description": "Where in the section this text begins, in characters."},
        next_offset={"type": "integer", "description": "Where to read on; absent when nothing is left."},
    ),
    ask=lambda library, given: library.section(given["reference"], document=given.get("document")),
    write=answers.section,
    resumes=True,
)
DEFINE = AgentTool(
    "define_term",
    "Define a term",
    "Say what the documents mean by a term that they define, and which define it differently.",
    (
        Argument(
            "term",
            "string",
            "Case and plural do not matter.",
            aliases="word phrase name definition concept expression terms query q text",
            required=True,
        ),
        _DOCUMENT,
        _BUDGET,
    ),
    lambda: values_of(DefineResponse, ("term", "definitions"), conflict={"type": "boolean"}),
    ask=lambda library, given: library.define(given["term"], document=given.get("document")),
    write=answers.definitions,
    empty=lambda found: not found.definitions,
)
OUTLINE = AgentTool(
    "list_outline",
    "List the outline",
    "Show the headings of a document, or of all, as a tree with their section ids.",
    (
        _DOCUMENT,
        Argument(
            "depth",
            "integer",
            "Most levels.",
            aliases="level levels max_depth max_level max_levels",
            bounds=(1, 20),
        ),
        Argument(
            "clauses",
            "boolean",
            "Show numbered clauses too.",
            aliases="include_clauses with_clauses numbering",
        ),
        _BUDGET,
    ),
    lambda: list_of("outlines", Outline, total=_TOTAL),
    ask=lambda library, given: library.outline(given.get("document"), clauses=bool(given.get("clauses"))),
    write=answers.outlines,
    everywhere=True,
)
REFERENCES = AgentTool(
    "follow_references",
    "Follow references",
    "Show what a section refers to, and which sections refer to it, across documents.",
    (_REFERENCE, _DOCUMENT, _BUDGET),
    lambda: values_of(ReferencesResponse, ("section", "cites", "cited_by")),
    ask=lambda library, given: library.references(given["reference"], document=given.get("document")),
    write=answers.references,
)
FIND_ALL = AgentTool(
    "find_all",
    "Find all",
    "List every place where a phrase, words or a regular expression stands: complete, with the total.",
    (
        Argument(
            "pattern",
            "string",
            "What stands there.",
            aliases="query q text phrase words regex regexp expression string search term",
            required=True,
        ),
        Argument(
            "kind",
            "string",
            "phrase by default; words: all in one paragraph; regex: RE2.",
            aliases="mode pattern_type match",
            choices=PATTERNS,
        ),
        _DOCUMENT,
        _SAME_FILTERS,
        _LIMIT,
        Argument(
            "cursor",
            "string",
            "That of an answer before, to go on there.",
            aliases="next next_cursor page_token after_cursor offset",
        ),
        _BUDGET,
    ),
    lambda: values_of(
        FoundAll,
        ("pattern", "hits", "total", "documents", "complete", "truncated"),
        cursors={"type": "object", "description": "Where to go on, by tool, where several were asked."},
        within={"TextHit": {"tool": {"type": "string"}}},
    ),
    ask=listings.ask_find_all,
    write=listings.find_all,
    everywhere=True,
    fits=True,
)
VERIFY = AgentTool(
    "verify_quotes",
    "Verify quotations",
    "Check quotations word for word: exact, altered (with what differs) or absent. Check yours before you answer.",
    (
        Argument(
            "quotations",
            "array",
            "The quotations.",
            aliases="quotes quotation quote passages",
        ),
        Argument(
            "text",
            "string",
            "Or a text, whose quotations are checked.",
            aliases="answer draft content response",
        ),
        _DOCUMENT,
        OFFSET,
        _BUDGET,
    ),
    lambda: values_of(
        QuotesReport,
        ("ok", "exact", "altered", "absent", "checks", "truncated"),
        ok={"type": "boolean", "description": "Whether every quotation is exact."},
        **{status: {"type": "integer"} for status in ("exact", "altered", "absent")},
        next_offset=_NEXT,
        within={"TextPlace": {"location": {"type": "string"}}},
    ),
    ask=listings.ask_verify_quotes,
    write=listings.verify_quotes,
    everywhere=True,
)
COMPARE = AgentTool(
    "compare",
    "Compare documents",
    "Show what was added, removed, moved, renumbered or changed between two documents.",
    (
        Argument(
            "old",
            "string",
            "The older: file name, path or title.",
            aliases="a first before left old_document document_a document1 doc_a doc1 base source",
            required=True,
        ),
        Argument(
            "new",
            "string",
            "The newer one.",
            aliases="b second after right new_document document_b document2 doc_b doc2 other target",
            required=True,
        ),
        OFFSET,
        _BUDGET,
    ),
    lambda: values_of(
        Comparison,
        ("old_path", "new_path", "differences", "same", "truncated"),
        **{kind: {"type": "integer"} for kind in DIFFERENCES},
        next_offset=_NEXT,
        within={"TextPlace": {"location": {"type": "string"}}},
    ),
    ask=lambda library, given: library.compare(given["old"], given["new"], files=False),
    write=listings.compare,
)
OBLIGATIONS = AgentTool(
    "list_obligations",
    "List obligations",
    "List duties, prohibitions, permissions, deadlines and amounts: who, what, by when, how much, unless, where.",
    (
        _DOCUMENT,
        Argument(
            "kind",
            "string",
            "deadline and amount: all that have one.",
            aliases="modal category",
            choices=(*KINDS, *PARTS),
        ),
        Argument("bearer", "string", "Words of who is bound.", aliases="who party subject actor responsible"),
        Argument("text", "string", "Words of the sentence.", aliases="query q words contains what search"),
        Argument("unit", "string", "day, month, EUR, %.", aliases="currency"),
        _SAME_FILTERS,
        _LIMIT,
        OFFSET,
        _BUDGET,
    ),
    lambda: list_of(
        "rows",
        ObligationRow,
        total=_TOTAL,
        **{name: {"type": "object"} for name in ("kinds", "gaps", "next_offsets")},
        **{name: {"type": "integer"} for name in ("documents", "unread_documents", "offset")},
        next_offset=_NEXT,
    ),
    ask=listings.ask_obligations,
    write=listings.obligations,
    everywhere=True,
    fits=True,
)
DOCUMENTS = AgentTool(
    "list_documents",
    "List documents",
    "List the documents with title, type and path.",
    (_SAME_FILTERS, _BUDGET),
    lambda: list_of(
        "documents",
        DocumentInfo,
        total=_TOTAL,
        next_offset=_NEXT,
    ),
    ask=lambda library, given: library.documents(given.get("filters")),
    write=answers.documents,
    everywhere=True,
    resumes=True,
)
STATUS = AgentTool(
    "index_status",
    "Index status",
    "Say what the index holds, when it was updated, and which files could not be read.",
    (),
    lambda: list_of("indexes", Status),
    ask=lambda library, given: [library.status()],
    write=answers.status,
    everywhere=True,
)

TOOLS = {
    tool.name: tool
    for tool in (
        *(SEARCH, READ, DEFINE, OUTLINE, REFERENCES),
        *(FIND_ALL, VERIFY, COMPARE, OBLIGATIONS),
        *(DOCUMENTS, STATUS),
    )
}
"""Every tool, by its name."""

METHODS = {
    **TOOLS,
    "search": SEARCH,
    "get_section": READ,
    "section": READ,
    "get_definition": DEFINE,
    "define": DEFINE,
    "outline": OUTLINE,
    "get_outline": OUTLINE,
    "references": REFERENCES,
    "obligations": OBLIGATIONS,
    "documents": DOCUMENTS,
    "status": STATUS,
}
"""Tools by their names, and by those of methods that do the same."""


def find_tool(name: str) -> AgentTool:
    """Return the tool of a name, which may also be that of a method (``get_section``).

    >>> find_tool("search").read({"q": "dry running", "maxResults": "3", "file_type": "pdf"})
    {'query': 'dry running', 'top_k': 3, 'filters': {'type': 'pdf'}}
    """
    if name not in METHODS:
        raise UsageError(f"There is no tool {name!r}; there are {', '.join(TOOLS)}.")
    return METHODS[name]

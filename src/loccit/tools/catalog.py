"""The catalogue of tools: each is described once, for MCP, Python, conversations and adapters.

A tool has a name, a purpose and arguments, a question to put to a library, and a way to write down what was found: as
text for a model, and as values for a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from loccit.config.bounds import (
    DEPTHS,
    FARTHEST,
    LONGEST_DRAFT,
    LONGEST_PATTERN,
    LONGEST_QUOTATION,
    LONGEST_TERM,
    MOST_HITS,
    MOST_ROWS,
    STEPS,
)
from loccit.config.settings import MODES, TOKEN_BUDGETS, SearchMode, setting
from loccit.errors import UsageError
from loccit.model.obligation import KINDS, PARTS
from loccit.port.matching import DEPTH
from loccit.search.present.respond import NO_LIMIT
from loccit.search.verbatim.patterns import KINDS as PATTERNS
from loccit.tools import answers, listings
from loccit.tools.arguments import Argument, normalize, parameters
from loccit.tools.fit import Limit
from loccit.tools.relative import absolute, relative, told_relative

if TYPE_CHECKING:
    from loccit.library import Library


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model is told about a tool."""

    name: str
    description: str
    takes: tuple[Argument, ...]

    def read(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Return the normalised arguments of a call; a UsageError reports everything wrong with them."""
        return normalize(self.name, self.takes, given)

    def parameters(self, defaults: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Return the JSON Schema of the arguments; ``defaults`` come from a configuration."""
        known = {name: value for name, value in (defaults or {}).items() if value is not None}
        return parameters([replace(item, default=known.get(item.name, item.default)) for item in self.takes])


@dataclass(frozen=True, slots=True)
class AgentTool(ToolSpec):
    """A tool that asks a library.

    With several libraries, a tool that asks ``everywhere`` returns the results of each as a list; others return the
    first result that is not ``empty``. A tool that ``fits`` its results to the budget is passed ``token_budget``.
    """

    ask: Callable[[Library, answers.Arguments], Any]
    write: Callable[..., answers.Answer]
    everywhere: bool = False
    fits: bool = False
    empty: Callable[[Any], bool] = lambda _: False

    def find(self, library: Library, given: answers.Arguments) -> Any:
        """Ask a library. Paths are relative to its root, in arguments and results."""
        with told_relative(library):
            return relative(self.ask(library, absolute(library, given)), library.root)

    def answer(self, found: list[tuple[str, Any]], given: answers.Arguments, limit: Limit) -> answers.Answer:
        """Return what was found, each with the name of its library, as an answer."""
        if self.everywhere:
            return self.write(found, given, limit)
        ((library, value),) = found
        return self.write(value, library, given, limit)


_DOCUMENT = Argument(
    "document",
    "string",
    "File name, path or title.",
    aliases="doc file path filename file_name file_path filepath document_name document_path "
    "document_title doc_name doc_id document_id source source_path title in_document uri",
)
_BUDGET = Argument(
    "token_budget",
    "integer",
    aliases="budget max_tokens tokens token_limit max_token limit_tokens maximum_tokens",
    bounds=TOKEN_BUDGETS,
)
_FILTERS = Argument(
    "filters",
    "object",
    "type: pdf, language, title, author, after, before, path, metadata.",
    aliases="filter where metadata metadata_filter metadata_filters",
)
_REFERENCE = Argument(
    "reference",
    "string",
    "As printed (Article 6(1)(f), 4.2), a heading, section id or uri.",
    aliases="ref section section_id section_ref section_reference section_name section_label "
    "section_number id name heading label number clause article target citation query q text",
    required=True,
)
_LIMIT = Argument(
    "limit",
    "integer",
    aliases="k n top_k max_results num_results n_results count max size page_size maximum_results",
    bounds=(1, MOST_ROWS),
)
_OFFSET = Argument(
    "offset",
    "integer",
    "next_offset of the answer before.",
    aliases="start skip from start_at position next_offset cursor",
    bounds=(0, FARTHEST),
)

# Described by one tool, they need no description in the others.
_SAME_DOCUMENT, _SAME_FILTERS, _SAME_REFERENCE, _SAME_OFFSET = (
    replace(item, description="") for item in (_DOCUMENT, _FILTERS, _REFERENCE, _OFFSET)
)

SEARCH = AgentTool(
    "search_documents",
    "Find passages by meaning, keyword and reference, with citations.",
    (
        Argument(
            "query",
            "string",
            "Question, key words, section number or quoted phrase.",
            aliases="q question text search search_query query_text query_string input prompt keywords search_term "
            "search_terms queries",
            required=True,
        ),
        Argument(
            "top_k",
            "integer",
            aliases="k limit n max_results num_results n_results number_of_results count max top top_n size "
            "results result_count page_size maximum_results similarity_top_k",
            bounds=setting("top_k").bounds,
            default=setting("top_k").default,
        ),
        Argument(
            "mode",
            "string",
            aliases="search_mode search_type strategy method",
            choices=MODES,
            default=SearchMode.HYBRID.value,
        ),
        _DOCUMENT,
        _FILTERS,
        Argument(
            "min_score",
            "number",
            aliases="threshold score_threshold minimum_score min_similarity cutoff",
            bounds=setting("min_score").bounds,
        ),
        replace(_OFFSET, bounds=(0, DEPTH)),
        _BUDGET,
    ),
    # Cut to the budget when it is written, with the paths as shown.
    ask=lambda library, given: library.search(**{**given, "token_budget": NO_LIMIT}),
    write=answers.search,
)
READ = AgentTool(
    "read_section",
    "Read sections or clauses in full, what comes next, or some lines.",
    (
        replace(
            _REFERENCE,
            description="As printed (4.2, Article 6(1)), a heading, or ids in brackets; several with commas.",
            required=False,
            several=True,
        ),
        _SAME_DOCUMENT,
        Argument("step", "string", aliases="move direction relative", choices=STEPS),
        Argument("lines", "string", "12-15", aliases="line line_range range"),
        Argument("exact", "boolean", "False: the nearest line too.", aliases="strict"),
        Argument(
            "with_references",
            "boolean",
            "What they cite too.",
            aliases="include_references references cited with_cited follow",
        ),
        _SAME_OFFSET,
        _BUDGET,
    ),
    ask=answers.ask_section,
    write=answers.section,
)
DEFINE = AgentTool(
    "define_term",
    "Say how the documents define a term, and where they differ.",
    (
        Argument(
            "term",
            "string",
            aliases="word phrase name definition concept expression terms query q text",
            required=True,
            longest=LONGEST_TERM,
        ),
        _SAME_DOCUMENT,
        _BUDGET,
    ),
    ask=lambda library, given: library.define(given["term"], document=given.get("document")),
    write=answers.definitions,
    empty=lambda found: not found.definitions,
)
OUTLINE = AgentTool(
    "list_outline",
    "Show headings with their ids.",
    (
        _SAME_DOCUMENT,
        Argument(
            "depth",
            "integer",
            aliases="level levels max_depth max_level max_levels",
            bounds=DEPTHS,
        ),
        Argument(
            "clauses",
            "boolean",
            "Numbered clauses too.",
            aliases="include_clauses with_clauses numbering",
        ),
        _BUDGET,
    ),
    ask=lambda library, given: library.outline(given.get("document"), clauses=bool(given.get("clauses"))),
    write=answers.outlines,
    everywhere=True,
)
REFERENCES = AgentTool(
    "follow_references",
    "Show what sections cite, and what cites them.",
    (replace(_SAME_REFERENCE, several=True), _SAME_DOCUMENT, _BUDGET),
    ask=lambda library, given: library.references(given["reference"], document=given.get("document")),
    write=answers.references,
)
FIND_ALL = AgentTool(
    "find_all",
    "List every place of a pattern, with the total: a phrase, words of one paragraph, a regex.",
    (
        Argument(
            "pattern",
            "string",
            aliases="query q text phrase words regex regexp expression string search term",
            required=True,
            longest=LONGEST_PATTERN,
        ),
        Argument(
            "kind",
            "string",
            aliases="mode pattern_type match",
            choices=PATTERNS,
            default=PATTERNS[0],
        ),
        _SAME_DOCUMENT,
        _SAME_FILTERS,
        replace(_LIMIT, bounds=(1, MOST_HITS)),
        Argument(
            "cursor",
            "string",
            "Of the answer before.",
            aliases="next next_cursor page_token after_cursor offset",
        ),
        _BUDGET,
    ),
    ask=listings.ask_find_all,
    write=listings.find_all,
    everywhere=True,
    fits=True,
)
VERIFY = AgentTool(
    "verify_quotes",
    "Check quotations, or those of a text, with the places cited beside them: exact, altered or absent.",
    (
        Argument(
            "quotations",
            "array",
            aliases="quotes quotation quote passages",
            longest=LONGEST_QUOTATION,
        ),
        Argument(
            "text",
            "string",
            aliases="answer draft content response",
            longest=LONGEST_DRAFT,
        ),
        _SAME_DOCUMENT,
        _SAME_OFFSET,
        _BUDGET,
    ),
    ask=listings.ask_verify_quotes,
    write=listings.verify_quotes,
    everywhere=True,
)
COMPARE = AgentTool(
    "compare",
    "Show what changed from an old document to a new one.",
    (
        Argument(
            "old",
            "string",
            aliases="a first before left old_document document_a document1 doc_a doc1 base source",
            required=True,
        ),
        Argument(
            "new",
            "string",
            aliases="b second after right new_document document_b document2 doc_b doc2 other target",
            required=True,
        ),
        _SAME_OFFSET,
        _BUDGET,
    ),
    ask=lambda library, given: library.compare(given["old"], given["new"], files=False),
    write=listings.compare,
)
OBLIGATIONS = AgentTool(
    "list_obligations",
    "List duties, deadlines, amounts and the like, by words of their text, unit (day, EUR, %) or bearer.",
    (
        _SAME_DOCUMENT,
        Argument(
            "kind",
            "string",
            aliases="modal category",
            choices=(*KINDS, *PARTS),
        ),
        Argument("bearer", "string", aliases="who party subject actor responsible"),
        Argument("text", "string", aliases="query q words contains what search"),
        Argument("unit", "string", aliases="currency"),
        _SAME_FILTERS,
        _LIMIT,
        _SAME_OFFSET,
        _BUDGET,
    ),
    ask=listings.ask_obligations,
    write=listings.obligations,
    everywhere=True,
    fits=True,
)
DOCUMENTS = AgentTool(
    "list_documents",
    "List the documents.",
    (_SAME_FILTERS, _SAME_OFFSET, _BUDGET),
    ask=lambda library, given: library.documents(given.get("filters")),
    write=answers.documents,
    everywhere=True,
)
STATUS = AgentTool(
    "index_status",
    "Say what the index holds and what could not be read.",
    (),
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
"""Every tool, by name."""

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
"""Tools by name, and by the names of the equivalent methods."""


def find_tool(name: str) -> AgentTool:
    """Return the tool with a name, which may also be that of a method (``get_section``).

    >>> find_tool("search").read({"q": "dry running", "maxResults": "3", "file_type": "pdf"})
    {'query': 'dry running', 'top_k': 3, 'filters': {'type': 'pdf'}}
    """
    if name not in METHODS:
        raise UsageError(f"There is no tool {name!r}; available: {', '.join(TOOLS)}.")
    return METHODS[name]

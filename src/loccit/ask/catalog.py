"""The catalogue of tools: each is described once, for MCP, Python, conversations and adapters.

A tool has a name, a purpose and arguments, a question to put to a library, and a way to write down what was found: as
text for a model, and as values for a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from loccit.ask import answers, listings
from loccit.ask import questions as ask
from loccit.ask.arguments import normalize, parameters
from loccit.ask.fit import Limit
from loccit.ask.relative import absolute, relative, told_relative
from loccit.ask.request import Arg, Request, told_arguments
from loccit.errors import UsageError
from loccit.search.present.respond import NO_LIMIT

if TYPE_CHECKING:
    from loccit.library import Library


@dataclass(frozen=True)
class ToolSpec:
    """What a model is told about a tool: its arguments are those of a request, and what a server adds."""

    name: str
    description: str
    request: Callable[..., Request[Any]]
    added: tuple[Arg, ...] = field(default=(), kw_only=True)

    @cached_property
    def takes(self) -> tuple[Arg, ...]:
        """The arguments."""
        return (*told_arguments(self.request), *self.added)

    def read(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Return the normalised arguments of a call; a UsageError reports everything wrong with them."""
        return normalize(self.name, self.takes, given)

    def parameters(self, defaults: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Return the JSON Schema of the arguments; ``defaults`` come from a configuration."""
        known = {name: value for name, value in (defaults or {}).items() if value is not None}
        return parameters(
            [replace(one, shown_default=known.get(one.name, one.shown_default)) for one in self.takes]
        )


@dataclass(frozen=True)
class AgentTool(ToolSpec):
    """A tool that asks a library, by its request unless another way to ``put`` the question is given.

    With several libraries, a tool that asks ``everywhere`` returns the results of each as a list; others return the
    first result that is not ``empty``. A tool that ``fits`` its results to the budget is passed ``token_budget``.
    """

    write: Callable[..., answers.Answer]
    put: Callable[[Library, answers.Arguments], Any] | None = None
    everywhere: bool = False
    fits: bool = False
    empty: Callable[[Any], bool] = lambda _: False

    def ask(self, library: Library, given: answers.Arguments) -> Any:
        """Put the question to a library."""
        return self.put(library, given) if self.put else self.request(**given).ask(library)

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


SEARCH = AgentTool(
    "search_documents",
    "Find passages by meaning, keyword and reference, with citations.",
    ask.Search,
    # Cut to the budget when it is written, with the paths as shown.
    put=lambda library, given: library.search(**{**given, "token_budget": NO_LIMIT}),
    write=answers.search,
)
READ = AgentTool(
    "read_section",
    "Read sections or clauses in full, what comes next, or some lines.",
    ask.Sections,
    put=answers.ask_section,
    write=answers.section,
)
DEFINE = AgentTool(
    "define_term",
    "Say how the documents define a term, and where they differ.",
    ask.Define,
    write=answers.definitions,
    empty=lambda found: not found.definitions,
)
OUTLINE = AgentTool(
    "list_outline",
    "Show headings with their ids.",
    ask.Outlines,
    write=answers.outlines,
    everywhere=True,
)
REFERENCES = AgentTool(
    "follow_references",
    "Show what sections cite, and what cites them.",
    ask.References,
    write=answers.references,
)
FIND_ALL = AgentTool(
    "find_all",
    "List every place of a pattern, with the total: a phrase, words of one paragraph, a regex.",
    ask.FindAll,
    put=listings.ask_find_all,
    write=listings.find_all,
    everywhere=True,
    fits=True,
)
VERIFY = AgentTool(
    "verify_quotes",
    "Check quotations, or those of a text, with the places cited beside them: exact, altered or absent.",
    ask.VerifyQuotes,
    put=listings.ask_verify_quotes,
    write=listings.verify_quotes,
    everywhere=True,
)
COMPARE = AgentTool(
    "compare",
    "Show what changed from an old document to a new one.",
    ask.Compare,
    write=listings.compare,
)
OBLIGATIONS = AgentTool(
    "list_obligations",
    "List duties, deadlines, amounts and the like, by words of their text, unit (day, EUR, %) or bearer.",
    ask.Obligations,
    put=listings.ask_obligations,
    write=listings.obligations,
    everywhere=True,
    fits=True,
)
DOCUMENTS = AgentTool(
    "list_documents",
    "List the documents.",
    ask.Documents,
    write=answers.documents,
    everywhere=True,
)
STATUS = AgentTool(
    "index_status",
    "Say what the index holds and what could not be read.",
    ask.IndexStatus,
    put=lambda library, given: [library.status()],
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

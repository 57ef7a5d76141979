"""Tool calls: from the name and arguments to the answer, in any process."""

from __future__ import annotations

import difflib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from loccit.ask.answers import Answer
from loccit.ask.arguments import shown
from loccit.ask.catalog import SEARCH, TOOLS, AgentTool, ToolSpec
from loccit.ask.fit import Limit, Tokens
from loccit.ask.questions import IndexDocuments
from loccit.ask.render import format_error
from loccit.ask.request import Arg
from loccit.errors import LoccitError, NotFoundError, UsageError
from loccit.model.uris import place_of
from loccit.server.api.operations import Operation, Question, Reply
from loccit.server.api.problems import ProblemError
from loccit.server.mcp.links import linked

if TYPE_CHECKING:
    from loccit.server.services import LibraryRegistry, LibraryService
    from loccit.server.workers import Workers

T = TypeVar("T")
logger: logging.Logger = logging.getLogger("loccit")

LIBRARY = Arg(
    name="tool",
    brief="Ask its library alone.",
    aliases="library collection tool_name library_name index index_name corpus",
)
INDEX = ToolSpec("index_documents", "Bring the index up to date.", IndexDocuments)
# Longer names are not worth comparing.
_LONGEST_NAME = 100


def tool_names(registry: LibraryRegistry) -> list[str]:
    """Return the names of all tools, search tools first."""
    searches = list(registry.services) if registry.configured else [SEARCH.name]
    others = [name for name in TOOLS if name != SEARCH.name] + ([INDEX.name] if registry.write else [])
    taken = [name for name in searches if name in (*others, INDEX.name)]
    if taken:
        raise UsageError(f"A tool may not be called {taken[0]}: the server has one of that name. Rename it.")
    return [*searches, *others]


def with_extras(registry: LibraryRegistry, spec: ToolSpec) -> ToolSpec:
    """Return a tool with the argument that only a server of several libraries takes: which one to ask."""
    return replace(spec, added=(LIBRARY,)) if registry.several and spec is not SEARCH else spec


def read_call(
    registry: LibraryRegistry, spec: ToolSpec, given: Mapping[str, object]
) -> tuple[list[LibraryService], dict[str, Any]]:
    """Return the libraries that a call is for, and its normalised arguments."""
    arguments = with_extras(registry, spec).read(given)
    chosen = arguments.pop(LIBRARY.name, None)
    reference = arguments.get("reference") or ""
    address = place_of(reference) if isinstance(reference, str) else None
    return registry.choose(chosen or (address and address.tool)), arguments


@dataclass(frozen=True, slots=True)
class ToolReply:
    """The answer to a call: a text, optionally values with links to resources, and whether it is an error."""

    text: str
    data: dict[str, Any] | None = None
    failed: bool = False
    links: Sequence[Mapping[str, str]] = ()


def reply(registry: LibraryRegistry, name: str, given: Mapping[str, object]) -> ToolReply:
    """Answer a call; errors are answers too."""
    try:
        answer = call(registry, name, given)
        if not registry.structured:
            return ToolReply(answer.text)
        return ToolReply(answer.text, answer.data, links=answer.links)
    except Exception as error:
        return refusal(registry, name, error)


def refusal(registry: LibraryRegistry, name: str, error: Exception) -> ToolReply:
    """Return what a model is told about a failed call."""
    if isinstance(error, ProblemError):
        return ToolReply(f"Error: {error.detail}", failed=True)
    if not isinstance(error, LoccitError):
        return ToolReply(f"Error: {unforeseen(name, error)}", failed=True)
    return ToolReply(format_error(error, names={name: name for name in tool_names(registry)}), failed=True)


def unforeseen(what: str, error: Exception) -> str:
    """Log an unexpected error, and return what a client is told: the error itself may contain private data."""
    logger.error("%s failed", what, exc_info=error)
    return (
        f"{what} failed ({type(error).__name__}). This should not happen; the server's log says where it comes from. "
        "Other calls still work."
    )


# As a question to another process: an operation without an address.
CALL_TOOL = Operation(
    "POST",
    "",
    "callTool",
    "A tool of an agent.",
    (),
    lambda call: Reply(asdict(reply(call.registry, call["name"], call["given"]))),
    {},
)


async def reply_in(
    workers: Workers, registry: LibraryRegistry, name: str, given: Mapping[str, object]
) -> ToolReply:
    """Answer a call in the server's threads or, under load, in another of its processes."""
    here = partial(reply, registry, name, given)
    found = await workers.share(Question(CALL_TOOL.name, {"name": name, "given": given}), here)
    if isinstance(found, ToolReply):
        return found
    return ToolReply(**json.loads(found.body)) if found.status == 200 else await workers.run(here)


def call(registry: LibraryRegistry, name: str, given: Mapping[str, object]) -> Answer:
    """Answer a call of any tool except indexing, which takes longer."""
    if name in TOOLS and name != SEARCH.name:
        return ask(registry, TOOLS[name], *read_call(registry, TOOLS[name], given))
    if name in registry.services and (registry.configured or name == SEARCH.name):
        service = registry.services[name]
    elif name == SEARCH.name and not registry.several:
        service = next(iter(registry.services.values()))
    else:
        raise unknown_tool(registry, name)
    return ask(registry, SEARCH, [service], SEARCH.read(given))


def ask(
    registry: LibraryRegistry, tool: AgentTool, services: list[LibraryService], arguments: dict[str, Any]
) -> Answer:
    """Put a tool's question to libraries: to all of them, or to one after another until one answers."""
    asked = arguments.pop("token_budget", None)
    own = None if registry.several else services[0]
    if tool.everywhere and tool.fits and len(services) > 1:
        _check_whose(arguments)

    def question(service: LibraryService) -> Any:
        options = arguments
        if tool.fits:
            # Each of several libraries gets a share of the budget.
            options = {**arguments, "token_budget": registry.budget(asked, own) // len(services)}
        return service.ask(lambda library: tool.find(library, options))

    if tool.everywhere:
        found = all_that_know(services, question)
    else:
        found = [first_that_knows(services, question, tool.empty)]
        own = found[0][0]
    limit = Limit(registry.budget(asked, own), tokens_of(own or services[0]), registry.structured)
    named = [(service.name if registry.several else "", value) for service, value in found]
    answer = tool.answer(named, arguments, limit)
    return linked(answer, limit) if registry.structured else answer


def _check_whose(arguments: Mapping[str, Any]) -> None:
    """Refuse to continue in several libraries at once, as each has its own pages."""
    for name in ("cursor", "offset"):
        if arguments.get(name):
            raise UsageError(
                f"The {name} belongs to one library: give {LIBRARY.name} too, as the answer before said it."
            )


def first_that_knows(
    services: list[LibraryService],
    question: Callable[[LibraryService], T],
    empty: Callable[[T], bool] = lambda _: False,
) -> tuple[LibraryService, T]:
    """Ask one library after another until one has an answer; return which, and the answer."""
    nothing: list[tuple[LibraryService, T]] = []
    refusals: list[NotFoundError] = []
    for service in services:
        found = _attempt(service, question)
        if isinstance(found, NotFoundError):
            refusals.append(found)
        elif empty(found):
            nothing.append((service, found))
        else:
            return service, found
    if nothing:
        return nothing[0]
    raise refusals[0]


def all_that_know(
    services: list[LibraryService], question: Callable[[LibraryService], T]
) -> list[tuple[LibraryService, T]]:
    """Ask every library; one that refuses is ignored if another has an answer."""
    asked = [(service, _attempt(service, question)) for service in services]
    found = [(service, value) for service, value in asked if not isinstance(value, NotFoundError)]
    if not any(value for _, value in found):
        for _, value in asked:
            if isinstance(value, NotFoundError):
                raise value
    return found


def _attempt(service: LibraryService, question: Callable[[LibraryService], T]) -> T | NotFoundError:
    """Return a refusal as a value: another library may have an answer."""
    try:
        return question(service)
    except NotFoundError as error:
        return error


def tokens_of(service: LibraryService) -> Tokens:
    """Return the token counter of a library."""
    return Tokens(service.ask(lambda library: library.tokenizer))


def unknown_tool(registry: LibraryRegistry, name: str) -> UsageError:
    """Return the error for an unknown tool, with the names of the existing ones."""
    names = tool_names(registry)
    if name == INDEX.name:
        return UsageError(
            f"This server is read-only: {INDEX.name} is available when it is started with --write."
        )
    near = difflib.get_close_matches(name[:_LONGEST_NAME], names, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]}?" if near else ""
    return UsageError(f"There is no tool {shown(name)}.{hint} Available: {', '.join(names)}.")

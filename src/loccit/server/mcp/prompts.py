"""Prompts: menu entries that have a question answered, or two sections compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import mcp_types as types

from loccit.ask.catalog import READ, SEARCH
from loccit.config.settings import TOKEN_BUDGETS
from loccit.errors import UsageError
from loccit.server.mcp.calls import ask

if TYPE_CHECKING:
    from loccit.server.services import LibraryRegistry

ANSWER = "answer_with_citations"
COMPARE = "compare_two_sections"

PROMPTS = (
    types.Prompt(
        name=ANSWER,
        title="Answer with citations",
        description="Answer a question from the documents, with a citation for every statement.",
        arguments=[
            types.PromptArgument(name="question", description="What you want to know.", required=True),
            types.PromptArgument(
                name="document", description="Answer from this document only.", required=False
            ),
        ],
    ),
    types.Prompt(
        name=COMPARE,
        title="Compare two sections",
        description="Say what two sections have in common, and where they differ.",
        arguments=[
            types.PromptArgument(
                name="first", description="A section: number, heading or id.", required=True
            ),
            types.PromptArgument(name="second", description="The section to compare it with.", required=True),
            types.PromptArgument(
                name="first_document", description="Document of the first section.", required=False
            ),
            types.PromptArgument(
                name="second_document", description="Document of the second section.", required=False
            ),
        ],
    ),
)


def get_prompt(registry: LibraryRegistry, name: str, given: Mapping[str, str]) -> types.GetPromptResult:
    """Return a prompt with its arguments filled in."""
    for prompt in PROMPTS:
        if prompt.name == name:
            break
    else:
        names = ", ".join(prompt.name for prompt in PROMPTS)
        raise UsageError(f"There is no prompt {name!r}; available: {names}.")
    missing = [
        argument.name
        for argument in prompt.arguments or ()
        if argument.required and not given.get(argument.name, "").strip()
    ]
    if missing:
        raise UsageError(f"{name}: {missing[0]} is missing.")
    text = _answer(registry, given) if name == ANSWER else _compare(registry, given)
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=prompt.description, messages=[message])


def _answer(registry: LibraryRegistry, given: Mapping[str, str]) -> str:
    question, document = given["question"].strip(), given.get("document", "").strip()
    tools = " or ".join(registry.services) if registry.configured else SEARCH.name
    only = f" Answer from the document {document!r} only." if document else ""
    budget = max(TOKEN_BUDGETS[0], registry.token_budget // 2 // len(registry.services))
    found = [
        ask(
            registry,
            SEARCH,
            [service],
            {"query": question, "token_budget": budget} | ({"document": document} if document else {}),
        ).text
        for service in registry.services.values()
    ]
    return "\n\n".join(
        [
            f"Answer this question from the documents: {question}{only}",
            "Below is what a first search found. Where it is not enough, search again with other words "
            f"({tools}), read whole sections (read_section), look up defined terms (define_term) and follow "
            "references (follow_references). Put a citation after every statement: the document, the section as it "
            "is printed, and the lines or pages. Quote word for word where the wording matters. If the documents do "
            "not answer the question, say so.",
            *found,
        ]
    )


def _compare(registry: LibraryRegistry, given: Mapping[str, str]) -> str:
    texts = [_section(registry, given, which) for which in ("first", "second")]
    return "\n\n".join(
        [
            "Compare these two sections. Say what each is about, what both say, where they differ or contradict each "
            "other, and what only one of them says. Cite the section, and the lines or pages, for every statement. "
            "Where a section was cut, read the rest with read_section.",
            "The first section:",
            texts[0],
            "The second section:",
            texts[1],
        ]
    )


def _section(registry: LibraryRegistry, given: Mapping[str, str], which: str) -> str:
    given_here = {"reference": given[which].strip(), "token_budget": registry.token_budget // 2}
    document = given.get(f"{which}_document", "").strip() or None
    return ask(registry, READ, registry.choose(None), given_here | {"document": document}).text

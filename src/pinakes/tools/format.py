"""Answers as text for a model: what documents say between marks, each piece with its citation, within a budget."""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.errors import NotFoundError
from pinakes.model import DefineResponse, OutlineNode, SearchResponse, SectionView, TermDefinition
from pinakes.model.quoting import Quotation, readable
from pinakes.search.present.token_budget import Count, fit_response, longest_fit

# How much of the budget the list of what stands below a section may take, when its text must be cut.
_SHARE_OF_CHILDREN = 4
_CUT = "Cut to fit the token budget: there is more than is shown."
_LONGEST_ERROR = 1000


def format_response(response: SearchResponse, token_budget: int | None, count: Count) -> str:
    """Return the answer to a search, with as many results as fit."""
    return fit_response(response, token_budget, count).format()


def format_section(view: SectionView, token_budget: int | None, count: Count) -> str:
    """Return a section; when it does not fit, its beginning, and the parts that can be asked for one by one."""
    head = "\n".join(_place(view))
    below = "\n".join(["Below it:", *_children(view.children)]) if view.children else ""
    also = "\n".join(["The same name also fits:", *(f"- {other}" for other in view.alternatives)])
    quotation = Quotation.around([head, view.text, below, also], seed=f"{view.source_path}#{view.section_id}")
    notices = [quotation.notice]
    if not view.exact:
        notices.append(
            "What was asked for has no heading or number of its own; it can only be in this section."
        )

    def whole(text: str, children: str = below, others: str = also, cut: str = "") -> str:
        parts = [head, text, children, others if view.alternatives else ""]
        return _joined(" ".join(notices), quotation.block(_joined(*parts)), cut)

    if token_budget is None or count(whole(view.text)) <= token_budget:
        return whole(view.text)
    children = longest_fit(below, lambda text: text, token_budget // _SHARE_OF_CHILDREN, count)
    for listed, others in ((children, also), (children, ""), ("", "")):
        text = longest_fit(
            view.text,
            lambda text, listed=listed, others=others: whole(text, listed, others, _CUT),  # type: ignore[misc]
            token_budget,
            count,
        )
        if text:
            return whole(text, listed, others, _CUT)
    return f"The section does not fit into {token_budget} tokens. Ask again with a larger token_budget."


def format_definition(answer: DefineResponse, token_budget: int | None, count: Count) -> str:
    """Return what a term means, document by document; without a definition, the terms that are near."""
    entries = [_definition(item) for item in answer.definitions]
    near = ", ".join(answer.near)
    quotation = Quotation.around([*entries, near], seed=answer.term)
    if not entries:
        return _near(near, quotation, token_budget, count)
    says = [f"{len(entries)} definition{'' if len(entries) == 1 else 's'}."]
    if answer.conflict:
        says.append("The documents do not agree on this term.")
    opening = " ".join([*says, quotation.notice])

    def whole(shown: Sequence[str], cut: str = "") -> str:
        return _joined(opening, *map(quotation.block, shown), cut)

    if token_budget is None or count(whole(entries)) <= token_budget:
        return whole(entries)
    kept: list[str] = []
    for entry in entries:
        if count(whole([*kept, entry], _CUT)) > token_budget:
            part = longest_fit(
                entry,
                lambda text: whole([*kept, text], _CUT),
                token_budget,
                count,
            )
            if part or kept:
                return whole([*kept, part] if part else kept, _CUT)
            break
        kept.append(entry)
    return f"The definition does not fit into {token_budget} tokens. Ask again with a larger token_budget."


def _near(near: str, quotation: Quotation, token_budget: int | None, count: Count) -> str:
    nothing = "No document defines this term."

    def whole(text: str) -> str:
        return f"{nothing} {quotation.notice}\nNear to it: {quotation.inline(text)}" if text else nothing

    return whole(near if token_budget is None else longest_fit(near, whole, token_budget, count))


def format_error(error: Exception, token_budget: int | None = None, count: Count | None = None) -> str:
    """Return what went wrong as a text that a model can act on."""
    text = " ".join(readable(str(error)).split())[:_LONGEST_ERROR]
    # What is not found comes with what is near, and that is in the words of the documents.
    quoted = Quotation.around([text], seed=text) if isinstance(error, NotFoundError) else None

    def whole(text: str) -> str:
        return f"Not found. {quoted.notice}\n{quoted.inline(text)}" if quoted else f"Error: {text}"

    if token_budget is None or count is None:
        return whole(text)
    return whole(longest_fit(text, whole, token_budget, count))


def _place(view: SectionView) -> list[str]:
    """The citation of a section."""
    lines = [view.source_path, f"Location: {view.location}"]
    name = view.section_label or view.section_id
    return [*lines, f"Section: {name}"] if name else lines


def _children(nodes: Sequence[OutlineNode]) -> list[str]:
    return [
        f"- {node.label if node.heading in node.label else node.heading} ({node.section_id})"
        if node.section_id
        else f"- {node.heading or node.label}"
        for node in nodes
    ]


def _definition(item: TermDefinition) -> str:
    entry = item.definition
    where = ", ".join(filter(None, [entry.location, entry.source_section]))
    lines = [
        f"{item.document_title} ({where})",
        f"{entry.term}: {entry.definition_text}",
    ]
    lines += [
        f"Except: {exception}" for exception in entry.exceptions if exception not in entry.definition_text
    ]
    if item.conflicts_with:
        lines.append(f"Defined differently in: {', '.join(dict.fromkeys(item.conflicts_with))}")
    return "\n".join(lines)


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)

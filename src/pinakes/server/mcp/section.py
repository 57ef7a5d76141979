"""A section as text within a budget, from any place in it on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pinakes.errors import UsageError
from pinakes.model import SectionView
from pinakes.model.quoting import Quotation
from pinakes.server.mcp.fit import Tokens
from pinakes.server.mcp.render import node_line, section_lines

# How much of the budget the list of parts may take when the text is cut.
_SHARE_OF_PARTS = 4


@dataclass(frozen=True, slots=True)
class Shown:
    """The text that is sent, what of the section is in it, and where to read on."""

    text: str
    view: SectionView
    next_offset: int | None


def section_text(view: SectionView, offset: int, budget: int, tokens: Tokens) -> Shown:
    """Return as much of a section as fits; when it is cut, its parts, which can be read one by one."""
    if offset and offset >= len(view.text):
        raise UsageError(f"The section ends after {len(view.text)} characters; give a smaller offset.")
    rest = view.text[offset:]
    place = "\n".join(section_lines(view))
    parts = [node_line(child, view.source_path) for child in view.children]
    quotation = Quotation.around([place, rest, *parts], seed=f"{view.source_path}#{view.section_id}{offset}")
    notices = [quotation.notice]
    if not view.exact:
        notices.append(
            "What was asked for has no heading or number of its own: it can only be in this section."
        )
    head = " ".join(notices)

    def whole(text: str, listed: list[str], note: str) -> str:
        below = "\n".join(["Parts:", *listed]) if listed else ""
        quoted = quotation.block("\n\n".join(piece for piece in (place, text.strip(), below) if piece))
        return "\n".join(piece for piece in (head, quoted, note) if piece)

    text = whole(rest, [], "")
    if tokens.count(text) <= budget:
        return Shown(text, replace(view, text=rest), None)
    note = "Cut to fit the token budget: read on with offset={}."
    listed = _that_fit(parts, budget // _SHARE_OF_PARTS, tokens)
    room = budget - tokens.count(whole("", listed, note.format(len(view.text))))
    end = tokens.cut(rest, room)
    text = whole(rest[:end], listed, note.format(offset + end))
    while end and tokens.count(text) > budget:
        end = int(end * 0.97)
        text = whole(rest[:end], listed, note.format(offset + end))
    shown = replace(view, text=rest[:end], children=view.children[: len(listed)])
    if tokens.count(text) > budget:
        # Headings and paths can be longer than any budget.
        text = f"The section does not fit into {budget} tokens. Ask again with a larger token_budget."
    return Shown(text, shown, offset + end)


def _that_fit(lines: list[str], budget: int, tokens: Tokens) -> list[str]:
    kept: list[str] = []
    for line in lines:
        budget -= tokens.count(line)
        if budget < 0:
            break
        kept.append(line)
    return kept

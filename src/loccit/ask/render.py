"""Answers as text for a model: document text in delimiters, each piece with its citation, within a budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loccit.ask.fit import Tokens
from loccit.ask.relative import without_folders
from loccit.errors import NotFoundError, UsageError
from loccit.ingest.discover import skipped_line
from loccit.model import (
    Citation,
    CitedSection,
    DefineResponse,
    DocumentInfo,
    IndexReport,
    Outline,
    OutlineNode,
    SectionsResponse,
    SectionView,
    Status,
    TermDefinition,
)
from loccit.model.document import IMAGE_PAGES, READ_FROM_IMAGE, line_word, span
from loccit.model.place_ids import with_place_id
from loccit.model.quoting import Quotation, readable
from loccit.model.result import definition_line
from loccit.search.present.respond import Count, longest_fit

# The share of the budget for the list of subsections, if a section's text must be cut.
_SHARE_OF_CHILDREN = 4
_CUT = "Cut to fit the token budget: there is more than is shown."
_LONGEST_ERROR = 1000
# References with a lower confidence than this say so.
_DOUBTFUL = 0.9
# Tokens for the delimiters around quoted material, and for a sentence on how to continue.
_FRAME, _NOTE = 80, 40


def format_definition(answer: DefineResponse, token_budget: int | None, count: Count) -> str:
    """Return the definitions of a term, document by document; if there are none, similar terms."""
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


def format_error(
    error: Exception,
    token_budget: int | None = None,
    count: Count | None = None,
    *,
    names: Mapping[str, str] | None = None,
) -> str:
    """Return an error as a text that a model can act on; ``names`` are the model's names for the tools."""
    text = " ".join(readable(without_folders(str(error))).split())[:_LONGEST_ERROR]
    missing = error if isinstance(error, NotFoundError) else None
    # What is not found comes with suggestions, which are words of the documents.
    quoted = Quotation.around([text], seed=text) if missing else None
    advice = missing.where_to_look(names or {}) if missing else ""

    def whole(text: str) -> str:
        return f"Not found. {quoted.notice}\n{quoted.inline(text)}" if quoted else f"Error: {text}"

    advised = f"{whole(text)}\n{advice}" if advice else whole(text)
    if token_budget is None or count is None or count(advised) <= token_budget:
        return advised
    return whole(longest_fit(text, whole, token_budget, count))


def _definition(item: TermDefinition) -> str:
    entry = item.definition
    lines = [
        with_place_id(f"{item.document_title} ({entry.location})", entry.place_id),
        definition_line(entry),
    ]
    if entry.goes_on:
        lines.append(f"Goes on below {entry.location}.")
    lines += [
        f"Except: {exception}" for exception in entry.exceptions if exception not in entry.definition_text
    ]
    if item.conflicts_with:
        lines.append(f"Defined differently in: {', '.join(dict.fromkeys(item.conflicts_with))}")
    return "\n".join(lines)


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


# -- sections, in pieces ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shown:
    """The text that is sent, the part of the section in it, and where to continue."""

    text: str
    view: SectionView
    next_offset: int | None


def section_text(view: SectionView, offset: int, budget: int, tokens: Tokens) -> Shown:
    """Return as much of a section as fits; if it is cut, its parts, which can be read one by one."""
    if offset and offset >= len(view.text):
        raise UsageError(f"The section ends after {len(view.text)} characters; give a smaller offset.")
    if len(view.children) == 1 and view.children[0].children and not view.section_id:
        # A document whose text is all below its title.
        view = replace(view, children=view.children[0].children)
    rest = view.text[offset:]
    place = "\n".join(section_lines(view))
    parts = [node_line(child, view.source_path) for child in view.children]
    quotation = Quotation.around(
        [place, rest, view.doubt, *parts], seed=f"{view.source_path}#{view.section_id}{offset}"
    )
    notices = [quotation.notice, quotation.inline(view.doubt)] if view.doubt else [quotation.notice]
    head = " ".join(notices)

    def whole(text: str, listed: list[str], note: str) -> str:
        below = "\n".join(["Parts:", *listed]) if listed else ""
        quoted = quotation.block("\n\n".join(piece for piece in (place, text.strip(), below) if piece))
        return "\n".join(piece for piece in (head, quoted, note) if piece)

    text = whole(rest, [], "")
    if tokens.count(text) <= budget:
        return Shown(text, replace(view, text=rest), None)

    def note(end: int) -> str:
        return f"Cut to fit the token budget{lines_shown(view, offset, end)}: read on with offset={end}."

    listed = _that_fit(parts, budget // _SHARE_OF_CHILDREN, tokens)
    room = budget - tokens.count(whole("", listed, note(len(view.text))))
    end = tokens.cut(rest, room)
    text = whole(rest[:end], listed, note(offset + end))
    while end and tokens.count(text) > budget:
        end = int(end * 0.97)
        text = whole(rest[:end], listed, note(offset + end))
    shown = replace(view, text=rest[:end], children=view.children[: len(listed)])
    if tokens.count(text) > budget:
        # Headings and paths can be longer than any budget.
        text = f"The section does not fit into {budget} tokens. Ask again with a larger token_budget."
    return Shown(text, shown, offset + end)


def lines_shown(view: SectionView, start: int, end: int) -> str:
    """Return the lines of a section between two offsets of its text; "" if the offsets do not correspond to lines.

    Converted text may have other lines than its file.
    """
    if view.text.count("\n") != view.lines.last - view.lines.first:
        return ""
    first = view.lines.first + view.text.count("\n", 0, start)
    last = view.lines.first + view.text[:end].rstrip().count("\n")
    whole = view.whole_lines or view.lines
    return f", {line_word(view.source_path)}s {first}–{max(first, last)} of {whole.first}–{whole.last} shown"


@dataclass(frozen=True, slots=True)
class ShownSections:
    """The text that is sent, and the parts of the sections in it."""

    text: str
    sections: list[SectionView]
    ends: list[int | None]
    """Where to continue each section that is cut."""
    cited: list[CitedSection]
    left_out: list[CitedSection]
    cut: bool


def sections_text(found: SectionsResponse, offset: int, budget: int, tokens: Tokens) -> ShownSections:
    """Return several sections, which share the budget, then what they cite, as far as it fits whole.

    What is not shown is named, with how to read it.
    """
    missing = [f"Not found: {item.reference}: {item.reason}" for item in found.missing]
    left = max(0, budget - _FRAME - sum(map(tokens.count, missing)))
    names = [cited_name(item) for item in found.cited]
    costs = [tokens.count(f"; {name}") for name in names]
    cited_blocks = [_cited_block(item) for item in found.cited]
    sizes = [tokens.count(f"{block}\n\n") for block in cited_blocks]
    # Cited sections get up to a quarter of the budget, and are at least named, unless that takes half of it.
    kept_free = min(sum(sizes), max(left // 4, min(sum(costs), left // 2)))
    left -= kept_free
    blocks: list[str] = []
    notes: list[str] = []
    sections: list[SectionView] = []
    ends: list[int | None] = []
    for number, view in enumerate(found.sections):
        room = left // (len(found.sections) - number)
        text = view.text[offset:]
        head = "\n".join(section_lines(view))
        end = len(text)
        if tokens.count(f"{head}\n\n{text}") > room:
            end = tokens.cut(text, room - tokens.count(head) - _NOTE)
            at = offset + end
            notes.append(
                f"[{view.place_id}] is cut{lines_shown(view, offset, at)}: read on with "
                f'reference="{view.place_id}", offset={at}.'
            )
            left -= tokens.count(notes[-1])
        block = f"{head}\n\n{text[:end].strip()}" if end else head
        left -= tokens.count(block)
        blocks.append(block)
        sections.append(replace(view, text=text[:end]))
        ends.append(offset + end if end < len(text) else None)
    left += kept_free
    owed = sum(costs)
    cited: list[CitedSection] = []
    left_out: list[tuple[CitedSection, str]] = []
    for item, name, cost, block, size in zip(found.cited, names, costs, cited_blocks, sizes, strict=True):
        owed -= cost
        if size <= left - owed:
            left -= size
            blocks.append(block)
            cited.append(item)
        else:
            left -= cost
            left_out.append((item, name))
    blocks += missing
    quotation = Quotation.around([*blocks, *notes, *names], seed=f"{found.sections[0].place_id}{offset}")

    def whole(kept: int, named: int) -> str:
        said = list(notes)
        if left_out:
            more = len(left_out) - named
            listed = [name for _, name in left_out[:named]] + ([f"{more} more"] if more else [])
            said.append(f"Cited, but not shown: {'; '.join(listed)}.")
        if kept < len(blocks):
            said.append(f"{len(blocks) - kept} more do not fit.")
        cut = " ".join(said)
        body = quotation.block("\n\n".join(blocks[:kept]))
        return "\n".join([quotation.notice, body, *([quotation.inline(cut)] if cut else [])])

    # The names alone may exceed the budget.
    kept, named = len(blocks), len(left_out)
    while tokens.count(text := whole(kept, named)) > budget and (kept > 1 or named):
        kept, named = (kept, named - 1) if named else (kept - 1, named)
    if tokens.count(text) > budget:
        text = f"The sections do not fit into {budget} tokens. Ask again with a larger token_budget."
    return ShownSections(
        text,
        sections[:kept],
        ends[:kept],
        cited[: max(0, kept - len(sections))],
        [item for item, _ in left_out],
        bool(notes or left_out) or kept < len(blocks),
    )


def _cited_block(item: CitedSection) -> str:
    named = f"Cited as {item.text!r}:"
    if item.section is None:
        return f"{named} {item.reason}"
    return "\n".join([named, *section_lines(item.section), "", item.section.text])


def cited_name(item: CitedSection) -> str:
    """Return the name of a cited place with its id; if it was not found, the reason."""
    if item.section is None:
        return f"{item.text} ({item.reason})"
    return with_place_id(item.section.section_label or item.section.heading, item.section.place_id)


def lines_that_fit(lines: list[str], budget: int, tokens: Tokens, view: SectionView) -> list[str]:
    """Return lines about a section, as many as fit; its citation is always included, and a cut is mentioned."""
    if sum(tokens.count(f"{line}\n") for line in lines) <= budget:
        return lines
    head = len(section_lines(view))
    kept = max(head, len(_that_fit(lines, budget - _NOTE, tokens)))
    return [*lines[:kept], f"{len(lines) - kept} more lines of [{view.place_id}]: ask for it alone."]


def _that_fit(lines: list[str], budget: int, tokens: Tokens) -> list[str]:
    kept: list[str] = []
    for line in lines:
        budget -= tokens.count(line)
        if budget < 0:
            break
        kept.append(line)
    return kept


# -- lines -----------------------------------------------------------------------------------------------------


def section_lines(view: SectionView) -> list[str]:
    """Return the citation of a section, and what else a reference to it may mean."""
    lines = [view.source_path, f"Location: {view.location}"]
    name = view.section_label or view.heading
    kind, name = ("Section", name) if view.section_id else ("Document, whole", view.document_title)
    lines.append(f"{kind}: {with_place_id(name, view.place_id)}")
    if view.whole_lines is not None:
        whole = view.whole_lines
        lines.append(
            f"Shown: {line_word(view.source_path)}s {view.lines.first}–{view.lines.last} of {whole.first}–{whole.last}"
        )
    if view.lead_in:
        lines.append("Introduced by: " + " ".join(view.lead_in.split()))
    if view.from_image:
        lines.append(READ_FROM_IMAGE)
    if view.alternatives:
        more = len(view.alternatives) - 3
        others = "; ".join(view.alternatives[:3]) + (f" and {more} more" if more > 0 else "")
        lines.append(f"The same name also fits: {others}")
    return lines


def node_line(node: OutlineNode, path: str, indent: int = 0) -> str:
    """Return a heading as one line of an outline, with the id to read it by."""
    heading = node.heading or node.label or "(no heading)"
    if node.label and not heading.casefold().startswith(node.label.casefold()):
        # The label of a clause ends with its marker, which is its only heading.
        heading = node.label if node.label.endswith(heading) else f"{node.label} {heading}"
    where = span(node.lines, node.pages, path)
    return f"{'  ' * indent}- {heading} [{node.place_id}] {where}".rstrip()


def outline_lines(nodes: Sequence[OutlineNode], path: str, depth: int, indent: int = 0) -> Iterator[str]:
    """Return the headings of an outline down to some level, and the number below."""
    for node in nodes:
        line = node_line(node, path, indent)
        if indent + 1 >= depth and node.children:
            yield f"{line} (+{count_nodes(node.children)} below)"
        else:
            yield line
            yield from outline_lines(node.children, path, depth, indent + 1)


def count_nodes(nodes: Sequence[OutlineNode]) -> int:
    """Return the number of headings in an outline."""
    return sum(1 + count_nodes(node.children) for node in nodes)


def outline_depth(nodes: Sequence[OutlineNode]) -> int:
    """Return the number of levels in an outline."""
    return 1 + max((outline_depth(node.children) for node in nodes), default=-1) if nodes else 0


def outline_head(outline: Outline) -> str:
    """Return the line above an outline."""
    return f"{with_place_id(outline.title, outline.place_id)} — {outline.source_path}"


def cites_lines(citations: Sequence[Citation]) -> list[str]:
    """Return the places that a section refers to, without duplicates."""
    return list(dict.fromkeys(map(_cites_line, citations)))


def _cites_line(item: Citation) -> str:
    reference = item.reference
    said = f"- {reference.text!r} ({line_word(item.source_path)} {item.line}) →"
    if not reference.resolved:
        return f"{said} {reference.reason or 'not in the library'}"
    name = with_place_id(item.target or reference.target_section, reference.target_place_id)
    elsewhere = f" in {reference.target_path}" if reference.target_path != item.source_path else ""
    return f"{said} {name}{elsewhere}{_doubt(item)}"


def cited_by_lines(citations: Sequence[Citation], path: str) -> list[str]:
    """Return the places that refer to a section of a document, each sentence once."""
    return list(dict.fromkeys(_cited_by_line(item, path) for item in citations))


def _cited_by_line(item: Citation, path: str) -> str:
    place = item.section_label or item.heading or item.document_title
    elsewhere = f", {item.source_path}" if item.source_path != path else ""
    at = f"{line_word(item.source_path)} {item.line}{elsewhere}"
    return (
        f"- {with_place_id(place, item.place_id)} ({at}): {item.words or item.reference.text}{_doubt(item)}"
    )


def _doubt(item: Citation) -> str:
    """The confidence that a reference leads there, if it is low."""
    reference = item.reference
    sure = f" (sure: {reference.sure:.2f})" if reference.sure < _DOUBTFUL else ""
    return f"{sure}; {reference.reason}" if reference.reason else sure


def document_line(info: DocumentInfo) -> str:
    """Return a document as one line of a list."""
    facts = [info.file_type.lstrip("."), info.language, f"{info.total_chunks} chunks"]
    if info.pages:
        facts.append(f"{info.pages} pages")
    if scanned := info.metadata.get(IMAGE_PAGES):
        facts.append(f"read from images: {scanned}")
    return f"- {info.title} ({', '.join(fact for fact in facts if fact)}) — {info.source_path}"


def status_text(state: Status, name: str = "") -> str:
    """Return the state of an index in a few lines."""
    of = f"{name}: " if name else ""
    lines = [f"{of}{state.documents} documents in {state.chunks} chunks, at {state.path}"]
    if state.roots:
        lines.append(f"Read from: {', '.join(state.roots)}")
    kinds = ", ".join(f"{count} {kind.lstrip('.')}" for kind, count in state.file_types.items())
    if kinds:
        lines.append(f"Types: {kinds}")
    if state.languages:
        lines.append("Languages: " + ", ".join(f"{count} {code}" for code, count in state.languages.items()))
    if state.lost:
        lines.append(state.lost)
    if state.unspoken:
        lines.append(state.unspoken)
    if state.database:
        lines.append(f"Kept in the database {state.database}")
    lines.append(f"Updated: {state.updated_at or 'never'}; embedding model: {state.model or 'none yet'}")
    if state.pending_passages:
        lines.append(f"{state.pending_passages} passages wait for vectors: search by meaning is incomplete.")
    if state.writer:
        lines.append(f"Being written to by {state.writer}.")
    lines += [f"Not readable: {failure.path}: {failure.reason}" for failure in state.failures]
    return "\n".join(lines)


def report_text(report: IndexReport) -> str:
    """Return what an indexing run did."""
    counts = {
        "added": len(report.added),
        "updated": len(report.updated),
        "unchanged": report.unchanged,
        "removed": len(report.removed),
        "renamed": len(report.renamed),
        "failed": len(report.failed),
    }
    said = ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "nothing to do"
    lines = [f"Documents: {said}; {report.chunks} chunks, {report.seconds:.1f} s."]
    lines += [f"Failed: {failure.path}: {failure.reason}" for failure in report.failed]
    if said := skipped_line(report.skipped):
        lines.append(f"{said[0].upper()}{said[1:]}.")
    lines += [f"Note: {warning}" for warning in report.warnings]
    return "\n".join(lines)

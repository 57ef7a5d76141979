"""Lines of text for a model to read: places, outlines, documents, the state of an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pinakes.ingest.skipped import skipped_line
from pinakes.model import (
    Citation,
    DocumentInfo,
    IndexReport,
    Outline,
    OutlineNode,
    SectionView,
    Status,
)
from pinakes.model.document import IMAGE_PAGES, READ_FROM_IMAGE, line_word, span


def section_lines(view: SectionView) -> list[str]:
    """Return the citation of a section, and what else a reference to it may mean."""
    lines = [view.source_path, f"Location: {view.location}"]
    name = view.section_label or view.heading
    if name or view.section_id:
        lines.append(f"Section: {name} [{view.section_id}]" if name else f"Section: {view.section_id}")
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
        # The label of a clause ends with its marker, which is all the heading it has.
        heading = node.label if node.label.endswith(heading) else f"{node.label} {heading}"
    where = span(node.lines, node.pages, path)
    return f"{'  ' * indent}- {heading} [{node.section_id}] {where}".rstrip()


def outline_lines(nodes: Sequence[OutlineNode], path: str, depth: int, indent: int = 0) -> Iterator[str]:
    """Return the headings of an outline down to some level, and how many are below."""
    for node in nodes:
        line = node_line(node, path, indent)
        if indent + 1 >= depth and node.children:
            yield f"{line} (+{count_nodes(node.children)} below)"
        else:
            yield line
            yield from outline_lines(node.children, path, depth, indent + 1)


def count_nodes(nodes: Sequence[OutlineNode]) -> int:
    """Return how many headings an outline has."""
    return sum(1 + count_nodes(node.children) for node in nodes)


def outline_depth(nodes: Sequence[OutlineNode]) -> int:
    """Return how many levels an outline has."""
    return 1 + max((outline_depth(node.children) for node in nodes), default=-1) if nodes else 0


def outline_head(outline: Outline) -> str:
    """Return the line above an outline."""
    return f"{outline.title} — {outline.source_path}"


def cites_line(item: Citation) -> str:
    """Return one place that a section refers to."""
    reference = item.reference
    if reference.resolved:
        where = f"[{reference.target_section}]" if reference.target_section else reference.target_chunk
        elsewhere = f" in {reference.target_path}" if reference.target_path != item.source_path else ""
        sure = f"(sure: {reference.sure:.2f}){f'; {reference.reason}' if reference.reason else ''}"
        return f"- {reference.text!r} ({line_word(item.source_path)} {item.line}) → {where}{elsewhere} {sure}"
    what = reference.reason or "not in the library"
    return f"- {reference.text!r} ({line_word(item.source_path)} {item.line}) → {what}"


def cited_by_line(item: Citation) -> str:
    """Return one place that refers to a section."""
    place = item.section_label or item.heading or item.document_title
    sure = f"(sure: {item.reference.sure:.2f})"
    return f"- {place} ({line_word(item.source_path)} {item.line}, {item.source_path}): {item.reference.text!r} {sure}"


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
    """Return what a run of indexing did."""
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

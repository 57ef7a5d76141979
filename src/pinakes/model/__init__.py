"""The entities everything else is about. Plain data: no input, no output, and no import of other parts."""

from pinakes.model.answers import Citation, DefineResponse, ReferencesResponse, TermDefinition
from pinakes.model.chunk import Chunk, ChunkType, Passage, chunk_id, chunk_number
from pinakes.model.document import Converted, Document, Lines, LineStart, Pages, PageStart, SelfCheck, line_of
from pinakes.model.knowledge import Definition, Link, Reference
from pinakes.model.parsed import ParsedDocument
from pinakes.model.place import Place
from pinakes.model.report import ContextEstimate, Failure, IndexReport, MoveReport, Progress
from pinakes.model.result import Elsewhere, Match, SearchResponse, SearchResult
from pinakes.model.views import (
    Check,
    DoctorReport,
    DocumentInfo,
    Outline,
    OutlineNode,
    SectionView,
    Status,
)

__all__ = [
    "Check",
    "Chunk",
    "ChunkType",
    "Citation",
    "ContextEstimate",
    "Converted",
    "DefineResponse",
    "Definition",
    "DoctorReport",
    "Document",
    "DocumentInfo",
    "Elsewhere",
    "Failure",
    "IndexReport",
    "LineStart",
    "Lines",
    "Link",
    "Match",
    "MoveReport",
    "Outline",
    "OutlineNode",
    "PageStart",
    "Pages",
    "ParsedDocument",
    "Passage",
    "Place",
    "Progress",
    "Reference",
    "ReferencesResponse",
    "SearchResponse",
    "SearchResult",
    "SectionView",
    "SelfCheck",
    "Status",
    "TermDefinition",
    "chunk_id",
    "chunk_number",
    "line_of",
]

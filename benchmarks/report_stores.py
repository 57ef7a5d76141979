"""The part of the page about databases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Table = Callable[[Sequence[tuple[str, ...]], tuple[str, ...]], str]

_HOW = {
    "embedded": "embedded default",
    "postgres": "PostgreSQL with pgvector, server",
    "faiss": "FAISS, files",
    "chromadb": "Chroma, server",
    "qdrant": "Qdrant, the vendor's local mode",
    "milvus": "Milvus Lite, the vendor's local mode",
}
_NATIVE = {"none": "ours", "keyword": "its keyword search", "hybrid": "its fusion"}


def render(data: dict[str, Any], table: Table) -> str:
    """Return the tables of answers, of storing and of speed."""
    parts = [_answers(data.get("answers", []), table)]
    if data.get("ingest"):
        parts.append(_ingest(data["ingest"], table))
    if data.get("speed"):
        parts.append(_speed(data["speed"], table))
    return "\n\n".join(part for part in parts if part)


def _answers(rows: Sequence[dict[str, Any]], table: Table) -> str:
    lines = [
        (
            _HOW[row["provider"]],
            _NATIVE[row["native"]],
            f"{row['recall@10']:.3f}" if "recall@10" in row else "",
            f"{row['overlap@10']:.3f}" if "overlap@10" in row else "",
            f"{row['ndcg@10']:.4f}",
            f"{row['moved_seconds']:.0f} s" if "moved_seconds" in row else "",
        )
        for row in rows
    ]
    head = (
        "scifact, 150 claims",
        "keyword and fusion",
        "recall@10 by meaning",
        "hybrid, the same ten",
        "hybrid nDCG@10",
        "moved in",
    )
    note = (
        "Recall, and the share of the same ten in hybrid search, are against the embedded default (goal for recall: "
        ".98), nDCG is on the same questions (goal: within .01 of it). Each is filled by moving the embedded index "
        "there, without embedding again."
    )
    return f"{table(lines, head)}\n\n{note}"


def _ingest(rows: Sequence[dict[str, Any]], table: Table) -> str:
    lines = [
        (
            _HOW[row["provider"]],
            f"{row['chunks']:,}",
            f"{row['seconds']:.0f} s",
            f"{row['stage_seconds'].get('vectors', 0.0):.1f} s",
        )
        for row in rows
    ]
    head = (
        "120 files of the Kubernetes documentation",
        "chunks",
        "read, embedded and stored",
        "of it storing",
    )
    return f"{table(lines, head)}\n\nGoal: PostgreSQL at least half as fast as the embedded default."


def _speed(rows: Sequence[dict[str, Any]], table: Table) -> str:
    lines = [
        (
            _HOW[row["provider"]],
            f"{row['p50_ms']:.1f} ms",
            f"{row['p95_ms']:.1f} ms",
            f"{row['semantic_ms']:.1f} ms",
        )
        for row in rows
    ]
    head = ("hybrid search at 10,000 chunks", "p50", "p95", "the search by meaning alone, p50")
    return (
        f"{table(lines, head)}\n\nGoal: PostgreSQL under 40 ms. Server and client share the two cores; what is not the "
        "search by meaning is done here for all of them."
    )

"""Small evaluation sets, written by the tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_tsv(path: Path, rows: Iterable[tuple[object, ...]]) -> None:
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")


def qrels(path: Path, *rows: tuple[str, str, object]) -> None:
    write_tsv(path / "qrels.tsv", [("query-id", "corpus-id", "score"), *rows])


def retrieval_set(folder: Path) -> Path:
    write_jsonl(
        folder / "corpus.jsonl",
        [
            {
                "id": "tides",
                "title": "Tides",
                "text": "The moon pulls the sea, and twice a day the water rises.",
            },
            {
                "id": "bread",
                "title": "Sourdough",
                "text": "Flour and water ferment until the dough has risen.",
            },
            {"id": "4711", "title": "", "text": "A barometer measures the pressure of the air."},
            {"id": "empty", "title": "", "text": ""},
        ],
    )
    write_jsonl(
        folder / "queries.jsonl",
        [
            {"id": "1", "text": "why does the sea rise twice a day"},
            {"id": "2", "text": "sourdough"},
            {"id": 3, "text": "how is air pressure measured"},
            {"id": "unjudged", "text": "anything else"},
        ],
    )
    qrels(folder, ("1", "tides", 2), ("1", "bread", 0), ("2", "bread", 1), ("3", "4711", 1))
    return folder


LICENCE = "Licensed under the terms of the project.\n"
ALPHA = (
    f"{LICENCE}def alpha_total(values):\n    return sum(values)\n\ndef alpha_mean(values):\n    return 0\n"
)
BETA = f"{LICENCE}class BetaQueue:\n    def push_item(self, item):\n        self.items.append(item)\n"


def fixed_set(folder: Path) -> Path:
    write_jsonl(
        folder / "documents.jsonl",
        [{"doc_id": "a", "content": ALPHA}, {"doc_id": "b_chunk_b", "content": BETA}],
    )
    write_jsonl(
        folder / "corpus.jsonl",
        [
            {"id": "a_chunk_0", "text": LICENCE},
            {"id": "a_chunk_1", "text": "def alpha_total(values):\n    return sum(values)\n"},
            {"id": "a_chunk_2", "text": "def alpha_mean(values):\n    return 0"},
            {"id": "b_chunk_b_chunk_0", "text": LICENCE},
            {"id": "b_chunk_b_chunk_1", "text": BETA[len(LICENCE) :]},
        ],
    )
    write_jsonl(
        folder / "queries.jsonl",
        [
            {"id": "sum", "text": "which function returns the sum of alpha_total values"},
            {"id": "queue", "text": "how does BetaQueue push_item append to items"},
            {"id": "terms", "text": "licensed under which terms of the project"},
        ],
    )
    # The licence of the second document is golden; its twin of the first reads the same.
    qrels(
        folder,
        ("sum", "a_chunk_1", 1),
        ("queue", "b_chunk_b_chunk_1", 1),
        ("terms", "b_chunk_b_chunk_0", 1),
    )
    return folder


ACT = """# Harbour Act

## Section 1. Definitions

"vessel" means every kind of craft that is used on water.

## Section 2. Duty to report

(a) The master of a vessel shall report a collision to the harbour master within one hour.

(b) A written account signed by the master follows within three working days.

### Section 2A. Storms

In a storm the report may be made when the vessel is safe at its berth.

## Section 3. Closure

The harbour master may close the harbour while a gale warning is in force.
"""
DIARY = "# Diary of a baker\n\nThe oven was hot before dawn. Rye loaves take an hour.\n"


def write_documents(folder: Path) -> Path:
    (folder / "sub").mkdir(parents=True)
    (folder / "act.md").write_text(ACT, encoding="utf-8")
    (folder / "sub" / "diary.md").write_text(DIARY, encoding="utf-8")
    return folder


def library_set(folder: Path) -> Path:
    write_documents(folder / "docs")
    write_jsonl(
        folder / "queries.jsonl",
        [
            {"id": "document", "text": "how long do rye loaves take in the oven", "kind": "plain"},
            {"id": "section", "text": "when may the harbour be closed in a gale", "kind": "plain"},
            {"id": "above", "text": "report at the berth in a storm", "kind": "plain"},
            {"id": "clause", "text": "written account within three working days", "kind": "clause"},
        ],
    )
    qrels(
        folder,
        ("document", "sub/diary.md", 1),
        ("section", "act.md#sec_3", 2),
        ("above", "act.md#sec_2", 1),
        ("clause", "act.md#sec_2_b", 1),
    )
    write_jsonl(folder / "offtopic.jsonl", [{"id": "o1", "text": "price of copper in Peru"}])
    return folder


def span_set(folder: Path) -> Path:
    write_documents(folder / "files")
    write_jsonl(
        folder / "queries.jsonl",
        [
            {"id": "1", "text": "when may the harbour master close the harbour", "corpus": "act"},
            {"id": "2", "text": "how long do rye loaves take", "corpus": "diary"},
        ],
    )
    start = ACT.index("## Section 3")
    rye = DIARY.index("Rye")
    write_tsv(
        folder / "spans.tsv",
        [
            ("query-id", "file", "start", "end"),
            ("1", "files/act.md", start, len(ACT)),
            ("2", "files/sub/diary.md", rye, rye + 24),
        ],
    )
    return folder


def lookup_set(folder: Path) -> Path:
    write_documents(folder / "docs")
    write_jsonl(
        folder / "lookups.jsonl",
        [
            {
                "id": "n",
                "query": "Section 3",
                "kind": "number",
                "label": "Section 3",
                "heading": "Section 3. Closure",
            },
            {
                "id": "t",
                "query": "duty to report",
                "kind": "title",
                "label": "Section 2",
                "heading": "Section 2. Duty to report",
            },
            {
                "id": "x",
                "query": "Section 3",
                "kind": "number",
                "label": "Section 99",
                "heading": "Section 99. Never written",
            },
        ],
    )
    write_jsonl(
        folder / "clauses.jsonl",
        [{"id": "c", "query": "Section 2(b)", "label": "Section 2(b)", "contains": "A written account"}],
    )
    write_jsonl(folder / "definitions.jsonl", [{"term": "vessel", "text": '"vessel" means every kind'}])
    return folder

"""How good the ranking is: every mode and every stage on the retrieval, fixed-chunk and span sets.

    python -m benchmarks.retrieval [anthropic_contextual scifact cranfield chunking own] [--no-ablate]

``own`` is the labelled corpus of the tests. Span sets are also measured with windows of 200, 400 and 800 tokens in
place of the structure of the documents.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks.common import load, save
from loccit.config import IndexSettings, SearchSettings, Settings
from loccit.evaluation import evaluate
from loccit.evaluation.cache import default_folder
from loccit.evaluation.datasets import SPANS
from loccit.evaluation.runs import SetRun
from loccit.models.embedding import Embedder, load_embedder

SETS = ("anthropic_contextual", "scifact", "cranfield", "chunking", "own")
WINDOWS = (200, 400, 800)
OWN = Path(__file__).parent.parent / "tests" / "corpus"


def folder_of(name: str) -> Path | None:
    folder = OWN if name == "own" else Path(os.environ.get("LOCCIT_EVAL_DIR", "../shared/eval")) / name
    if folder.exists():
        return folder
    print(f"skipped: {folder} is not here (set LOCCIT_EVAL_DIR to the folder of evaluation sets)")
    return None


def measure(name: str, folder: Path, embedder: Embedder, *, ablate: bool) -> dict[str, Any]:
    run = evaluate([folder], modes=["all"], ablate=ablate, cache=default_folder(), embedder=embedder)
    one = run.sets[0]
    row = {"set": name, **_figures(one), "changes": {key: asdict(d) for key, d in one.differences.items()}}
    if one.kind == SPANS:
        row["windows"] = {str(size): _windows(folder, size, embedder) for size in WINDOWS}
        row["focused_windows"] = {str(size): _windows(folder, size, embedder, focus=True) for size in WINDOWS}
    for variant in one.plain:
        print(f"{name:22} {variant.name:9} {one.main} {variant.metrics[one.main]:.4f}")
    return row


def _figures(one: SetRun) -> dict[str, Any]:
    first = one.variants[0]
    return {
        "kind": one.kind,
        "main": one.main,
        "documents": one.documents,
        "chunks": one.chunks,
        "questions": one.questions,
        "modes": {variant.name: variant.metrics for variant in one.plain},
        "calibration_error": first.calibration.error if first.calibration else None,
        "offtopic": asdict(first.offtopic) if first.offtopic else None,
    }


def _windows(folder: Path, size: int, embedder: Embedder, *, focus: bool = False) -> dict[str, Any]:
    """Measure windows of so many tokens, which know nothing of the structure, and are shown whole unless focused."""
    index = replace(IndexSettings(), chunking_strategy="token", max_chunk_tokens=size, chunk_overlap=0)
    settings = Settings(index, SearchSettings(disabled=() if focus else ("focus",)))
    run = evaluate([folder], settings=settings, cache=default_folder(), embedder=embedder)
    return dict(run.sets[0].variants[0].metrics)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS), help=", ".join(SETS))
    parser.add_argument("--ablate", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    embedder = load_embedder()
    # Sets that are not measured this time keep their figures, and each is kept as soon as it is there.
    rows = {row["set"]: row for row in load("retrieval").get("results", [])}
    for name in options.sets:
        if folder := folder_of(name):
            rows[name] = measure(name, folder, embedder, ablate=options.ablate)
            save("retrieval", {"results": sorted(rows.values(), key=lambda row: SETS.index(row["set"]))})


if __name__ == "__main__":
    main()

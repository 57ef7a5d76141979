"""Databases beside the embedded default: the same answers? how quick?

    python -m benchmarks.stores [postgres faiss chromadb qdrant milvus] [--skip answers ingest speed]

Only what really runs here is measured: PostgreSQL with pgvector as a server, Chroma as a server, Qdrant, Milvus and
FAISS as files of this machine. Protocol doubles say nothing about speed or recall.

``answers``: an index of ``scifact`` is moved to each (nothing is embedded again). The best ten by meaning are compared
with those of the embedded default, and hybrid nDCG@10, with our keyword search and with the database's own.
``ingest``: the same files are read, embedded and stored, in one run after the other.
``speed``: hybrid search at 10,000 chunks.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.common import RESULTS, eval_dir, load, percentile, save
from benchmarks.large_index import cut_down
from benchmarks.search_speed import QUERIES
from loccit import Library
from loccit.config import IndexSettings
from loccit.evaluation.build import build
from loccit.evaluation.cache import RememberingEmbedder, default_folder, place_for
from loccit.evaluation.datasets import EvalSet
from loccit.evaluation.judge import judge_for
from loccit.evaluation.places import Places
from loccit.evaluation.readers import read_all
from loccit.index.registry import load_store
from loccit.index.settings import DatabaseSettings
from loccit.models.embedding import Embedder, load_embedder

PROVIDERS = ("postgres", "faiss", "chromadb", "qdrant", "milvus")
PARTS = ("answers", "ingest", "speed")
_FILES = 120


@contextmanager
def place(provider: str, folder: Path) -> Iterator[DatabaseSettings]:
    """Start what a provider needs, and stop it at the end."""
    folder.mkdir(parents=True, exist_ok=True)
    if provider == "postgres":
        from tests.index.providers.postgres_server import PostgresServer

        server = PostgresServer(folder, durable=True)
        server.start()
        try:
            yield DatabaseSettings(provider, server.url)
        finally:
            server.stop()
    elif provider == "chromadb":
        from tests.index.providers.chroma_server_process import ChromaServer

        chroma = ChromaServer(folder)
        chroma.start()
        try:
            yield DatabaseSettings(provider, f"http://127.0.0.1:{chroma.port}")
        finally:
            chroma.stop()
    else:
        address = folder / ("milvus.db" if provider == "milvus" else provider)
        yield DatabaseSettings(provider, str(address))


# -- the same answers? -----------------------------------------------------------------------------------------


def answers(providers: list[str], embedder: Embedder, scratch: Path) -> list[dict[str, Any]]:
    (evalset,) = read_all([eval_dir("scifact")])
    here = place_for(default_folder(), evalset, IndexSettings(), embedder)
    built = build(evalset, here.folder, IndexSettings(), RememberingEmbedder(embedder, here.vectors), None)
    wanted, best, plain = _asked(built.path, evalset, embedder)
    rows: list[dict[str, Any]] = [{"provider": "embedded", "native": "none", **plain}]
    print(rows[-1], flush=True)
    for provider in providers:
        copy = scratch / provider / "index"
        shutil.copytree(built.path, copy)
        with place(provider, scratch / provider / "server") as settings:
            start = time.perf_counter()
            with Library(copy, embedder=embedder) as library:
                moved = library.migrate(settings)
            seconds = time.perf_counter() - start
            with load_store(settings) as store:
                capabilities, points = store.capabilities, store.count()
            for native in ("none", "keyword", "hybrid"):
                if native != "none" and not getattr(capabilities, native):
                    continue
                near, hybrid, figures = _asked(copy, evalset, embedder, replace(settings, native=native))
                row: dict[str, Any] = {
                    "provider": provider,
                    "native": native,
                    **figures,
                    "recall@10": _shared(near, wanted),
                    "overlap@10": _shared(hybrid, best),
                }
                if native == "none":
                    row.update(moved_seconds=seconds, points=points, documents=moved.documents)
                rows.append(row)
                print(row, flush=True)
    return rows


def _shared(found: dict[str, set[str]], wanted: dict[str, set[str]]) -> float:
    """Return the share of what was wanted that was found, on average."""
    return sum(len(found[key] & wanted[key]) / max(1, len(wanted[key])) for key in wanted) / len(wanted)


def _asked(
    path: Path, evalset: EvalSet, embedder: Embedder, database: DatabaseSettings | None = None
) -> tuple[dict[str, set[str]], dict[str, set[str]], dict[str, float]]:
    """Return the ten best chunks of each question by meaning and by hybrid search, and how good the latter are."""
    places = Places(path)
    judge = judge_for(evalset, places)
    nearest: dict[str, set[str]] = {}
    best: dict[str, set[str]] = {}
    values, times = [], []
    with Library(path, embedder=embedder, database=database, create=False) as library:
        library.search(evalset.questions[0].text)
        for question in evalset.questions:
            found = library.search(question.text, mode="semantic", top_k=10)
            nearest[question.id] = {result.chunk_id for result in found.results}
            start = time.perf_counter()
            response = judge.ask(library, question)
            times.append((time.perf_counter() - start) * 1000)
            best[question.id] = {result.chunk_id for result in response.results[:10]}
            values.append(judge.judge(question, response).values["ndcg@10"])
    places.close()
    return nearest, best, {"ndcg@10": sum(values) / len(values), "p50_ms": percentile(times, 0.5)}


# -- how quick? ------------------------------------------------------------------------------------------------


def ingest(providers: list[str], scratch: Path) -> list[dict[str, Any]]:
    docs = scratch / "docs"
    docs.mkdir()
    pages = sorted((RESULTS / "k8s" / "docs").rglob("*.md"))
    for number, page in enumerate(pages[:: max(1, len(pages) // _FILES)][:_FILES]):
        shutil.copy(page, docs / f"{number:03}.md")
    rows = []
    for provider in ("embedded", *providers):
        with place(provider, scratch / f"ingest-{provider}") as settings:
            database = None if provider == "embedded" else settings
            with Library(scratch / f"index-{provider}", database=database) as library:
                report = library.index([docs])
        row = {
            "provider": provider,
            "seconds": report.seconds,
            "chunks": report.chunks,
            "stage_seconds": report.stage_seconds,
        }
        rows.append(row)
        print(row, flush=True)
    return rows


def speed(providers: list[str], embedder: Embedder, scratch: Path) -> list[dict[str, Any]]:
    original = scratch / "ten-thousand"
    shutil.copytree(RESULTS / "k8s" / "index", original)
    cut_down(original, 10_000)
    rows = []
    for provider in ("embedded", *providers):
        copy = scratch / f"speed-{provider}"
        shutil.copytree(original, copy)
        with (
            place(provider, scratch / f"speed-server-{provider}") as settings,
            Library(copy, embedder=embedder) as library,
        ):
            if provider != "embedded":
                library.migrate(settings)
            for query in QUERIES:
                library.search(query)
            times: list[float] = []
            stages: dict[str, list[float]] = {}
            for query in QUERIES * 5:
                start = time.perf_counter()
                response = library.search(query)
                times.append((time.perf_counter() - start) * 1000)
                for name, value in response.timings_ms.items():
                    stages.setdefault(name, []).append(value)
            chunks = library.status().chunks
        row = {
            "provider": provider,
            "chunks": chunks,
            "p50_ms": percentile(times, 0.5),
            "p95_ms": percentile(times, 0.95),
            "semantic_ms": percentile(stages["semantic"], 0.5),
        }
        rows.append(row)
        print(row, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("providers", nargs="*", default=list(PROVIDERS), help=", ".join(PROVIDERS))
    parser.add_argument("--skip", nargs="*", default=[], choices=PARTS)
    options = parser.parse_args()
    figures = load("stores")
    embedder = load_embedder()
    # Not below a folder that only its owner may enter: PostgreSQL, started by root, runs as nobody.
    with tempfile.TemporaryDirectory(prefix="loccit-stores-", ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        scratch.chmod(0o755)
        if "answers" not in options.skip:
            figures["answers"] = _merged(figures, "answers", answers(options.providers, embedder, scratch))
            save("stores", figures)
        if "ingest" not in options.skip:
            figures["ingest"] = _merged(figures, "ingest", ingest(options.providers, scratch))
            save("stores", figures)
        if "speed" not in options.skip:
            figures["speed"] = _merged(figures, "speed", speed(options.providers, embedder, scratch))
            save("stores", figures)


def _merged(figures: dict[str, Any], part: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep the rows of providers that were not measured this time."""
    measured = {row["provider"] for row in rows}
    return [*rows, *(row for row in figures.get(part, []) if row["provider"] not in measured)]


if __name__ == "__main__":
    main()

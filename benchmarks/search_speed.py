"""How long a search takes, in process: at 10,000 chunks beside the usual recipe on the same chunks, and at 100,000.

    python -m benchmarks.search_speed [--index DIR] [--chunks 10000] [--large 100000]

Uses the index that ``benchmarks.ingest`` leaves, cut down to the wanted number of chunks by removing documents, and one
that is made of it once and kept (see ``large_index``). The usual recipe is ``rank_bm25`` over words, one matrix product
over the same vectors, and reciprocal ranks; it gets the same query vectors for free, so only what comes after the
embedding is compared.

Beside wall-clock times stand those of the processor, which other work on the machine hardly touches.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import RESULTS, eval_dir, percentile, save
from benchmarks.large_index import cut_down, large_index
from loccit import Library
from loccit.index.folder.index import EmbeddedIndex
from loccit.index.folder.nearest import nearest

QUERIES = [
    "how do I roll back a deployment",
    "limit the memory of a container",
    "what happens when a node becomes unreachable",
    "expose a service outside the cluster",
    "difference between a secret and a config map",
    "run one pod on every node",
    "kubectl drain",
    "persistent volume reclaim policy",
    "pod security standards baseline",
    "certificate rotation for the kubelet",
    "horizontal pod autoscaler custom metrics",
    "taints and tolerations",
    "why is my pod pending",
    "readinessProbe initialDelaySeconds",
    "admission webhook failurePolicy",
    "garbage collection of images",
    "network policy deny all ingress",
    "upgrade a cluster with kubeadm",
    "topologySpreadConstraints",
    "etcd backup and restore",
]
PHRASES = ['"rolling update"', '"control plane"', '"service account"', '"init containers"']
NAMES = ["Taints and Tolerations", "Section 4.2", "readinessProbe", "What's next", "kube-proxy"]


def timed(run: Callable[[str], Any], queries: list[str], rounds: int) -> dict[str, float]:
    for query in queries:
        run(query)
    seconds, processor = [], []
    for _ in range(rounds):
        for query in queries:
            start, start_processor = time.perf_counter(), time.process_time()
            run(query)
            seconds.append(time.perf_counter() - start)
            processor.append(time.process_time() - start_processor)
    return {
        "p50_ms": percentile(seconds, 0.5) * 1000,
        "p95_ms": percentile(seconds, 0.95) * 1000,
        "processor_p50_ms": percentile(processor, 0.5) * 1000,
    }


def stages(library: Library, rounds: int) -> dict[str, float]:
    """Return the median of each stage over all queries, each at its best: what it takes when nothing comes between."""
    best: dict[tuple[str, str], float] = {}
    for _ in range(rounds):
        for query in QUERIES:
            for stage, took in library.search(query, top_k=10).timings_ms.items():
                best[stage, query] = min(took, best.get((stage, query), took))
    return {
        stage: percentile([took for (name, _), took in best.items() if name == stage], 0.5)
        for stage in dict.fromkeys(name for name, _ in best)
    }


def after_a_change(library: Library, scratch: Path) -> dict[str, float]:
    """Return how long the first search takes after a document came: what is known of the library is read again."""
    page = scratch / "new.md"
    page.write_text("# A new page\n\nIt came a moment ago.\n", encoding="utf-8")
    library.index([page])
    start, start_processor = time.perf_counter(), time.process_time()
    library.search(QUERIES[0])
    return {
        "ms": (time.perf_counter() - start) * 1000,
        "processor_ms": (time.process_time() - start_processor) * 1000,
    }


def two_looks(library: Library, index: EmbeddedIndex) -> dict[str, Any]:
    """Compare the search through the coarse copy with that of every row, and count the rows it has to read."""
    snapshot = index.vectors.snapshot
    if snapshot.coarse is None:
        return {}
    found = {100: [0, 0], 1000: [0, 0]}
    for query in QUERIES:
        vector = library.embedder.embed_query(query)
        for limit, counts in found.items():
            quick = nearest(snapshot, vector, limit)
            every = nearest(replace(snapshot, coarse=None), vector, limit)
            counts[0] += len(np.intersect1d(quick.chunks, every.chunks))
            counts[1] += len(every.chunks)
    return {
        **{f"recall@{limit}": right / asked for limit, (right, asked) in found.items()},
        "matrix_mb": snapshot.matrix.nbytes / 1e6,
        "coarse_mb": (snapshot.coarse.rows.nbytes + snapshot.coarse.scales.nbytes) / 1e6,
    }


def measured(copy: Path, scratch: Path, rounds: int) -> dict[str, Any]:
    """Return the figures of one index, which is written to."""
    with Library(copy, create=False) as library:
        status = library.status()
        figures: dict[str, Any] = {"chunks": status.chunks, "passages": status.passages}
        for mode in ("hybrid", "semantic", "keyword", "exact"):
            queries = [*NAMES, *PHRASES] if mode == "exact" else QUERIES
            figures[mode] = timed(partial(library.search, mode=mode, top_k=10), queries, rounds)
        every = partial(library.search, mode="exact")
        figures["exact, every occurrence (up to 100)"] = timed(every, PHRASES, rounds)
        figures["stages_ms"] = stages(library, rounds)
        figures["first_after_change"] = after_a_change(library, scratch)
        index = EmbeddedIndex(copy, create=False)
        figures["two_looks"] = two_looks(library, index)
        index.close()
    return figures


def usual_recipe(library: Library, index: EmbeddedIndex) -> Callable[[str], Any] | None:
    try:
        from rank_bm25 import BM25Okapi
    except ImportError:
        print("rank_bm25 is not installed: pip install rank-bm25 to compare with the usual recipe")
        return None
    chunks = [chunk for d in index.record.document_ids() for chunk in index.lookup.chunks_of_document(d)]
    words: Callable[[str], list[str]] = lambda text: re.findall(r"[a-z0-9]+", text.lower())  # noqa: E731
    bm25 = BM25Okapi([words(chunk.content) for chunk in chunks])
    snapshot = index.vectors.snapshot
    matrix, rows = np.array(snapshot.matrix), snapshot.owners()
    vectors = {query: library.embedder.embed_query(query) for query in [*QUERIES, *PHRASES]}

    def run(query: str) -> list[tuple[int, float]]:
        sparse = np.argsort(-bm25.get_scores(words(query)))[:100]
        dense = rows[np.argsort(-(matrix @ vectors[query]))[:100]]
        scores: dict[int, float] = {}
        for ranked in ([chunks[i].id for i in sparse], dense):
            for rank, chunk in enumerate(ranked, 1):
                scores[int(chunk)] = scores.get(int(chunk), 0.0) + 1 / (60 + rank)
        return sorted(scores.items(), key=lambda item: -item[1])[:10]

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index", type=Path, default=RESULTS / "k8s" / "index")
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=100_000, help="0 leaves the large index out")
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    eval_dir("k8s_docs.tar.gz")
    if not options.index.exists():
        print(f"skipped: there is no index at {options.index}; run python -m benchmarks.ingest first")
        return
    with tempfile.TemporaryDirectory(dir=RESULTS) as scratch:
        copy, original = Path(scratch) / "index", Path(scratch) / "original"
        shutil.copytree(options.index, copy)
        cut_down(copy, options.chunks)
        figures = measured(copy, Path(scratch), options.rounds)
        with Library(copy, create=False) as library:
            recipe = usual_recipe(library, EmbeddedIndex(copy, create=False))
            if recipe:
                figures["usual recipe without embedding"] = timed(recipe, QUERIES, 1)
        show(figures)
        if options.large:
            shutil.rmtree(copy)
            shutil.copytree(options.index, original)
            shutil.copytree(large_index(original, options.large), copy)
            figures["large"] = measured(copy, Path(scratch), options.rounds)
            show(figures["large"])
    save("search_speed", figures)


def show(figures: dict[str, Any]) -> None:
    for name, value in figures.items():
        print(f"{name:36} {_rounded(value)}", flush=True)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_rounded(inner)}" for name, inner in value.items())
    return f"{value:.2f}" if isinstance(value, float) else value


if __name__ == "__main__":
    main()

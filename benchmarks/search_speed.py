"""How long a search takes, in process, beside the usual recipe on the same chunks.

    python -m benchmarks.search_speed [--index DIR] [--chunks 10000]

Uses the index that ``benchmarks.ingest`` leaves, cut down to the wanted number of chunks by removing documents.
The usual recipe is ``rank_bm25`` over words, one matrix product over the same vectors, and reciprocal ranks; it gets
the same query vectors for free, so only what comes after the embedding is compared.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import RESULTS, eval_dir, percentile, save
from pinakes import Library
from pinakes.stores.embedded.index import EmbeddedIndex

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


def cut_down(index: Path, chunks: int) -> None:
    """Remove documents until about the wanted number of chunks is left."""
    embedded = EmbeddedIndex(index, create=False)
    rows = embedded.lookup.documents()
    total, paths = sum(row["total_chunks"] for row in rows), []
    for row in rows:
        if total - row["total_chunks"] >= chunks:
            total -= row["total_chunks"]
            paths.append(row["source_path"])
    embedded.record.remove(paths)
    embedded.refresh()
    embedded.close()


def timed(run: Callable[[str], Any], queries: list[str], rounds: int) -> dict[str, float]:
    for query in queries:
        run(query)
    seconds = []
    for _ in range(rounds):
        for query in queries:
            start = time.perf_counter()
            run(query)
            seconds.append(time.perf_counter() - start)
    return {"p50_ms": percentile(seconds, 0.5) * 1000, "p95_ms": percentile(seconds, 0.95) * 1000}


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
    matrix, rows = np.array(snapshot.matrix), snapshot.rows[:, 1]
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
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    eval_dir("k8s_docs.tar.gz")
    if not options.index.exists():
        print(f"skipped: there is no index at {options.index}; run python -m benchmarks.ingest first")
        return
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "index"
        shutil.copytree(options.index, copy)
        cut_down(copy, options.chunks)
        with Library(copy, create=False) as library:
            status = library.status()
            figures: dict[str, Any] = {"chunks": status.chunks, "passages": status.passages}
            for mode in ("hybrid", "semantic", "keyword", "exact"):
                queries = [*NAMES, *PHRASES] if mode == "exact" else QUERIES
                search = partial(library.search, mode=mode, top_k=10)
                figures[mode] = timed(search, queries, options.rounds)
            every = partial(library.search, mode="exact")
            figures["exact, every occurrence (up to 100)"] = timed(every, PHRASES, options.rounds)
            response = library.search(QUERIES[0])
            figures["stages_ms"] = response.timings_ms
            recipe = usual_recipe(library, EmbeddedIndex(copy, create=False))
            if recipe:
                figures["usual recipe without embedding"] = timed(recipe, QUERIES, 1)
    for name, value in figures.items():
        print(f"{name:34} {value}")
    save("search_speed", figures)


if __name__ == "__main__":
    main()

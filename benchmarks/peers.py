"""What a hybrid search costs beside txtai and LanceDB: the same texts, model and queries, in one run, in turns.

    python -m benchmarks.peers [--rounds 10]

The peers are looked for in the interpreter that ``LOCCIT_PEERS_PYTHON`` names, else in this one; it also needs
``onnxruntime`` and ``tokenizers``. What is not installed there is skipped.

About 10,000 chunks of the Kubernetes documentation, cut by Loccit. The peers get the same chunks, each with one vector
(that of its first passage; Loccit compares all passages), and embed queries with the same bundled model. All run as
they are set up by default for hybrid search, and give back the ten best with their texts: txtai with its content
database, LanceDB with its own full-text index and reciprocal ranks, Loccit with every stage of its default.

Each system is a process of its own that is held to one thread; LanceDB has threads for its own work, without which it
does not finish its full-text index. Times are of the processor, of all its threads, so that neither more of them nor
other work on the machine make much of a difference; the query's embedding is part of them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.common import RESULTS, eval_dir, load_average, percentile, save

PEERS = ("txtai", "lancedb")
TOP_K = 10
_ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1"),
    "TOKENIZERS_PARALLELISM": "false",
    "LANCE_LOG": "error",
    "HF_HUB_OFFLINE": "1",
}
# Of five files three are taken, which makes about 10,000 chunks.
_OF, _TAKEN = 5, 3

Search = Callable[[str], Sequence[Any]]


# -- the library, and what the peers get of it -----------------------------------------------------------------


def peers_library() -> Path:
    """Return an index of about 10,000 chunks; made once, which takes minutes, and kept."""
    from loccit import Library

    folder = RESULTS / "peers"
    index, docs, done = folder / "index", folder / "docs", folder / "done"
    if done.exists():
        return index
    docs.mkdir(parents=True, exist_ok=True)
    with tarfile.open(eval_dir("k8s_docs.tar.gz")) as tar:
        files = [member for member in tar.getmembers() if member.isfile()]
        tar.extractall(
            docs, [one for one in files if zlib.crc32(one.name.encode()) % _OF < _TAKEN], filter="data"
        )
    print("making an index of about 10,000 chunks: some minutes", flush=True)
    with Library(index) as library:
        library.index([docs])
    done.touch()
    return index


def export(index: Path, folder: Path) -> int:
    """Write the chunks of an index, and a vector for each, where the peers can read them; return how many."""
    import numpy as np

    from loccit.index.folder.index import EmbeddedIndex

    embedded = EmbeddedIndex(index, create=False)
    dimension = embedded.model[1]
    texts: list[str] = []
    vectors = []
    for document in embedded.record.document_ids():
        owners, found = embedded.record.document_vectors(document, dimension)
        contents = {chunk.id: chunk.content for chunk in embedded.lookup.chunks_of_document(document)}
        # The first passage of each chunk.
        for chunk, place in {chunk: place for place, chunk in reversed(list(enumerate(owners)))}.items():
            texts.append(contents[chunk])
            vectors.append(found[place])
    embedded.close()
    (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    np.save(folder / "vectors.npy", np.stack(vectors))
    return len(texts)


# -- the systems, each in its own process ----------------------------------------------------------------------


def _embedding() -> Callable[[str], Any]:
    from loccit.models.embedding.registry import load_embedder

    return load_embedder().embed_query


def _loccit(folder: Path) -> Search:
    from loccit import Library

    library = Library(json.loads((folder / "index.json").read_text()), create=False)
    return lambda query: library.search(query, top_k=TOP_K).results


def _txtai(folder: Path) -> Search:
    import numpy as np
    from txtai import Embeddings

    texts: list[str] = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    known = dict(zip(texts, np.load(folder / "vectors.npy"), strict=True))
    embed = _embedding()

    def vectors(inputs: Sequence[str]) -> Any:
        return np.stack([known[text] if text in known else embed(text) for text in inputs])

    embeddings = Embeddings(method="external", transform=vectors, hybrid=True, content=True)
    embeddings.index(enumerate(texts))
    known.clear()
    return lambda query: list(embeddings.search(query, TOP_K))


def _lancedb(folder: Path) -> Search:
    import lancedb
    import numpy as np
    from lancedb.index import FTS
    from lancedb.rerankers import RRFReranker

    texts: list[str] = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    vectors = np.load(folder / "vectors.npy")
    table = lancedb.connect(str(folder / "lancedb")).create_table(
        "chunks",
        [
            {"id": number, "text": text, "vector": vector}
            for number, (text, vector) in enumerate(zip(texts, vectors, strict=True))
        ],
    )
    table.create_index("text", config=FTS())
    embed, ranks = _embedding(), RRFReranker()

    def search(query: str) -> Sequence[Any]:
        asked = table.search(query_type="hybrid").vector(embed(query)).text(query)
        return list(asked.select(["id", "text"]).rerank(ranks).limit(TOP_K).to_list())

    return search


_SYSTEMS: dict[str, Callable[[Path], Search]] = {"loccit": _loccit, "txtai": _txtai, "lancedb": _lancedb}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def work(name: str, folder: Path) -> None:
    """Answer queries, one a line, with the milliseconds that each took of the processor and of the clock."""
    # What a package prints must not come between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    try:
        search = _SYSTEMS[name](folder)
    except ImportError as error:
        print(json.dumps({"missing": str(error)}), file=answers, flush=True)
        return
    embed = _embedding()
    print(json.dumps({"version": _version(name)}), file=answers, flush=True)
    for line in sys.stdin:
        query = json.loads(line)
        start = time.process_time()
        embed(query)
        embedded, clock, start = time.process_time() - start, time.perf_counter(), time.process_time()
        found = search(query)
        took, clock = time.process_time() - start, time.perf_counter() - clock
        answer = {"processor": took * 1000, "clock": clock * 1000, "embed": embedded * 1000}
        print(json.dumps({**answer, "found": len(found)}), file=answers, flush=True)


class System:
    """A process that answers queries."""

    def __init__(self, name: str, folder: Path) -> None:
        python = os.environ.get("LOCCIT_PEERS_PYTHON", sys.executable) if name in PEERS else sys.executable
        self.name = name
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.peers", "--worker", name, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **_ONE_THREAD, "PYTHONPATH": _sources()},
        )
        started = self._read()
        self.missing, self.version = str(started.get("missing", "")), str(started.get("version", ""))

    def ask(self, query: str) -> dict[str, float]:
        """Return what one query took."""
        assert self._process.stdin
        print(json.dumps(query), file=self._process.stdin, flush=True)
        return self._read()

    def close(self) -> None:
        """Let the process end."""
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout
        line = self._process.stdout.readline()
        return dict(json.loads(line)) if line else {"missing": "it ended without an answer"}


def _sources() -> str:
    """Where the modules of Loccit and its benchmarks are, for an interpreter that has them not installed."""
    import loccit

    root = Path(__file__).parent.parent
    return os.pathsep.join([str(root), str(Path(loccit.__file__).parent.parent)])


# -- the figures -----------------------------------------------------------------------------------------------


def measure(systems: Sequence[System], rounds: int) -> dict[str, dict[str, float]]:
    """Ask all systems every query in turns, each first as often as the others; the first round is told apart."""
    # Not by the peers' interpreter, which need not have all that the other benchmarks want.
    from benchmarks.search_speed import QUERIES

    taken: dict[str, list[dict[str, float]]] = {system.name: [] for system in systems}
    firsts: dict[str, list[float]] = {system.name: [] for system in systems}
    for turn in range(rounds + 1):
        for place, query in enumerate(QUERIES):
            first = (turn + place) % len(systems)
            for system in [*systems[first:], *systems[:first]]:
                took = system.ask(query)
                if turn:
                    taken[system.name].append(took)
                else:
                    firsts[system.name].append(took["processor"])
    return {
        name: {
            "processor_p50_ms": percentile([one["processor"] for one in answers], 0.5),
            "processor_p95_ms": percentile([one["processor"] for one in answers], 0.95),
            "first_p50_ms": percentile(firsts[name], 0.5),
            "clock_p50_ms": percentile([one["clock"] for one in answers], 0.5),
            "embed_p50_ms": percentile([one["embed"] for one in answers], 0.5),
            "results": sum(one["found"] for one in answers) / len(answers),
        }
        for name, answers in taken.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker[0], Path(options.worker[1]))
        return
    index = peers_library()
    with tempfile.TemporaryDirectory(dir=RESULTS) as scratch:
        chunks = export(index, Path(scratch))
        (Path(scratch) / "index.json").write_text(json.dumps(str(index)))
        systems = [System(name, Path(scratch)) for name in ("loccit", *PEERS)]
        for system in systems:
            if system.missing:
                print(f"skipped: {system.name} ({system.missing})")
        versions = {system.name: system.version for system in systems if system.name in PEERS}
        try:
            figures = measure([system for system in systems if not system.missing], options.rounds)
        finally:
            for system in systems:
                system.close()
    print(f"hybrid search at {chunks:,} chunks, the query's embedding included")
    for name, row in figures.items():
        print(f"{name:10}" + "".join(f"  {key} {value:.2f}" for key, value in row.items()))
    save("peers", {"chunks": chunks, "versions": versions, "systems": figures, "load": load_average()})


if __name__ == "__main__":
    main()

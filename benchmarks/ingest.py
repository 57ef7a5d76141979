"""Indexing a real corpus: the Kubernetes documentation, 1,667 files, 15 MB of Markdown.

    python -m benchmarks.ingest [--keep DIR] [--model NAME]

Reports the time by stage (everything but the embedding should be a small part), when the first documents can be found
by meaning and how many can after half a minute, the peak memory of this process and of its workers, then the time to
index again unchanged and after one changed file. Each run is a process of its own, started with the command line.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import RESULTS, eval_dir, save
from loccit.index.folder.index import EmbeddedIndex

EARLY_SECONDS = 30


def index(index_dir: Path, docs: Path, model: str) -> dict[str, Any]:
    """Run ``loccit index`` and return its report with wall time and the peak memory of the process tree."""
    script = (
        "import json, resource, sys, time; start = time.perf_counter(); from loccit import Library\n"
        "from loccit.config import IndexSettings, Settings\n"
        "settings = Settings(index=IndexSettings(embedding_model=sys.argv[3]))\n"
        "with Library(sys.argv[1], settings=settings) as library:\n"
        "    report = library.index([sys.argv[2]]).to_dict()\n"
        "kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN\n"
        "usage = [resource.getrusage(kind).ru_maxrss / 1024 for kind in kinds]\n"
        "report.update(wall=time.perf_counter() - start, peak_mb=usage[0], worker_peak_mb=usage[1])\n"
        "for name in ('added', 'updated', 'removed', 'failed', 'warnings'): report[name] = len(report[name])\n"
        "print(json.dumps(report))"
    )
    began, seen, early = time.perf_counter(), 0.0, -1
    command = [sys.executable, "-c", script, str(index_dir), str(docs), model]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            seen = seen or (time.perf_counter() - began) * _has_vectors(index_dir)
            if early < 0 and time.perf_counter() - began >= EARLY_SECONDS:
                early = _documents_with_vectors(index_dir)
            time.sleep(0.25)
        assert process.stdout is not None
        result: dict[str, Any] = json.loads(process.stdout.read())
    return {**result, "searchable": seen, "early": early}


def _has_vectors(index_dir: Path) -> bool:
    try:
        manifest = json.loads((index_dir / "vectors" / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(manifest.get("live"))


def _documents_with_vectors(index_dir: Path) -> int:
    index = EmbeddedIndex(index_dir, create=False)
    try:
        snapshot = index.vectors.snapshot
        return len(np.unique(snapshot.rows["document"][snapshot.owners() >= 0]))
    finally:
        index.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--keep", type=Path, default=RESULTS / "k8s", help="where the index and the files are kept"
    )
    parser.add_argument("--model", default="", help="default, fast, or another")
    options = parser.parse_args()
    archive = eval_dir("k8s_docs.tar.gz")
    with tempfile.TemporaryDirectory() as scratch:
        docs = options.keep / "docs" if options.keep else Path(scratch)
        docs.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as tar:
            tar.extractall(docs, filter="data")
    time.sleep(2.1)  # so that no file is as fresh as the index, which would make it compare contents
    index_dir = options.keep / f"index-{options.model}".rstrip("-")
    first = index(index_dir, docs, options.model)
    unchanged = index(index_dir, docs, options.model)
    page = next(docs.rglob("concepts/overview/_index.md"), None) or sorted(docs.rglob("*.md"))[0]
    page.write_text(page.read_text(encoding="utf-8") + "\n\nOne more sentence.\n", encoding="utf-8")
    changed = index(index_dir, docs, options.model)
    stages = first["stage_seconds"]
    total = sum(stages.values())
    summary = {
        "files": first["added"],
        "failed": first["failed"],
        "chunks": first["chunks"],
        "passages": first["embedded"],
        "model": options.model or "default",
        "seconds": first["wall"],
        "first_found_by_meaning_seconds": first["searchable"],
        "found_by_meaning_early": first["early"],
        "stage_seconds": stages,
        "share_without_embedding": (total - stages["embed"]) / total,
        "passages_per_second": first["embedded"] / stages["embed"] if stages.get("embed") else 0.0,
        "peak_mb": first["peak_mb"],
        "worker_peak_mb": first["worker_peak_mb"],
        "unchanged_seconds": unchanged["wall"],
        "unchanged_files": unchanged["unchanged"],
        "changed_seconds": changed["wall"],
        "changed_files": changed["updated"],
    }
    for name, value in summary.items():
        print(f"{name:26} {value:.2f}" if isinstance(value, float) else f"{name:26} {value}")
    save(f"ingest-{options.model}".rstrip("-"), summary)


if __name__ == "__main__":
    main()

"""Indexing a real corpus: the Kubernetes documentation, 1,667 files, 15 MB of Markdown.

    python -m benchmarks.ingest [--keep DIR]

Reports the time by stage (everything but the embedding should be a small part), the peak memory of this process and
of its workers, then the time to index again unchanged and after one changed file. Each run is a process of its
own, started with the command line.
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

from benchmarks.common import RESULTS, eval_dir, save


def index(index_dir: Path, docs: Path) -> dict[str, Any]:
    """Run ``pinakes index`` and return its report with wall time and the peak memory of the process tree."""
    script = (
        "import json, resource, sys, time; start = time.perf_counter(); from pinakes import Library\n"
        "with Library(sys.argv[1]) as library:\n"
        "    report = library.index([sys.argv[2]]).to_dict()\n"
        "kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN\n"
        "usage = [resource.getrusage(kind).ru_maxrss / 1024 for kind in kinds]\n"
        "report.update(wall=time.perf_counter() - start, peak_mb=usage[0], worker_peak_mb=usage[1])\n"
        "for name in ('added', 'updated', 'removed', 'failed', 'warnings'): report[name] = len(report[name])\n"
        "print(json.dumps(report))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(index_dir), str(docs)], check=True, capture_output=True, text=True
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--keep", type=Path, default=RESULTS / "k8s", help="where the index and the files are kept"
    )
    options = parser.parse_args()
    archive = eval_dir("k8s_docs.tar.gz")
    with tempfile.TemporaryDirectory() as scratch:
        docs = options.keep / "docs" if options.keep else Path(scratch)
        docs.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as tar:
            tar.extractall(docs, filter="data")
    time.sleep(2.1)  # so that no file is as fresh as the index, which would make it compare contents
    index_dir = options.keep / "index"
    first = index(index_dir, docs)
    unchanged = index(index_dir, docs)
    page = next(docs.rglob("concepts/overview/_index.md"), None) or sorted(docs.rglob("*.md"))[0]
    page.write_text(page.read_text(encoding="utf-8") + "\n\nOne more sentence.\n", encoding="utf-8")
    changed = index(index_dir, docs)
    stages = first["stage_seconds"]
    total = sum(stages.values())
    summary = {
        "files": first["added"],
        "failed": first["failed"],
        "chunks": first["chunks"],
        "passages": first["embedded"],
        "seconds": first["wall"],
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
    save("ingest", summary)


if __name__ == "__main__":
    main()

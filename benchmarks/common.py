"""What the benchmarks share: where the evaluation sets are, and how results are written."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RESULTS = Path(os.environ.get("LOCCIT_BENCH_DIR", Path(__file__).parent.parent / "bench-results"))
"""Where figures are written, and what is costly to make is kept for the next time."""


def eval_dir(name: str) -> Path:
    """Return the folder of an evaluation set; leave with a message when it is not there."""
    root = Path(os.environ.get("LOCCIT_EVAL_DIR", "../shared/eval"))
    path = root / name
    if not path.exists():
        print(f"skipped: {path} is not here (set LOCCIT_EVAL_DIR to the folder of evaluation sets)")
        sys.exit(0)
    return path


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def machine() -> dict[str, Any]:
    """Return what the figures were measured on."""
    return {"python": platform.python_version(), "cores": os.cpu_count(), "machine": platform.machine()}


def load_average() -> float:
    """Return how many processes wanted to run of late; above the number of cores, caches are shared with others."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value below which a share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def load(name: str) -> dict[str, Any]:
    """Return the figures that a benchmark saved, or nothing."""
    path = RESULTS / f"{name}.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}


def save(name: str, data: dict[str, Any]) -> None:
    """Keep a benchmark's figures for the summary."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({**data, "machine": machine()}, indent=1) + "\n")

"""How true the certainty of references within a document is, and the weights that a fit gives.

    python -m benchmarks.reference_calibration

``reference_grounds.jsonl`` has what spoke for references of real documents of many kinds and languages, and whether
they were right, as read by eye before the certainty was known. The regression is fitted on all documents but one and
judged on that one. The weights fitted on all of them are those of ingest/extract/references/evidence.py.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise
from pathlib import Path

import numpy as np

from benchmarks.calibration import Array
from benchmarks.common import read_jsonl, save
from loccit.extract.references.evidence import WEIGHTS, Grounds

_ROWS = Path(__file__).with_name("reference_grounds.jsonl")
_PENALTY = 0.5
_BANDS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.01)


_STEP = 0.3


def _fit(columns: Array, right: Array) -> Array:
    """Fit a logistic regression by Newton's method, in short steps: evidence that is never wrong has no optimum."""
    penalty = _PENALTY * np.r_[0.0, np.ones(columns.shape[1] - 1)]
    weights = np.zeros(columns.shape[1])
    for _ in range(300):
        chance = 1 / (1 + np.exp(-columns @ weights))
        slope = columns.T @ (chance - right) + penalty * weights
        curve = (columns * (chance * (1 - chance))[:, None]).T @ columns + np.diag(penalty + 1e-6)
        weights = weights - _STEP * np.linalg.solve(curve, slope)
    return weights


def main() -> int:
    rows = read_jsonl(_ROWS)
    names = [field.name for field in fields(Grounds)]
    columns = np.array([[1.0, *(row["grounds"].get(name, 0.0) for name in names)] for row in rows])
    right = np.array([float(row["right"]) for row in rows])
    documents = np.array([row["document"] for row in rows])
    weights = _fit(columns, right)
    print(
        "weights:",
        ", ".join(f"{name} {weight:.2f}" for name, weight in zip(["", *names], weights, strict=True)),
    )
    print("in use: ", ", ".join(f"{weight:g}" for weight in WEIGHTS))
    chance = np.zeros(len(rows))
    for document in sorted(set(documents)):
        own = documents == document
        chance[own] = 1 / (1 + np.exp(-columns[own] @ _fit(columns[~own], right[~own])))
    bands: list[dict[str, float]] = []
    for low, high in pairwise(_BANDS):
        inside = (chance >= low) & (chance < high)
        if inside.any():
            band = {"from": low, "references": int(inside.sum())}
            band |= {
                "said": round(float(chance[inside].mean()), 3),
                "right": round(float(right[inside].mean()), 3),
            }
            bands.append(band)
            print(
                f"{low:5.2f} to {high:.2f}: {band['references']:4} said {band['said']:.2f} right {band['right']:.2f}"
            )
    save("reference_calibration", {"references": len(rows), "documents": len(set(documents)), "bands": bands})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

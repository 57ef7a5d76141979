"""How true the confidence is on sets that it was not fitted on, and the weights that a fit on all of them gives.

    python -m benchmarks.calibration [own anthropic_contextual cranfield scifact chunking] [--limit 150]

For each set a logistic regression is fitted on the others and judged on it. Questions of the other sets, which a
library cannot answer, take part as wrong answers. The weights fitted on all sets are those of search/calibrate.py.
"""

from __future__ import annotations

import argparse
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import save
from benchmarks.retrieval import SETS, folder_of
from loccit.config import IndexSettings
from loccit.embedding import Embedder, load_embedder
from loccit.evaluation.build import build
from loccit.evaluation.cache import RememberingEmbedder, default_folder, place_for
from loccit.evaluation.datasets import EvalSet
from loccit.evaluation.judge import judge_for
from loccit.evaluation.places import Places
from loccit.evaluation.readers import read_all
from loccit.library import Library

Array = NDArray[np.float64]
_STRAYS = 50


def gather(evalset: EvalSet, strays: list[str], embedder: Embedder, limit: int) -> list[dict[str, Any]]:
    """Ask questions and note the evidence, and whether the first result was right."""
    place = place_for(default_folder(), evalset, IndexSettings(), embedder)
    built = build(evalset, place.folder, IndexSettings(), RememberingEmbedder(embedder, place.vectors), None)
    places = Places(built.path)
    rows = []
    try:
        judge = judge_for(evalset, places)
        with Library(built.path, embedder=embedder, create=False) as library:
            for question in random.Random(1).sample(evalset.questions, min(limit, len(evalset.questions))):
                answer = library.search(question.text, explain=True)
                rows.append(_row(answer, evalset.name, judge.judge(question, answer).right, on_topic=True))
            for text in [*(question.text for question in evalset.offtopic), *strays]:
                answer = library.search(text, explain=True)
                rows.append(_row(answer, evalset.name, right=False, on_topic=False))
    finally:
        places.close()
    return rows


def _row(answer: Any, name: str, right: bool, *, on_topic: bool) -> dict[str, Any]:
    evidence = answer.explanation["evidence"]
    named = bool(answer.results and answer.results[0].explanation["exact"])
    return {"set": name, "right": right, "on_topic": on_topic, "named": named, **evidence}


def features(rows: list[dict[str, Any]]) -> Array:
    """Return the columns of the regression: 1, meaning, either, agreement."""
    meaning = np.array([row["meaning"] or 0.0 for row in rows])
    words = np.array([row["words"] or 0.0 for row in rows])
    agreement = np.array([float(row["agreement"]) for row in rows])
    code = np.array([row["code"] for row in rows])
    either = 1 - (1 - meaning) * (1 - words) * (1 - 0.8 * code)
    return np.stack([np.ones(len(rows)), meaning, either, agreement], axis=1)


def fit(columns: Array, right: Array, penalty: float = 0.01) -> Array:
    """Fit a logistic regression by Newton's method."""
    weights = np.zeros(columns.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-columns @ weights))
        slope = columns.T @ (chance - right) + penalty * np.r_[0.0, weights[1:]]
        curve = (columns * (chance * (1 - chance))[:, None]).T @ columns + penalty * np.eye(len(weights))
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--limit", type=int, default=150, help="questions a set")
    options = parser.parse_args()
    folders = [folder for name in options.sets if (folder := folder_of(name))]
    sets = list(read_all(folders))
    embedder = load_embedder()
    rows: list[dict[str, Any]] = []
    for one in sets:
        others = [question.text for other in sets if other.name != one.name for question in other.questions]
        rows += gather(
            one, random.Random(2).sample(others, min(_STRAYS, len(others))), embedder, options.limit
        )
    # What is named literally has a confidence of its own.
    rows = [row for row in rows if not row["named"]]
    columns, right = features(rows), np.array([float(row["right"]) for row in rows])
    names = np.array([row["set"] for row in rows])
    asked = np.array([row["on_topic"] for row in rows])
    table = []
    for name in dict.fromkeys(names):
        held_out = names == name
        weights = fit(columns[~held_out], right[~held_out])
        chance = 1 / (1 + np.exp(-columns[held_out] @ weights))
        true, mine = right[held_out], asked[held_out]
        near = (chance > 0.7) & (chance < 0.9)
        table.append(
            {
                "set": str(name),
                "confidence": round(float(chance[mine].mean()), 3),
                "right": round(float(true[mine].mean()), 3),
                "off_topic": round(float(chance[~mine].mean()), 3),
                "near_80": int(near.sum()),
                "right_near_80": round(float(true[near].mean()), 3) if near.any() else None,
            }
        )
        print(table[-1])
    weights = fit(columns, right)
    print("fitted on all:", weights.round(2).tolist())
    save("calibration", {"sets": table, "weights": weights.round(3).tolist()})


if __name__ == "__main__":
    main()

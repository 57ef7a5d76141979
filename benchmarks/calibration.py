"""How true the confidence is on sets that it was not fitted on, and the weights that a fit on all of them gives.

    python -m benchmarks.calibration [own anthropic_contextual cranfield scifact chunking FOLDER…] [--limit 150]

For each set a logistic regression is fitted on the others and judged on it. Questions that a library cannot answer take
part as wrong answers: those of the other sets, and those in the set's own ``offtopic.jsonl``, which count three times.
Every set weighs the same, a quarter of it by questions without an answer. The weights fitted on all sets are those of
search/select/calibrate.py; the threshold is the one below which a twentieth of the answerable questions lie.
"""

from __future__ import annotations

import argparse
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import save
from benchmarks.retrieval import SETS, folder_of
from loccit.config import IndexSettings
from loccit.evaluation.build import build
from loccit.evaluation.cache import RememberingEmbedder, default_folder, place_for
from loccit.evaluation.datasets import EvalSet
from loccit.evaluation.judge import judge_for
from loccit.evaluation.places import Places
from loccit.evaluation.readers import read_all
from loccit.library import Library
from loccit.models.embedding import Embedder, load_embedder

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
_STRAYS = 50
# The share of the answerable questions that may get a note, and the bounds of what is counted together.
_NOTED = 0.05
_BINS = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.01)


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
                rows.append(_row(answer, evalset.name, judge.judge(question, answer).right, kind="answered"))
            own = [question.text for question in evalset.offtopic]
            for kind, texts in (("impossible", own), ("stray", strays)):
                for text in texts:
                    answer = library.search(text, explain=True)
                    rows.append(_row(answer, evalset.name, right=False, kind=kind))
    finally:
        places.close()
    return rows


def _row(answer: Any, name: str, right: bool, *, kind: str) -> dict[str, Any]:
    evidence = answer.explanation["evidence"]
    named = bool(answer.results and answer.results[0].explanation["exact"])
    # What is named literally, and what is known to be missing, have a confidence of their own.
    apart = named or bool(answer.explanation.get("missing")) or "No document mentions" in answer.note
    return {"set": name, "right": right, "kind": kind, "apart": apart, **evidence}


def features(rows: list[dict[str, Any]]) -> Array:
    """Return the columns of the regression: 1, distance, either, agreement."""
    meaning = np.array([row["meaning"] or 0.0 for row in rows])
    words = np.array([row["words"] or 0.0 for row in rows])
    agreement = np.array([float(row["agreement"]) for row in rows])
    code = np.array([row["code"] for row in rows])
    either = 1 - (1 - meaning) * (1 - words) * (1 - 0.8 * code)
    distance = np.array([float(row["distance"]) for row in rows])
    return np.stack([np.ones(len(rows)), distance, either, agreement], axis=1)


def shares(rows: list[dict[str, Any]]) -> Array:
    """Return what each question counts: sets weigh the same, and three in four by what they can answer."""
    worth = {"answered": 1.0, "impossible": 3.0, "stray": 1.0}
    counts = np.array([worth[row["kind"]] for row in rows])
    names = np.array([row["set"] for row in rows])
    asked = np.array([row["kind"] == "answered" for row in rows])
    for name in set(names.tolist()):
        for group, part in ((asked, 75.0), (~asked, 25.0)):
            mine = (names == name) & group
            counts[mine] *= part / max(1.0, float(counts[mine].sum()))
    return counts


def fit(columns: Array, right: Array, counts: Array | float = 1.0, penalty: float = 0.01) -> Array:
    """Fit a logistic regression by Newton's method."""
    weights = np.zeros(columns.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-columns @ weights))
        slope = columns.T @ (counts * (chance - right)) + penalty * np.r_[0.0, weights[1:]]
        curve = (columns * (counts * (chance * (1 - chance)))[:, None]).T @ columns
        curve += penalty * np.eye(len(weights))
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--limit", type=int, default=150, help="questions a set")
    options = parser.parse_args()
    folders = [
        folder for name in options.sets if (folder := Path(name) if Path(name).is_dir() else folder_of(name))
    ]
    sets = list(read_all(folders))
    embedder = load_embedder()
    rows: list[dict[str, Any]] = []
    for one in sets:
        others = [question.text for other in sets if other.name != one.name for question in other.questions]
        rows += gather(
            one, random.Random(2).sample(others, min(_STRAYS, len(others))), embedder, options.limit
        )
    rows = [row for row in rows if not row["apart"]]
    columns, right, counts = features(rows), np.array([float(row["right"]) for row in rows]), shares(rows)
    names, kinds = np.array([row["set"] for row in rows]), np.array([row["kind"] for row in rows])
    chance = np.zeros(len(rows))
    for name in dict.fromkeys(names):
        held_out = names == name
        weights = fit(columns[~held_out], right[~held_out], counts[~held_out])
        chance[held_out] = 1 / (1 + np.exp(-columns[held_out] @ weights))
    threshold = float(np.quantile(chance[kinds == "answered"], _NOTED))
    table = [
        {"set": str(name), **_figures(names == name, chance, right, kinds, threshold)}
        for name in dict.fromkeys(names)
    ]
    table.append({"set": "all", **_figures(np.ones(len(rows), bool), chance, right, kinds, threshold)})
    for line in table:
        print(line)
    bins = [
        {"from": low, "answers": int(mine.sum()), "right": round(float(right[mine].mean()), 3)}
        for low, high in pairwise(_BINS)
        if (mine := (chance >= low) & (chance < high)).any()
    ]
    print(*bins, sep="\n")
    weights = fit(columns, right, counts)
    print("fitted on all:", weights.round(2).tolist(), "threshold:", round(threshold, 2))
    saved = {"sets": table, "bins": bins, "weights": weights.round(3).tolist(), "threshold": threshold}
    save("calibration", saved)


def _figures(
    mine: Flags, chance: Array, right: Array, kinds: NDArray[Any], threshold: float
) -> dict[str, Any]:
    """Return how sure and how right answers are, and which share of the questions of each kind gets a note."""
    asked = mine & (kinds == "answered")
    noted = {
        f"noted_{kind}": round(float((chance[group] < threshold).mean()), 3)
        for kind in ("answered", "impossible", "stray")
        if (group := mine & (kinds == kind)).any()
    }
    return {
        "confidence": round(float(chance[asked].mean()), 3),
        "right": round(float(right[asked].mean()), 3),
        **noted,
    }


if __name__ == "__main__":
    main()

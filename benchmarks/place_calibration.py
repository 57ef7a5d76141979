"""How true the confidence in places is that are asked for by number, and the weights that a fit gives.

    python -m benchmarks.place_calibration [FOLDER ...] [--limit 30] [--index DIR]

Each FOLDER has one folder of documents a kind and beside it KIND.jsonl with the places in them (doc, label, and line or
text); by default the set `real`. Four kinds of questions are asked about some places of each document: with the
document's name, without it, with the name of a document that is not there, and places that the document lacks but
others have. The regression is fitted on all kinds of documents but one and judged on that one. The weights fitted on
all of them are those of search/calibrate.py.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibration import Array, fit
from benchmarks.common import eval_dir, read_jsonl, save
from loccit import Library
from loccit.model import SearchResponse
from loccit.search.place_evidence import PlaceEvidence

# Kinds whose list of places is complete, so that what is not on it does not exist.
_COMPLETE = ("rfc", "statutes")
_FOREIGN = ("the Zimmermann agreement", "the Water Act", "rfc99321", "the Obermaier lease of 2019")
Row = dict[str, Any]


def _plain(text: str) -> str:
    return re.sub(r"[^\w]+", " ", re.sub(r"[*_`\\]", "", text)).strip().lower()


def _asked(label: str) -> str:
    return label if re.match(r"(§|第|[^\W\d])", label) else f"Section {label}"


def _kind(label: str) -> str:
    return re.split(r"[\d一二三四五六七八九十百]", label, maxsplit=1)[0].strip()


def _is_place(row: Row, answer: SearchResponse) -> bool:
    if not answer.results or Path(answer.results[0].source_path).name != row["doc"]:
        return False
    first = answer.results[0]
    if row.get("line"):
        return first.lines is not None and abs(first.lines.first - row["line"]) <= 1
    return _plain(row["text"])[:40] in _plain(first.content)[:260]


def questions(kind: str, places: list[Row], limit: int) -> Iterator[tuple[str, Row | None]]:
    """Yield questions with the place that answers each; None where nothing does."""
    chance = random.Random(3)
    by_document: dict[str, list[Row]] = defaultdict(list)
    for place in places:
        if re.search(r"\d|第", place.get("label", "")):
            by_document[place["doc"]].append({**place, "label": place["label"].rstrip(".")})
    labels = sorted({place["label"] for own in by_document.values() for place in own})
    for name, own in by_document.items():
        stem = Path(name).stem
        once = [place for place in own if sum(other["label"] == place["label"] for other in own) == 1]
        for place in chance.sample(once, min(limit, len(once))):
            asked = _asked(place["label"])
            yield f"{asked} of {stem}", place
            yield asked, place
            if chance.random() < 0.3:
                yield f"{asked} of {chance.choice(_FOREIGN)}", None
        if kind in _COMPLETE:
            # Only in the words of its own kind: `Artículo 12` of a German act may well mean its § 12.
            kinds = {_kind(place["label"]) for place in own}
            missing = set(labels) - {place["label"] for place in own}
            lacking = sorted(label for label in missing if _kind(label) in kinds)
            for label in chance.sample(lacking, min(limit // 3, len(lacking))):
                yield f"{_asked(label)} of {stem}", None


def gather(library: Library, kind: str, places: list[Row], limit: int) -> list[Row]:
    """Ask and note what spoke for the first result, and whether it was right."""
    rows = []
    for text, place in questions(kind, places, limit):
        answer = library.search(text, explain=True, top_k=1)
        first = answer.results[0].explanation if answer.results else None
        grounds = (first or {}).get("grounds")
        right = place is not None and _is_place(place, answer)
        reason = (first or {}).get("exact", "")
        rows.append(
            {
                "kind": kind,
                "query": text,
                "right": right,
                "confidence": answer.confidence,
                "reason": reason,
                "grounds": grounds,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--limit", type=int, default=30, help="places a document")
    parser.add_argument("--index", type=Path, help="keep the index here instead of a temporary folder")
    parser.add_argument("--rows", type=Path, help="write what was asked and answered here")
    options = parser.parse_args()
    folders = options.folders or [eval_dir("real")]
    rows: list[Row] = []
    with (
        tempfile.TemporaryDirectory() as scratch,
        Library(options.index or Path(scratch) / "index") as library,
    ):
        sets = [
            path
            for folder in folders
            for path in sorted(folder.glob("*.jsonl"))
            if path.with_suffix("").is_dir()
        ]
        library.index([path.with_suffix("") for path in sets], embed=False)
        for path in sets:
            rows += gather(library, path.stem, read_jsonl(path), options.limit)
    if options.rows:
        options.rows.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    table = [_judged("all answers", rows, np.array([row["confidence"] for row in rows]))]
    # Of several places that are as good, each is as likely: that needs no fitting.
    places = [
        row
        for row in rows
        if row["grounds"]
        and row["reason"] == "section"
        and row["grounds"]["documents"] == row["grounds"]["places"] == 1
    ]
    columns = np.array([[1.0, *PlaceEvidence(**row["grounds"]).features()] for row in places])
    right = np.array([float(row["right"]) for row in places])
    kinds = np.array([row["kind"] for row in places])
    for kind in dict.fromkeys(kinds):
        held_out = kinds == kind
        chance = 1 / (1 + np.exp(-columns[held_out] @ fit(columns[~held_out], right[~held_out])))
        table.append(_judged(str(kind), [row for row in places if row["kind"] == kind], chance))
    own = [row for row in rows if row["reason"] == "line"]
    table.append(_judged("line", own, np.array([row["confidence"] for row in own])))
    for line in table:
        print(line)
    weights = fit(columns, right)
    print("fitted on all:", weights.round(2).tolist())
    save("place_calibration", {"sets": table, "weights": weights.round(3).tolist()})


def _error(chance: Array, right: Array) -> float:
    """How far the confidence of answers is from how many of them are right, over ten ranges of confidence."""
    ranges = np.minimum((chance * 10).astype(int), 9)
    apart = [abs(float((chance - right)[ranges == one].sum())) for one in range(10)]
    return sum(apart) / len(right)


def _judged(name: str, rows: list[Row], chance: Array) -> Row:
    right = np.array([float(row["right"]) for row in rows])
    sure = chance >= 0.9
    return {
        "set": name,
        "questions": len(rows),
        "confidence": round(float(chance.mean()), 3) if rows else None,
        "right": round(float(right.mean()), 3) if rows else None,
        "calibration_error": round(_error(chance, right), 3) if rows else None,
        "sure": int(sure.sum()),
        "sure_and_wrong": round(float((1 - right[sure]).sum() / max(1, len(rows))), 4) if rows else None,
    }


if __name__ == "__main__":
    main()

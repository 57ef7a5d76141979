"""How well deadlines, amounts and duties are read from labelled sentences of real statutes and contracts.

``obligations.jsonl`` has sentences that were drawn at random and labelled by reading them: ``random`` ones from all
sentences, ``units`` ones from those with a number and a word of time or money. Rules were made on the half ``rules``
and on the tables of whole documents; the half ``aside`` is for the report. ``fresh`` sentences were drawn and labelled
when the rules were done, because whoever made the rules had read both halves to label them. ``--misses PART`` prints
what is wrong in a part.

What was labelled: every period with its number and unit (not ages, not times of day), every date that bounds something
(not the date of a paper), every sum of money and percentage (not weights of marks, not rounding), and for each verb
that obliges, forbids, allows or recommends its kind and who is meant, empty where the text does not say.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.common import read_jsonl, save
from loccit.extract.obligations import read_sentence
from loccit.extract.obligations.units import plain
from loccit.grammar.text.sentences import sentence_ends

LABELS = Path(__file__).with_suffix(".jsonl")


def read(text: str, language: str) -> dict[str, list[Any]]:
    """Return what is read from a labelled text, in the form of the labels."""
    edges = [0, *sentence_ends(text), len(text)]
    rows = [row for start, end in pairwise(edges) for row in read_sentence(plain(text[start:end]), language)]
    return {
        "deadlines": [i.deadline.normal for row in rows for i in row[2] if i.deadline.normal],
        "amounts": [item.amount.normal for row in rows for item in row[3]],
        "duties": [[row[0], row[1].bearer] for row in rows if row[1] is not None],
    }


def same_bearer(found: str, meant: str) -> bool:
    """Return whether two names of a bearer mean the same: one holds the other, articles left aside."""
    one, other = (
        {w for w in name.casefold().replace("’s", "").split() if w not in _ARTICLES}
        for name in (found, meant)
    )
    return one == other or bool(one and other and (one <= other or other <= one))


_ARTICLES = frozenset("the a an der die das dem den des ein eine einem einen".split())


class Score:
    """Counts of what was found, what was meant, and what is both."""

    def __init__(self) -> None:
        self.right = self.found = self.meant = 0

    def add(self, found: Iterable[Any], meant: Iterable[Any]) -> None:
        """Count one sentence."""
        one, other = Counter(found), Counter(meant)
        self.right += (one & other).total()
        self.found += one.total()
        self.meant += other.total()

    def to_dict(self) -> dict[str, Any]:
        """Return the shares and the counts."""
        return {
            "precision": round(self.right / max(1, self.found), 3),
            "recall": round(self.right / max(1, self.meant), 3),
            "found": self.found,
            "meant": self.meant,
        }


def score(rows: list[dict[str, Any]], *, misses: bool) -> dict[str, Any]:
    scores = {name: Score() for name in ("deadlines", "amounts", "kinds", "bearers")}
    for row in rows:
        found = read(row["text"], row["language"])
        for name in ("deadlines", "amounts"):
            scores[name].add(found[name], row[name])
            if misses and Counter(found[name]) != Counter(row[name]):
                print(f"{name} {found[name]} meant {row[name]}\n    {row['text']}")
        scores["kinds"].add((kind for kind, _ in found["duties"]), (kind for kind, _ in row["duties"]))
        if misses and Counter(k for k, _ in found["duties"]) != Counter(k for k, _ in row["duties"]):
            print(f"duties {found['duties']} meant {row['duties']}\n    {row['text']}")
        bearers(scores["bearers"], found["duties"], row["duties"], row["text"] if misses else "")
    return {"sentences": len(rows), **{name: item.to_dict() for name, item in scores.items()}}


def bearers(score: Score, found: list[list[str]], meant: list[list[str]], text: str) -> None:
    """Count who is meant, of those duties that both have, in order."""
    score.found += sum(bool(bearer) for _, bearer in found)
    score.meant += sum(bool(bearer) for _, bearer in meant)
    left = list(found)
    for kind, bearer in meant:
        match = next((item for item in left if item[0] == kind and same_bearer(item[1], bearer)), None)
        if match:
            left.remove(match)
            score.right += bool(bearer)
        elif text:
            print(f"bearer {[item for item in left if item[0] == kind]} meant {bearer!r}\n    {text}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", choices=("rules", "aside", "fresh"))
    asked = parser.parse_args()
    labelled = read_jsonl(LABELS)
    figures: dict[str, Any] = {}
    for half in ("rules", "aside", "fresh"):
        for language in ("en", "de", "all"):
            rows = [r for r in labelled if r["half"] == half and language in (r["language"], "all")]
            figures[f"{half} {language}"] = score(rows, misses=asked.misses == half and language == "all")
    for name, row in figures.items():
        shown = "  ".join(
            f"{field} {row[field]['precision']:.2f}/{row[field]['recall']:.2f} ({row[field]['meant']})"
            for field in ("deadlines", "amounts", "kinds", "bearers")
        )
        print(f"{name:10} {row['sentences']:4} sentences  precision/recall (labelled): {shown}")
    save("obligations", figures)


if __name__ == "__main__":
    main()

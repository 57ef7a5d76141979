"""No false modality, bearer, deadline or amount in 509 sentences that were labelled before anything was extracted.

``obligation_sentences.jsonl`` has for each sentence its rows: the kinds that are right (``none``: no row at all), the
bearer (null: the grammatical subject or nothing, which nobody would call a bearer), and deadlines and amounts with the
bounds that are right (``for``: none). What is not found is allowed here, what is false is not. Rules were made with the
half ``making`` in view; of the half ``reporting`` only the counts were seen. Sentences
``later`` were written when the rules were done: most of their labels leave bearers out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from benchmarks.obligations import same_bearer

from loccit.extract.obligations import read_sentence

LABELLED = [
    json.loads(line)
    for line in Path(__file__).with_name("obligation_sentences.jsonl").read_text("utf-8").splitlines()
]
# What relations of a deadline say in the words of the labels.
_SAME = {"within": "at most", "until": "at most", "before": "at most"}


def states(bound: str, value: str, labels: Sequence[Sequence[str]]) -> bool:
    """Whether a value with a bound is one of the labels; no bound claims nothing."""
    found = _SAME.get(bound, bound)
    return any(
        value == meant
        and (
            not bound
            or found in [_SAME.get(name, name) for name in names.split("|")]
            # A period that is counted from an event without a bound is labelled as one of its length.
            or (bound in ("before", "after") and names == "for")
        )
        for names, meant in labels
    )


@pytest.mark.parametrize("row", LABELLED, ids=lambda row: row["text"][:60])
def test_nothing_false_is_said_of_a_sentence(row: dict[str, Any]) -> None:
    left = [meant for meant in row["rows"] if meant["kinds"] != ["none"]]
    everything = row["rows"]
    for kind, duty, deadlines, amounts, _ in read_sentence(row["text"], row["language"]):
        meant = next((meant for meant in left if kind in meant["kinds"]), None)
        if duty is not None:
            assert meant is not None, f"{duty.modal}: {kind}"
            left.remove(meant)
            if duty.bearer and meant["bearer"] is not None:
                assert same_bearer(duty.bearer, meant["bearer"])
        mine = [meant] if meant is not None else everything
        for deadline in (item.deadline for item in deadlines if item.deadline.normal):
            labels = [label for meant in mine for label in meant["deadlines"]]
            assert states(deadline.relation, deadline.normal, labels), deadline
        for amount in (item.amount for item in amounts):
            labels = [label for meant in mine for label in meant["amounts"]]
            assert states(amount.bound, amount.normal, labels), amount


def test_most_of_what_the_sentences_state_is_found() -> None:
    found = meant = 0
    for row in (row for row in LABELLED if row["half"] != "later"):
        read = read_sentence(row["text"], row["language"])
        values = [item.deadline.normal for each in read for item in each[2]]
        values += [item.amount.normal for each in read for item in each[3]]
        labels = [value for each in row["rows"] for _, value in (*each["deadlines"], *each["amounts"])]
        meant += len(labels) + sum("none" not in each["kinds"] for each in row["rows"])
        found += sum(value in values for value in labels)
        found += min(len(read), sum("none" not in each["kinds"] for each in row["rows"]))
    assert found >= 0.97 * meant, (found, meant)

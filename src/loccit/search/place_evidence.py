"""Place evidence: what speaks for a place that a reference in a query leads to."""

from __future__ import annotations

from dataclasses import dataclass

from loccit.model import SelfCheck

# From this share of confirmed statements on, the places of a document are not in doubt.
_CLEAR = 0.75


@dataclass(frozen=True, slots=True)
class PlaceEvidence:
    """The evidence for a place that a reference leads to.

    ``named``: the query names its document. ``documents`` counts the eligible documents with a place of that number,
    and ``places`` the equally good places in its own. ``alike``: the label is printed as it was asked for;
    ``explained``: all other words of the query are in its names or its document; ``recognised``: as a place, rather
    than as a line with the number, and ``printed``: at the start of the line.
    ``evidence`` is how much of what the document says about its own places is confirmed.
    """

    named: bool
    documents: int
    places: int
    alike: bool = True
    explained: bool = True
    recognised: bool = True
    printed: bool = True
    evidence: float = 1.0

    def features(self) -> tuple[float, ...]:
        """The columns of the regression, without the intercept."""
        return (
            float(self.named),
            float(self.alike),
            float(self.explained),
            1.0 - self.evidence,
        )


def self_check_score(check: SelfCheck | None) -> float:
    """Return how far a document confirms its places, between 0 and 1; a few stray references are tolerated."""
    share = check.share if check else None
    return 1.0 if share is None else min(1.0, share / _CLEAR)

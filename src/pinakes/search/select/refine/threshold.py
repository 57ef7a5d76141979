"""Threshold: fewer results rather than noise."""

from __future__ import annotations

from collections.abc import Iterable

from pinakes.config import SearchSettings
from pinakes.search.candidates import Candidate


def above_threshold(candidates: Iterable[Candidate], settings: SearchSettings) -> list[Candidate]:
    """Leave out what scores below ``min_confidence`` or ``min_score``, unless the query names it."""
    lowest = max(settings.min_confidence, settings.min_score or 0.0)
    return [candidate for candidate in candidates if candidate.pin > 0 or candidate.score >= lowest]

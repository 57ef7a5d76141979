"""Respond: what to say about an answer besides its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pinakes.config import SearchSettings
from pinakes.model import SearchResult

LOW_CONFIDENCE = 0.15


def note_for(
    results: Sequence[SearchResult],
    sure: float,
    *,
    filtered: bool,
    pending: int,
    about: Sequence[str] = (),
    besides: Sequence[str] = (),
) -> str:
    """Say in plain words what the reader should know about the answer; ``about`` is what was named, and not found."""
    notes = list(dict.fromkeys(about))
    if not results:
        notes.append("No match found." + (" The filters may leave too little." if filtered else ""))
    elif sure < LOW_CONFIDENCE:
        notes.append("Nothing matches well; these are the nearest passages.")
    notes += [note for note in besides if note]
    if pending:
        notes.append(f"{pending:,} passages have no vectors yet: search by meaning is incomplete.")
    return " ".join(notes)


def below_threshold(stats: Mapping[str, int], settings: SearchSettings) -> str:
    """Say so when there were passages, and all of them were below what results must score."""
    found, lowest = stats.get("original_count", 0), max(settings.min_confidence, settings.min_score or 0.0)
    if not found or stats.get("after_threshold", found):
        return ""
    name = "min_score" if (settings.min_score or 0.0) >= settings.min_confidence else "min_confidence"
    number = "1 passage was" if found == 1 else f"{found:,} passages were"
    return f"{number} found, but below {name}={lowest:g}."

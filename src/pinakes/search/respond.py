"""Respond: what to say about an answer besides its results."""

from __future__ import annotations

from collections.abc import Sequence

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

"""Wishes: fields of a request that some models take and others refuse.

Which model takes which field changes with every generation of models, and a table of it would be wrong by the
time it is read. So the best is asked for first; a service that refuses a field says so, free of charge, and is
not asked for it again.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

# Refused altogether, whatever the value: then trying another value is no use.
_UNKNOWN = ("unrecognized", "unknown", "unsupported parameter", "not permitted")


class Wishes:
    """For each field its values, best first; the last is what every service takes. Safe between threads."""

    def __init__(self, **values: Sequence[Any]) -> None:
        self._values = values
        self._at = dict.fromkeys(values, 0)
        self._lock = threading.Lock()

    def now(self) -> dict[str, Any]:
        """Return the value to ask for in each field."""
        with self._lock:
            return {name: values[self._at[name]] for name, values in self._values.items()}

    def refused(self, asked: Mapping[str, Any], message: str, words: Mapping[str, Sequence[str]]) -> bool:
        """Lower the wish that a refusal names by one of its ``words``; return whether it is worth asking again."""
        text = message.lower()
        for name, value in asked.items():
            if not any(word in text for word in words[name]):
                continue
            with self._lock:
                values, at = self._values[name], self._at[name]
                if values[at] != value:
                    return True  # another thread has learnt it already
                if at + 1 < len(values):
                    last = len(values) - 1
                    self._at[name] = last if any(sign in text for sign in _UNKNOWN) else at + 1
                    return True
        return False

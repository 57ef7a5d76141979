"""Bounds: how much a question may hold, declared once for every interface."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from loccit.errors import UsageError

LONGEST_TEXT = 10_000
"""The maximum length of a query, a reference, a name, a word or the value of a filter."""

LONGEST_TERM = 200
"""The maximum length of a term to define."""

LONGEST_PATTERN = 1000
"""The maximum length of what ``find_all`` looks for."""

LONGEST_QUOTATION = 5000
"""The maximum length of a quotation to check."""

MOST_QUOTATIONS = 1000
"""The maximum number of quotations that are checked at once."""

LONGEST_DRAFT = 10_000_000
"""The maximum length of a text whose quotations are checked; over HTTP, where bodies are short, it is less."""

MOST_HITS = 10_000
"""The maximum number of hits of ``find_all`` per answer."""

MOST_COUNTED = 10_000
"""The maximum number of hits of ``find_all`` that are counted: of more, all can be paged through."""

MOST_ROWS = 1000
"""The maximum number of obligations per answer."""

MOST_FILTERS = 50
"""The maximum number of filters at once."""

MOST_VALUES = 10_000
"""The maximum number of values of all filters together, except paths."""

DEPTHS = (1, 20)
"""How many levels of headings an outline may show."""

DEEPEST = 1000
"""How many results of a search can be skipped: each of its lists is that long."""

STEPS = ("next", "previous", "parent")
"""Where one can go from a place."""

PATTERNS = ("phrase", "words", "regex")
"""What ``find_all`` looks for."""

MOST_SUGGESTIONS = 50
"""The maximum number of suggestions at once."""

FARTHEST = 1_000_000_000
"""The maximum number of entries of a list to skip."""

# SQLite ends a text at NUL, and UTF-8 has no half of a surrogate pair: no text in an index has either.
_NOWHERE = re.compile("[\0\ud800-\udfff]")

P = ParamSpec("P")
T = TypeVar("T")


def text_fault(text: str, most: int = LONGEST_TEXT) -> str:
    """Return what is wrong with a text, as the rest of a sentence that begins with its name; "" if nothing is.

    >>> text_fault("lamp"), text_fault("la\\0mp")
    ('', 'must not contain the character NUL')
    """
    if len(text) > most:
        return f"must have at most {most:,} characters, not {len(text):,}"
    if found := _NOWHERE.search(text):
        return f"must not contain {'the character NUL' if found[0] == chr(0) else 'half of a surrogate pair'}"
    return ""


def check_text(name: str, value: object, most: int = LONGEST_TEXT) -> None:
    """Refuse an argument that is too long or has characters that no document has; in lists and mappings, any of it."""
    if isinstance(value, str):
        if fault := text_fault(value, most):
            raise UsageError(f"{name} {fault}.")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            check_text(f"each name in {name}", key)
            check_text(f"{name}: {key}", item)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            check_text(f"each of {name}" if isinstance(item, str) else name, item, most)


def bounded(**longest: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Make a question refuse texts that no interface takes; ``longest`` has the bounds that differ, by argument."""

    def wrap(question: Callable[P, T]) -> Callable[P, T]:
        parameters = inspect.signature(question).parameters
        names = tuple(parameters)
        # What may be left out is not given as nothing.
        optional = {name for name, one in parameters.items() if one.default is None}

        @functools.wraps(question)
        def ask(*args: P.args, **options: P.kwargs) -> T:
            given: dict[str, Any] = {**dict(zip(names, args, strict=False)), **options}
            for name, value in given.items():
                if name in optional and isinstance(value, str) and not value.strip():
                    raise UsageError(f"{name} is empty; leave it out.")
                if value is not None and name != "self":
                    check_text(name, value, longest.get(name, LONGEST_TEXT))
            return question(*args, **options)

        return ask

    return wrap

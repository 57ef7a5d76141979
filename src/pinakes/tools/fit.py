"""Fits what is sent into a number of tokens, counted with the library's own tokenizer: text, and values as JSON.

Some clients show a model the values instead of the text, so they are held to the same budget.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pinakes.model.quoting import Quotation
from pinakes.search.present.respond import count_tokens

if TYPE_CHECKING:
    from pinakes.embedding import Tokenizer

# Where a text is cut, best first: after a paragraph, a line, a sentence, a word. None further back than this part.
_BREAKS = tuple(re.compile(pattern) for pattern in (r"\n\s*\n", r"\n", r"[.;:!?]\s", r"\s"))
_FURTHEST_BACK = 0.75
# A text that is cut to fewer tokens is of no use; and how many the mark of a cut may take.
_FEWEST_TOKENS = 12
_MARK = 3


class Tokens:
    """Counts and cuts text by tokens."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        """Return how many tokens a text has."""
        return count_tokens(self._tokenizer, text)

    def cut(self, text: str, budget: int) -> int:
        """Return how many characters of a text fit, ending where a reader would pause."""
        if budget <= 0:
            return 0
        # A token is seldom longer than this on average; a text that begins with longer ones is cut a little early.
        for characters in (8, 20):
            start = text[: budget * characters]
            offsets = self._tokenizer.offsets(start)
            if len(offsets) > budget:
                break
            if characters == 20 or len(start) == len(text):
                return len(start)
        end = offsets[budget][0]
        for pattern in _BREAKS:
            found = [match.end() for match in pattern.finditer(text, int(end * _FURTHEST_BACK), end)]
            if found:
                return found[-1]
        return end


@dataclass(frozen=True, slots=True)
class Limit:
    """How long an answer may be, what counts that, and whether the answer is sent as values too."""

    budget: int
    tokens: Tokens
    values: bool = False

    def size(self, value: Any) -> int:
        """Return how many tokens a value takes as JSON."""
        return self.tokens.count(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))

    def allows(self, value: Any) -> bool:
        """Whether a value fits as JSON."""
        return self.size(value) <= self.budget


@dataclass(frozen=True, slots=True)
class Fitted:
    """Text that fits, how many of its parts are in it, and whether all are."""

    text: str
    kept: int
    complete: bool


def fit_quoted(
    tokens: Tokens,
    budget: int,
    head: str,
    parts: Sequence[str],
    *,
    when_cut: str = "Cut to fit the token budget: {kept} of {total} shown.",
    joiner: str = "\n",
    offset: int = 0,
) -> Fitted:
    """Return a head and, marked as quoted, as many parts as fit; ``when_cut`` says so when some had to be left out.

    In ``when_cut``, ``{kept}``, ``{total}`` and ``{next}`` are filled in; ``offset`` is how many parts came before.
    """
    quotation = Quotation.around(parts, seed=head)
    opening = f"{head} {quotation.notice}"

    def whole(kept: int) -> str:
        note = (
            ""
            if kept == len(parts)
            else when_cut.format(kept=kept, total=offset + len(parts), next=offset + kept)
        )
        block = quotation.block(joiner.join(parts[:kept])) if kept else ""
        return "\n".join(piece for piece in (opening, block, note) if piece)

    if not parts:
        return Fitted(squeezed(tokens, head, budget), 0, True)
    text = whole(len(parts))
    if tokens.count(text) <= budget:
        return Fitted(text, len(parts), True)
    left = budget - tokens.count(whole(0)) - tokens.count(quotation.block(""))
    kept = 0
    for part in parts:
        left -= tokens.count(part + joiner)
        if left < 0:
            break
        kept += 1
    # Tokens may merge or part at the seams, so the sum is only a good guess.
    text = whole(kept)
    while kept and tokens.count(text) > budget:
        kept -= 1
        text = whole(kept)
    return Fitted(squeezed(tokens, text, budget), kept, False)


def squeezed(tokens: Tokens, text: str, budget: int) -> str:
    """Return a text cut to the budget, whatever it is: the last resort for frames that are too long themselves."""
    if tokens.count(text) <= budget:
        return text
    end = tokens.cut(text, max(budget - 2, 0))
    while end and tokens.count(text[:end].rstrip() + " …") > budget:
        end = int(end * 0.95)
    return text[:end].rstrip() + " …"


# -- values ----------------------------------------------------------------------------------------------------


def lean(value: Any) -> Any:
    """Return a result as JSON values; what is empty or not known is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((name, getattr(value, name)) for name in _names(type(value)))
        return {name: lean(item) for name, item in pairs if _says_something(item)}
    if isinstance(value, dict):
        return {str(name): lean(item) for name, item in value.items() if _says_something(item)}
    if isinstance(value, (list, tuple)):
        return [lean(item) for item in value]
    return value


@lru_cache(maxsize=64)
def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind))


def _says_something(value: Any) -> bool:
    return value is not None and value != "" and value != [] and value != () and value != {}


def fit_items(
    data: dict[str, Any], name: str, limit: Limit, dispensable: tuple[str, ...] = (), least: int = 1
) -> dict[str, Any]:
    """Make an answer with a list in it fit: first without what is dispensable, then with fewer items; one stays, or
    ``least``.

    An answer that lost items says that it was cut.
    """
    if limit.allows(data) or not data[name]:
        return data
    light = without(*dispensable)
    items = [light(item) if isinstance(item, dict) else item for item in data[name]]
    frame = light(data)
    left = limit.budget - limit.size({**frame, name: []}) - sum(map(limit.size, items[:least]))
    kept = least
    for item in items[least:]:
        left -= limit.size(item)
        if left < 0:
            break
        kept += 1
    while True:
        cut = {"truncated": True} if kept < len(items) else {}
        fitted = {**frame, name: items[:kept], **cut}
        # What stands between items counts too.
        if kept <= least or limit.allows(fitted):
            return fitted
        kept -= 1


def fit_texts(data: dict[str, Any], name: str, field: str, limit: Limit) -> dict[str, Any]:
    """Make an answer with a list in it fit by cutting the longest texts of its items; if need be with fewer items."""
    items: list[dict[str, Any]] = data[name]
    excess = limit.size(data) - limit.budget
    if excess <= 0 or not items:
        return data
    lengths = [limit.tokens.count(item[field]) for item in items]
    # As many as there are in all, less what is too much; a text that is cut ends with a mark of that.
    room = sum(lengths) - excess - _MARK * len(items)
    most, left = 0, len(items)
    for length in sorted(lengths):
        most = room // left
        if length > most:
            break
        room, left = room - length, left - 1
    data, cut = {**data, "truncated": True}, items
    while most >= _FEWEST_TOKENS:
        cut = [
            item if length <= most else {**item, field: _beginning(item[field], most, limit.tokens)}
            for item, length in zip(items, lengths, strict=True)
        ]
        if limit.allows({**data, name: cut}):
            return {**data, name: cut}
        # Line breaks and quotation marks take more room in JSON.
        most = int(most * 0.9)
    return fit_items({**data, name: cut}, name, limit)


def _beginning(text: str, tokens: int, counter: Tokens) -> str:
    return f"{text[: counter.cut(text, tokens)].rstrip()} …"


def fit_by(
    data: dict[str, Any], limit: Limit, *steps: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """Take one step after the other to make an answer smaller, until it fits."""
    for step in steps:
        if limit.allows(data):
            break
        data = step(data)
    return data


def made_to_fit(make: Callable[[int], dict[str, Any]], limit: Limit) -> dict[str, Any]:
    """Return values that are made for a budget; for a smaller one where JSON takes more room than text."""
    budget = limit.budget
    while True:
        data = make(budget)
        size = limit.size(data)
        if size <= limit.budget or budget < _FEWEST_TOKENS:
            return data
        budget = min(budget - _MARK, int(budget * limit.budget / size))


def without(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a step that leaves fields out."""
    return lambda data: {name: value for name, value in data.items() if name not in names}

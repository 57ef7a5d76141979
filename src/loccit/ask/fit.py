"""Fit: cuts text, and values as JSON, to a number of tokens, counted with the library's own tokenizer.

Some clients show a model the values instead of the text, so the same budget applies to them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from loccit.model.quoting import Quotation
from loccit.search.present.respond import count_tokens

if TYPE_CHECKING:
    from loccit.models.embedding import Tokenizer

# Where a text is cut, best first: after a paragraph, a line, a sentence, a word. None further back than this part.
_BREAKS = tuple(re.compile(pattern) for pattern in (r"\n\s*\n", r"\n", r"[.;:!?]\s", r"\s"))
_FURTHEST_BACK = 0.75
# Fewer tokens than this are not worth showing; and the tokens reserved for a cut mark.
_FEWEST_TOKENS = 12
_MARK = 3


class Tokens:
    """Counts and cuts text by tokens."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return count_tokens(self._tokenizer, text)

    def cut(self, text: str, budget: int) -> int:
        """Return how many characters of a text fit, ending at a natural break."""
        if budget <= 0:
            return 0
        # Tokens are seldom longer than this on average; a text that begins with longer ones is cut a little
        # early.
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
    """The maximum length of an answer, its token counter, and whether it is sent as values too."""

    budget: int
    tokens: Tokens
    values: bool = False

    def size(self, value: Any) -> int:
        """Return the number of tokens of a value as JSON."""
        return self.tokens.count(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str))

    def allows(self, value: Any) -> bool:
        """Whether a value fits as JSON."""
        return self.size(value) <= self.budget


@dataclass(frozen=True, slots=True)
class Fitted:
    """Text that fits, the number of parts in it, and whether all are."""

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
    """Return a head and as many quoted parts as fit; ``when_cut`` is added if some were left out.

    In ``when_cut``, ``{kept}``, ``{total}`` and ``{next}`` are filled in; ``offset`` is the number of earlier parts.
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
    # Tokens may merge or split at the joins, so the sum is only a good estimate.
    text = whole(kept)
    while kept and tokens.count(text) > budget:
        kept -= 1
        text = whole(kept)
    return Fitted(squeezed(tokens, text, budget), kept, False)


def squeezed(tokens: Tokens, text: str, budget: int) -> str:
    """Return a text cut to the budget regardless of content: a last resort for frames that are too long themselves."""
    if tokens.count(text) <= budget:
        return text
    end = tokens.cut(text, max(budget - 2, 0))
    while end and tokens.count(text[:end].rstrip() + " …") > budget:
        end = int(end * 0.95)
    return text[:end].rstrip() + " …"


# -- values ----------------------------------------------------------------------------------------------------


def lean(value: Any) -> Any:
    """Return a result as JSON values, without empty or unknown fields."""
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
    """Make an answer with a list fit: first drop optional fields, then items; at least one, or ``least``, stays.

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
        # Separators between items count too.
        if kept <= least or limit.allows(fitted):
            return fitted
        kept -= 1


def fit_texts(data: dict[str, Any], name: str, field: str, limit: Limit) -> dict[str, Any]:
    """Make an answer with a list fit by cutting the longest texts of its items, and if need be dropping items."""
    items: list[dict[str, Any]] = data[name]
    excess = limit.size(data) - limit.budget
    if excess <= 0 or not items:
        return data
    lengths = [limit.tokens.count(item[field]) for item in items]
    # The total minus the excess; a text that is cut ends with a mark.
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
        # Line breaks and quotation marks take more tokens in JSON.
        most = int(most * 0.9)
    return fit_items({**data, name: cut}, name, limit)


def _beginning(text: str, tokens: int, counter: Tokens) -> str:
    return f"{text[: counter.cut(text, tokens)].rstrip()} …"


def fit_by(
    data: dict[str, Any], limit: Limit, *steps: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """Apply one step after another to make an answer smaller, until it fits."""
    for step in steps:
        if limit.allows(data):
            break
        data = step(data)
    return data


def made_to_fit(make: Callable[[int], dict[str, Any]], limit: Limit) -> dict[str, Any]:
    """Return values built for a budget, or for a smaller one if JSON takes more tokens than text."""
    budget = limit.budget
    while True:
        data = make(budget)
        size = limit.size(data)
        if size <= limit.budget or budget < _FEWEST_TOKENS:
            return data
        budget = min(budget - _MARK, int(budget * limit.budget / size))


def without(*names: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a step that drops fields."""
    return lambda data: {name: value for name, value in data.items() if name not in names}

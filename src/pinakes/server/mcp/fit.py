"""Fits what is sent into a number of tokens, counted with the library's own tokenizer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pinakes.model.quoting import Quotation
from pinakes.search.present.token_budget import count_tokens

if TYPE_CHECKING:
    from pinakes.embedding import Tokenizer

# Where a text is cut, best first: after a paragraph, a line, a sentence, a word. None further back than this part.
_BREAKS = tuple(re.compile(pattern) for pattern in (r"\n\s*\n", r"\n", r"[.;:!?]\s", r"\s"))
_FURTHEST_BACK = 0.75


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
        # A token is seldom longer than this; a text that begins with longer ones is cut a little early.
        start = text[: budget * 20]
        offsets = self._tokenizer.offsets(start)
        if len(offsets) <= budget:
            return len(start)
        end = offsets[budget][0]
        for pattern in _BREAKS:
            found = [match.end() for match in pattern.finditer(text, int(end * _FURTHEST_BACK), end)]
            if found:
                return found[-1]
        return end


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
) -> Fitted:
    """Return a head and, marked as quoted, as many parts as fit; ``when_cut`` says so when some had to be left out.

    In ``when_cut``, ``{kept}`` and ``{total}`` are filled in.
    """
    quotation = Quotation.around(parts, seed=head)
    opening = f"{head} {quotation.notice}"

    def whole(kept: int) -> str:
        note = "" if kept == len(parts) else when_cut.format(kept=kept, total=len(parts))
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

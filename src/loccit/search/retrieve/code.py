"""Code: identifiers in code blocks and source files, whole, in other naming styles and in part.

The code index knows the words of identifiers, not their order: a chunk with ``token`` in one place and ``auth`` in
another is found too. ``has_names`` tells whether a text has an identifier, alone or inside a longer one: ``authToken``
in ``getAuthToken``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from loccit.config import SearchSettings
from loccit.grammar.text.code_terms import CodeTerm, code_tokens
from loccit.index.port.matching import DEPTH
from loccit.search.candidates import CODE, RankedList
from loccit.search.retrieve.leg import Leg, Retrieved


def has_names(text: str, names: Sequence[CodeTerm]) -> bool:
    """Whether a text contains all of these identifiers, in any naming style, each within one identifier.

    >>> [name] = code_tokens("authToken")
    >>> has_names("def get_auth_token(user):", [name]), has_names("token = auth(user)", [name])
    (True, False)
    """
    wanted = {_words(name) for name in names if not name.operator}
    if not wanted:
        return False
    longest = {_words(token) for token in code_tokens(text)}
    return all(any(_stands_in(name, longer) for longer in longest) for name in wanted)


def _words(name: CodeTerm) -> tuple[str, ...]:
    return name.parts or (name.text,)


def _stands_in(name: tuple[str, ...], longer: tuple[str, ...]) -> bool:
    size = len(name)
    return any(longer[start : start + size] == name for start in range(len(longer) - size + 1))


# -- code: names in code blocks and source files, whole, in other styles and by part -------------------------


class CodeLeg(Leg):
    """Search by identifiers in the query; finds nothing if there are none."""

    name = CODE

    def weight(self, settings: SearchSettings, before: Mapping[str, float]) -> float | None:
        """Return ``code_search_weight``."""
        return settings.code_search_weight if settings.uses("code") else None

    def search(self, asked: Retrieved) -> RankedList:
        """Return the chunks whose code contains these identifiers."""
        keyword, text = self._index.keyword, asked.query.text
        return asked.scope.ask(
            lambda depth, documents: RankedList.of(
                CODE, keyword.search_code(text, limit=depth, documents=documents)
            ),
            DEPTH,
        )

"""Within: whether a text has a name of code, alone or inside a longer name: ``authToken`` in ``getAuthToken``.

The code index knows the words of names, not their order: a chunk with ``token`` here and ``auth`` there is found too.
"""

from __future__ import annotations

from collections.abc import Sequence

from pinakes.text.code_terms import CodeTerm, code_tokens


def has_names(text: str, names: Sequence[CodeTerm]) -> bool:
    """Whether each of some names, in any style of writing, is in a text, its words side by side in one name.

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

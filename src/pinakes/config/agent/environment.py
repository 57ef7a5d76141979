"""``${NAME}`` and ``${NAME:-default}`` in values: taken from the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping

# ``$${`` is how ``${`` itself is written.
_REFERENCE = re.compile(r"\$\$\{|\$\{([^{}]*)\}|\$\{")
_INSIDE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)


class VariableError(ValueError):
    """A reference to the environment that has no value; the message says why."""


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with its references replaced by what the environment has.

    >>> expand("${HOST:-localhost}:${PORT}", {"PORT": "80"})
    'localhost:80'
    """

    def value(found: re.Match[str]) -> str:
        if found.group() == "$${":
            return "${"
        inside = _INSIDE.fullmatch(found.group(1)) if found.group(1) is not None else None
        if inside is None:
            raise VariableError(
                "an environment variable is written ${NAME} or ${NAME:-default}, and a plain ${ as $${"
            )
        name, default = inside.groups()
        if default is not None:
            return variables.get(name) or default
        if name not in variables:
            raise VariableError(
                f"the environment variable {name} is not set: set it, or give a default as in ${{{name}:-default}}"
            )
        return variables[name]

    return _REFERENCE.sub(value, text)


def refers(text: str) -> bool:
    """Whether a text has anything to be replaced."""
    return "${" in text

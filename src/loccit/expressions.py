"""Regular expressions that are compiled when they are first used.

Compiling those of the label grammar takes longer than most commands work, and each needs few of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from re import compile as expression
else:

    class expression:  # noqa: N801 - used in place of the function re.compile
        """An expression that is compiled when one of its methods is first asked for, and then has that method."""

        def __init__(self, pattern: str, flags: int = 0) -> None:
            self.pattern = pattern
            self._flags = flags

        def __getattr__(self, name: str) -> Any:
            found = getattr(re.compile(self.pattern, self._flags), name)
            setattr(self, name, found)
            return found


__all__ = ["expression"]

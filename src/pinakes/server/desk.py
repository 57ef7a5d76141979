"""The desk: everything a server answers from, and how much it may say."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Sequence
from contextlib import ExitStack

from pinakes.errors import IndexNotFoundError, PinakesError, UsageError
from pinakes.server.shelf import Shelf

logger = logging.getLogger("pinakes")

TOKEN_BUDGET = 6000
"""The most tokens of an answer that asks for no budget of its own: a page or ten, not a book."""


class Desk:
    """The shelves of a server. With ``write``, it may also bring them up to date."""

    def __init__(
        self,
        shelves: Sequence[Shelf],
        *,
        configured: bool = False,
        write: bool = False,
        token_budget: int = TOKEN_BUDGET,
        structured: bool = True,
        mark: str = "",
    ) -> None:
        if not shelves:
            raise UsageError("There is nothing to serve: the configuration has no document tool.")
        self.shelves = {shelf.name: shelf for shelf in shelves}
        self.configured = configured
        self.write = write
        self.token_budget = token_budget
        self.structured = structured
        self.mark = mark or secrets.token_hex(4)
        """Tells this run of the server from others, whose indexes may have had the same numbers."""

    @property
    def several(self) -> bool:
        """Whether a question must say which library it is for, or goes to all of them."""
        return len(self.shelves) > 1

    def choose(self, name: str | None) -> list[Shelf]:
        """Return the shelf of a name, or all of them."""
        if name is None:
            return list(self.shelves.values())
        if name not in self.shelves:
            raise UsageError(f"There is no tool {name!r} here; there are {', '.join(self.shelves)}.")
        return [self.shelves[name]]

    def budget(self, asked: int | None, shelf: Shelf | None = None) -> int:
        """Return how many tokens an answer may take."""
        return asked or (shelf.token_budget if shelf is not None else None) or self.token_budget

    def warm(self) -> threading.Thread:
        """Open everything in the background, so that the first question finds it ready."""

        def load() -> None:
            for shelf in self.shelves.values():
                _prepare(shelf)

        thread = threading.Thread(target=load, name="pinakes-warm", daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        """Let go of everything."""
        with ExitStack() as stack:
            for shelf in self.shelves.values():
                stack.callback(shelf.close)


def _prepare(shelf: Shelf) -> None:
    """Open one shelf. What goes wrong is only noted: whoever asks first is told."""
    try:
        shelf.warm()
    except IndexNotFoundError as error:
        logger.info("%s", error)
    except PinakesError as error:
        logger.warning("%s", error)
    except Exception:
        logger.exception("Cannot prepare %s", shelf.name)

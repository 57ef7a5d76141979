"""The registry: the libraries that a server answers from, by name, and how much it may say."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Sequence
from contextlib import ExitStack

from pinakes.errors import IndexNotFoundError, PinakesError, UsageError
from pinakes.server.services import LibraryService

logger = logging.getLogger("pinakes")

TOKEN_BUDGET = 6000
"""The most tokens of an answer that asks for no budget of its own: a page or ten, not a book."""


class LibraryRegistry:
    """The libraries of a server. With ``write``, it may also bring them up to date."""

    def __init__(
        self,
        services: Sequence[LibraryService],
        *,
        configured: bool = False,
        write: bool = False,
        token_budget: int = TOKEN_BUDGET,
        structured: bool = True,
        mark: str = "",
    ) -> None:
        if not services:
            raise UsageError("There is nothing to serve: the configuration has no document tool.")
        self.services = {service.name: service for service in services}
        self.configured = configured
        self.write = write
        self.token_budget = token_budget
        self.structured = structured
        self.mark = mark or secrets.token_hex(4)
        """Tells this run of the server from others, whose indexes may have had the same numbers."""

    @property
    def several(self) -> bool:
        """Whether a question must say which library it is for, or goes to all of them."""
        return len(self.services) > 1

    def choose(self, name: str | None) -> list[LibraryService]:
        """Return the service of a name, or all of them."""
        if name is None:
            return list(self.services.values())
        if name not in self.services:
            raise UsageError(f"There is no tool {name!r} here; there are {', '.join(self.services)}.")
        return [self.services[name]]

    def budget(self, asked: int | None, service: LibraryService | None = None) -> int:
        """Return how many tokens an answer may take."""
        return asked or (service.token_budget if service is not None else None) or self.token_budget

    def warm(self) -> threading.Thread:
        """Open everything in the background, so that the first question finds it ready."""

        def load() -> None:
            for service in self.services.values():
                _prepare(service)

        thread = threading.Thread(target=load, name="pinakes-warm", daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        """Let go of everything."""
        with ExitStack() as stack:
            for service in self.services.values():
                stack.callback(service.close)


def _prepare(service: LibraryService) -> None:
    """Open one service. What goes wrong is only noted: whoever asks first is told."""
    try:
        service.warm()
    except IndexNotFoundError as error:
        logger.info("%s", error)
    except PinakesError as error:
        logger.warning("%s", error)
    except Exception:
        logger.exception("Cannot prepare %s", service.name)

"""Pictures: page images of a PDF, to show beside the text that was read from it."""

from __future__ import annotations

import base64
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loccit.library import Library
from loccit.server.api.operations import LIBRARY, THE_DOC, Call, Catalog, Operation, Reply
from loccit.server.api.params import Param, number
from loccit.server.api.problems import ProblemError

if TYPE_CHECKING:
    from loccit.workers.sandbox import Sandbox

_SECONDS = 15.0
_MEMORY_MB = 1024
_KEPT_BYTES = 32 << 20
_CHANGED = "The file was changed or removed since it was indexed. Index it again to see its pages."
_PNG = {"type": "string", "contentEncoding": "binary", "contentMediaType": "image/png"}


class Pictures:
    """Renders pages, one at a time in a process that can be killed, and caches the last ones."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._sandbox: Sandbox | None = None
        self._kept: OrderedDict[tuple[str, int, int], bytes] = OrderedDict()

    def answer(self, call: Call) -> Reply:
        """Answer with the image of a page."""

        def ask(library: Library, catalog: Catalog) -> tuple[str, str]:
            path = catalog.path(call["doc"])
            return path, self._checked(path, library.file_state(path))

        path, content_hash = call.ask(ask)
        key = (content_hash, call["page"], call["width"])
        reply = call.conditional(0, lambda: self._page(path, key))
        return Reply(reply.content, "image/png", etag=reply.etag, unchanged=reply.unchanged)

    def _checked(self, path: str, state: tuple[str, int, int, str] | None) -> str:
        """Return the hash of an indexed PDF whose file looks unchanged; the rendering process makes sure."""
        if state is None or state[0] != ".pdf":
            raise ProblemError(404, "Only PDF documents have page images.")
        try:
            size = Path(path).stat().st_size
        except (OSError, ValueError) as error:
            raise ProblemError(409, _CHANGED) from error
        if size != state[1]:
            raise ProblemError(409, _CHANGED)
        return state[3]

    def _page(self, path: str, key: tuple[str, int, int]) -> bytes:
        with self._guard:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            picture = self._draw({"path": path, "hash": key[0], "page": key[1], "width": key[2]})
            self._kept[key] = picture
            while sum(map(len, self._kept.values())) > _KEPT_BYTES:
                self._kept.popitem(last=False)
            return picture

    def _draw(self, payload: dict[str, Any]) -> bytes:
        from loccit.workers.sandbox import Limits, Sandbox

        if self._sandbox is None:
            self._sandbox = Sandbox(
                "loccit.server.api.draw:draw_page",
                workers=1,
                limits=Limits(seconds=_SECONDS, memory_mb=_MEMORY_MB, result_mb=64),
            )
        outcome = next((outcome for _, outcome in self._sandbox.run([payload])), None)
        found = outcome.value if outcome is not None else None
        if found is None:
            raise ProblemError(409, "This page cannot be rendered; its text can be read.")
        if found.get("problem") == "changed":
            raise ProblemError(409, _CHANGED)
        if found.get("problem") == "missing":
            raise ProblemError(404, "The document has no such page.")
        return base64.b64decode(found["png"])

    def close(self) -> None:
        """Stop the rendering process."""
        if self._sandbox is not None:
            self._sandbox.close()

    def operations(self) -> tuple[Operation, ...]:
        """Return the operation for these images."""
        page = number("page", "Number of the page, from 1.", 1, 100_000)
        return (
            Operation(
                "GET",
                "/api/page_image",
                "drawPage",
                "A page of a PDF as an image.",
                (
                    THE_DOC,
                    Param(page.name, page.description, page.schema, required=True),
                    number("width", "Width in pixels.", 50, 2400, 900),
                    LIBRARY,
                ),
                self.answer,
                {"image/png": _PNG},
                may=(404, 409),
            ),
        )

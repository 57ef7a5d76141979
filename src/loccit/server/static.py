"""The page: its files from the package, with headers that block all foreign content."""

from __future__ import annotations

import gzip
import hashlib
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Route

from loccit.server.api.problems import problem

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

FOLDER = Path(__file__).parent / "page"
VIEWS = ("/", "/read", "/map", "/overview")
STATIC = "/static/"

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Revalidated each time: a new version is seen at once.
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
}
# Only these are served, whatever else is in the folder.
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
_PACKED_ALREADY = (".png", ".woff2")


@dataclass(frozen=True, slots=True)
class _File:
    mark: tuple[int, int]
    plain: bytes
    packed: bytes | None
    etag: str
    media_type: str


class Page:
    """The files of the page, cached until they change."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._guard = threading.Lock()
        self._files: dict[str, _File] = {}

    @property
    def routes(self) -> list[BaseRoute]:
        """The page at all its addresses, and what it loads."""
        return [
            *(Route(view, self._index, methods=["GET"]) for view in VIEWS),
            Route("/favicon.ico", self._icon, methods=["GET"]),
            Route(STATIC + "{name:path}", self._static, methods=["GET"]),
        ]

    async def _index(self, request: Request) -> Response:
        return self._send(request, "index.html")

    async def _icon(self, request: Request) -> Response:
        return self._send(request, "icon.svg")

    async def _static(self, request: Request) -> Response:
        return self._send(request, request.path_params["name"])

    def _send(self, request: Request, name: str) -> Response:
        from starlette.responses import Response

        file = self._file(name)
        if file is None:
            return problem(404, "There is nothing at this address.")
        headers = {**HEADERS, "ETag": file.etag}
        if file.etag in (mark.strip() for mark in request.headers.get("if-none-match", "").split(",")):
            return Response(status_code=304, headers=headers)
        body = file.plain
        if file.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
            body = file.packed
            headers["Content-Encoding"] = "gzip"
        return Response(body, media_type=file.media_type, headers=headers)

    def _file(self, name: str) -> _File | None:
        """Return a file of the page. Paths that lead elsewhere, however they are written, are not found."""
        parts = name.split("/")
        if any(not part or part.startswith(".") or "\\" in part or "\0" in part for part in parts):
            return None
        path = self._folder.joinpath(*parts)
        if path.suffix not in _TYPES:
            return None
        try:
            state = path.stat()
            mark = (state.st_mtime_ns, state.st_size)
            known = self._files.get(name)
            if known is None or known.mark != mark:
                known = _read(path, mark)
                with self._guard:
                    self._files[name] = known
        except (OSError, ValueError):
            return None
        return known


def _read(path: Path, mark: tuple[int, int]) -> _File:
    plain = path.read_bytes()
    packed = None if path.suffix in _PACKED_ALREADY else gzip.compress(plain, 9, mtime=0)
    etag = f'W/"{hashlib.sha256(plain).hexdigest()[:20]}"'
    return _File(mark, plain, packed, etag, _TYPES[path.suffix])

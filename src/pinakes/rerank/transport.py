"""One JSON request to a service, with retries, within a limit of time, and with errors that can be shown."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from http.cookiejar import DefaultCookiePolicy
from time import sleep
from typing import Any
from urllib.parse import urlsplit

from pinakes.rerank.protocol import RerankError
from pinakes.version import __version__

_PASSING = frozenset({408, 429, 500, 502, 503, 504, 529})
_FIRST_PAUSE = 0.25
# An answer has some tens of bytes for each text. What is larger than this is something else.
_MOST_BYTES = 8_000_000
_MOST_CHARACTERS = 200


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class JsonClient:
    """Posts JSON to one address. Connections are kept, and it can be shared between threads.

    The key goes to that address only: redirects are not followed, and neither the environment nor a ``.netrc``
    adds another. Proxies and certificates of the environment are respected.
    """

    def __init__(self, url: str, *, api_key: str | None, timeout: float, max_retries: int) -> None:
        parts = urlsplit(url)
        self.url = url
        self.where = f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
        self.timeout = timeout
        self._api_key = api_key
        self._max_retries = max_retries
        self._lock = threading.Lock()
        self._session: Any = None

    def post(self, content: Mapping[str, Any]) -> Any:
        """Return the answer to ``content``, parsed; raise `RerankError` when there is none."""
        deadline = time.monotonic() + self.timeout
        for attempt in range(self._max_retries + 1):
            last = attempt == self._max_retries
            answer = self._try(content, deadline, again=attempt == 0 and not last)
            if answer is None:
                continue
            if answer.status not in _PASSING or last:
                break
            wait = _pause(answer, attempt)
            if time.monotonic() + wait >= deadline:
                break
            sleep(wait)
        if answer is None or answer.status != 200:
            raise self._refusal(answer)
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            page = "a web page" if answer.body.lstrip()[:1] == b"<" else "something that is not JSON"
            raise RerankError(f"{self.where} answered with {page}. Is the address right?") from error

    def _try(self, content: Mapping[str, Any], deadline: float, *, again: bool) -> _Answer | None:
        """Return one answer, whatever it is; None when the connection broke and there is another try."""
        import requests

        left = deadline - time.monotonic()
        try:
            if left <= 0:
                raise requests.Timeout
            with self._connect().post(
                self.url,
                json=content,
                auth=self._authorise,
                timeout=left,
                allow_redirects=False,
                stream=True,
            ) as response:
                return _Answer(response.status_code, response.headers, _read(response, deadline))
        except requests.Timeout as error:
            raise RerankError(f"{self.where} did not answer within {self.timeout:g} s.") from error
        except requests.exceptions.SSLError as error:
            raise RerankError(f"{self.where} has no certificate that can be trusted.") from error
        except requests.ConnectionError as error:
            if again:
                return None
            raise RerankError(f"{self.where} cannot be reached. Is the service running?") from error
        except (requests.RequestException, ValueError) as error:
            raise RerankError(self._redact(f"{self.where} cannot be asked: {error}")) from error

    def _connect(self) -> Any:
        import requests

        with self._lock:
            if self._session is None:
                self._session = requests.Session()
                self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
                self._session.headers.update(
                    {"Accept": "application/json", "User-Agent": f"pinakes/{__version__}"}
                )
            return self._session

    def _authorise(self, request: Any) -> Any:
        if self._api_key:
            request.headers["Authorization"] = f"Bearer {self._api_key}"
        return request

    def _refusal(self, answer: _Answer | None) -> RerankError:
        if answer is None:
            return RerankError(f"{self.where} cannot be reached. Is the service running?")
        if answer.status in (401, 403):
            return RerankError(f"{self.where} refused the API key. Check api_key and what it may use.")
        if answer.status == 404:
            return RerankError(
                f"{self.where} is not there, or has no such model. Check the address and the name."
            )
        if answer.status == 429:
            return RerankError(f"{self.where} refuses more requests for now. Wait, or check the quota.")
        if 300 <= answer.status < 400:
            return RerankError(f"{self.where} redirects elsewhere. Give the address that it leads to.")
        said = _message(answer.body)
        return RerankError(
            self._redact(f"{self.where} answered {answer.status}{': ' if said else '.'}{said}")
        )

    def _redact(self, message: str) -> str:
        # Some services take the key as a part of the address.
        for secret in (self._api_key, urlsplit(self.url).query):
            message = message.replace(secret, "***") if secret else message
        return message


def _read(response: Any, deadline: float) -> bytes:
    """Read an answer that may come slowly or without end."""
    import requests
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    # What has come so far, not a full piece: that could take for ever. Before urllib3 2.1 there was no such thing.
    read = getattr(response.raw, "read1", response.raw.read)
    body = bytearray()
    while True:
        try:
            piece = read(65_536, decode_content=True)
        except ReadTimeoutError as error:
            raise requests.Timeout from error
        except (HTTPError, OSError) as error:
            raise requests.ConnectionError from error
        if not piece:
            return bytes(body)
        body += piece
        if len(body) > _MOST_BYTES:
            raise ValueError(f"the answer is larger than {_MOST_BYTES:,} bytes")
        if time.monotonic() > deadline:
            raise requests.Timeout


def _pause(answer: _Answer, attempt: int) -> float:
    """Return for how many seconds to wait: as long as the service asks for, else longer each time."""
    asked = answer.headers.get("Retry-After", "").strip()
    if asked.isdecimal():
        return float(asked)
    try:
        moment = parsedate_to_datetime(asked)
    except (TypeError, ValueError, OverflowError):
        # Spread a little, so that several clients do not come back all at once.
        return float(_FIRST_PAUSE * 2**attempt * random.uniform(0.75, 1.25))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())


def _message(body: bytes) -> str:
    """Return what a service says about an error, in one short line."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    for name in ("message", "error", "detail"):
        found = content.get(name) if isinstance(content, dict) else None
        if isinstance(found, dict):
            found = found.get("message")
        if isinstance(found, str) and found.strip():
            return " ".join(found.split())[:_MOST_CHARACTERS]
    return ""

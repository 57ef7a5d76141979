"""What the services have in common: one client, a retry policy, and errors that say what to do.

The SDKs of Anthropic and OpenAI come from one generator: their exceptions have the same names and attributes.
"""

from __future__ import annotations

import email.utils
import importlib
import importlib.util
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from loccit.errors import LoccitError, MissingExtraError
from loccit.models.llm import Completion, ModelError, Prompt, PromptError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Up to ``retries`` further attempts, none begun later than ``total`` seconds after the first.

    The wait doubles from ``first_wait`` on and is shortened by chance, so that many callers do not come back at once.
    A service that names a time (``Retry-After``) is asked again then, unless that is beyond ``longest_wait``.
    """

    retries: int = 4
    first_wait: float = 1.0
    longest_wait: float = 60.0
    total: float = 300.0

    def persist(self, call: Callable[[], T], passing: Callable[[Exception], float | None]) -> T:
        """Call until it works. ``passing`` returns the wait that a failure asks for, 0 for none, None if it lasts."""
        started = time.monotonic()
        attempt = 0
        while True:
            try:
                return call()
            except Exception as error:
                asked = passing(error)
                if asked is None or attempt >= self.retries or asked > self.longest_wait:
                    raise
                wait = asked or min(self.first_wait * 2**attempt, self.longest_wait) * random.uniform(0.5, 1)
                if time.monotonic() + wait - started > self.total:
                    raise
            time.sleep(wait)
            attempt += 1


def retry_after(headers: Mapping[str, str]) -> float:
    """Return how many seconds a service asks to wait, 0 when it does not say."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            return max(0.001, float(value) * unit)
        except ValueError:
            pass
        if date := email.utils.parsedate_tz(value):
            return max(0.001, email.utils.mktime_tz(date) - time.time())
    return 0.0


# Refused altogether, whatever the value: then trying another value is no use.
_UNKNOWN = ("unrecognized", "unknown", "unsupported parameter", "not permitted")


class Wishes:
    """For each field its values, best first; the last is what every service takes. Safe between threads."""

    def __init__(self, **values: Sequence[Any]) -> None:
        self._values = values
        self._at = dict.fromkeys(values, 0)
        self._lock = threading.Lock()

    def now(self) -> dict[str, Any]:
        """Return the value to ask for in each field."""
        with self._lock:
            return {name: values[self._at[name]] for name, values in self._values.items()}

    def refused(self, asked: Mapping[str, Any], message: str, words: Mapping[str, Sequence[str]]) -> bool:
        """Lower the wish that a refusal names by one of its ``words``; return whether it is worth asking again."""
        text = message.lower()
        for name, value in asked.items():
            if not any(word in text for word in words[name]):
                continue
            with self._lock:
                values, at = self._values[name], self._at[name]
                if values[at] != value:
                    return True  # another thread has learnt it already
                if at + 1 < len(values):
                    last = len(values) - 1
                    self._at[name] = last if any(sign in text for sign in _UNKNOWN) else at + 1
                    return True
        return False


# A model that thinks before it answers does so within the limit for its answer; where thinking cannot be turned
# off, it is given this many tokens more.
THINKING_ROOM = 2000
_LONGEST_MESSAGE = 300
_NO_MONEY = ("insufficient_quota", "exceeded your current quota", "credit balance is too low")


class Service:
    """A model at a service. The client is made when the first prompt is sent."""

    scheme: ClassVar[str]
    package: ClassVar[str]
    key_variable: ClassVar[str]
    # What a refusal calls the fields that may be refused.
    words: ClassVar[dict[str, tuple[str, ...]]]

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 120.0,
        retry_policy: RetryPolicy | None = None,
    ) -> None:
        if not model:
            raise LoccitError(f"Name the language model to ask, as in {self.scheme}:MODEL.")
        if importlib.util.find_spec(self.package) is None:
            raise MissingExtraError(f"The language model {self.scheme}:{model}", self.package)
        self.model = model
        self.base_url = base_url
        self._api_key = api_key
        self._timeout = timeout
        self._retry_policy = retry_policy or RetryPolicy()
        self._wishes = self._make_wishes()
        self._lock = threading.Lock()
        self._client: Any = None

    @property
    def name(self) -> str:
        """Identity of the model. The address is no part of it: the same model may move."""
        return f"{self.scheme}:{self.model}"

    def __repr__(self) -> str:
        """Describe the model without its key."""
        return f"{type(self).__name__}(model={self.model!r}, base_url={self.base_url!r})"

    def complete(self, prompt: Prompt) -> Completion:
        """Return the answer to a prompt; raise ``ModelError`` when there is none, after the usual retries."""
        client = self._connect()
        while True:
            wishes = self._wishes.now()
            arguments = self._arguments(prompt, wishes)
            try:
                answer = self._retry_policy.persist(lambda: self._send(client, arguments), self._passing)  # noqa: B023
            except Exception as error:
                message = _message(error)
                if _status(error) in (400, 422) and self._wishes.refused(wishes, message, self.words):
                    continue
                raise self._explain(error, message) from error
            try:
                return self._read(answer)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
                raise ModelError(f"{self._where} returned an unreadable answer.") from error

    def missing_key(self) -> str:
        """Say which key is missing; empty when one is there or none is needed. Nothing is sent."""
        try:
            self._connect()
        except ModelError as error:
            return str(error)
        return ""

    # -- what differs between services -----------------------------------------------------------------------

    def _make_wishes(self) -> Wishes:
        raise NotImplementedError

    def _make_client(self, sdk: Any) -> Any:
        raise NotImplementedError

    def _arguments(self, prompt: Prompt, wishes: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def _send(self, client: Any, arguments: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _read(self, answer: Any) -> Completion:
        raise NotImplementedError

    @property
    def _where(self) -> str:
        raise NotImplementedError

    # -- what does not ---------------------------------------------------------------------------------------

    def _connect(self) -> Any:
        with self._lock:
            if self._client is None:
                try:
                    self._client = self._make_client(self._sdk)
                except LoccitError:
                    raise
                except Exception as error:  # no key, a broken profile, an address that is none
                    raise self._no_key() from error
            return self._client

    @property
    def _sdk(self) -> Any:
        return importlib.import_module(self.package)

    def _passing(self, error: Exception) -> float | None:
        """Return the wait that a failure asks for, 0 for none, None when it will not pass."""
        if isinstance(error, self._sdk.APIConnectionError):
            return 0.0
        status = _status(error)
        if status in (408, 409, 429) or status >= 500:
            if any(word in _message(error) for word in _NO_MONEY):
                return None
            return retry_after(error.response.headers)  # type: ignore[attr-defined]
        return None

    def _explain(self, error: Exception, message: str) -> ModelError:
        """Say what went wrong and what to do, without the key that some services print in their answer."""
        sdk, status = self._sdk, _status(error)
        if isinstance(error, sdk.APITimeoutError):
            return ModelError(f"{self._where} did not answer within {self._timeout:g} s.")
        if isinstance(error, sdk.APIConnectionError):
            return ModelError(f"Cannot reach {self._where}. Is the server running, and is its address right?")
        if status in (401, 403):
            reason = f"{self._where} refused the API key. Check {self.key_variable} and what the key may use."
            return ModelError(reason, lasting=True)
        if status == 404:
            reason = f"{self._where} has no model {self.model!r}. Check its name, or pull it first."
            return ModelError(reason, lasting=True)
        if status == 402 or any(word in message for word in _NO_MONEY):
            reason = f"{self._where} wants to be paid first: {self._fit(message)}"
            return ModelError(reason, lasting=True)
        if status == 429:
            return ModelError(f"{self._where} refuses more requests for now. Wait, or ask for fewer at once.")
        if 400 <= status < 500:
            return PromptError(f"{self._where} refused the request: {self._fit(message)}")
        if status:
            return ModelError(f"{self._where} answered {status}: {self._fit(message)}")
        if "authentication method" in message:
            return self._no_key()
        return ModelError(f"{self._where} returned an unreadable answer: {self._fit(message)}")

    def _no_key(self) -> ModelError:
        return ModelError(f"{self.name} needs an API key: set {self.key_variable}.", lasting=True)

    def _fit(self, message: str) -> str:
        """Return a message of a service on one line, short, and without the key."""
        for key in (self._api_key, getattr(self._client, "api_key", None)):
            if key and isinstance(key, str):
                message = message.replace(key, "***")
        line = " ".join(message.split())
        return line if len(line) <= _LONGEST_MESSAGE else line[:_LONGEST_MESSAGE] + "…"


def _status(error: Exception) -> int:
    status = getattr(error, "status_code", 0)
    return status if isinstance(status, int) else 0


def _message(error: Exception) -> str:
    """Return what a service says about a failure, its error code included."""
    text = getattr(error, "message", None) or str(error)
    code = getattr(error, "code", None)
    return f"{text} ({code})" if code and str(code) not in text else str(text)

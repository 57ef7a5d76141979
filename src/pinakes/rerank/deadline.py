"""Wait for a call, but not for ever."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from pinakes.rerank.protocol import RerankError

T = TypeVar("T")

# A call cannot be ended from outside: it goes on unseen. So many may, before no new one is begun.
_MOST_ABANDONED = 8
_abandoned: list[threading.Thread] = []
_lock = threading.Lock()


class _Call(Generic[T]):
    """What a call in another thread came to."""

    def __init__(self, function: Callable[[], T]) -> None:
        self.function = function
        self.result: list[T] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result.append(self.function())
        except BaseException as error:  # handed over to the thread that waits
            self.error = error


def call_within(seconds: float | None, function: Callable[[], T]) -> T:
    """Return what ``function`` returns; raise `RerankError` when it takes longer than ``seconds``."""
    if seconds is None:
        return function()
    with _lock:
        _abandoned[:] = [thread for thread in _abandoned if thread.is_alive()]
        if len(_abandoned) >= _MOST_ABANDONED:
            raise RerankError(f"the reranker is still busy with {len(_abandoned)} earlier searches.")
    call = _Call(function)
    # A daemon, so that a call that hangs does not keep the program from ending.
    thread = threading.Thread(
        target=contextvars.copy_context().run, args=(call.run,), name="pinakes-rerank", daemon=True
    )
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        with _lock:
            _abandoned.append(thread)
        raise RerankError(f"the reranker did not answer within {seconds:g} s.")
    if isinstance(call.error, Exception):
        raise call.error
    if call.error is not None:
        # Whatever wanted to end its thread must not end ours.
        raise RerankError(f"the reranker stopped with {type(call.error).__name__}.")
    return call.result[0]

"""Wait for a call, but not for ever."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from pinakes.rerank.protocol import RerankError

T = TypeVar("T")

# A call cannot be ended from outside: it goes on unseen. So many of one reranker may, before no new one is begun.
_MOST_ABANDONED = 2
_abandoned: list[tuple[object, threading.Thread]] = []
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


def call_within(seconds: float | None, function: Callable[[], T], owner: object) -> T:
    """Return what ``function`` returns; raise `RerankError` when it takes longer than ``seconds``.

    ``owner`` is who is called: its calls that hang are counted, and nobody else's.
    """
    if seconds is None:
        return function()
    with _lock:
        _abandoned[:] = [(other, thread) for other, thread in _abandoned if thread.is_alive()]
        hanging = sum(other is owner for other, _ in _abandoned)
        if hanging >= _MOST_ABANDONED:
            raise RerankError(f"the reranker is still busy with {hanging} earlier searches.")
    call = _Call(function)
    # A daemon, so that a call that hangs does not keep the program from ending.
    thread = threading.Thread(
        target=contextvars.copy_context().run, args=(call.run,), name="pinakes-rerank", daemon=True
    )
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        with _lock:
            _abandoned.append((owner, thread))
        raise RerankError(f"the reranker did not answer within {seconds:g} s.")
    if isinstance(call.error, Exception):
        raise call.error
    if call.error is not None:
        # Whatever wanted to end its thread must not end ours.
        raise RerankError(f"the reranker stopped with {type(call.error).__name__}.")
    return call.result[0]

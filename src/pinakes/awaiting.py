"""Awaiting: methods that block, made into ones that can be awaited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

Owner = TypeVar("Owner")
P = ParamSpec("P")
T = TypeVar("T")


def awaited(
    method: Callable[Concatenate[Owner, P], T],
) -> Callable[Concatenate[Owner, P], Coroutine[Any, Any, T]]:
    """Return a method that does the same in a thread, without blocking the event loop."""

    async def call(self: Owner, /, *args: P.args, **options: P.kwargs) -> T:
        # By name, so that what a subclass does instead is done here too.
        return await asyncio.to_thread(getattr(self, method.__name__), *args, **options)

    update_wrapper(call, method)
    call.__name__ = f"a{method.__name__}"
    call.__doc__ = f"Like :meth:`{method.__name__}`, without blocking the event loop."
    return call

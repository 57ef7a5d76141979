"""Lazy: a property that is computed once, by whichever thread asks first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801  # used as a decorator, like `property`
    """Like ``functools.cached_property``, without the lock that up to Python 3.11 all objects of a class share.

    Searches that run at once would wait there for one another, at every text they compare.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> lazy[T]: ...

    @overload
    def __get__(self, owner: object, kind: type) -> T: ...

    def __get__(self, owner: object | None, kind: type) -> lazy[T] | T:
        """Compute the value and leave it in the object, where it is found before this is asked again."""
        if owner is None:
            return self
        value = owner.__dict__[self._name] = self._compute(owner)
        return value

"""Queries of the double: the few operators that a document store needs; others are refused as MongoDB does."""

from __future__ import annotations

from typing import Any

_MISSING = object()


class UnknownOperatorError(Exception):
    """An operator that does not exist here."""


def matches(document: dict[str, Any], query: dict[str, Any]) -> bool:
    """Whether a document fits a query."""
    return all(_fits(document.get(path, _MISSING), wanted, path) for path, wanted in query.items())


def _fits(value: Any, wanted: Any, path: str) -> bool:
    if path.startswith("$"):
        raise UnknownOperatorError(path)
    if not isinstance(wanted, dict) or not any(name.startswith("$") for name in wanted):
        return bool(value == wanted)
    return all(_holds(value, name, operand) for name, operand in wanted.items())


def _holds(value: Any, operator: str, operand: Any) -> bool:
    if operator == "$eq":
        return bool(value == operand)
    if operator == "$in":
        return value in operand
    if operator not in ("$gt", "$lt"):
        raise UnknownOperatorError(operator)
    # Values of different kinds are in no order.
    if type(value) is not type(operand):
        return False
    return bool(value > operand if operator == "$gt" else value < operand)


def fields_of(document: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that a projection names, and the id."""
    if not fields:
        return document
    if set(fields.values()) - {1}:
        raise UnknownOperatorError("exclusion")
    return {name: value for name, value in document.items() if name == "_id" or name in fields}

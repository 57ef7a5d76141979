"""The OpenAPI description, made from the same operations that answer requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pinakes.server.api.operations import Operation
from pinakes.server.api.params import Param
from pinakes.server.api.problems import PROBLEM_JSON
from pinakes.version import __version__

_WORDS = {
    400: "Something in the request is not as it must be.",
    401: "The token is missing or wrong.",
    403: "Not allowed: from this address, or on a server that only reads.",
    404: "There is no such library, document or place.",
    405: "This address does not take that method.",
    408: "The body did not come in time.",
    409: "Not as things stand: the file has changed, or something is being indexed already.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The server does not go by that name.",
    422: "The request is well formed, but cannot be meant.",
    429: "Too many requests from one address.",
    500: "Something went wrong on the server.",
    503: "Busy, not ready yet, or it took too long.",
}
_ALWAYS = (400, 401, 403, 405, 421, 422, 429, 500, 503)
_WITH_BODY = (408, 413, 415)
_FLAG = {"type": "string", "enum": ["0", "1", "false", "true"]}


def describe(operations: Sequence[Operation], *, token: bool = False) -> dict[str, Any]:
    """Return the description; with ``token``, that one is wanted."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Pinakes",
            "version": __version__,
            "description": "Search, read and check the documents of a library.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Problem": _PROBLEM},
            "responses": {str(status): _problem(words) for status, words in _WORDS.items()},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}] if token else [],
    }


_PROBLEM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail"],
}


def _problem(words: str) -> dict[str, Any]:
    return {
        "description": words,
        "content": {PROBLEM_JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _operation(operation: Operation) -> dict[str, Any]:
    problems = {*_ALWAYS, *operation.may, *(_WITH_BODY if operation.in_body else ())}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "responses": {
            "200": {
                "description": "The answer.",
                "content": {kind: {"schema": schema} for kind, schema in operation.answers.items()},
            },
            **({"304": {"description": "As the client has it."}} if operation.method == "GET" else {}),
            **{str(status): {"$ref": f"#/components/responses/{status}"} for status in sorted(problems)},
        },
    }
    if operation.in_body:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _body(operation)}},
        }
    elif operation.params:
        described["parameters"] = [_parameter(param) for param in operation.params]
    return described


def _parameter(param: Param) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": param.name,
        "in": "query",
        "description": param.description,
        "required": param.required,
    }
    schema = {**(_FLAG if param.kind == "boolean" else param.schema)}
    if param.default not in (None, False):
        schema["default"] = param.default
    if param.kind == "object":
        return {**found, "content": {"application/json": {"schema": schema}}}
    return {**found, "schema": schema}


def _body(operation: Operation) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            param.name: {**param.schema, "description": param.description} for param in operation.params
        },
        "required": [param.name for param in operation.params if param.required],
        "additionalProperties": False,
    }

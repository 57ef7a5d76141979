"""JSON Schemas of the answers, generated from the dataclasses of the results, and the OpenAPI description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loccit.model import (
    Comparison,
    DefineResponse,
    DocumentInfo,
    FoundAll,
    ObligationsResponse,
    Outline,
    Place,
    QuotesReport,
    ReferencesResponse,
    SearchResponse,
    SectionsResponse,
    SectionView,
    Status,
)
from loccit.model.comparison import KINDS as DIFFERENCES
from loccit.model.quotes import ABSENT, ALTERED, EXACT
from loccit.search.links.reading import CLAUSE_FIELDS, SECTION_FIELDS, UsedDefinition
from loccit.server.api.operations import Operation
from loccit.server.api.params import Param
from loccit.server.api.problems import PROBLEM_JSON
from loccit.version import __version__

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
DOC_ID: Schema = {"type": "string", "description": "Id of a document."}
DOC_OR_NULL: Schema = {
    "type": ["string", "null"],
    "description": "Id of a document of the library, if it is one.",
}


def fields(**properties: Schema) -> Schema:
    """Return the schema of an object with these properties, all required."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def each(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def _of(kind: Any, *, adding: dict[str, Schema] | None = None) -> Schema:
    """Return the schema of a result with all references inlined; ``adding`` has additional properties.

    The keys of ``adding`` are names of dataclasses, the values their additional properties.
    """
    from pydantic import TypeAdapter

    schema = TypeAdapter(kind).json_schema(mode="serialization")
    named = schema.pop("$defs", {})
    adding = adding or {}

    def inline(node: Any, above: tuple[str, ...] = ()) -> Any:
        if isinstance(node, list):
            return [inline(item, above) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            # A tree: the children of its nodes are nodes again.
            return {"type": "object"} if name in above else inline(named[name], (*above, name))
        if "prefixItems" in node:
            # Pairs of the same type, lines and pages; many tools do not support this form.
            return {**each(inline(node["prefixItems"][0], above)), "minItems": 2, "maxItems": 2}
        if "properties" in node:
            title = node.get("title", "")
            properties = {key: inline(item, above) for key, item in node["properties"].items()}
            properties |= adding.get(title, {})
            return {"type": "object", "properties": properties, "required": list(node.get("required", []))}
        return {key: inline(item, above) for key, item in node.items() if key not in ("title", "default")}

    result: Schema = inline(named[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema)
    return result


_MARKED = {name: {"doc": DOC_OR_NULL} for name in ("Elsewhere", "Definition", "Reference", "Citation")}
_MARKED["Definition"]["id"] = STRING
SEARCH = _of(
    SearchResponse,
    adding={
        **_MARKED,
        "SearchResult": {"doc": DOC_OR_NULL, "location": STRING},
        "SearchResponse": {"next_offset": {"type": ["integer", "null"]}},
    },
)
SUGGESTIONS = fields(
    suggestions=each(
        fields(
            text=STRING,
            kind={"type": "string", "enum": ["title", "label", "term"]},
            doc=DOC_ID,
            section_id=STRING,
            detail=STRING,
        )
    )
)
DOCUMENTS = fields(documents=each(_of(DocumentInfo, adding={"DocumentInfo": {"id": DOC_ID}})))
SECTION = _of(SectionView, adding={"SectionView": {"doc": DOC_ID}})
SECTIONS = _of(SectionsResponse, adding={"SectionView": {"doc": DOC_ID}})
DEFINITIONS = _of(DefineResponse, adding={**_MARKED, "DefineResponse": {"conflict": {"type": "boolean"}}})
OUTLINES = fields(outlines=each(_of(Outline, adding={"Outline": {"doc": DOC_ID}})))
REFERENCES = _of(
    ReferencesResponse,
    adding={**_MARKED, "SectionView": {"doc": DOC_ID}, "ReferencesResponse": {"doc": DOC_ID}},
)
_SPAN = {"start": INTEGER, "end": INTEGER}
_GENERATION: Schema = {"type": "integer", "description": "The state of the index that this describes."}
TERMS = fields(
    doc=DOC_ID,
    generation=_GENERATION,
    definitions=each(
        fields(
            term=STRING,
            definition=STRING,
            source_doc=DOC_ID,
            source_section=STRING,
            lines=_of(UsedDefinition)["properties"]["lines"],
            conflict={"type": "boolean"},
        )
    ),
    terms=each(
        fields(**_SPAN, definition={"type": "integer", "description": "Number of the definition, from 0."})
    ),
)
_PLACE = _of(Place)["properties"]
DOCUMENT = fields(
    doc=DOC_ID,
    generation=_GENERATION,
    **dict.fromkeys(("source_path", "title", "file_type", "language"), STRING),
    metadata={"type": "object"},
    text=STRING,
    body_start=INTEGER,
    borne_out=STRING,
    uncertain={"type": "boolean"},
    pages=each(INTEGER),
    line_starts=each({**each(INTEGER), "minItems": 2, "maxItems": 2}),
    place_id=STRING,
    sections=each(
        fields(
            **{
                **{name: _PLACE[name] for name in SECTION_FIELDS},
                "parent": {"type": ["string", "null"], "description": "Id of the section above."},
            }
        )
    ),
    clauses=each(fields(**{name: _PLACE[name] for name in CLAUSE_FIELDS}, depth=INTEGER)),
    references=each(
        fields(
            **_SPAN,
            text=STRING,
            kind=STRING,
            doc=DOC_OR_NULL,
            target_section=STRING,
            target_label=STRING,
            reason=STRING,
            sure={"type": "number", "description": "The confidence that this place is meant, from 0 to 1."},
        )
    ),
    back_references=each(
        fields(from_doc=DOC_ID, from_section=STRING, from_label=STRING, text=STRING, target_section=STRING)
    ),
    links=each(fields(**_SPAN, text=STRING, target=STRING, kind=STRING, doc=DOC_OR_NULL)),
)
# Unless they are left out.
DOCUMENT["properties"] |= {name: TERMS["properties"][name] for name in ("definitions", "terms")}
_STATUS = _of(Status)
STATUS = fields(
    libraries=each(
        {
            "type": "object",
            "properties": {
                **_STATUS["properties"],
                **dict.fromkeys(("name", "description", "problem"), STRING),
                "missing": {"type": "boolean", "description": "Nothing has been indexed yet."},
            },
            "required": ["name", "description", "problem"],
        }
    ),
    version=STRING,
    write={"type": "boolean"},
    folders=each({"type": "string", "description": "A folder that POST /api/index may read from."}),
)
STATE = fields(state={"type": "string", "description": "Empty while there is no library."})
MAP: Schema = {
    "anyOf": [
        fields(
            documents=each(
                fields(doc=DOC_ID, title=STRING, chunks=INTEGER, sections=INTEGER, file_type=STRING)
            ),
            links=each(fields(**{"from": DOC_ID, "to": DOC_ID, "count": INTEGER})),
        ),
        fields(
            sections=each(
                fields(
                    section_id=STRING,
                    label=STRING,
                    title=STRING,
                    level=INTEGER,
                    parent={"type": ["string", "null"]},
                    chunks=INTEGER,
                )
            ),
            links=each(fields(from_section=STRING, to_doc=DOC_ID, to_section=STRING, count=INTEGER)),
        ),
    ]
}
_WHERE = {"TextPlace": {"doc": DOC_OR_NULL}}
FOUND_ALL = _of(FoundAll, adding={"TextHit": {"doc": DOC_OR_NULL}})
QUOTES = _of(
    QuotesReport,
    adding={
        **_WHERE,
        "QuotesReport": {"ok": {"type": "boolean"}, **dict.fromkeys((EXACT, ALTERED, ABSENT), INTEGER)},
    },
)
COMPARISON = _of(
    Comparison,
    adding={
        **_WHERE,
        "Comparison": {"old_doc": DOC_ID, "new_doc": DOC_ID, **dict.fromkeys(DIFFERENCES, INTEGER)},
    },
)
OBLIGATIONS = _of(
    ObligationsResponse,
    adding={
        "ObligationRow": {"doc": DOC_OR_NULL, "location": STRING},
        "Deadline": {"normal": STRING},
        "Amount": {"normal": STRING},
    },
)
CITATION = fields(
    citation=STRING,
    style=STRING,
    address={
        "type": "string",
        "description": "The address of this citation on the server's page; it survives changes to the document.",
    },
)
INDEXING: Schema = {
    "anyOf": [
        {"type": "null"},
        fields(library=STRING, started_at=STRING, stage=STRING, done=INTEGER, total=INTEGER, item=STRING),
    ]
}


_WORDS = {
    400: "The request is invalid.",
    401: "The token is missing or wrong.",
    403: "Not allowed: from this address, or on a read-only server.",
    404: "There is no such library, document or place.",
    405: "This address does not take that method.",
    408: "The request body did not arrive in time.",
    409: "Conflict: the file has changed, or indexing is already running.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    421: "The host name is not allowed.",
    422: "The request is well formed, but cannot be processed.",
    429: "Too many requests from one address.",
    500: "Internal error.",
    503: "Busy, not ready yet, or it took too long.",
}
_ALWAYS = (400, 401, 403, 405, 421, 422, 429, 500, 503)
_WITH_BODY = (408, 413, 415)
_FLAG = {"type": "string", "enum": ["0", "1", "false", "true"]}


def describe(operations: Sequence[Operation], *, token: bool = False) -> dict[str, Any]:
    """Return the OpenAPI description; with ``token``, it requires one."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Loccit",
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

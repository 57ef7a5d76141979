"""JSON Schemas of the answers, generated from the dataclasses of the results, and the OpenAPI description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from loccit.answers.reading import CLAUSE_FIELDS, SECTION_FIELDS, UsedDefinition
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
from loccit.model.quotes import ABSENT, ALTERED, ELSEWHERE, EXACT, NOT_SAID, RIGHT
from loccit.server.api.operations import Operation
from loccit.server.api.params import FILTERS_SCHEMA, Param
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


def named(name: str, schema: Schema) -> Schema:
    """Give a schema a name in the description, and return the reference to it."""
    if SCHEMAS.setdefault(name, schema) is not schema:
        raise ValueError(f"Two schemas are called {name}.")
    return {"$ref": _SCHEMAS + name}


_SCHEMAS = "#/components/schemas/"
SCHEMAS: dict[str, Schema] = {}
"""The schemas of the description, by name."""


_DOCUMENT = {"doc": DOC_ID}
_CITATIONS = {
    "type": "integer",
    "description": "How often the text outside a place refers to it, or to a part of it.",
}
_MARKED = {"doc": DOC_OR_NULL}
# What answers have beside the fields of a result, by the name of its dataclass.
_ADDED: dict[str, dict[str, Schema]] = {
    **dict.fromkeys(("Elsewhere", "Reference", "Citation", "TextPlace", "TextHit"), _MARKED),
    "Definition": {**_MARKED, "id": STRING},
    **dict.fromkeys(("SectionView", "Outline"), _DOCUMENT),
    "ReferencesResponse": {**_DOCUMENT, "citations": _CITATIONS},
    "SearchResult": {**_MARKED, "location": STRING},
    "SearchResponse": {"next_offset": {"type": ["integer", "null"]}},
    "DocumentInfo": {"id": DOC_ID},
    "DefineResponse": {"conflict": {"type": "boolean"}},
    "QuoteCheck": {"cited_place": {"type": "string", "enum": [RIGHT, ELSEWHERE, NOT_SAID]}},
    "QuotesReport": {
        "ok": {"type": "boolean"},
        **dict.fromkeys((EXACT, ALTERED, ABSENT, "misplaced"), INTEGER),
    },
    "Comparison": {"old_doc": DOC_ID, "new_doc": DOC_ID, **dict.fromkeys(DIFFERENCES, INTEGER)},
    "ObligationRow": {**_MARKED, "location": STRING},
    "Deadline": {"normal": STRING},
    "Amount": {"normal": STRING},
}
_RESULTS = (
    *(
        SearchResponse,
        SectionView,
        SectionsResponse,
        DefineResponse,
        ReferencesResponse,
        DocumentInfo,
        Outline,
    ),
    *(FoundAll, QuotesReport, Comparison, ObligationsResponse, Place, Status, UsedDefinition),
)


def _of_results() -> None:
    """Name the schemas of all results, and of what they are made of."""
    from pydantic import TypeAdapter

    adapters: list[tuple[str, Literal["serialization"], TypeAdapter[Any]]] = [
        (kind.__name__, "serialization", TypeAdapter(kind)) for kind in _RESULTS
    ]
    _, shared = TypeAdapter.json_schemas(adapters, ref_template=_SCHEMAS + "{model}")
    for name, schema in shared["$defs"].items():
        named(name, _plain(schema))
        if name in _ADDED:
            SCHEMAS[name]["properties"] |= _ADDED[name]


def _plain(node: Any) -> Any:
    """Return a schema as generated, without what says nothing to a client."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "prefixItems" in node:
        # Pairs of the same type, lines and pages; many tools do not support this form.
        return {**each(_plain(node["prefixItems"][0])), "minItems": 2, "maxItems": 2}
    if "properties" in node:
        properties = {key: _plain(item) for key, item in node["properties"].items()}
        return {"type": "object", "properties": properties, "required": list(node.get("required", []))}
    return {key: _plain(item) for key, item in node.items() if key not in ("title", "default")}


def _result(kind: type[Any]) -> Schema:
    """Return the reference to the schema of a result."""
    return {"$ref": _SCHEMAS + kind.__name__}


_of_results()
SEARCH = _result(SearchResponse)
_SUGGESTION = fields(
    text=STRING,
    kind={"type": "string", "enum": ["title", "label", "term"]},
    doc=DOC_ID,
    section_id=STRING,
    detail=STRING,
)
SUGGESTIONS = named("SuggestResponse", fields(suggestions=each(named("Suggestion", _SUGGESTION))))
DOCUMENTS = named("DocumentsResponse", fields(documents=each(_result(DocumentInfo))))
SECTION = _result(SectionView)
SECTIONS = _result(SectionsResponse)
DEFINITIONS = _result(DefineResponse)
OUTLINES = named("OutlinesResponse", fields(outlines=each(_result(Outline))))
REFERENCES = _result(ReferencesResponse)
_SPAN = {"start": INTEGER, "end": INTEGER}
_GENERATION: Schema = {"type": "integer", "description": "The state of the index that this describes."}
_TERMS = fields(
    doc=DOC_ID,
    generation=_GENERATION,
    definitions=each(
        named(
            "UsedTerm",
            fields(
                term=STRING,
                definition=STRING,
                source_doc=DOC_ID,
                source_section=STRING,
                lines=SCHEMAS["UsedDefinition"]["properties"]["lines"],
                conflict={"type": "boolean"},
            ),
        )
    ),
    terms=each(
        named(
            "TermMention",
            fields(
                **_SPAN, definition={"type": "integer", "description": "Number of the definition, from 0."}
            ),
        )
    ),
)
TERMS = named("TermsResponse", _TERMS)
_PLACE = SCHEMAS["Place"]["properties"]
_READER = fields(
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
        named(
            "DocumentSection",
            fields(
                **{
                    **{name: _PLACE[name] for name in SECTION_FIELDS},
                    "parent": {"type": ["string", "null"], "description": "Id of the section above."},
                }
            ),
        )
    ),
    clauses=each(
        named("DocumentClause", fields(**{name: _PLACE[name] for name in CLAUSE_FIELDS}, depth=INTEGER))
    ),
    references=each(
        named(
            "DocumentReference",
            fields(
                **_SPAN,
                text=STRING,
                kind=STRING,
                doc=DOC_OR_NULL,
                target_section=STRING,
                target_label=STRING,
                reason=STRING,
                sure={
                    "type": "number",
                    "description": "The confidence that this place is meant, from 0 to 1.",
                },
            ),
        )
    ),
    back_references=each(
        named(
            "BackReference",
            fields(
                from_doc=DOC_ID,
                from_title=STRING,
                from_section=STRING,
                from_label=STRING,
                text=STRING,
                target_section=STRING,
                cites={**each(STRING), "description": "Ids of the places that it is a citation of."},
            ),
        )
    ),
    links=each(
        named("DocumentLink", fields(**_SPAN, text=STRING, target=STRING, kind=STRING, doc=DOC_OR_NULL))
    ),
)
# Unless they are left out.
_READER["properties"] |= {name: _TERMS["properties"][name] for name in ("definitions", "terms")}
DOCUMENT = named("DocumentResponse", _READER)
_LIBRARY: Schema = {
    "type": "object",
    "properties": {
        **SCHEMAS["Status"]["properties"],
        **dict.fromkeys(("name", "description", "problem"), STRING),
        "missing": {"type": "boolean", "description": "Nothing has been indexed yet."},
    },
    "required": ["name", "description", "problem"],
}
STATUS = named(
    "StatusResponse",
    fields(
        libraries=each(named("LibraryStatus", _LIBRARY)),
        version=STRING,
        write={"type": "boolean"},
        folders=each({"type": "string", "description": "A folder that POST /api/index may read from."}),
    ),
)
STATE = named(
    "StateResponse",
    fields(state={"type": "string", "description": "Empty while there is no library."}),
)
_MAP_DOCUMENT = fields(doc=DOC_ID, title=STRING, chunks=INTEGER, sections=INTEGER, file_type=STRING)
_MAP_SECTION = fields(
    section_id=STRING,
    label=STRING,
    title=STRING,
    level=INTEGER,
    parent={"type": ["string", "null"]},
    chunks=INTEGER,
    cites={"type": "integer", "description": "How many places it refers to."},
    citations=_CITATIONS,
)
_MAP_LINK = fields(**{"from": DOC_ID, "to": DOC_ID, "count": INTEGER})
_MAP_SECTION_LINK = fields(from_section=STRING, to_doc=DOC_ID, to_section=STRING, count=INTEGER)
MAP: Schema = {
    "anyOf": [
        named(
            "LibraryMap",
            fields(
                documents=each(named("MapDocument", _MAP_DOCUMENT)), links=each(named("MapLink", _MAP_LINK))
            ),
        ),
        named(
            "DocumentMap",
            fields(
                sections=each(named("MapSection", _MAP_SECTION)),
                links=each(named("MapSectionLink", _MAP_SECTION_LINK)),
                document_citations=INTEGER,
            ),
        ),
    ]
}
FOUND_ALL = _result(FoundAll)
QUOTES = _result(QuotesReport)
COMPARISON = _result(Comparison)
OBLIGATIONS = _result(ObligationsResponse)
CITATION = named(
    "CiteResponse",
    fields(
        citation=STRING,
        style=STRING,
        address={
            "type": "string",
            "description": "The address of this citation on the server's page; it survives changes to the document.",
        },
        quotation={
            "type": "string",
            "description": "What was selected, in quotation marks and without markup; empty without a selection.",
        },
    ),
)
_INDEXING = fields(library=STRING, started_at=STRING, stage=STRING, done=INTEGER, total=INTEGER, item=STRING)
INDEXING: Schema = {"anyOf": [{"type": "null"}, named("IndexingProgress", _INDEXING)]}
_FILTERS = named("Filters", FILTERS_SCHEMA)
# Only their fields are shown, as part of others.
for _kind in (Place, Status, UsedDefinition):
    del SCHEMAS[_kind.__name__]


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
        # The one that the description comes from, under whatever name.
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": {"Problem": _PROBLEM, **SCHEMAS, **_bodies(operations)},
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
            "content": {"application/json": {"schema": {"$ref": _SCHEMAS + _body_name(operation)}}},
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
        # In an address everything is text.
        schema["default"] = "true" if param.default is True else param.default
    if param.kind == "object":
        return {**found, "content": {"application/json": {"schema": _FILTERS}}}
    return {**found, "schema": schema}


def _bodies(operations: Sequence[Operation]) -> dict[str, Schema]:
    """Return the schemas of request bodies, by name."""
    return {_body_name(operation): _body(operation) for operation in operations if operation.in_body}


def _body_name(operation: Operation) -> str:
    return f"{operation.name[0].upper()}{operation.name[1:]}Request"


def _body(operation: Operation) -> Schema:
    return {
        "type": "object",
        "properties": {
            param.name: _FILTERS
            if param.schema is FILTERS_SCHEMA
            else {**param.schema, "description": param.description}
            for param in operation.params
        },
        "required": [param.name for param in operation.params if param.required],
        "additionalProperties": False,
    }

"""Counts of citations as every interface shows them, and as they follow from reading all documents."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient
from tests.cli.conftest import ENVIRONMENT
from typer.testing import CliRunner

from loccit import Library
from loccit.cli.app import app
from loccit.search.resolve.reference_graph import ReferenceGraph
from loccit.server.http import build_app
from loccit.server.mcp.calls import reply
from loccit.server.services import IndexService, LibraryRegistry

Counts = dict[str, tuple[int, int]]
"""By the id of a place: how often it is cited, and how often its document is as a whole."""
_TOGETHER = 40
_SEVERAL = re.compile(r"What \d+ sections refer to")


def counted_by_hand(library: Library) -> Counts:
    """Read every reference of every document, and ask of each place which of them it is cited by."""
    index = library._index
    graph, found = ReferenceGraph(index), {}
    entries = list(index.names.first())
    leading: dict[str, list[tuple[int, Any]]] = {}
    for entry in entries:
        for reference in graph.in_span(entry.id, 0, 1 << 40):
            leading.setdefault(reference.target_path, []).append((entry.id, reference))
    for entry in entries:
        places = index.lookup.places_of_document(entry.id)
        starts = {place.section_id: place.start for place in places if place.section_id}
        ends = {place.section_id: place.end for place in places}
        to_document = leading.get(entry.source_path, [])
        whole = {
            (source, reference.start)
            for source, reference in to_document
            if not reference.target_section and source != entry.id
        }
        for place in places:
            spots = {
                (source, reference.start)
                for source, reference in to_document
                if reference.target_section
                and place.start <= starts[reference.target_section]
                and ends[reference.target_section] <= place.end
                and not (source == entry.id and place.start <= reference.start < place.end)
            }
            found[place.place_id] = (len(spots), len(whole))
    return found


def counted_by_python(library: Library, ids: list[str]) -> Counts:
    found: Counts = {}
    for answer in _answers(library, ids):
        assert answer.citations == len(answer.cited_by)
        assert len(answer.document_cited_by) in (0, answer.document_citations)
        found[answer.section.place_id] = (answer.citations, answer.document_citations)
    return found


def _answers(library: Library, ids: list[str]) -> list[Any]:
    found = []
    for part in _parts(ids):
        answer = library.references(part)
        found += [answer, *answer.also]
    return found


def _parts(ids: list[str]) -> list[list[str]]:
    return [ids[at : at + _TOGETHER] for at in range(0, len(ids), _TOGETHER)]


def counted_by_commands(index: Path, ids: list[str]) -> Counts:
    """Read the numbers that ``loccit refs`` prints."""
    runner = CliRunner()
    found: Counts = {}
    for part in _parts(ids):
        done = runner.invoke(
            app, ["refs", *part, "--index", str(index)], env=dict.fromkeys(ENVIRONMENT, None)
        )
        assert done.exit_code == 0, done.output
        shown = re.findall(r"^Referred to by \((\d+)\)$", done.output, re.MULTILINE)
        assert len(shown) == len(part)
        for place, block in zip(
            part, re.split(r"^Referred to by ", done.output, flags=re.M)[1:], strict=True
        ):
            count = re.match(r"\((\d+)\)\n", block)
            whole = re.search(r"^The document as a whole is referred to by \((\d+)\)$", block, re.MULTILINE)
            listed = 0 if (rest := block.split("\n\n")[0].split("\n")[1:]) == ["  nothing"] else len(rest)
            assert count is not None and listed >= int(count[1])
            found[place] = (int(count[1]), int(whole[1]) if whole else 0)
    return found


def counted_by_tools(registry: LibraryRegistry, ids: list[str]) -> tuple[Counts, Counts]:
    """Return the numbers in the text of ``follow_references``, and those in its values."""
    told: Counts = {}
    values: Counts = {}
    for part in _parts(ids):
        answer = reply(registry, "follow_references", {"reference": part, "token_budget": 1_000_000})
        assert answer.data is not None and not answer.failed and not answer.data["truncated"]
        for one in (answer.data, *answer.data.get("also", [])):
            values[one["section"]["place_id"]] = (one["citations"], one["document_citations"])
        blocks = re.split(r"^is referred to by \(", answer.text, flags=re.MULTILINE)[1:]
        for place, block in zip(part, blocks, strict=True):
            count = re.match(r"\d+", block)
            whole = re.search(r"^the document as a whole is referred to by \((\d+)", block, re.MULTILINE)
            assert count is not None
            told[place] = (int(count[0]), int(whole[1]) if whole else 0)
    return told, values


def counted_by_pages(client: TestClient, library: Library, ids: list[str]) -> dict[str, Counts]:
    """Return the numbers of /api/references, of the margin of the reader, and of the map, where it has the place."""
    asked: Counts = {}
    margin: Counts = {}
    on_map: Counts = {}
    for part in _parts(ids):
        data = client.get("/api/references", params={"ref": " ".join(part)}).json()
        assert "citations" in data, data
        for one in (data, *data.get("also", [])):
            assert one["citations"] == len(one["cited_by"])
            asked[one["section"]["place_id"]] = (one["citations"], one["document_citations"])
    for info in client.get("/api/documents").json()["documents"]:
        data = client.get("/api/document", params={"doc": info["id"], "without_terms": "1"}).json()
        back = data["back_references"]
        whole = sum(not item["cites"] for item in back)
        margins = Counter(name for item in back for name in item["cites"])
        named = {item["section_id"]: item["place_id"] for item in (*data["sections"], *data["clauses"])}
        margin |= {place: (margins[name], whole) for name, place in named.items()}
        shown = client.get("/api/map", params={"doc": info["id"]}).json()
        for section in shown["sections"]:
            place = named[section["section_id"]]
            on_map[place] = (section["citations"], shown["document_citations"])
            assert section["cites"] == len(_answers(library, [place])[0].cites)
    between = {(link["from"], link["to"]): link["count"] for link in client.get("/api/map").json()["links"]}
    roots = {
        info["id"]: library.outline(info["source_path"])[0]
        for info in client.get("/api/documents").json()["documents"]
    }
    for doc, outline in roots.items():
        answer = client.get("/api/references", params={"ref": outline.place_id}).json()
        sources = Counter(item["doc"] for item in (*answer["cited_by"], *answer["document_cited_by"]))
        assert sources == {source: count for (source, to), count in between.items() if to == doc}
    return {"references": asked, "margin": margin, "map": on_map}


def compare(index: Path) -> tuple[int, list[str]]:
    """Return how many places were compared, and where an interface has another number than reading everything."""
    wrong = []
    with Library(index, create=False) as library:
        expected = counted_by_hand(library)
        ids = list(expected)
        registry = LibraryRegistry([IndexService(lambda: index)])
        with TestClient(build_app(registry), base_url="http://127.0.0.1") as client:
            found = counted_by_pages(client, library, ids)
        found["python"] = counted_by_python(library, ids)
        found["text"], found["values"] = counted_by_tools(registry, ids)
        registry.close()
        found["command"] = counted_by_commands(index, ids)
        for interface, counts in found.items():
            if interface not in ("margin", "map"):
                assert set(counts) == set(expected), interface
            wrong += [
                f"{interface}: {place} has {counted}, not {expected[place]}"
                for place, counted in counts.items()
                if counted != expected[place]
            ]
    return len(expected), wrong

"""Shows how an answer came about: what each leg of the search found, and how long each stage took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from loccit.cli.output import one_line
from loccit.search.candidates import GRAPH

if TYPE_CHECKING:
    from rich.console import RenderableType

    from loccit.model import SearchResponse


def explanation(response: SearchResponse) -> list[RenderableType]:
    """Return the tables that explain an answer."""
    whole = response.explanation or {}
    legs = [leg for leg in whole.get("legs", []) if isinstance(leg, dict)]
    return [
        Text("How it was found", style="bold"),
        *_read(whole),
        _legs(legs),
        _results(response, legs),
        _timings(response),
    ]


def unfinished(response: SearchResponse) -> list[RenderableType]:
    """Return what there is of a search that was stopped after one of its stages."""
    whole = response.explanation or {}
    shown: list[RenderableType] = [Text(f"After {whole['until']}", style="bold"), *_read(whole)]
    if "legs" in whole:
        shown.append(_legs(whole["legs"]))
    else:
        shown.append(_weights(whole["weights"]))
    shown += [_hits(name, hits) for name, hits in whole.get("hits", {}).items() if hits]
    if whole.get("table"):
        shown.append(_candidates(whole["table"]))
    if "confidence" in whole:
        shown.append(Text(f"confidence {whole['confidence']:.2f}"))
    return [*shown, _timings(response)]


def _weights(weights: dict[str, float]) -> Table:
    table = _table("what counts", "weight")
    for name, weight in weights.items():
        table.add_row(name, f"{weight:g}")
    return table


def _hits(leg: str, hits: list[dict[str, Any]]) -> Table:
    table = _table("#", leg, "score", left=2)
    for rank, hit in enumerate(hits, 1):
        table.add_row(str(rank), _where(hit), f"{hit['score']:.3g}")
    return table


def _candidates(rows: list[dict[str, Any]]) -> Table:
    """One row a candidate: what each stage made of it."""
    stages = list(dict.fromkeys(name for row in rows for name in row["stages"]))
    table = _table("#", "section", *stages, left=2)
    for rank, row in enumerate(rows, 1):
        cells = [f"{row['stages'][name]:.3f}" if name in row["stages"] else "–" for name in stages]
        table.add_row(str(rank), _where(row), *cells)
    return table


def _where(row: dict[str, Any]) -> str:
    return one_line(str(row["section"] or row["chunk_id"]), 40)


def _read(whole: dict[str, Any]) -> list[RenderableType]:
    lines = []
    if whole.get("corrections"):
        mended = ", ".join(f"{one_line(a)} > {one_line(b)}" for a, b in whole["corrections"].items())
        lines.append(Text(f"spelling: {mended}"))
    if whole.get("expansion"):
        lines.append(Text("also searched for: " + ", ".join(map(one_line, whole["expansion"]))))
    if whole.get("phrases"):
        lines.append(Text("phrases: " + ", ".join(f"“{one_line(phrase)}”" for phrase in whole["phrases"])))
    if whole.get("references"):
        named = [one_line(str(item.get("text", ""))) for item in whole["references"]]
        lines.append(Text("references: " + ", ".join(named)))
    return list(lines)


def _table(*headers: str, left: int = 1) -> Table:
    table = Table(box=SIMPLE_HEAD, header_style="dim", pad_edge=False, show_edge=False)
    for position, header in enumerate(headers):
        table.add_column(header, justify="left" if position < left else "right", overflow="fold")
    return table


def _legs(legs: list[dict[str, Any]]) -> Table:
    table = _table("leg", "weight", "found")
    for leg in legs:
        table.add_row(str(leg.get("name", "")), f"{leg.get('weight', 0):g}", str(leg.get("found", "")))
    return table


def _results(response: SearchResponse, legs: list[dict[str, Any]]) -> Table:
    """One row a result: its rank and score in each leg, and what put it where it is."""
    names = [str(leg.get("name", "")) for leg in legs if leg.get("found")]
    if any(GRAPH in (result.explanation or {}).get("ranks", {}) for result in response.results):
        names.append(GRAPH)
    table = _table("#", "section", *names, "fused", "because", left=2)
    table.columns[-1].justify = "left"
    for result in response.results:
        own = result.explanation or {}
        ranks, scores = own.get("ranks", {}), own.get("scores", {})
        cells = [f"{ranks[name]}. ({scores.get(name, 0):.3g})" if name in ranks else "–" for name in names]
        reasons = [f"{own['exact']} named"] if own.get("exact") else []
        reasons += [f"reached by {own['edge']}"] if own.get("edge") else []
        reasons += [f"reranker {own['relevance']:.3g}"] if "relevance" in own else []
        section = one_line(result.section_label or (result.parent_chain or [""])[-1], 40)
        table.add_row(str(result.rank), section, *cells, f"{result.fused_score:.3f}", ", ".join(reasons))
    return table


def _timings(response: SearchResponse) -> Table:
    table = _table("stage", "ms")
    for stage, milliseconds in response.timings_ms.items():
        style = "bold" if stage == "total" else ""
        table.add_row(Text(stage, style=style), Text(f"{milliseconds:.1f}", style=style))
    return table

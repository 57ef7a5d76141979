"""The part of the page about the server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Table = Callable[[Sequence[tuple[str, ...]], tuple[str, ...]], str]


def render(data: dict[str, Any], table: Table) -> str:
    """Return the tables of waiting and of many at once."""
    return f"{_waiting(data, table)}\n\n{_together(data, table)}"


def _waiting(data: dict[str, Any], table: Table) -> str:
    search, page = data["search"], data["weight"]
    rows = [
        (
            "an answer of `/api/search`, p50, p95",
            f"{search['p50_ms']:.0f} ms, {search['p95_ms']:.0f} ms",
            "",
        ),
        ("of it processor time", f"{search['processor_ms_a_search']:.0f} ms", ""),
        ("suggestions, p50", f"{search['suggest_p50_ms']:.1f} ms", "10 ms"),
    ]
    if typing := data.get("typing"):
        measured = f"{typing['p50_ms']:.0f} ms, {typing['p95_ms']:.0f} ms"
        rows.append(("from the last key to painted results, p50, p95", measured, "100 ms"))
    rows.append(("the page, plain", f"{page['plain_kb']:.0f} KB", "300 KB"))
    rows.append(("the page, as sent", f"{page['sent_kb']:.0f} KB", ""))
    if reading := data.get("reading"):
        size = f"{reading['characters'] / 1e6:.1f} million characters, {reading['sections']:,} sections"
        opened = f"{reading['open_first_ms']:.0f} ms, {reading['open_ms']:.0f} ms"
        rows.append(
            (f"500 pages ({size}), opened at a section, the first time, p50 of 5 after", opened, "1 s")
        )
        for name in ("reading", "leafing"):
            frames = f"{reading[f'{name}_frame_p50_ms']:.0f} ms, {reading[f'{name}_frame_p95_ms']:.0f} ms"
            rows.append((f"frames while {name} through it, p50, p95", frames, ""))
    head = (f"one client, at {data['chunks']:,} chunks", "measured", "goal: under")
    note = (
        "Times in the page are from Chromium without a graphics card, from an empty cache for the long document, and "
        "end when the browser has painted."
    )
    if data.get("typing"):
        parts = ", ".join(f"{name} {took:.0f}" for name, took in data["typing"]["parts_p50_ms"].items())
        note += f" After the last key, in ms: {parts}; the quickest took {data['typing']['best_ms']:.0f} ms in all."
        note += f" An empty page gives a frame in {data['typing']['still_frame_ms']:.0f} ms (p95)."
    return f"{table(rows, head)}\n\n{note}"


def _together(data: dict[str, Any], table: Table) -> str:
    many, indexing = data["at_once"], data["while_indexing"]
    agents = [
        (f"{data[key]['clients']} agents over MCP, {processes}", data[key])
        for key, processes in (("agents_1", "one process"), ("agents_2", "two processes"))
        if key in data
    ]
    rows = [
        (
            name,
            f"{part['searches']:,}",
            f"{part['errors']:,}",
            *(f"{part[key]:,.0f} ms" for key in ("p50_ms", "p95_ms", "slowest_ms")),
        )
        for name, part in (
            (f"{many['clients']} clients at once", many),
            *agents,
            (f"{indexing['clients']} clients while {indexing['files']} files are indexed", indexing),
        )
    ]
    memory = [
        f"{megabytes:.0f} MB after {name.split('_')[3]} s"
        for name, megabytes in many.items()
        if name.startswith("memory_mb_at_")
    ]
    note = (
        f"Goals: no error, p95 under 1 s, memory flat. With {many['clients']} clients the server answered "
        f"{many['searches_a_second']:.0f} searches a second with {many['processes']} processes, each search with "
        f"{many['processor_ms_a_search']:.0f} ms of processor time; together they took {', '.join(memory)}. "
        f"Indexing took {indexing['indexing_s']:.0f} s. Load averages "
        f"before, which are other work on the machine: {data['load_at_start']:.1f} at the start, "
        f"{many['load_before']:.1f} and {indexing['load_before']:.1f} for these two."
    )
    head = ("together", "searches", "errors", "p50", "p95", "slowest")
    return f"{table(rows, head)}\n\n{note}"

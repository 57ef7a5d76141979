"""Write docs/benchmarks.md from the figures that the benchmarks saved.

python -m benchmarks.report
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import report_agents, report_retrieval, report_server, report_stores, report_structure
from benchmarks.common import load
from benchmarks.scale import CHUNKS_A_DOCUMENT

TARGET = Path(__file__).parent.parent / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

Measured with `make bench`, which writes this page; each benchmark also runs alone with the command given. The
evaluation sets are read from `LOCCIT_EVAL_DIR` (default `../shared/eval`); what needs a set that is absent is
skipped. Figures are wall-clock times unless said otherwise, and vary by some 10 to 20 % from run to run.
"""


def _table(rows: Sequence[tuple[str, ...]], head: tuple[str, ...]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _startup(data: dict[str, Any]) -> str:
    goals = {"import loccit": "0.2 s", "loccit --help": "0.4 s", "loccit search, hybrid": "1 s"}
    rows = [
        (name, f"{value:.2f} s", goals.get(name, ""))
        for name, value in data.items()
        if isinstance(value, float)
    ]
    return _table(rows, ("a new process", "processor time, median of 7", "goal: under"))


def _install_size(data: dict[str, Any]) -> str:
    largest = ", ".join(f"{name} {size:.0f}" for name, size in list(data["largest"].items())[:8])
    total = f"A base install with its dependencies takes **{data['total_mb']:.0f} MB** (goal: under 350)."
    return f"{total} Largest: {largest} MB."


# Half of what the default model took when the goal was set.
_HALF_RUN = "385 s"


def _by_meaning(data: dict[str, Any]) -> list[tuple[str, str, str]]:
    if "found_by_meaning_early" not in data:
        return []
    found = f"{data['found_by_meaning_early']:,} of {data['files']:,}"
    return [
        ("first documents found by meaning", f"{data['first_found_by_meaning_seconds']:.0f} s", "30 s"),
        ("documents found by meaning after 30 s", found, ""),
    ]


def _ingest(data: dict[str, Any]) -> str:
    fast = data.get("model") == "fast"
    stages = ", ".join(f"{name} {seconds:.1f}" for name, seconds in data["stage_seconds"].items())
    rows = [
        ("files, chunks, passages", f"{data['files']:,}, {data['chunks']:,}, {data['passages']:,}", ""),
        ("whole run", f"{data['seconds']:.0f} s", _HALF_RUN if fast else ""),
        ("by stage (s)", stages, ""),
        *_by_meaning(data),
        ("everything but the embedding", f"{data['share_without_embedding']:.1%}", "" if fast else "15 %"),
        ("passages embedded a second", f"{data['passages_per_second']:.0f}", ""),
        ("peak memory", f"{data['peak_mb']:.0f} MB", "1,500 MB"),
        ("peak memory of a worker", f"{data['worker_peak_mb']:.0f} MB", ""),
        ("again, unchanged", f"{data['unchanged_seconds']:.2f} s", "3 s"),
        ("again, one file changed", f"{data['changed_seconds']:.2f} s", "2 s"),
    ]
    return _table(rows, ("Kubernetes documentation, 15 MB of Markdown", "measured", "goal: under"))


def _search_speed(data: dict[str, Any]) -> str:
    parts = [_speed_table(data, {"hybrid": "25 ms", "keyword": "3 ms", "exact": "2 ms"})]
    if "large" in data:
        parts.append(_speed_table(data["large"], {"hybrid": "40 ms"}))
        looks = data["large"]["two_looks"]
        parts.append(
            f"At the larger size, the best 100 chunks are those of comparing every row in {looks['recall@100']:.2%} of "
            f"cases, and the best 1,000 in {looks['recall@1000']:.2%}."
        )
    return "\n\n".join(parts)


def _scale(data: dict[str, Any]) -> str:
    sizes = list(data["sizes"].values())
    rows = [(name, *(f"{figures[name]:,.1f}" for figures in sizes)) for name in sizes[0] if name != "chunks"]
    table = _table(rows, ("processor ms", *(f"{figures['chunks']:,.0f} chunks" for figures in sizes)))
    largest = sizes[-1]
    files = largest["chunks"] / CHUNKS_A_DOCUMENT
    note = (
        "Goals: from 80,000 chunks to a million nothing but the map and the first suggestions takes more than twice as "
        "long; the first search after a change under 100 ms, a filter under 10 ms more than without, hybrid search "
        "under 60 ms and private memory under 400 MB at any size. Indexing again when nothing changed has to ask the "
        "system about every file, so it grows with their number: "
        f"{1000 * largest['index, nothing changed'] / files:.0f} µs a file at the largest size here."
    )
    return f"{table}\n\n{note}{_busy(data)}"


def _find_all(data: dict[str, Any]) -> str:
    sizes = data["sizes"]
    rows = [
        (
            name,
            *(
                cell
                for size in sizes.values()
                for cell in (f"{size[name]['hits']:,}", f"{size[name]['ms']:,.1f}")
            ),
        )
        for name in next(iter(sizes.values()))
    ]
    head = (
        "pattern",
        *(cell for chunks in sizes for cell in (f"hits, {int(chunks):,} chunks", "processor ms")),
    )
    note = (
        "The first page of 100 hits and the total of all. Goal: under 100 ms at 100,000 chunks. A phrase "
        "takes the same time however often it stands there, and so does a regular expression of characters, "
        "runs and up to eight alternatives of them within a line, with word ends: `\\d+`, `^.+$`, `[0-9]+ "
        "days?`, `\\b(shall|may|must)\\b`, `[A-Z]\\w+ Agreement`. Any other is asked for one match after the other, at "
        "a microsecond or two each, so those that match tens of thousands of times miss the goal; so do words that are "
        "everywhere, on a busy machine."
    )
    return f"{_table(rows, head)}\n\n{note}{_busy(data)}"


def _busy(data: dict[str, Any]) -> str:
    """Say so where other work made processor times longer: caches are shared."""
    if data["load"] <= data["machine"]["cores"]:
        return ""
    cores = data["machine"]["cores"]
    return (
        f" The machine had other work, a load of {data['load']:.0f} on {cores} cores, which makes these times longer "
        "than on an idle one."
    )


def _peers(data: dict[str, Any]) -> str:
    names = {"loccit": "Loccit", "txtai": "txtai", "lancedb": "LanceDB"}
    rows = [
        (
            f"{names[name]} {data['versions'].get(name, '')}".strip(),
            *(
                f"{row[key]:.1f} ms"
                for key in ("processor_p50_ms", "processor_p95_ms", "first_p50_ms", "embed_p50_ms")
            ),
        )
        for name, row in data["systems"].items()
    ]
    head = (
        f"hybrid search at {data['chunks']:,} chunks",
        "processor time, p50",
        "p95",
        "asked for the first time, p50",
        "of it the query's embedding, p50",
    )
    note = (
        "The same chunks of the Kubernetes documentation, queries and bundled model, ten results with their texts, in "
        "one run by turns, each in a process of its own, with the time of all its threads. The peers have one vector a "
        "chunk and their defaults for hybrid search; Loccit has all passages and all stages. Goal: Loccit within "
        "10 ms, and ahead of both."
    )
    return f"{_table(rows, head)}\n\n{note}{_busy(data)}"


def _speed_table(data: dict[str, Any], goals: dict[str, str]) -> str:
    rows = [
        (
            name,
            *(f"{value[key]:.2f} ms" for key in ("p50_ms", "p95_ms", "processor_p50_ms")),
            goals.get(name, ""),
        )
        for name, value in data.items()
        if isinstance(value, dict) and "p50_ms" in value
    ]
    size = f"at {data['chunks']:,} chunks, {data['passages']:,} passages"
    return _table(rows, (size, "p50", "p95", "processor time, p50", "goal: p50 under"))


def _mcp_speed(data: dict[str, Any]) -> str:
    rows = [
        (
            name,
            f"{value['first_s']:.2f} s",
            *(f"{value[key]:.1f} ms" for key in ("p50_ms", "p95_ms", "server_ms", "client_ms")),
        )
        for name, value in data.items()
        if isinstance(value, dict) and "first_s" in value
    ]
    times = ("p50", "p95", "processor time of the server, p50", "of the client")
    head = (f"answers at {data['chunks']:,} chunks", "first, after the start", *times)
    goals = (
        "Goals: the first under 1.5 s, p50 under 15 ms. The same searches in one process take "
        f"{data['in_process_ms']:.1f} ms of processor time."
    )
    return f"{_table(rows, head)}\n\n{goals}{_busy(data)}"


def _server(data: dict[str, Any]) -> str:
    return report_server.render(data, _table)


def _stores(data: dict[str, Any]) -> str:
    return report_stores.render(data, _table)


def _retrieval(data: dict[str, Any]) -> str:
    return report_retrieval.render(data, _table)


def _structure(data: dict[str, Any]) -> str:
    return report_structure.render(data, _table)


def _lookups(data: dict[str, Any]) -> str:
    rows = [
        (
            row["set"],
            f"{row['number_top1']:.1%} of {row['queries']['number']}",
            f"{row['title_top1']:.1%} of {row['queries']['title']}",
        )
        for row in data["results"]
    ]
    note = (
        "Two of the `far` numbers (23.203 and 23.701) do not occur in its documents, so 152 of 154 is the most that "
        "can be right there; over both sets 203 of 205 (99.0 %)."
    )
    return (
        _table(rows, ("set", "by number, first result right", "by title, first result right")) + f"\n\n{note}"
    )


def _clauses(data: dict[str, Any]) -> str:
    return f"The first result is the clause that was asked for in **{data['right']} of {data['asked']}** (goal: 98 %)."


def _definitions(data: dict[str, Any]) -> str:
    found = data["gdpr"]["expected"] - len(data["gdpr"]["missed"])
    rows = [
        (name, f"{corpus['pages']}", f"{corpus['found']}", f"{corpus['per_50_pages']:.2f}")
        for name, corpus in data["prose"].items()
    ]
    table = _table(rows, ("prose, which should define nothing", "pages", "found", "per 50 pages"))
    note = (
        "The finds in `finance` were read one by one: all are names that the text gives in quotation marks, such as "
        '`(the "Company")`, and so true definitions.'
    )
    gdpr = f"GDPR, Article 4: **{found} of {data['gdpr']['expected']}** terms, each with its own text."
    return f"{gdpr}\n\n{table}\n\n{note}"


def _references(data: dict[str, Any]) -> str:
    rows = []
    for name in ("gdpr", "far"):
        kinds = data[name]["kinds"].values()
        sums = {
            key: sum(kind[key] for kind in kinds) for key in ("resolved", "partly", "elsewhere", "nowhere")
        }
        rows.append((name, f"{data[name]['references']:,}", *(f"{sums[key]:,}" for key in sums)))
    head = (
        "set",
        "found",
        "to the very place",
        "part of the way",
        "to another act",
        "nowhere in the document",
    )
    note = (
        "Of the GDPR's internal references two samples (130 and 120) were read, and 125 chained ones: none was wrong. "
        "Most of what leads nowhere inside a FAR file is the number of a section in another file, and is resolved "
        "when it is asked for."
    )
    return f"{_table(rows, head)}\n\n{note}"


def _markup(data: dict[str, Any]) -> str:
    rows = [
        (kind, f"{figures['true']:,}", f"{figures['right']:,}", f"{figures['found']:,}")
        for kind, figures in data.items()
        if kind != "machine"
    ]
    return _table(rows, ("format", "headings", "found at their level", "found in all"))


def _docx(data: dict[str, Any]) -> str:
    return (
        f"{data['files']} Word files in {data['seconds']:.1f} s. Of {data['asked']} headings that are looked up, "
        f"{data['present']} are in the outline (two are not in the files), {data['placed']} below the right parents. "
        f"Of {data['styled']:,} paragraphs with a heading or title style, {data['kept']:,} came out as headings."
    )


def _pdf(data: dict[str, Any]) -> str:
    rows = [
        (
            row["file"],
            f"{row['pages']}",
            *(f"{row[name]:.1%}" for name in ("recall", "precision", "order", "parent", "equal")),
            f"{row['pages_per_second']:.0f}",
        )
        for row in [*data["files"], data["all"]]
    ]
    head = ("file", "pages", "recall", "precision", "order", "parent", "equal", "pages/s")
    note = (
        "Goals: recall 95 %, precision 80 %, right relative level 85 %, 200 pages a second of processor time. `order`: "
        "of two headings with different levels, ours differ the same way; `parent`: the true parent is above it; "
        "`equal`: neighbours of one level have one level here too, which is low where bookmarks are flat and numbers "
        "are not."
    )
    return f"{_table(rows, head)}\n\n{note}"


def _ocr(data: dict[str, Any]) -> str:
    rows = [
        (
            row["folder"],
            str(row["files"]),
            str(row["pages"]),
            f"{100 * row['read'] / max(row['expected'], 1):.1f}%",
            f"{100 * row['matched'] / max(row['headings'], 1):.1f}% of {row['headings']}",
            f"{100 * (row['found'] - row['matched']) / max(row['found'], 1):.1f}%",
            f"{row['seconds'] / max(row['pages'], 1):.1f}",
        )
        for row in data["folders"]
    ]
    head = ("pages from", "files", "pages", "words", "headings", "others", "s/page")
    note = (
        "Pages in a row from the middle of each PDF, read by Tesseract from pictures of 300 dots an inch, against what "
        "their text layers give without bookmarks. `words`: share of the words of the text layer that were read; "
        "`headings`: share of the headings found by the text layer that were found in the picture, on the same page; "
        "`others`: share of the headings of the picture that the text layer does not give; `s/page`: processor time."
    )
    return f"{_table(rows, head)}\n\n{note}"


def _obligations(data: dict[str, Any]) -> str:
    fields = ("deadlines", "amounts", "kinds", "bearers")
    rows = [
        (
            name,
            str(row["sentences"]),
            *(f"{row[f]['precision']:.2f} / {row[f]['recall']:.2f} of {row[f]['meant']}" for f in fields),
        )
        for name, row in data.items()
        if name != "machine"
    ]
    note = (
        "Precision / recall of what is labelled in sentences drawn at random from the GDPR, the FAR, contracts "
        "filed with the SEC, Word contracts and German acts (`benchmarks/obligations.jsonl`). A deadline or an "
        "amount is right if its number and unit, or its date, are. Rules were made on the sentences of `rules`, "
        "and on the tables of whole documents; `aside` was kept for the report. `fresh` was drawn and labelled "
        "after the rules were done, since both halves had been read to label them. `kinds`: duty, prohibition, "
        "permission or recommendation; `bearers`: who is meant, where the sentence says so."
    )
    return f"{_table(rows, ('part', 'sentences', *fields))}\n\n{note}"


def _agent_tasks(data: dict[str, Any]) -> str:
    return report_agents.render(data, _table)


SECTIONS = (
    ("Starting", "startup", "python -m benchmarks.startup", _startup),
    ("Size", "install_size", "python -m benchmarks.install_size", _install_size),
    ("Indexing", "ingest", "python -m benchmarks.ingest", _ingest),
    ("Indexing with the preset fast", "ingest-fast", "python -m benchmarks.ingest --model fast", _ingest),
    ("Searching", "search_speed", "python -m benchmarks.search_speed", _search_speed),
    ("Beside peers", "peers", "python -m benchmarks.peers", _peers),
    ("Every place of a text", "find_all", "python -m benchmarks.find_all --chunks 20000 100000", _find_all),
    ("Size of the library", "scale", "python -m benchmarks.scale --chunks 5000 80000 320000 1000000", _scale),
    ("Over MCP", "mcp_speed", "python -m benchmarks.mcp_speed", _mcp_speed),
    (
        "Research tasks",
        "agent_tasks",
        "python -m benchmarks agent_tasks --before CHECKOUT",
        _agent_tasks,
    ),
    ("Text in answers", "lean", "python -m benchmarks.lean", report_agents.render_lean),
    ("The server and its page", "server_load", "python -m benchmarks.server_load", _server),
    ("Databases", "stores", "python -m benchmarks.stores", _stores),
    ("Ranking", "retrieval", "python -m benchmarks.retrieval", _retrieval),
    ("Structure in ranking", "structure", "python -m benchmarks.structure", _structure),
    ("Look-ups by number and title", "lookups", "python -m benchmarks.lookups", _lookups),
    ("Look-ups of clauses", "clauses", "python -m benchmarks.clauses", _clauses),
    ("Definitions", "definitions", "python -m benchmarks.definitions", _definitions),
    ("Obligations", "obligations", "python -m benchmarks.obligations", _obligations),
    ("References", "references", "python -m benchmarks.references", _references),
    ("Headings in Markdown and HTML", "markup_headings", "python -m benchmarks.markup_headings", _markup),
    ("Structure of Word files", "docx_structure", "python -m benchmarks.docx_structure", _docx),
    ("Headings in PDF without bookmarks", "pdf_headings", "python -m benchmarks.pdf_headings", _pdf),
    ("Scanned pages", "ocr", "python -m benchmarks.ocr --save", _ocr),
)


def _known() -> dict[str, str]:
    """Return the sections of the page as it is, by title."""
    parts = TARGET.read_text(encoding="utf-8").split("\n## ")[1:] if TARGET.exists() else []
    return {part.split("\n", 1)[0]: f"## {part.rstrip()}\n" for part in parts}


def main() -> None:
    # What was not measured this time stays as it was.
    sections = _known()
    order = list(sections)
    before = ""
    for title, name, command, render in SECTIONS:
        data = load(name)
        if data and title not in order:
            order.insert(order.index(before) + 1 if before in order else 0, title)
        before = title if title in order else before
        if not data:
            continue
        machine = data["machine"]
        where = f"Python {machine['python']}, {machine['cores']} cores, {machine['machine']}"
        sections[title] = f"## {title}\n\n`{command}` · {where}\n\n{render(data)}\n"
    parts = [HEAD, *(sections[title] for title in order)]
    TARGET.write_text("\n".join(parts), encoding="utf-8")
    print(f"wrote {TARGET}")


if __name__ == "__main__":
    main()

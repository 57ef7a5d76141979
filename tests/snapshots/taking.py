"""What Loccit answers at its boundary, as text that can be compared with what it answered before.

Answers that depend on reading or ranking are kept as one short digest a row: that is small, merges line by line, and
still tells which rows are others. What a user writes against (help, schemas, the description of the API) is kept whole.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import msgspec
from mcp import Client
from mcp_types import ContentBlock, TextContent
from starlette.testclient import TestClient
from tests.server.conftest import index_registry
from typer.main import get_command
from typer.testing import CliRunner

from loccit.cli.app import app
from loccit.config import IndexSettings
from loccit.ingest.prepare import prepare
from loccit.server.http import build_app
from loccit.server.mcp.server import make_server

REPOSITORY = Path(__file__).parents[2]
SOURCES = ("examples", "tests/corpus/docs")
QUERIES = REPOSITORY / "tests/corpus/queries.jsonl"

# Scores differ in their last digits from one processor to the next, times and sizes from one run to the next.
_VARYING = re.compile(
    r"_score$|^(?:confidence|timings_ms|seconds|ingested_at|modified|mtime|size|updated|path|cursor)$"
)

# Marks around quotations, and states of a library.
_DRAWN = re.compile(r"(?<=quote-)[0-9a-f]+|(?<=cursor=\")\w+|\d{4}-\d\d-\d\dT[0-9:.+Z-]+")

LOOK_UPS = r"""
Section 306(b) | Section 10 | Article 4 | section 201 of the Harbour Safety Act | clause 10.1 of the Gridwatch agreement
4.2 | clause 7.3(b) | § 4 | Kapitel 2 | pump manual 3.1 | the definition of vessel | sections 301 to 303 | reg 5(2)
"lock-out device" | collision -pilot | type:pdf fees | tags:runbook queue | author:nobody harbour | ERR_QUOTA_EXCEEDED
retry_after_seconds | hafenmeister | servise charge | zebra crossing on the moon | quarterly report page 3
"""
COMMANDS = """
section "Section 306(b)" | section 4.2 -d service-agreement.docx | section 4.2 5.1 -d service-agreement.docx
section "Section 999" | section 3.1 --lines 100-120 -d pump-manual.md | define vessel | define "Confidential Information"
define nothing | outline | outline harbour-safety-act.md | outline annual-report.pdf --depth 2
outline service-agreement.docx --clauses | refs "Section 306" -d harbour-safety-act.md
refs Secrets -d vault/Deployments.md | grep harbour | grep -E "Section [0-9]+" | grep "master vessel" --words
obligations | obligations --kind deadline | obligations harbour-safety-act.md --text report | obligations --unit EUR
documents | diff nda-ferrous-labs.md nda-opal-analytics.md
diff boiler-calda-24.md boiler-calda-32s.md | verify letter.txt | search pump --mode keyword | search pump -k 2 --until rank
search pump --mode semantic | search pump --mode exact | search ""
search pump --type exe
"""
SHOWN = """
section "Section 306(b)" | section "CHAPTER 2" -d harbour-safety-act.md | section "Sections 101 and 102" | section "Section 23"
section 21 -d harbor-act.md | section Closhure -d harbour-safety-act.md | outline | outline pump-manual.md --depth 2
outline ./service-agreement.docx --clauses | outline harbor-act.md | define vessels | define "Alarm Event" | define vesel
define quagga | define vessel -d harbor-act.md | refs "Section 306" "Section 102" -d harbour-safety-act.md
refs "Section 999" -d harbour-safety-act.md | refs 21 -d harbor-act.md | grep "dosing pump" | grep zebra | grep pump -d harbor-act.md
obligations service-agreement.docx -n 5 | obligations harbor-act.md | obligations --text zebra | documents
diff nda-ferrous-labs.md nda-opal-analytics.md | diff harbor-act.md pump-manual.md | verify letter.txt
verify letter.txt -d harbor-act.md | search notice of a vessel --mode keyword -k 3 | search quagga --mode exact
search vessel --filter path=nowhere
"""
_NOWHERE: dict[str, Any] = {"document": "pumps-manual.md"}
WRONG: tuple[tuple[str, dict[str, Any]], ...] = (
    *((name, _NOWHERE) for name in ("list_outline", "list_obligations")),
    ("read_section", {"reference": "1", **_NOWHERE}),
    ("read_section", {"reference": "1", "offset": 10**6}),
    ("search_documents", {"query": "pump", **_NOWHERE}),
    ("follow_references", {"reference": "1", **_NOWHERE}),
    ("define_term", {"term": "vessel", **_NOWHERE}),
    ("find_all", {"pattern": "pump", **_NOWHERE}),
    ("verify_quotes", {"quotations": ["the pump"], **_NOWHERE}),
    ("compare", {"old": "pumps-manual.md", "new": "lighthouse-diary.txt"}),
    ("compare", {"old": "pump-manual.md", "new": "laws/pumps-manual.md"}),
    ("compare", {"old": "pump-manual.md"}),
    *(
        ("read_section", {"reference": given})
        for given in ("Section 999", ["Section 999"], "Quagga", "a.md#sec_99")
    ),
    ("read_section", {"reference": "Duty to make ocurrences knwon"}),
    ("read_section", {"reference": "pump-manual.md#sec_4_2", "document": "harbour-safety-act.md"}),
    ("read_section", {"reference": "loccit://section/pump-manual.md"}),
    ("follow_references", {"reference": "Gale warnigns", "document": "harbour-safety-act.md"}),
    *(("define_term", {"term": term}) for term in ("quagga", "vesel")),
    ("find_all", {}),
    *(("find_all", {"pattern": bad, "kind": "regex"}) for bad in ("(", "a(?=b)", "x*", "[")),
    ("find_all", {"pattern": "pump", "kind": "glob"}),
    ("find_all", {"pattern": "pump", "cursor": "nonsense"}),
    ("find_all", {"pattern": "pump", "limit": 0}),
    ("find_all", {"pattern": "no such words"}),
    ("verify_quotes", {}),
    ("verify_quotes", {"quotations": []}),
    ("verify_quotes", {"quotations": ["a b c"], "text": "“a b c”"}),
    *(("verify_quotes", {"quotations": bad}) for bad in (["a b c"] * 1001, ["word " * 2000], ["…"])),
    ("verify_quotes", {"quotations": ["a b c"], "offset": 7}),
    ("verify_quotes", {"text": "Nothing is quoted."}),
    ("list_obligations", {"kind": "wish"}),
    ("list_obligations", {"offset": 5000}),
    ("list_obligations", {"who": "zebra"}),
    ("search_documents", {"query": "x", "colour": "red"}),
    ("search_documents", {"query": "x", "filters": {"after": "soon"}}),
)
LETTER = 'The act says "The master of a vessel shall report" it; see Section 306(b) and Section 999.'
CALLS: dict[str, dict[str, Any]] = {
    "search_documents": {"query": "who must report a collision", "top_k": 3},
    "read_section": {"reference": "Section 306(b)"},
    "define_term": {"term": "vessel"},
    "list_outline": {"document": "pump-manual.md"},
    "follow_references": {"reference": "Section 306", "document": "harbour-safety-act.md"},
    "find_all": {"pattern": "harbour master", "limit": 5},
    "verify_quotes": {"text": LETTER},
    "compare": {"old": "vault/Secrets.md", "new": "vault/Deployments.md", "token_budget": 300},
    "list_obligations": {"kind": "deadline", "limit": 5},
    "list_documents": {},
    "index_status": {},
}


def row(value: Any) -> str:
    """Return a value on one line, without what varies and without what is empty."""
    return json.dumps(_plain(value), ensure_ascii=False, sort_keys=True)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        kept = {str(name): _plain(item) for name, item in value.items() if not _VARYING.search(str(name))}
        return {name: item for name, item in kept.items() if item not in ("", None, [], {})}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return round(value, 2) if isinstance(value, float) else value


def rows(answer: Any) -> list[str]:
    """Return an answer as rows: the items of its lists, and what else it says."""
    if not isinstance(answer, dict):
        return [row(item) for item in answer] if isinstance(answer, list) else [row(answer)]
    lists = {name: value for name, value in answer.items() if isinstance(value, list)}
    return [
        row({name: value for name, value in answer.items() if name not in lists}),
        *(f"{name} {row(item)}" for name, items in lists.items() for item in items),
    ]


def digest(text: str) -> str:
    """Return a short name for a row."""
    return hashlib.sha256(text.encode()).hexdigest()[:5]


def reading() -> Iterator[tuple[str, list[str]]]:
    """What reading makes of each example and each document of the corpus, by kind."""
    setup = {"settings": msgspec.to_builtins(IndexSettings()), "model_tokens": 256}
    for path in _files():
        parsed = prepare({"path": str(path.relative_to(REPOSITORY))}, setup)
        of = {
            "text": [json.dumps(line) for line in parsed.document.text.split("\n")],
            "document": [row({**asdict(parsed.document), "text": "", "content_hash": ""})],
            **{name: map(row, getattr(parsed, name)) for name in ("places", "chunks", "definitions")},
            **{name: map(row, getattr(parsed, name)) for name in ("references", "links", "obligations")},
        }
        for kind, found in of.items():
            lines = list(found)
            # Of texts and chunks it is enough to know whether they are the same.
            whole = kind in ("text", "chunks") and lines
            yield (
                f"{path.relative_to(REPOSITORY)} {kind}",
                [f"{len(lines)}\n" + "\n".join(lines)] if whole else lines,
            )


def _files() -> list[Path]:
    files = (path for source in SOURCES for path in (REPOSITORY / source).rglob("*") if path.is_file())
    return sorted(
        path for path in files if not path.name.startswith(".") and path.suffix not in (".yaml", ".yml")
    )


def answers(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """What commands print with ``--json``, in a folder with a library."""
    asked = [json.loads(line)["text"] for line in QUERIES.read_text(encoding="utf-8").splitlines()]
    queries = [*asked, *_items(LOOK_UPS)]
    runner = CliRunner()
    for words in [*(["search", query, "-k", "5"] for query in queries), *map(_words, _items(COMMANDS))]:
        result = runner.invoke(app, [*words, "--json"])
        text = result.stdout.replace(json.dumps(str(folder))[1:-1], "")
        yield " ".join(words), [f"exit {result.exit_code}", *rows(json.loads(text) if text.strip() else "")]


def _items(text: str) -> list[str]:
    return [item.strip() for line in text.strip().splitlines() for item in line.split(" | ")]


def _words(command: str) -> list[str]:
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', command)]


def digested(found: Iterable[tuple[str, list[str]]]) -> tuple[str, dict[str, list[str]]]:
    """Return one line an answer, with the digests of its rows, and the rows themselves."""
    whole = dict(found)
    return "".join(f"{name}\t{' '.join(map(digest, lines))}\n" for name, lines in whole.items()), whole


def help_texts() -> str:
    """What every command says of itself."""
    from typer.core import TyperGroup

    def below(command: Any, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield names
        if isinstance(command, TyperGroup):
            for name, one in sorted(command.commands.items()):
                yield from below(one, (*names, name))

    runner = CliRunner(env={"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"})
    names = below(get_command(app), ())
    texts = (f"$ loccit {' '.join(one)}\n{runner.invoke(app, [*one, '--help']).stdout}" for one in names)
    return "\n".join(line.rstrip() for line in "\n".join(texts).splitlines()) + "\n"


def shown() -> str:
    """What commands print for people."""
    runner = CliRunner()
    texts = []
    for command in _items(SHOWN):
        result = runner.invoke(app, _words(command))
        texts.append(f"$ loccit {command}  # exit {result.exit_code}\n{result.stdout}{result.stderr}")
    text = re.sub(r"[\d,.]+ (?=m?s\n)", "… ", "\n".join(texts))
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def tools(folder: Path) -> tuple[str, str]:
    """The tools as MCP lists them, and one answer of each as a model reads it."""
    registry = index_registry(folder)

    async def talk() -> tuple[str, str]:
        async with Client(make_server(registry)) as client:
            listed = (await client.list_tools()).tools
            schemas = _pretty([tool.model_dump(mode="json", exclude_none=True) for tool in listed])
            texts = []
            for name, given in CALLS.items():
                answer = await client.call_tool(name, given)
                said = "\n".join(map(_text, answer.content[:2]))
                texts.append(f"# {name} {json.dumps(given)}\n{said}\n{len(answer.content)} blocks\n")
            for name, given in WRONG:
                answer = await client.call_tool(name, given)
                told = json.dumps(given, ensure_ascii=False)[:100]
                texts.append(f"# {name} {told}, error: {answer.is_error}\n{_text(answer.content[0])}\n")
            return schemas, "\n".join(texts)

    schemas, texts = asyncio.run(talk())
    registry.close()
    return schemas, _DRAWN.sub("…", texts.replace(str(folder), ""))


def _text(block: ContentBlock) -> str:
    return block.text if isinstance(block, TextContent) else block.model_dump_json(exclude_none=True)


def description(folder: Path) -> str:
    """The description of the HTTP API."""
    registry = index_registry(folder)
    with TestClient(build_app(registry), base_url="http://127.0.0.1") as client:
        text = _pretty(client.get("/api/openapi.json").json())
    registry.close()
    return text


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"

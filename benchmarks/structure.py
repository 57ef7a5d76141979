"""Questions that need a reference followed, a definition, or the place above: which stages help there?

    python -m benchmarks.structure [gdpr far contracts rfc] [--check] [--no-ablate] [--misses]

``structure_questions.jsonl`` has the questions. Each names where its answer stands: a document, the label of a place
and words of it. The words of the answer are not those of the question; it is found because of something else, which is
the question's ``kind``:

    reference    a passage that speaks of the matter refers to the one that answers
    definition   a defined term decides
    parent       a heading or the sentence above says what an item of a list is about
    plain        nothing: the answer is about what is asked (the control)

``reached@5`` also counts answers that the first five results refer to, or bring along as a definition.
A result is right when it overlaps one of the given words where they stand. ``--check`` only looks whether all of them
stand in the places that they are said to be in.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common import eval_dir, read_jsonl, save
from loccit.config import IndexSettings, SearchSettings, Settings
from loccit.config.settings import STAGES
from loccit.errors import LoccitError
from loccit.evaluation.build import build
from loccit.evaluation.cache import RememberingEmbedder, cache_folder, default_folder, place_for
from loccit.evaluation.datasets import SPANS, EvalSet
from loccit.evaluation.metrics import Span, means, reciprocal_rank
from loccit.evaluation.places import Places
from loccit.evaluation.significance import compare
from loccit.library import Library
from loccit.model import SearchResponse, SearchResult
from loccit.models.embedding import Embedder, load_embedder
from loccit.models.embedding.protocol import Vectors

Row = dict[str, Any]
Values = dict[str, float]
Gold = list[tuple[str, Span]]

QUESTIONS = Path(__file__).parent / "structure_questions.jsonl"
KINDS = ("reference", "definition", "parent", "plain")
MEASURES = ("recall@1", "recall@5", "recall@10", "mrr@10", "reached@5")
MAIN = "mrr@10"
TOP = 10
_A_PLACE = 8_000  # characters
# What is indexed of each set, besides the documents of the questions: parts and contracts that are much alike.
_FAR = (2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 16, 17, 19, 32, 33, 42, 43, 45, 46, 49)
_CONTRACTS = (
    "1024096_ 1135971_ 1144215_ 1157004_ 1377630_ 1382787_ 1437557_ 1456016_ 25354_ 32272_ 725876_ 850429_ 874977_ "
    "908259_"
).split()
FILES: dict[str, tuple[str, Sequence[str]]] = {
    "gdpr": ("gdpr/docs", ["*"]),
    "far": ("far/docs", [f"Part{number}.docx" for number in _FAR]),
    "contracts": ("real/contracts", [f"{start}*" for start in _CONTRACTS]),
    "rfc": ("real/rfc", ["*"]),
}


class QuickEmbedder(RememberingEmbedder):
    """Remembers the vectors of questions too: each is asked in many ways."""

    def __init__(self, embedder: Embedder, path: Path) -> None:
        super().__init__(embedder, path)
        self._questions: dict[str, Vectors] = {}

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        if text not in self._questions:
            self._questions[text] = super().embed_query(text)
        return self._questions[text]


class Way(NamedTuple):
    """A way of searching that is measured."""

    name: str
    search: SearchSettings


def ways(*, ablate: bool) -> list[Way]:
    """Return the search as it is, then without each stage that is on, with each that is off, and bare."""
    whole = SearchSettings(top_k=TOP)
    # What is shown of a chunk is no matter of ranking, and stays.
    stages = tuple(stage for stage in STAGES if stage != "focus")
    bare = replace(whole, disabled=stages, semantic_weight=0.625, keyword_weight=0.375, exact_weight=0.0)
    found = [Way("everything", whole)]
    if not ablate:
        return found
    switched = {
        "expansion": replace(whole, query_expansion_enabled=True),
        "semantic_dedup": replace(whole, dedup_enabled=True),
        "mmr": replace(whole, mmr_enabled=True),
        "doc_limit": replace(whole, max_chunks_per_doc=3),
        "parents": replace(whole, parent_retrieval_enabled=True),
    }
    # A date and a second model are not part of these questions.
    for stage in STAGES:
        if stage in switched:
            found.append(Way(f"with {stage}", switched[stage]))
        elif stage not in ("recency", "rerank"):
            found.append(Way(f"without {stage}", replace(whole, disabled=(stage,))))
    return [
        *found,
        Way("without document evidence", replace(whole, document_weight=0.0)),
        Way("without section evidence", replace(whole, section_weight=0.0)),
        Way(
            "without the exact leg",
            replace(whole, semantic_weight=0.625, keyword_weight=0.375, exact_weight=0.0),
        ),
        Way("legs joined by ranks", replace(whole, fusion="rrf")),
        Way("semantic alone", replace(whole, search_mode="semantic")),
        Way("keyword alone", replace(whole, search_mode="keyword")),
        Way("keyword and semantic alone", bare),
        Way("keyword and semantic alone, joined by ranks", replace(bare, fusion="rrf")),
        Way("keyword and semantic alone, whole chunks", replace(bare, disabled=STAGES)),
    ]


def documents(name: str) -> list[Path]:
    """Return the files of a set; leave with a message when they are not there."""
    folder, patterns = FILES[name]
    root = eval_dir(folder)
    return sorted(path.resolve() for pattern in patterns for path in root.glob(pattern))


class Asked(NamedTuple):
    """A set that is ready: its index, where answers stand in it, and what is wrong with the questions."""

    path: Path
    embedder: Embedder
    gold: dict[str, Gold]
    wrong: list[str]
    chunks: int


def prepare(name: str, rows: Iterable[Row], folder: Path, embedder: Embedder) -> Asked:
    """Index a set, and find the answers in it."""
    paths = documents(name)
    evalset = EvalSet(f"structure-{name}", SPANS, Path(f"structure-{name}"), (), paths=tuple(paths))
    place = place_for(folder, evalset, IndexSettings(), embedder)
    remembering = QuickEmbedder(embedder, place.vectors)
    built = build(evalset, place.folder, IndexSettings(), remembering)
    full = {path.name: str(path) for path in paths}
    gold: dict[str, Gold] = {}
    wrong = []
    with (
        Library(built.path, embedder=embedder, create=False) as library,
        closing(Places(built.path)) as places,
    ):
        for row in rows:
            gold[row["id"]] = []
            for answer in row["gold"]:
                path = full[answer["path"]]
                found = locate(library, places, path, answer)
                if isinstance(found, str):
                    wrong.append(f"{row['id']}: {found}")
                else:
                    gold[row["id"]].append((path, found))
    return Asked(built.path, remembering, gold, wrong, built.chunks)


def locate(library: Library, places: Places, path: str, answer: Row) -> Span | str:
    """Return where the words of an answer stand, in the place that its label names; else what is wrong."""
    name, label, snippet = Path(path).name, answer["label"], answer["snippet"]
    try:
        view = library.section(label, document=path)
    except LoccitError as error:
        return str(error)
    place = places.place(path, view.section_id) if view.exact else None
    if place is None:
        return f"{label} is no place of {name}"
    # Lines are broken at will.
    words = re.compile(r"\s+".join(map(re.escape, snippet.split())))
    found = words.search(places.text(path), *place)
    return found.span() if found else f"{label} of {name} does not have {snippet!r}"


def judge(response: SearchResponse, gold: Gold, places: Places) -> Values:
    """Say at which ranks the answer is, whether the first five lead to it, and how much there is to read in them."""
    results = response.results[:TOP]
    hits = [
        any(_overlap((result.source_path, places.of_result(result)), wanted) for wanted in gold)
        for result in results
    ]
    values = {f"recall@{count}": float(any(hits[:count])) for count in (1, 5, 10)}
    led = any(
        _overlap(span, wanted) for result in results[:5] for span in led_to(result, places) for wanted in gold
    )
    shown = sum(len(result.content) for result in results[:5])
    return values | {
        MAIN: reciprocal_rank(hits, TOP),
        "reached@5": float(any(hits[:5]) or led),
        "characters@5": float(shown),
    }


def led_to(result: SearchResult, places: Places) -> Iterator[tuple[str, Span]]:
    """Return the places that a result refers to, and the definitions that come with it."""
    for reference in result.cross_references:
        path = reference.target_path or result.source_path
        place = places.place(path, reference.target_section) if path in places else None
        # A reference to a whole chapter leads nowhere in particular.
        if place and place[1] - place[0] <= _A_PLACE:
            yield path, place
    for definition in result.definitions_context:
        path = definition.source_path
        start = places.text(path).find(definition.definition_text) if path in places else -1
        if start >= 0:
            yield path, (start, start + len(definition.definition_text))


def _overlap(one: tuple[str, Span], other: tuple[str, Span]) -> bool:
    return one[0] == other[0] and one[1][0] < other[1][1] and other[1][0] < one[1][1]


def ask(way: Way, asked: Asked, rows: Sequence[Row], report: Callable[[Row], None]) -> Row:
    """Ask all questions of a set in one way; return the values of each, and its processor time."""
    values: dict[str, Values] = {}
    milliseconds = []
    settings = Settings(IndexSettings(), way.search)
    with (
        Library(asked.path, settings=settings, embedder=asked.embedder, create=False) as library,
        closing(Places(asked.path)) as places,
    ):
        for row in rows:
            start = time.process_time()
            response = library.search(row["question"])
            milliseconds.append((time.process_time() - start) * 1000)
            values[row["id"]] = judge(response, asked.gold[row["id"]], places)
            if not values[row["id"]]["recall@5"]:
                report({**row, "found": [result.location for result in response.results[:3]]})
    return {"values": values, "milliseconds": milliseconds}


def groups(rows: Sequence[Row]) -> Iterator[tuple[str, list[str]]]:
    """Name the questions that are looked at together."""
    yield "all", [row["id"] for row in rows]
    for field in ("kind", "half", "set"):
        for value in dict.fromkeys(row[field] for row in rows):
            yield value, [row["id"] for row in rows if row[field] == value]


def summarise(name: str, values: dict[str, Values], first: dict[str, Values], rows: Sequence[Row]) -> Row:
    """Return the means of each group, and the differences from the search as it is."""
    summary: Row = {"way": name, "means": {}, "changes": {}}
    for group, ids in groups(rows):
        summary["means"][group] = {"questions": len(ids), **means([values[one] for one in ids])}
        if values is not first:
            summary["changes"][group] = {
                measure: asdict(
                    compare(
                        measure, [first[one][measure] for one in ids], [values[one][measure] for one in ids]
                    )
                )
                for measure in (MAIN, "recall@5", "recall@10")
            }
    return summary


def _print(summary: Row) -> None:
    mean = summary["means"]["all"]
    figures = "  ".join(f"{measure} {mean[measure]:.3f}" for measure in MEASURES)
    changes = summary["changes"].get("all", {}).get(MAIN)
    p = f"  {changes['change']:+.3f}, p {changes['p']:.3f}" if changes else ""
    print(f"{summary['way']:40} {figures}  {mean['characters@5']:5.0f} characters@5{p}", flush=True)


def _print_miss(row: Row) -> None:
    found = "; ".join(row["found"])
    print(
        f"  miss {row['id']} ({row['kind']}): {row['question']} wanted {row['gold'][0]['label']}, got {found}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", default=list(FILES), help=", ".join(FILES))
    parser.add_argument("--ablate", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument(
        "--check", action="store_true", help="only look whether the answers stand where they should"
    )
    parser.add_argument(
        "--misses", action="store_true", help="print the questions without an answer in the first five"
    )
    options = parser.parse_args()
    rows = [row for row in read_jsonl(QUESTIONS) if row["set"] in options.sets]
    embedder = load_embedder()
    with cache_folder(default_folder()) as folder:
        by_set = {name: [row for row in rows if row["set"] == name] for name in options.sets}
        ready = {name: prepare(name, some, folder, embedder) for name, some in by_set.items()}
    wrong = [line for asked in ready.values() for line in asked.wrong]
    print(f"{len(rows)} questions, {len(wrong)} answers that do not stand where they should")
    for line in wrong:
        print(f"  {line}")
    if options.check or wrong:
        raise SystemExit(1 if wrong else 0)
    summaries: list[Row] = []
    first: dict[str, Values] = {}
    for way in ways(ablate=options.ablate):
        report = _print_miss if options.misses and not first else lambda row: None
        done = [ask(way, ready[name], some, report) for name, some in by_set.items()]
        values = {key: value for one in done for key, value in one["values"].items()}
        first = first or values
        summary = summarise(way.name, values, first, rows)
        times = sorted(value for one in done for value in one["milliseconds"])
        summary["processor_p50_ms"] = times[len(times) // 2]
        summaries.append(summary)
        _print(summary)
    if set(options.sets) == set(FILES) and options.ablate:
        chunks = {name: asked.chunks for name, asked in ready.items()}
        save("structure", {"chunks": chunks, "results": summaries})


if __name__ == "__main__":
    main()

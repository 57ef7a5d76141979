"""What the size of a library costs: the same questions and changes at several sizes, in processor time.

    python -m benchmarks.scale [--chunks 5000 80000] [--rounds 5]

Libraries of agreements that are written for it: ten chunks a document, with numbers, definitions, references to own and
other places, links, tags and dates. They are recorded and indexed by the stages of any other run. To save time, one in
twenty is read, and the others are what reading them would give, but for counts of tokens; and vectors are made up (some
hundred topics with noise around them), so no model is needed. Libraries are kept for the next time, in
``LOCCIT_BENCH_DIR`` where that is set.

Each size is measured in a process of its own. Times are those of its processor, without the workers that read files,
which other work on the machine hardly touches; memory is what is in no file.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import random
import re
import shutil
import time
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import numpy as np

from benchmarks.common import RESULTS, load, load_average, save
from loccit import Library
from loccit.config import IndexSettings
from loccit.index.folder.index import EmbeddedIndex
from loccit.ingest.contextualize import passage_text, text_hash
from loccit.ingest.prepare import prepare
from loccit.model import ParsedDocument
from loccit.models.embedding.protocol import Vectors

SIZES = (5_000, 80_000)
DIMENSION = 384
_SECTIONS = 9  # a document
CHUNKS_A_DOCUMENT = _SECTIONS + 1
"""Its sections, and what stands below its title."""
_FOLDER = 100  # documents
_COPIES = 20  # of each document that is read, with other names, numbers and words
_TOPICS = 400
_NOISE = 0.75  # makes a cosine of .8 with the topic
_SEED = 14

_TRADES = (
    "Supply Licence Service Lease Hosting Transport Insurance Consulting Maintenance Research Loan Distribution "
    "Franchise Storage Training Catering Security Cleaning Printing Advertising"
).split()
_HEADINGS = (
    "Definitions,Scope,Fees and payment,Term,Termination,Confidential information,Liability,Delivery,Warranties,"
    "Governing law,Notices,Data protection,Audit,Insurance,Assignment,Force majeure"
).split(",")
_TERMS = (
    "Fee,Services,Term,Territory,Products,Affiliate,Business Day,Confidential Information,Effective Date,Deliverables,"
    "Purchase Order,Service Level,Customer Data,Intellectual Property,Change Request,Acceptance Test"
).split(",")
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo")
TAGS = ("draft", "signed", "archived", "renewed", "confidential", "public", "europe", "asia")
QUERIES = (
    "when must an invoice be paid",
    "notice of termination for breach",
    "who owns the intellectual property in deliverables",
    "limit of liability for lost profit",
    "confidential information after the end of the agreement",
    "late delivery of products",
    "audit of records by the customer",
    "personal data breach notification",
)
_SENTENCES = (
    "The {a} shall pay every invoice within {n} days of receipt.",
    "The {a} may end this Agreement on {n} days notice if the {b} is in breach.",
    "All intellectual property in the {w} stays with the {a}.",
    "Neither party is liable for lost profit, or for more than {n} thousand euro a year.",
    "The {a} keeps the confidential information of the {b} secret for {n} years after the end of this Agreement.",
    "Where delivery of the {w} is late by more than {n} days, the {b} may refuse it.",
    "The {a} keeps records of the {w} for {n} years and lets the {b} audit them once a year.",
    "A breach of personal data is reported to the {b} within {n} hours.",
    "The {w} is tested by the {b} before the {a} relies on it, and again every {n} months.",
    "Changes of the {w} need a written order that both the {a} and the {b} have signed.",
    "Under § {n} of the Act, the {a}’s “{w}” is no more than the café’s use of it – whatever the {b} says.",
)


# -- the documents ---------------------------------------------------------------------------------------------


def relative_path(number: int) -> str:
    """Return where a document stands below the folder of its library."""
    return f"client-{number // _FOLDER:04}/agreement-{number:06}.md"


def title(number: int) -> str:
    """Return what a document is called."""
    return f"{_TRADES[number // _COPIES % len(_TRADES)]} Agreement {number:06}"


def document(number: int, count: int) -> str:
    """Return the text of one of so many documents; the same for the same number."""
    original = number - number % _COPIES
    return varied(_original(original, count), number - original)


def varied(text: str, step: int) -> str:
    """Return a text with other numbers of documents and other rare words, all as long as they were."""

    def word(match: re.Match[str]) -> str:
        places = (_SYLLABLES.index(match[0][at : at + 2]) for at in range(0, len(match[0]) - 2, 2))
        return "".join(_SYLLABLES[(place + step) % len(_SYLLABLES)] for place in places) + "or"

    text = re.sub(r"(?<![0-9A-Za-z])\d{6}(?![0-9A-Za-z])", lambda match: f"{int(match[0]) + step:06}", text)
    return re.sub(rf"\b(?:{'|'.join(_SYLLABLES)}){{4,}}or\b", word, text)


def _original(number: int, count: int) -> str:
    pick = random.Random(_SEED * 1_000_003 + number)
    other = pick.randrange(count) // _COPIES * _COPIES
    tags = ", ".join(pick.sample(TAGS, 2))
    date = f"{2010 + pick.randrange(16)}-{1 + pick.randrange(12):02}-{1 + pick.randrange(28):02}"
    lines = [
        "---",
        f"title: {title(number)}",
        f"tags: [{tags}]",
        f"date: {date}",
        "---",
        f"# {title(number)}",
    ]
    headings = [_HEADINGS[0], *pick.sample(_HEADINGS[1:], _SECTIONS - 1)]
    for section, heading in enumerate(headings, 1):
        lines += [f"## {section}. {heading}", _paragraph(pick, section)]
        if section == 1:
            lines += [
                f"“{term}” means the {_word(pick)} of the {_word(pick)}." for term in pick.sample(_TERMS, 2)
            ]
        elif section == 3:
            lines += [f"This is subject to Section {1 + pick.randrange(_SECTIONS)} and to clause 3(b)."]
            lines += [f"(a) {_sentence(pick)}", f"(b) {_sentence(pick)}"]
        elif section == 5:
            lines += [f"Section {1 + pick.randrange(_SECTIONS)} of the {title(other)} applies as well."]
        elif section == 7:
            lines += [f"See [{title(other)}](../{relative_path(other)}#4-term)."]
    return "\n".join(lines[:5]) + "\n" + "\n\n".join(lines[5:]) + "\n"


def _paragraph(pick: random.Random, section: int) -> str:
    return " ".join(_sentence(pick) for _ in range(2 if section < 8 else 12))


def _sentence(pick: random.Random) -> str:
    return pick.choice(_SENTENCES).format(
        a=_word(pick), b=_word(pick), w=_word(pick), n=2 + pick.randrange(88)
    )


def _word(pick: random.Random) -> str:
    """Return a made-up word; some are common, most are rare and, as those are, long."""
    rank, word = int(20_000 ** pick.random()), ""
    while rank or len(word) < 4:
        rank, syllable = divmod(rank, len(_SYLLABLES))
        word += _SYLLABLES[syllable]
    return f"{word}or"


class TopicEmbedder:
    """Vectors without a model: each text has a topic, by what it says, and lies near to it."""

    name = "made-up-topics"
    dimension = DIMENSION
    max_tokens = 256
    languages = None

    def __init__(self) -> None:
        generator = np.random.default_rng(_SEED)
        # As in real collections, all topics have something in common.
        topics = generator.standard_normal((_TOPICS, DIMENSION)) + generator.standard_normal(DIMENSION)
        self._topics = (topics / np.linalg.norm(topics, axis=1, keepdims=True)).astype(np.float32)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each text."""
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a text."""
        words = re.findall(r"[a-z]{4,}", text.lower()) or [""]
        topic = zlib.crc32(" ".join(words[-6:-3]).encode()) % _TOPICS
        noise = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIMENSION, np.float32)
        vector = self._topics[topic] + np.float32(_NOISE / DIMENSION**0.5) * noise
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


# -- the library -----------------------------------------------------------------------------------------------


def scaled_library(chunks: int) -> tuple[Path, Path]:
    """Return the folders of documents and of the index of about so many chunks; kept for the next time."""
    # Parted, since six digits in a row are taken for the number of a document, and varied.
    folder = RESULTS / f"scale-{chunks:_}"
    docs, index, done = folder / "docs", folder / "index", folder / "done"
    if done.exists():
        return docs, index
    shutil.rmtree(folder, ignore_errors=True)
    count = max(1, chunks // CHUNKS_A_DOCUMENT)
    print(f"making a library of {chunks:,} chunks", flush=True)
    for number in range(count):
        path = docs / relative_path(number)
        if number % _FOLDER == 0:
            path.parent.mkdir(parents=True)
        path.write_text(document(number, count), encoding="utf-8")
    with Library(index, embedder=TopicEmbedder()) as library:
        library.index([docs / relative_path(0)])
    _record(docs, index, count)
    with Library(index, embedder=TopicEmbedder()) as library:
        report = library.index([docs])
        if report.added or report.updated:
            raise RuntimeError(
                f"{len(report.added)} documents were not recorded, {len(report.updated)} were so wrongly"
            )
    done.touch()
    return docs, index


def _record(docs: Path, index: Path, count: int) -> None:
    """Record documents: one in some is read, the others are its variants, which would be read alike."""
    embedded = EmbeddedIndex(index, create=False)
    (settings,) = {state.settings for state in embedded.record.file_states().values()}
    numbers = range(0, count, _COPIES)
    paths = [str(docs / relative_path(number)) for number in numbers]
    with ProcessPoolExecutor() as pool:
        for number, read in zip(numbers, pool.map(_read, paths, chunksize=8), strict=True):
            for step in range(min(_COPIES, count - number)):
                path = docs / relative_path(number + step)
                parsed = _rehashed(
                    msgspec.json.decode(varied(read, step), type=ParsedDocument), path.read_bytes()
                )
                embedded.record.put(parsed, mtime_ns=path.stat().st_mtime_ns, settings=settings)
    embedded.close()


def _read(path: str) -> str:
    setup = {"settings": asdict(IndexSettings()), "model_tokens": TopicEmbedder.max_tokens}
    return msgspec.json.encode(prepare({"path": path}, setup)).decode()


def _rehashed(parsed: ParsedDocument, content: bytes) -> ParsedDocument:
    """Give a document the hashes that its text has."""
    digest = hashlib.sha256(content).hexdigest()
    chunks = tuple(
        replace(
            chunk,
            passages=tuple(
                replace(p, text_hash=text_hash(passage_text(chunk.context, chunk.content[p.start : p.end])))
                for p in chunk.passages
            ),
        )
        for chunk in parsed.chunks
    )
    return replace(
        parsed, document=replace(parsed.document, size=len(content), content_hash=digest), chunks=chunks
    )


# -- the figures -----------------------------------------------------------------------------------------------


def measure(docs: Path, index: Path, rounds: int) -> dict[str, float]:
    """Return the figures of one library. Call it in a process of its own."""
    with Library(index, create=False, embedder=TopicEmbedder()) as library:
        figures: dict[str, float] = {"chunks": library.status().chunks}
        figures["first search after opening"] = _once(lambda: library.search(QUERIES[0]))
        for mode in ("hybrid", "keyword"):
            figures[f"{mode}, steady"] = _typical(
                [partial(library.search, query, mode=mode) for query in QUERIES], rounds
            )
        figures["filter by tag"] = _typical(
            [partial(library.search, query, filters={"tags": "signed"}) for query in QUERIES], rounds
        )
        figures["filter by path"] = _typical(
            [partial(library.search, query, filters={"path": "*/client-0000/*"}) for query in QUERIES], rounds
        )
        figures["search for Section 3"] = _typical([lambda: library.search("Section 3")], rounds)
        named = str(docs / relative_path(0))
        figures["refs"] = _typical([lambda: library.references("Section 3", document=named)], rounds)
        figures["section"] = _typical([lambda: library.section("Section 3", document=named)], rounds)
        figures["section, document named"] = _typical(
            [lambda: library.section(f"Section 3 of the {title(0)}")], rounds
        )
        figures["define"] = _typical([lambda: library.define("Fee")], rounds)
        figures["private memory, MB"] = _private_memory()
        # The first time loads what later ones have, and brings a library that was made by another version up to date.
        library.index([docs])
        changes = [_change(library, docs, number) for number in range(1 + max(2, rounds // 2))][1:]
        figures["index one changed file"] = min(change[0] for change in changes)
        figures["first search after a change"] = min(change[1] for change in changes)
        figures["index, nothing changed"] = min(_once(lambda: library.index([docs])) for _ in range(2))
        figures["suggestions, first"] = _once(lambda: library.suggest("con"))
        figures["suggestions, steady"] = _typical(
            [partial(library.suggest, text) for text in ("fe", "sup", "3")], rounds
        )
        figures["map, first"] = _once(library.map)
        figures["private memory at the end, MB"] = _private_memory()
    return figures


def _change(library: Library, docs: Path, number: int) -> tuple[float, float]:
    """Return what indexing one file that changed takes, and the first search after it."""
    path = docs / relative_path(number)
    text, _, count = path.read_text(encoding="utf-8").partition("\nChanged ")
    path.write_text(f"{text}\nChanged {int(count.partition(' ')[0] or 0) + 1} times.", encoding="utf-8")
    return _once(lambda: library.index([path])), _once(lambda: library.search(QUERIES[1]))


def _once(act: Callable[[], Any]) -> float:
    start = time.process_time()
    act()
    return (time.process_time() - start) * 1000


def _typical(acts: Sequence[Callable[[], Any]], rounds: int) -> float:
    """Return the median over acts, each at its best: what it takes when nothing comes between."""
    for act in acts:
        act()
    return median(min(_once(act) for _ in range(rounds)) for act in acts)


def _private_memory() -> float:
    """Return how much memory is this process's own: what is in no file."""
    try:
        found = re.search(
            r"^Anonymous:\s+(\d+) kB", Path("/proc/self/smaps_rollup").read_text(), re.MULTILINE
        )
    except OSError:
        return float("nan")
    return int(found[1]) / 1024 if found else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    # Large libraries take long to make: each size may have its own run.
    sizes: dict[str, dict[str, float]] = load("scale").get("sizes", {})
    for chunks in options.chunks:
        places = scaled_library(chunks)
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            sizes[str(chunks)] = pool.submit(measure, *places, options.rounds).result()
        sizes = dict(sorted(sizes.items(), key=lambda size: int(size[0])))
        save("scale", {"sizes": sizes, "load": load_average()})
    print("Processor time in milliseconds")
    for name in next(iter(sizes.values())):
        print(f"{name:32}" + "".join(f"{figures[name]:>12,.1f}" for figures in sizes.values()))


if __name__ == "__main__":
    # As a module: processes are handed its functions by their names.
    from benchmarks import scale

    scale.main()

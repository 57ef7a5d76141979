"""Whether German compounds meet their parts: keyword search for the one where a section only has the other.

    python -m benchmarks.compounds [FOLDER ...] [--index DIR]

Questions are mined from the documents. A word that is made of two others (`Kündigungsfrist`) and a phrase that says the
same (`Frist für die Kündigung`) are asked for; right are sections that have only the other form. Ordinary questions are
four words of one sentence, and its section is right. Each FOLDER has German statutes in Markdown; by default those of
the set `real`.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.common import eval_dir, save
from loccit import Library
from loccit.model import SearchResult

_HEADING = re.compile(r"#+\s+(§+\s*\d+[a-z]*)\b")
_NOUN = "[A-ZÄÖÜ][a-zäöüß]{3,}"
_PHRASE = re.compile(
    rf"\b({_NOUN})\s+(?:der|des|für|zur|zum|von|vom|über|bei)\s+(?:(?:die|der|den|das|dem|einer|eines|einem|eine)\s+)?({_NOUN})\b"
)
_FEW = 4  # sections that may have what is asked for: more leave no room among the first ten
_MOST = 8
_ORDINARY = 150
Section = tuple[str, str]


def read_sections(files: list[Path]) -> dict[Section, str]:
    """Return the text of each section by file and number."""
    found: dict[Section, str] = {}
    for file in files:
        current: Section | None = None
        for line in file.read_text(encoding="utf-8").splitlines():
            if match := _HEADING.match(line):
                current = (file.name, match[1])
                found[current] = found.get(current, "") + line + "\n"
            elif line.startswith("#"):
                current = None
            elif current:
                found[current] += line + "\n"
    return found


def questions(sections: dict[Section, str]) -> Iterator[tuple[str, str, set[Section]]]:
    """Yield kind, question and the sections that answer it."""
    nouns = {word.lower() for text in sections.values() for word in re.findall(rf"\b{_NOUN}\b", text)}
    phrases: dict[tuple[str, str], dict[str, set[Section]]] = defaultdict(lambda: defaultdict(set))
    for place, text in sections.items():
        for match in _PHRASE.finditer(" ".join(text.split())):
            phrases[_stem(match[1]), _stem(match[2])][match[0]].add(place)
    asked: set[str] = set()
    for word in sorted(nouns):
        before, head = _halves(word, nouns)
        own = phrases.get((_stem(head), _stem(before)))
        if not own:
            continue
        phrase = max(own, key=lambda one: len(own[one]))
        if phrase in asked:
            continue
        asked.add(phrase)
        with_phrase = set().union(*own.values())
        with_word = {place for place, text in sections.items() if word in text.lower()}
        only_word = {place for place in with_word if not _has_both(sections[place].lower(), before, head)}
        if len(with_word) <= _FEW and 1 <= len(with_phrase - with_word) <= _MOST:
            yield "compound", word.capitalize(), with_phrase - with_word
        if len(with_phrase) <= _FEW and 1 <= len(only_word) <= _MOST:
            yield "parts", phrase, only_word
    chance = random.Random(1)
    long = [place for place, text in sections.items() if len(text.split()) > 50]
    for place in chance.sample(long, min(_ORDINARY, len(long))):
        sentences = [
            part for part in re.split(r"(?<=[a-zäöü]{3}\.)\s", sections[place]) if len(part.split()) > 9
        ]
        words = list(dict.fromkeys(re.findall(r"[A-Za-zÄÖÜäöüß]{5,}", chance.choice(sentences or [""]))))
        if len(words) >= 4:
            yield "ordinary", " ".join(chance.sample(words, 4)), {place}


def _halves(word: str, nouns: set[str]) -> tuple[str, str]:
    for at in range(4, len(word) - 3):
        for link in ("", "s", "es", "n", "en"):
            before = word[:at].removesuffix(link)
            if word[at:] in nouns and word[:at].endswith(link) and len(before) >= 4 and before in nouns:
                return before, word[at:]
    return "", ""


def _stem(word: str) -> str:
    word = word.lower()
    return next((word[: -len(end)] for end in ("en", "es", "er", "e", "s", "n") if word.endswith(end)), word)


def _has_both(text: str, before: str, head: str) -> bool:
    return all(re.search(rf"\b{word}", text) for word in (before, head))


def _is_one(result: SearchResult, places: set[Section]) -> bool:
    headings = [*result.parent_chain, result.section_label]
    return any(
        Path(result.source_path).name == name
        and any(re.match(rf"{re.escape(label)}(?!\w)", one) for one in headings)
        for name, label in places
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--index", type=Path, help="keep the index here instead of a temporary folder")
    options = parser.parse_args()
    folders = options.folders or [eval_dir("real") / "statutes"]
    files = [file for folder in folders for file in sorted(folder.glob("de-*.md"))]
    ranks: dict[str, list[int]] = defaultdict(list)
    with (
        tempfile.TemporaryDirectory() as scratch,
        Library(options.index or Path(scratch) / "index") as library,
    ):
        library.index(files, embed=False)
        for kind, text, places in questions(read_sections(files)):
            found = library.search(text, mode="keyword", top_k=10).results
            ranks[kind].append(next((at for at, one in enumerate(found, 1) if _is_one(one, places)), 0))
    table = {
        kind: {
            "questions": len(own),
            "recall_at_10": round(sum(rank > 0 for rank in own) / len(own), 3),
            "mrr": round(sum(1 / rank for rank in own if rank) / len(own), 3),
        }
        for kind, own in ranks.items()
    }
    print(table)
    save("compounds", table)


if __name__ == "__main__":
    main()

"""Quotations: 500 made from real documents, exact, altered and absent; how many does ``verify_quotes`` judge wrongly?

Run with ``python -m benchmarks.quotes [SEED…]``. Exact ones have other line breaks, quotes, capitals and ellipses;
altered ones another word, another number, a negation more or less, or a word less. Absent ones are sentences of
documents that are not in the library.
"""

from __future__ import annotations

import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.common import eval_dir, save
from loccit import Library

_SENTENCE = re.compile(r"(?<=[.;:]\s)[A-Z][^.;:\n|#*\[\]<>_“”\"„]{60,260}[.;](?=\s)")
_NUMBER = re.compile(r"\b\d+\b")
_WORD = re.compile(r"\w+")
_OTHERS = ("never", "green", "Brazil", "yearly", "pump", "fourteen")


def sentences(text: str) -> list[str]:
    """Return sentences of running text."""
    found = [match[0] for match in _SENTENCE.finditer(text)]
    return [sentence for sentence in dict.fromkeys(found) if 10 <= len(sentence.split()) <= 45]


def exact(sentence: str, way: int, chance: random.Random) -> str:
    """Return a sentence quoted rightly, in one of several ways."""
    words = sentence.split(" ")
    cut = chance.randrange(3, len(words) - 3)
    if way == 0:
        return " ".join(words[:cut]) + "\n" + "  ".join(words[cut:])
    if way == 1:
        return sentence.replace("'", "’").replace("-", "‑")
    if way == 2:
        gap = min(len(words) - 3, cut + chance.randrange(1, 5))
        return (
            " ".join(words[:cut])
            + chance.choice([" … ", " ... ", " [...] ", " […] "])
            + " ".join(words[gap:])
        )
    if way == 3:
        return f"[{sentence[0].swapcase()}]{sentence[1:]}"
    if way == 4:
        long = next((number for number, word in enumerate(words) if len(word) > 8 and word.isalpha()), None)
        if long is not None:
            words[long] = words[long][:4] + "-\n" + words[long][4:]
        return " ".join(words)
    return sentence[0].lower() + sentence[1:].rstrip(".;")


def altered(sentence: str, way: int, chance: random.Random) -> str:
    """Return a sentence quoted wrongly, in one of several ways."""
    words = sentence.split(" ")
    at = chance.randrange(2, len(words) - 2)
    if way == 1 and (number := _NUMBER.search(sentence)):
        return f"{sentence[: number.start()]}{int(number[0]) + 1}{sentence[number.end() :]}"
    if way == 2:
        if " not " in sentence:
            return sentence.replace(" not ", " ", 1)
        words.insert(at, "not")
    elif way == 3:
        del words[at]
    else:
        words[at] = chance.choice(_OTHERS)
    return " ".join(words)


def said(text: str) -> str:
    """Return the words of a text: a quotation that has others, or some in another order, is altered."""
    return " ".join(_WORD.findall(text.casefold()))


def texts_of(library: Library) -> list[str]:
    """Return the texts of all documents."""
    return [library.document(info.source_path).text for info in library.documents()]


def generated(own: list[str], foreign: list[str], whole: str, chance: random.Random) -> list[tuple[str, str]]:
    """Return 500 quotations, each after what it is; ``whole`` has the words of all documents.

    A dash that is left out alters nothing, nor does a word that leads to what stands elsewhere.
    """
    cases = [("exact", exact(text, n % 6, chance)) for n, text in enumerate(chance.sample(own, 200))]
    changed = ((text, altered(text, n % 4, chance)) for n, text in enumerate(chance.sample(own, 200)))
    cases += [("altered", quoted) for _, quoted in changed if f" {said(quoted)} " not in whole]
    return cases + [("absent", text) for text in chance.sample(foreign, 500 - len(cases))]


def main() -> int:
    """Measure, and print one line of JSON."""
    gdpr, far = eval_dir("gdpr"), eval_dir("far")
    seeds = [int(seed) for seed in sys.argv[1:]] or [11]
    inside = [
        gdpr / "docs" / "gdpr.md",
        *(far / "docs" / f"Part{n}.docx" for n in (3, 9, 13, 33, 49)),
    ]
    outside = [far / "docs" / f"Part{n}.docx" for n in (5, 28, 37, 45)]
    wrong, counts, seconds = [], Counter[str](), 0.0
    with tempfile.TemporaryDirectory() as folder:
        with Library(Path(folder) / "other") as other:
            other.index(outside, embed=False)
            foreign = [text for written in texts_of(other) for text in sentences(written)]
        with Library(Path(folder) / "index") as library:
            library.index(inside, embed=False)
            own = [text for written in texts_of(library) for text in sentences(written)]
            whole = f" {' '.join(said(written) for written in texts_of(library))} "
            foreign = [text for text in foreign if said(text) not in whole]
            for seed in seeds:
                cases = generated(own, foreign, whole, random.Random(seed))
                counts.update(expected for expected, _ in cases)
                began = time.process_time()
                checks = library.verify_quotes([quoted for _, quoted in cases]).checks
                seconds += time.process_time() - began
                wrong += [
                    {
                        "seed": seed,
                        "expected": expected,
                        "got": check.status,
                        "quotation": check.quotation,
                        "nearest": [place.text for place in check.places],
                    }
                    for (expected, _), check in zip(cases, checks, strict=True)
                    if check.status != expected
                ]
    result = {
        "seeds": seeds,
        "quotations": dict(counts),
        "wrong": len(wrong),
        "ms_each": round(1000 * seconds / counts.total(), 1),
    }
    save("quotes", result)
    print(json.dumps({**result, "which": wrong}, ensure_ascii=False))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

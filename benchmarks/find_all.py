"""What finding every place costs: patterns of each kind at several sizes of a library, in processor time.

    python -m benchmarks.find_all [--chunks 20000 100000] [--rounds 5]

The libraries are those of ``benchmarks.scale``. The first page of 100 hits is asked for, and the total with it.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from benchmarks.common import load_average, save
from benchmarks.scale import TopicEmbedder, _typical, scaled_library
from loccit import Library

SIZES = (20_000, 100_000)
PATTERNS = {
    "phrase, nowhere": ("zebra crossing", "phrase"),
    "phrase, one document": ("Supply Agreement 000003", "phrase"),
    "phrase, in many documents": ("confidential information", "phrase"),
    "phrase, everywhere": ("the", "phrase"),
    "phrase of two common words": ("of the", "phrase"),
    "words, rare": ("Affiliate audit records", "words"),
    "words, everywhere": ("the shall", "words"),
    "regex with a word": (r"customer data\w*", "regex"),
    "regex without letters, nowhere": (r"\d{1,2}/\d{1,2}/\d{4}", "regex"),
    "regex without letters, everywhere": (r"\d+", "regex"),
    "regex of numbers and a word": (r"[0-9]+ days", "regex"),
    "regex of capitals": (r"(?-i)[A-Z]{5,}", "regex"),
    "regex, every line": (r"^.+$", "regex"),
    "regex of alternatives": (r"\b(shall|may|must)\b", "regex"),
    "regex of any word and a name": (r"[A-Z]\w+ Agreement", "regex"),
    "regex across lines": (r"\d+\s+(?:days|months|years)", "regex"),
}


def measure(index: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Return the hits and the milliseconds of each pattern."""
    with Library(index, create=False, embedder=TopicEmbedder()) as library:
        figures = {}
        for name, (pattern, kind) in PATTERNS.items():
            ask = partial(library.find_all, pattern, kind=kind)
            figures[name] = {"hits": ask().total, "ms": _typical([ask], rounds)}
        return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    sizes = {str(chunks): measure(scaled_library(chunks)[1], options.rounds) for chunks in options.chunks}
    save("find_all", {"sizes": sizes, "load": load_average()})
    for name in PATTERNS:
        print(
            f"{name:36}"
            + "".join(f"{size[name]['hits']:>10,} {size[name]['ms']:>8.1f}" for size in sizes.values())
        )


if __name__ == "__main__":
    main()

"""The terms of a library: its words, word pairs that belong together, headings and defined terms.

They are counted over at most ``MAX_CHUNKS`` chunks, evenly spread, so that a large library costs no more than a
middling one; of ten thousand terms, hardly any would come out differently.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache

from pinakes.stores.embedded.record import Record
from pinakes.text.folding import fold, lower
from pinakes.text.stemming import algorithm_for, index_forms
from pinakes.text.stopwords import STOPWORDS

MAX_CHUNKS = 20_000
_BATCH = 500
_MAX_PAIRS = 1_000_000
# A pair is a term when it is met this often, and is a fair share of the uses of its rarer word.
_MIN_PAIRS, _PAIR_SHARE = 3, 0.1
_NAMED_SHARE = 0.25
_MAX_NAME_WORDS, _MAX_NAME_LENGTH = 4, 60

# Words with nothing but a space between them; letters only, since numbers and identifiers are no concepts.
# Scripts without spaces between words are left out: what stands together there is no word.
_LETTERS = r"[^\W\d_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff]{1,40}"
_RUN = re.compile(rf"(?<![\w-]){_LETTERS}(?: {_LETTERS})*(?![\w-])")
_MIN_LETTERS = 3


def corpus_terms(record: Record, limit: int) -> list[str]:
    """Return the terms of the documents, the most telling first: names, then words and pairs by their counts."""
    words: dict[str, Counter[str]] = defaultdict(Counter)
    pairs: Counter[tuple[str, str]] = Counter()
    for language, text in _texts(record):
        seen, following = _terms_of(text, _function_words(language))
        words[language].update(seen)
        pairs.update(following)
        if len(pairs) > _MAX_PAIRS:
            pairs = Counter({pair: count for pair, count in pairs.items() if count > 1})
    counts = _merged(words)
    named = _names(record, int(limit * _NAMED_SHARE))
    totals = sum(words.values(), Counter())
    for (first, second), count in pairs.items():
        if count >= max(_MIN_PAIRS, _PAIR_SHARE * min(totals[first], totals[second])):
            counts[f"{first} {second}"] = count
    # By name where counts are equal: the same documents give the same terms.
    ranked = sorted(counts, key=lambda term: (-counts[term], term))
    return list(dict.fromkeys([*named, *ranked]))[:limit]


def _texts(record: Record) -> Iterator[tuple[str, str]]:
    total = int(record.database.value("SELECT COUNT(*) FROM chunks"))
    stride, last = max(1, -(-total // MAX_CHUNKS)), 0
    while rows := record.database.rows(
        "SELECT c.id, d.language, c.content FROM chunks c JOIN documents d ON d.id = c.document "
        "WHERE c.id > ? AND c.id % ? = 0 ORDER BY c.id LIMIT ?",
        (last, stride, _BATCH),
    ):
        yield from ((row[1], row[2]) for row in rows)
        last = rows[-1][0]


def _terms_of(text: str, function_words: frozenset[str]) -> tuple[set[str], set[tuple[str, str]]]:
    """The words of a text and the pairs of neighbours among them, each once."""
    words: set[str] = set()
    pairs: set[tuple[str, str]] = set()
    lowered = text.lower() if text.isascii() else unicodedata.normalize("NFC", text).lower()
    for run in _RUN.findall(lowered):
        before = ""
        for word in run.split(" "):
            if len(word) < _MIN_LETTERS or fold(word) in function_words:
                before = ""
                continue
            words.add(word)
            if before:
                pairs.add((before, word))
            before = word
    return words, pairs


@cache
def _function_words(language: str) -> frozenset[str]:
    return STOPWORDS["en"] | STOPWORDS.get(language, frozenset())


def _merged(words: dict[str, Counter[str]]) -> Counter[str]:
    """Count the forms of a word together, under the one that is met most."""
    groups: dict[str, Counter[str]] = defaultdict(Counter)
    for language, counts in words.items():
        algorithm = algorithm_for(language or "en")
        for word, count in counts.items():
            groups[index_forms(word, algorithm)[0]][word] += count
    return Counter(
        {max(forms, key=lambda word: (forms[word], word)): forms.total() for forms in groups.values()}
    )


def _names(record: Record, limit: int) -> list[str]:
    """Headings and defined terms of a few words, the most frequent first."""
    counts: Counter[str] = Counter()
    for query in (
        "SELECT MIN(term), COUNT(*) FROM definitions GROUP BY term_normalized",
        "SELECT MIN(title), COUNT(*) FROM places WHERE title_key != '' GROUP BY title_key",
    ):
        for text, count in record.database.rows(query):
            name = " ".join(re.findall(r"[\w'’-]+", lower(text[: 2 * _MAX_NAME_LENGTH])))
            if len(name) <= _MAX_NAME_LENGTH and _is_name(name.split()):
                counts[name] += count
    return sorted(counts, key=lambda name: (-counts[name], name))[:limit]


def _is_name(words: Sequence[str]) -> bool:
    telling = [word for word in words if len(word) >= _MIN_LETTERS and fold(word) not in STOPWORDS["en"]]
    return bool(telling) and len(words) <= _MAX_NAME_WORDS and not any(map(str.isdigit, "".join(words)))

"""Token positions from a Hugging Face ``tokenizer.json``."""

from __future__ import annotations

import re
import string
import threading
from collections.abc import Iterator
from itertools import accumulate, groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

from loccit.errors import LoccitError

if TYPE_CHECKING:
    import tokenizers

# Long texts are encoded in pieces, in parallel: in one call, 5 MB take a gigabyte. Pieces end where no token
# can cross: at the start of a line, or in a very long line before a space (which some models join to the next
# word).
_PIECE_CHARACTERS = 20_000
_LINE_START = re.compile(r"(?<=\n)(?=\S)")
_WORD_START = re.compile(r"(?<=\S)(?= )")
_LINE_REACH = 2_000
_PIECES_AT_ONCE = 64
# If tokens end at spaces and punctuation, words are counted one by one, and their counts cached: this many,
# without very long ones. Some characters are dropped there rather than being spaces.
_MOST_WORDS, _LONGEST_WORD = 32_768, 64
# Brackets may be part of a special token, such as [MASK].
_MARKS = string.punctuation.translate({ord("["): None, ord("]"): None}).encode()
_SPACED = bytes.maketrans(_MARKS, b" " * len(_MARKS))
_REMOVED = bytes((0x0B, 0x0C, *range(0x1C, 0x20)))
_PLAIN_WORD = re.compile(r"([A-Za-z0-9]+|[!-/:-@\[-`{-~])")


class HuggingFaceTokenizer:
    """Splits text with a model's tokenizer. The file is read on first use."""

    def __init__(self, path: str | Path) -> None:
        self.path: Path = Path(path)
        self._lock = threading.Lock()
        self._tokenizer: tokenizers.Tokenizer | None = None
        self._words: dict[str, int] | None = None
        self._spans: dict[str, list[tuple[int, int]]] = {}
        self._special: tuple[str, ...] = ()

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of ``text``, ascending and without overlap."""
        tokenizer = self._load()
        lowered = text.lower()
        if self._words is None or any(token in lowered for token in self._special):
            return _encoded(tokenizer, text)
        # Where words are encoded one by one, those of plain lines are looked up, which is four times as quick.
        spans: list[tuple[int, int]] = []
        for start, stop in _piece_bounds(text):
            at = start
            for plain, lines in groupby(text[start:stop].split("\n"), _is_plain):
                stretch = "\n".join(lines)
                found = self._looked_up(tokenizer, stretch, at) if plain else _encoded(tokenizer, stretch, at)
                spans.extend(found)
                at += len(stretch) + 1
        return spans

    def _looked_up(self, tokenizer: tokenizers.Tokenizer, text: str, base: int) -> list[tuple[int, int]]:
        parts = _PLAIN_WORD.split(text)
        words, starts = parts[1::2], islice(accumulate(map(len, parts), initial=base), 1, len(parts), 2)
        known = self._spans
        if new := list(set(words).difference(known)):
            if any(len(word) > _LONGEST_WORD for word in new):
                return _encoded(tokenizer, text, base)
            encodings = tokenizer.encode_batch(new, add_special_tokens=False)
            known.update((word, item.offsets) for word, item in zip(new, encodings, strict=True))
            if len(known) > _MOST_WORDS:
                self._spans = {}
        return [
            (start + first, start + last)
            for word, start in zip(words, starts, strict=True)
            for first, last in known[word]
        ]

    def count(self, text: str) -> int:
        """Return the number of tokens of ``text``, without special tokens."""
        tokenizer, known = self._load(), self._words
        if known is None:
            return sum(sum(_counts(tokenizer, [piece for _, piece in batch])) for batch in _batches(text))
        # Answers are made of the same words again and again, and counted more than once until they fit.
        # Each mark is a token, and ends a word.
        raw = text.replace("\x85", "").encode("utf-8", "surrogatepass")
        marks = len(raw) - len(raw.translate(None, _MARKS))
        words = raw.translate(_SPACED, _REMOVED).decode("utf-8", "surrogatepass").split()
        try:
            return marks + sum(map(known.__getitem__, words))
        except KeyError:
            return marks + self._learn(tokenizer, known, words)

    def _learn(self, tokenizer: tokenizers.Tokenizer, known: dict[str, int], words: list[str]) -> int:
        """Return the token counts of some words, not all of which are cached."""
        new = [word for word in dict.fromkeys(words) if word not in known]
        found = dict(zip(new, _counts(tokenizer, new), strict=True))
        total = sum(found[word] if word in found else known[word] for word in words)
        if len(known) + len(found) > _MOST_WORDS:
            known = self._words = {}
        known.update((word, count) for word, count in found.items() if len(word) <= _LONGEST_WORD)
        return total

    def _load(self) -> tokenizers.Tokenizer:
        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = read_tokenizer(self.path)
                self._words = {} if _ends_tokens_at_spaces(self._tokenizer) else None
                added = self._tokenizer.get_added_tokens_decoder().values()
                self._special = tuple(token.content.lower() for token in added)
            return self._tokenizer

    def __getstate__(self) -> dict[str, Path]:
        """Pickle as the path alone."""
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Path]) -> None:
        self.__init__(state["path"])  # type: ignore[misc]


def _is_plain(line: str) -> bool:
    return line.isascii() and line.isprintable()


def _encoded(tokenizer: tokenizers.Tokenizer, text: str, base: int = 0) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    end = 0
    for batch in _batches(text):
        pieces = [piece for _, piece in batch]
        # One alone is not worth waking other threads.
        encodings = (
            tokenizer.encode_batch(pieces, add_special_tokens=False)
            if len(pieces) > 1
            else [tokenizer.encode(pieces[0], add_special_tokens=False)]
        )
        for (offset, _), encoding in zip(batch, encodings, strict=True):
            offset += base
            for first, last in encoding.offsets:
                # A character that becomes several tokens gives each of them the same span: keep one.
                start, stop = max(offset + first, end), offset + last
                if stop > start:
                    spans.append((start, stop))
                    end = stop
    return spans


def read_tokenizer(path: Path) -> tokenizers.Tokenizer:
    """Read ``tokenizer.json`` with truncation and padding disabled."""
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise LoccitError(f"Cannot read the tokenizer {path}: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _ends_tokens_at_spaces(tokenizer: tokenizers.Tokenizer) -> bool:
    """Whether a tokenizer is BERT's, which splits text at words and single punctuation marks."""
    import tokenizers

    normalizer = tokenizer.normalizer
    return (
        isinstance(normalizer, tokenizers.normalizers.BertNormalizer)
        and normalizer.clean_text
        and isinstance(tokenizer.pre_tokenizer, tokenizers.pre_tokenizers.BertPreTokenizer)
    )


def _counts(tokenizer: tokenizers.Tokenizer, texts: list[str]) -> Iterator[int]:
    return (len(item.ids) for item in tokenizer.encode_batch_fast(texts, add_special_tokens=False))


def _batches(text: str) -> Iterator[list[tuple[int, str]]]:
    """Yield groups of (offset, piece); together the pieces are the text."""
    batch: list[tuple[int, str]] = []
    for start, stop in _piece_bounds(text):
        batch.append((start, text[start:stop]))
        if len(batch) == _PIECES_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def _piece_bounds(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while len(text) - start > _PIECE_CHARACTERS:
        at = start + _PIECE_CHARACTERS
        found = _LINE_START.search(text, at, at + _LINE_REACH) or _WORD_START.search(text, at)
        if found is None:
            break
        yield start, found.end()
        start = found.end()
    if start < len(text):
        yield start, len(text)

"""Token positions from a Hugging Face ``tokenizer.json``."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pinakes.errors import PinakesError

if TYPE_CHECKING:
    import tokenizers

# Long texts are encoded in pieces, in parallel: in one go, 5 MB take a gigabyte. Pieces end where no token can
# cross: at the start of a line, or in a very long line before a space (which some models join to the next word).
_PIECE_CHARACTERS = 20_000
_LINE_START = re.compile(r"(?<=\n)(?=\S)")
_WORD_START = re.compile(r"(?<=\S)(?= )")
_LINE_REACH = 2_000
_PIECES_AT_ONCE = 64


class HuggingFaceTokenizer:
    """Splits text with the tokenizer of a model. The file is read when it is first needed."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._tokenizer: tokenizers.Tokenizer | None = None

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the character span of each token of ``text``, ascending and without overlap."""
        tokenizer = self._load()
        spans: list[tuple[int, int]] = []
        end = 0
        for batch in _batches(text):
            encodings = tokenizer.encode_batch([piece for _, piece in batch], add_special_tokens=False)
            for (base, _), encoding in zip(batch, encodings, strict=True):
                for first, last in encoding.offsets:
                    # A character that becomes several tokens gives each of them the same span: keep one.
                    start, stop = max(base + first, end), base + last
                    if stop > start:
                        spans.append((start, stop))
                        end = stop
        return spans

    def count(self, text: str) -> int:
        """Return how many tokens the model makes of ``text``, without special tokens."""
        tokenizer = self._load()
        return sum(
            len(encoding.ids)
            for batch in _batches(text)
            for encoding in tokenizer.encode_batch_fast(
                [piece for _, piece in batch], add_special_tokens=False
            )
        )

    def _load(self) -> tokenizers.Tokenizer:
        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = read_tokenizer(self.path)
            return self._tokenizer

    def __getstate__(self) -> dict[str, Path]:
        """Travel to another process as the path alone."""
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Path]) -> None:
        self.__init__(state["path"])  # type: ignore[misc]


def read_tokenizer(path: Path) -> tokenizers.Tokenizer:
    """Read ``tokenizer.json`` with truncation and padding off."""
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises plain Exception
        raise PinakesError(f"Cannot read the tokenizer {path}: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


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

"""Wording: a chunk's own words, prepared for comparison as far as a comparison needs them."""

from __future__ import annotations

import numpy as np

from pinakes.port.rows import StoredChunk
from pinakes.search.select.refine import marks
from pinakes.search.select.refine.lazy import lazy

# Below this many words, three words in a row are too coarse a measure.
_FEW_WORDS = 12
# Characters to a word beyond which the script has no spaces: the longest mean of any that has is about 9.
_LONG_WORDS = 12
# Characters from which on a word is a long one: two in five are.
_LONG = 7
# What follows the last character: none has this code.
_NO_CHARACTER = 0x110000
# Labels stand in the first line; a number further down is part of what is said.
_LABEL_WITHIN = 120


class Wording:
    """The text of a chunk, without what is repeated from before it.

    Everything is computed when first asked for, cheapest first: most chunks are told apart by the first looks.
    """

    def __init__(self, chunk: StoredChunk) -> None:
        self.chunk = chunk

    @property
    def id(self) -> int:
        """The chunk's id."""
        return self.chunk.id

    @lazy
    def own(self) -> str:
        """The chunk's own text; rows of a table keep the header that says what they mean."""
        chunk = self.chunk
        own = chunk.content[chunk.prefix :]
        return chunk.content if own.lstrip().startswith("|") else own

    @lazy
    def key(self) -> str:
        """What two exact duplicates share: the text with white space, case and marks of emphasis folded."""
        return " ".join(self._tokens)

    @lazy
    def _tokens(self) -> list[str]:
        plain = self.own.lstrip("# \n").replace("**", "").replace("__", "").replace("`", "")
        return plain.casefold().split()

    @lazy
    def size(self) -> int:
        """How long the text is."""
        return len(self.key)

    @lazy
    def by_characters(self) -> bool:
        """Whether words are too few, or not parted by spaces, so that characters are the better measure."""
        return len(self._tokens) < _FEW_WORDS or len(self.key) > _LONG_WORDS * len(self._tokens)

    @lazy
    def long_tokens(self) -> frozenset[str]:
        """The longer of what stands between spaces: few, and seldom shared by texts that say different things."""
        return frozenset([token for token in self._tokens if len(token) >= _LONG])

    @lazy
    def tokens(self) -> frozenset[str]:
        """What stands between spaces."""
        return frozenset(self._tokens)

    @lazy
    def pairs(self) -> frozenset[int]:
        """About a third of the pairs of neighbouring characters, always the same ones, each as a number."""
        codes = np.frombuffer(self.key.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
        following = np.append(codes[1:], _NO_CHARACTER)
        return frozenset(((codes << 32) + following)[codes % 3 == 0].tolist())

    @lazy
    def said(self) -> str:
        """The text without the number of its section: the same clause is 4.2 here and 5.1 there."""
        label, own = self.chunk.section_label, self.own
        at = own.find(label, 0, _LABEL_WITHIN) if label and self.chunk.chunk_type != "header" else -1
        if at < 0 or "\n" in own[:at].strip():
            return own
        rest = own[:at] + own[at + len(label) :]
        return rest if marks.WORD.search(rest) else own

    @lazy
    def written(self) -> list[str]:
        """The words as they are written."""
        return marks.WORD.findall(self.said)

    @lazy
    def words(self) -> list[str]:
        """The words, case folded."""
        return [word.casefold() for word in self.written]

    @lazy
    def vocabulary(self) -> frozenset[str]:
        """The different words, case folded."""
        return frozenset(self.words)

    @lazy
    def word_grams(self) -> frozenset[tuple[str, ...]]:
        """Every three words in a row."""
        words = self.words
        return frozenset(zip(words, words[1:], words[2:], strict=False) if len(words) > 2 else [tuple(words)])

    @lazy
    def character_grams(self) -> frozenset[str]:
        """Every three letters in a row, punctuation and white space aside."""
        text = "".join(self.words)
        return frozenset(text[at : at + 3] for at in range(max(1, len(text) - 2)))

    # -- what tells the claim of a text from that of another in nearly the same words ---------------------------

    @lazy
    def numbers(self) -> tuple[str, ...]:
        """The numbers in order, with signs and units."""
        return marks.numbers(self.said)

    @lazy
    def turns(self) -> dict[str, int]:
        """The words that turn a sentence round, and how often each does."""
        return marks.turning_words(self.words, self.said)

    @lazy
    def facts(self) -> dict[str, int]:
        """What those words say, and how often it is denied."""
        return marks.facts(self.turns)

    @lazy
    def names(self) -> tuple[str, ...]:
        """The words with capitals or underscores in order, case folded."""
        return marks.names(self.written)

    @lazy
    def capitalised(self) -> tuple[frozenset[str], frozenset[str]]:
        """The capitalised words inside sentences, and those that begin one, case folded."""
        return marks.capitalised(self.said)

    @lazy
    def shows_names(self) -> bool:
        """Whether names can be told from words: not in scripts without capitals, nor in programs."""
        return marks.has_case(self.said) and not marks.is_code(self.said)

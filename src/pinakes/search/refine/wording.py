"""Wording: a chunk's own words, prepared for comparison as far as a comparison needs them."""

from __future__ import annotations

from functools import cached_property

from pinakes.search.refine import marks
from pinakes.stores.embedded.lookup import StoredChunk

# Below this many words, three words in a row are too coarse a measure.
_FEW_WORDS = 12
# Characters to a word beyond which the script has no spaces: the longest mean of any that has is about 9.
_LONG_WORDS = 12
# Characters from which on a word is a long one: two in five are.
_LONG = 7
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

    @cached_property
    def own(self) -> str:
        """The chunk's own text; rows of a table keep the header that says what they mean."""
        chunk = self.chunk
        own = chunk.content[chunk.prefix :]
        return chunk.content if own.lstrip().startswith("|") else own

    @cached_property
    def key(self) -> str:
        """What two exact twins share: the text with white space, case and marks of emphasis folded."""
        return " ".join(self._tokens)

    @cached_property
    def _tokens(self) -> list[str]:
        plain = self.own.lstrip("# \n").replace("**", "").replace("__", "").replace("`", "")
        return plain.casefold().split()

    @cached_property
    def size(self) -> int:
        """How long the text is."""
        return len(self.key)

    @cached_property
    def by_characters(self) -> bool:
        """Whether words are too few, or not parted by spaces, so that characters are the better measure."""
        return len(self._tokens) < _FEW_WORDS or len(self.key) > _LONG_WORDS * len(self._tokens)

    @cached_property
    def long_tokens(self) -> frozenset[str]:
        """The longer of what stands between spaces: few, and seldom shared by texts that say different things."""
        return frozenset([token for token in self._tokens if len(token) >= _LONG])

    @cached_property
    def tokens(self) -> frozenset[str]:
        """What stands between spaces."""
        return frozenset(self._tokens)

    @cached_property
    def pairs(self) -> frozenset[str]:
        """About a third of the pairs of neighbouring characters, always the same ones."""
        key = self.key
        return frozenset([key[at : at + 2] for at, char in enumerate(key) if ord(char) % 3 == 0])

    @cached_property
    def said(self) -> str:
        """The text without the number of its section: the same clause is 4.2 here and 5.1 there."""
        label, own = self.chunk.section_label, self.own
        at = own.find(label, 0, _LABEL_WITHIN) if label and self.chunk.chunk_type != "header" else -1
        if at < 0 or "\n" in own[:at].strip():
            return own
        rest = own[:at] + own[at + len(label) :]
        return rest if marks.WORD.search(rest) else own

    @cached_property
    def written(self) -> list[str]:
        """The words as they are written."""
        return marks.WORD.findall(self.said)

    @cached_property
    def words(self) -> list[str]:
        """The words, case folded."""
        return [word.casefold() for word in self.written]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The different words, case folded."""
        return frozenset(self.words)

    @cached_property
    def word_grams(self) -> frozenset[tuple[str, ...]]:
        """Every three words in a row."""
        words = self.words
        return frozenset(zip(words, words[1:], words[2:], strict=False) if len(words) > 2 else [tuple(words)])

    @cached_property
    def character_grams(self) -> frozenset[str]:
        """Every three letters in a row, punctuation and white space aside."""
        text = "".join(self.words)
        return frozenset(text[at : at + 3] for at in range(max(1, len(text) - 2)))

    # -- what tells the claim of a text from that of another in nearly the same words ---------------------------

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """The numbers in order, with signs and units."""
        return marks.numbers(self.said)

    @cached_property
    def turns(self) -> dict[str, int]:
        """The words that turn a sentence round, and how often each does."""
        return marks.turning_words(self.words, self.said)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The words with capitals or underscores in order, case folded."""
        return marks.names(self.written)

    @cached_property
    def names_inside(self) -> frozenset[str]:
        """The capitalised words inside sentences, case folded."""
        return marks.names_inside(self.said)

    @cached_property
    def shows_names(self) -> bool:
        """Whether names can be told from words: not in scripts without capitals, nor in programs."""
        return marks.has_case(self.said) and not marks.is_code(self.said)

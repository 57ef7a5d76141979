"""Classify: whether a chunk defines, requires, refers or just says."""

from __future__ import annotations

import re
from itertools import pairwise

from pinakes.model import ChunkType
from pinakes.text.sentences import sentence_ends

# Verbs that put somebody under a duty, by language. A lookahead leaves out definitions (`shall mean`) and guesses
# (`must have been`).
_OBLIGATION = {
    "en": r"(?:shall|must)\b(?!\s+(?:mean|have\s+been|refer)\b|-)|"
    r"(?:is|are)\s+(?:required|obliged|obligated|prohibited)\b(?=\s+(?:to|from)\b)|(?:has|have)\s+(?:the\s+duty\s+to|to)\b|(?:may|can)\s+not\b|may\s+only\b",
    "de": r"muss|müssen|(?:ist|sind)\s+verpflichtet|(?:ist|sind)\s+(?:\w+\s+){0,8}zu\s+\w+en\b|"
    r"(?:hat|haben)\s+(?:\w+\s+){0,8}zu\s+\w+en\b|d(?:arf|ürfen)\s+(?:nicht|nur|kein\w*)",
    "fr": r"doi(?:t|vent)|(?:est|sont)\s+tenue?s?\s+de|ne\s+peu(?:t|vent)\s+(?:pas|que)",
    "es": r"debe(?:n|rá|rán)?|está(?:n)?\s+obligad[oa]s?|no\s+podrá(?:n)?",
    "it": r"dev(?:e|ono)|dovr(?:à|anno)|(?:è|sono)\s+tenut[oaie]",
    "pt": r"dev(?:e|em|erá|erão)|não\s+pode(?:m|rá|rão)?",
    "nl": r"moet(?:en)?|(?:is|zijn)\s+verplicht|mag\s+niet|mogen\s+niet",
}
_PATTERNS = {
    language: re.compile(rf"\b(?:{forms})", re.IGNORECASE) for language, forms in _OBLIGATION.items()
}
# Who is obliged stands before the verb, with nothing heavier than this between.
_LIGHT = frozenset(",’'()-")
_QUOTED = re.compile(r"[\"“„«][^\"”“»]{0,300}[\"”“»]")
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
# A chunk that is mostly pointers to other places is there to lead on.
_REFERENCE_SHARE = 0.5
_LONGEST_SENTENCE = 2000


def classify(
    text: str, language: str, *, only_heading: bool, defines: bool, reference_characters: int
) -> ChunkType:
    """Return what a chunk mostly is."""
    if only_heading:
        return ChunkType.HEADER
    if defines:
        return ChunkType.DEFINITION
    words = _HEADING.sub(" ", _CODE.sub(" ", text))
    if reference_characters > _REFERENCE_SHARE * max(1, len(words.strip())):
        return ChunkType.REFERENCE
    return ChunkType.REQUIREMENT if states_duty(words, language) else ChunkType.CONTENT


def states_duty(text: str, language: str) -> bool:
    """Return whether a sentence of the text puts somebody under an obligation."""
    pattern = _PATTERNS.get(language or "en")
    if pattern is None:
        return False
    plain = _QUOTED.sub(" ", text)
    edges = [0, *sentence_ends(plain), len(plain)]
    for start, end in pairwise(edges):
        sentence = plain[start:end].strip()
        if not sentence.endswith("?") and _obliges(sentence[:_LONGEST_SENTENCE], pattern):
            return True
    return False


def _obliges(sentence: str, pattern: re.Pattern[str]) -> bool:
    """Return whether a verb of duty has a word before it."""
    match = pattern.search(sentence)
    while match is not None:
        before = match.start() - 1
        while before >= 0 and (sentence[before] in _LIGHT or sentence[before].isspace()):
            before -= 1
        if before >= 0 and (sentence[before].isalnum() or sentence[before] == "_"):
            return True
        match = pattern.search(sentence, match.start() + 1)
    return False

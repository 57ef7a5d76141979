"""What is a heading and what only looks like one: contracts set whole clauses in heading styles, and begin
clauses with a title of their own (``4.1 **Fees.** Customer will pay``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pinakes.ingest.convert.docx_markdown import Span

# Text longer than this is a clause, whatever its style.
LONGEST_HEADING = 300
# A number and this much text without an end are a clause that goes on below.
_LONGEST_NUMBERED = 200
_LONGEST_ENDED = 100
# A sentence this long is no heading: titles have few words that are both long and without a capital.
_SENTENCE_WORDS, _SENTENCE_PLAIN_WORDS = 8, 2
_PLAIN_WORD = 5
_LONGEST_TITLE = 100

_CLOSING = "\"'”’»)] "
_ENDS = ".;:,。；：，"
_GOES_ON = re.compile(r"[;,.:] ?(?:and|or|und|oder|et|ou|y|o|e|и|или)$")
# "Fees. Customer will pay": a title, and the sentence that it belongs to.
_RUN_IN = re.compile(r"\w{3}[”\")\]]?[.:] +[“\"(\[]?[^\W\d_]")


def is_clause(text: str, numbered: bool) -> bool:
    """Whether a paragraph in a heading style is text to be read rather than the name of what follows.

    Without an automatic number only its length tells: regulations type their numbers, and put a full stop after
    what they call their sections.
    """
    if not numbered:
        return len(text) > LONGEST_HEADING
    if len(text) > _LONGEST_NUMBERED:
        return True
    bare = text.rstrip(_CLOSING)
    if not bare.endswith(tuple(_ENDS)):
        return _GOES_ON.search(bare) is not None
    words = bare.split()
    plain = sum(len(word) >= _PLAIN_WORD and word[0].islower() for word in words)
    return (
        len(text) > _LONGEST_ENDED
        or bare[-1] in ";,；，"
        or (len(words) >= _SENTENCE_WORDS and plain >= _SENTENCE_PLAIN_WORDS)
        or (plain > 0 and _RUN_IN.search(bare) is not None)
    )


def with_title(spans: Sequence[Span]) -> list[Span]:
    """The spans of a paragraph, with the emphasis of an underlined title that it begins with."""
    title: list[Span] = []
    for span in spans:
        if any(map(str.isalnum, span.text)) and not span.underlined:
            break
        title.append(span)
    if not 0 < sum(len(span.text) for span in title) <= _LONGEST_TITLE:
        return list(spans)
    return [replace(span, italic=span.italic or span.underlined) for span in title] + list(
        spans[len(title) :]
    )


def run_in(title: Sequence[Span], text: Sequence[Span]) -> list[Span]:
    """One paragraph of a heading and the text on the same line, which is how a style separator prints them."""
    if not any(span.bold or span.italic or span.underlined for span in title):
        title = [replace(span, bold=True) for span in title]
    return [*title, Span(" "), *text]

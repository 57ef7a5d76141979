"""Code blocks: where a document contains code, in which language, and which chunk has which part.

Fences, indented blocks and inline code come from the Markdown parser, over the whole document, so a chunk that begins
in the middle of a long listing still knows its language. Unmarked code is recognised by its appearance.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyromark

from loccit.grammar.text.code_languages import code_language, language_of_file

_MAY_HAVE_CODE = re.compile(r"`|~~~|^(?: {4}|\t)", re.MULTILINE)
# A line of code by how it ends, begins, or by what it has in it.
_CODE_ENDS = (*";{}([\\", "=>", "->")
_CODE_BEGINS = re.compile(
    r"""[ \t]+\.\w | \s*(?:
        (?:import|from|use|using|package|require|def|fn|func|function|class|struct|enum|impl|trait|pub|public|private
           |static|const|let|var|return|if|elif|else|for|while|try|except|catch|end|async|await)\b.*[({:;<"'*=]
      | "{3} | '{3} | @\w
      | [])}]+[,;]?\s*\Z
    )""",
    re.VERBOSE,
)
_CODE_INSIDE = re.compile(
    r"""\s(?::=|[-+*/|&]?=|==|!=|=>|->)\s|::|\w=[\w"'({\[]|\)\s*:\s*\Z|\w\s*\([^)\n]*\)\s*\Z"""
)
_COMMENT = re.compile(r"\s*(?://|/\*|\*|\#)")
_LINK = re.compile(r"\]\([^)\s]*\)|https?://\S+")
_SIGNS = re.compile(r"[{}()\[\]<>=_;&*+$#@\\\"']")
_RARE_SIGNS = re.compile(r"[{}\[\]<>=_&$@\\]")  # which lists of clauses do not have
_LOOKED_AT = 40_000
_LINE_LENGTH = 300
_FEWEST_LINES = 3
_SAMPLE = 60
_CODE_SHARE = 0.6
_SIGN_SHARE = 0.06
_RARE_SIGN_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Code with its language ("" if unknown), and its position in the text."""

    language: str
    text: str
    start: int
    end: int
    inline: bool = False


def code_blocks(text: str, language_hint: str = "") -> list[CodeBlock]:
    """The code in a text, in order: all of it if the hint names its language, or else what Markdown marks as code.

    >>> [(block.language, block.text) for block in code_blocks("Call `run`:\\n```py\\nrun()\\n```\\n")]
    [('', 'run'), ('python', 'run()\\n')]
    """
    if language_hint:
        return [CodeBlock(language_hint, text, 0, len(text))] if text.strip() else []
    if not _MAY_HAVE_CODE.search(text):
        return []
    data = text.encode("utf-8", "replace")
    character = _character_offsets(data)
    blocks: list[CodeBlock] = []
    language: str | None = None
    pieces: list[tuple[str, int, int]] = []
    for event, span in pyromark.events_with_range(data.decode()):
        if isinstance(event, str):
            continue
        kind, value = next(iter(event.items()))
        if kind == "Start" and isinstance(value, dict) and "CodeBlock" in value:
            language = _fence_language(value["CodeBlock"])
        elif kind == "Text" and language is not None:
            # A block in a list or a quote comes line by line.
            pieces.append((str(value), character(span["start"]), character(span["end"])))
        elif kind == "End" and value == "CodeBlock":
            if pieces:
                joined = "".join(piece for piece, _, _ in pieces)
                blocks.append(CodeBlock(language or "", joined, pieces[0][1], pieces[-1][2]))
            language, pieces = None, []
        elif kind == "Code":
            blocks.append(
                CodeBlock("", str(value), character(span["start"]), character(span["end"]), inline=True)
            )
    return blocks


def document_code(text: str, path: str) -> list[CodeBlock]:
    """The code in a document: all of it if its name or appearance says that it is a source file."""
    if hint := language_of_file(path):
        return code_blocks(text, hint)
    blocks = code_blocks(text)
    if not any(block.language for block in blocks) and looks_like_code(text):
        return [CodeBlock("", text, 0, len(text))]
    return blocks


def chunk_code(blocks: Sequence[CodeBlock], content: str, prefix: int, start: int) -> list[CodeBlock]:
    """The code in a chunk: its part of the document's blocks.

    ``content`` begins at ``start`` in the document's text, after a ``prefix`` that is repeated from elsewhere. A chunk
    that looks like code throughout is code, marked or not.
    """
    own = content[prefix:]
    end = start + len(own)
    first = max(0, bisect_right(blocks, start, key=lambda block: block.start) - 1)
    held = []
    for block in blocks[first:]:
        if block.start >= end:
            break
        low, high = max(block.start, start), min(block.end, end)
        if low < high:
            whole = (low, high) == (block.start, block.end)
            text = block.text if whole else own[low - start : high - start]
            held.append(CodeBlock(block.language, text, low, high, block.inline))
    marked = sum(block.end - block.start for block in held if not block.inline)
    if 2 * marked < len(content) and looks_like_code(content):
        return [CodeBlock("", content, start, end)]
    return held


def looks_like_code(text: str) -> bool:
    """Whether most lines could be part of a program and would look odd in prose."""
    text = _LINK.sub(" ", text[:_LOOKED_AT])
    lines = [line[:_LINE_LENGTH] for line in text.splitlines() if line.strip() and not _COMMENT.match(line)]
    if len(lines) < _FEWEST_LINES:
        return False
    whole = "".join("".join(lines).split())
    if len(_SIGNS.findall(whole)) < _SIGN_SHARE * len(whole):
        return False
    if len(_RARE_SIGNS.findall(whole)) < _RARE_SIGN_SHARE * len(whole):
        return False
    sample = lines[:: len(lines) // _SAMPLE + 1]
    return sum(map(_is_code, sample)) >= _CODE_SHARE * len(sample)


def _is_code(line: str) -> bool:
    end = line.rstrip()
    return (
        end.endswith(_CODE_ENDS)
        or (end.endswith(",") and line[0] in " \t")
        or _CODE_BEGINS.match(line) is not None
        or _CODE_INSIDE.search(line) is not None
    )


def _fence_language(detail: Any) -> str:
    return code_language(str(detail["Fenced"])) if isinstance(detail, dict) and "Fenced" in detail else ""


def _character_offsets(data: bytes) -> Callable[[int], int]:
    """Convert the parser's byte offsets to characters."""
    if data.isascii():
        return lambda offset: offset
    starts = (np.frombuffer(data, dtype=np.uint8) & 0xC0) != 0x80
    counts = np.concatenate(([0], np.cumsum(starts, dtype=np.int64)))
    return lambda offset: int(counts[offset])

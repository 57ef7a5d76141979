"""Other markups, as Markdown: which there are, and what reads each of them.

Only what carries structure is translated. What would mean something else in Markdown (a rule under a line, a comment
that starts with ``#``) is taken out of its way; everything else is left as written. Each line knows the line of the
file that it came from.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from pinakes.ingest.convert.written import Translated

_HERE = "pinakes.ingest.convert"
_READERS = {
    ".rst": "rst:rst_to_markdown",
    ".adoc": "adoc:adoc_to_markdown",
    ".org": "org:org_to_markdown",
    ".tex": "tex:tex_to_markdown",
    ".man": "roff:roff_to_markdown",
    ".texi": "light:texinfo_to_markdown",
    ".mediawiki": "light:mediawiki_to_markdown",
    ".pod": "light:pod_to_markdown",
    ".textile": "light:textile_to_markdown",
    ".sgml": "sgml:sgml_to_markdown",
}


def to_markdown(file_type: str, text: str) -> Translated:
    """Translate the text of a file of this type, given as an extension: ``.rst``."""
    module, _, name = _READERS[file_type].partition(":")
    read: Callable[[str], Translated] = getattr(importlib.import_module(f"{_HERE}.{module}"), name)
    return read(text)

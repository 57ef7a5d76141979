"""Makes text from documents, file names and queries safe to print: it can never speak to the terminal."""

from __future__ import annotations

import re

# Controls other than newline and tab, C1 controls (some terminals obey them in UTF-8), lone surrogates (they cannot
# be written), and the marks that reorder or break a line without being seen.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_WHITE = re.compile(r"[ \t\n]+")


def _stand_in(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return "\ufffd" if code < 0xA0 or code >= 0xD800 else ""


def safe(text: str) -> str:
    """Return the text with control characters shown as symbols; newlines and tabs stay."""
    return _UNSAFE.sub(_stand_in, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 0) -> str:
    """Return the text safe and on one line, cut to ``limit`` characters when that is given."""
    flat = _WHITE.sub(" ", safe(text if not limit else text[: 4 * limit + 100])).strip()
    return flat if not limit or len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def json_safe(encoded: str) -> str:
    """Escape in a JSON text what JSON allows but a terminal may obey, and what cannot be written."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", encoded)

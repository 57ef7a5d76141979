"""What is printed, and where it goes: results on standard output, everything else on standard error.

Text from documents, file names and queries is made safe first: it can never speak to the terminal.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import traceback
from contextlib import nullcontext
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

WIDEST = 120
"""Longer lines are hard to read, however wide the terminal."""

PLAIN_WIDTH = 100

recorder: Console | None = None
"""Set to make pictures of what is printed."""

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


def plural(count: int, noun: str) -> str:
    """Return ``1 file``, ``1,200 files``."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def size(count: int) -> str:
    """Return a number of bytes as ``1.4 MB``."""
    amount, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < 1000:
            break
        amount, unit = amount / 1000, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"


def duration(seconds: float) -> str:
    """Return ``0.4 s``, ``12 s``, ``3 min 20 s``, ``2 h 5 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def age(moment: str) -> str:
    """Return how long ago an ISO time was: ``3 days ago``; the text itself when it is not a time."""
    try:
        then = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    except ValueError:
        return moment
    then = then if then.tzinfo else then.replace(tzinfo=timezone.utc)
    seconds = (datetime.now(timezone.utc) - then).total_seconds()
    if seconds < 60:
        return "just now"
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return f"{plural(int(seconds // length), unit)} ago"
    return moment


def display_path(source_path: str) -> str:
    """Return the path from the working folder when it lies below it, else as it is."""
    path = Path(source_path)
    if path.is_absolute():
        try:
            return one_line(path.relative_to(Path.cwd()).as_posix())
        except ValueError:
            pass
    return one_line(source_path)


def path_text(source_path: str, style: str = "cyan") -> Text:
    """Return the path as text that links to the file when that exists."""
    from rich.style import Style
    from rich.text import Text

    path = Path(source_path)
    text = Text(display_path(source_path), style=style)
    if path.is_absolute() and path.exists():
        text.stylize(Style(link=path.as_uri()))
    return text


def console(stderr: bool = False) -> Console:
    """Return a console for standard output, or standard error. Text from documents is never taken for markup."""
    from rich.console import Console

    if recorder is not None:
        return recorder
    made = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not made.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        made = Console(stderr=stderr, markup=False, emoji=False, highlight=False, width=PLAIN_WIDTH)
    elif made.width > WIDEST:
        made.width = WIDEST
    return made


def show(*renderables: RenderableType, to: Console | None = None) -> None:
    """Print to standard output, without trailing blanks where nobody would see why they are there."""
    if to is None and recorder is None and not _styled(sys.stdout) and all(map(_is_text, renderables)):
        sys.stdout.write("".join(f"{_trimmed(text)}\n" for text in renderables if isinstance(text, str)))
        return
    target = to or console()
    with nullcontext() if target.is_terminal else target.capture() as captured:
        for item in renderables:
            target.print(item, soft_wrap=isinstance(item, str))
    if captured is not None:
        target.file.write(_trimmed(captured.get()))


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n"))


def _is_text(item: object) -> bool:
    # Rich widens tabs.
    return isinstance(item, str) and "\t" not in item


def _styled(stream: TextIO) -> bool:
    """Whether Rich may style what is written there; to anything but a terminal, plain text is written without it."""
    asked = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "JUPYTER_COLUMNS")
    return stream.isatty() or any(name in os.environ for name in asked)


def message(text: str) -> None:
    """Print one line on standard error."""
    print(one_line(text), file=sys.stderr, flush=True)


def show_record(record: logging.LogRecord) -> None:
    """Print a log record on standard error: level, message and fields on a line, and below it the traceback, if any."""
    fields = getattr(record, "fields", None)
    said = [f"{name}={value}" for name, value in fields.items()] if isinstance(fields, dict) else []
    message(" ".join([f"{record.levelname.lower()}: {record.getMessage()}", *said]))
    if record.exc_info and record.exc_info[0] is not None:
        found = "".join(traceback.format_exception(*record.exc_info))
        print(safe(found).rstrip(), file=sys.stderr, flush=True)


def print_json(data: Any) -> None:
    """Print one JSON document on standard output."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    encoded = json.dumps(data, ensure_ascii=encoding != "utf8", indent=2, default=str)
    sys.stdout.write(json_safe(encoded) + "\n")

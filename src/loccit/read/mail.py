"""E-mail messages and saved web archives (MHTML): headers, body, names of attachments."""

from __future__ import annotations

import contextlib
import quopri
import re
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from loccit.model.document import Converted, line_of
from loccit.read.html import html_to_markdown
from loccit.read.text import decode, normalise
from loccit.read.written import Written

_SHOWN = ("From", "To", "Cc", "Date")
# This much of a body is enough to locate it in the file.
_BEGINNING = 2000


def convert_eml(path: Path) -> Converted:
    """Convert a message: its subject is the title."""
    data = path.read_bytes()
    message = BytesParser(policy=policy.default).parsebytes(data)
    headers = {name: _header(message, name) for name in (*_SHOWN, "Subject")}
    web_archive = path.suffix.lower() in (".mht", ".mhtml")
    body, metadata = _body(message, data, prefer_html=web_archive)
    attachments = [str(part.get_filename()) for part in message.walk() if part.get_filename()]
    out = Written()
    if not web_archive:
        out.heading(_header_line(data, "Subject"), 1, headers["Subject"] or "(no subject)")
        out.add(1, "")
        for name in _SHOWN:
            if headers[name]:
                out.add(_header_line(data, name), f"{name}: {headers[name]}  ")
        out.add(1, "")
    for line, text in body:
        out.add(line, text)
    if attachments and not web_archive:
        last = data.count(b"\n")
        out.add(last, "")
        out.add(last, f"Attachments: {', '.join(attachments)}")
    if headers["Subject"]:
        metadata.setdefault("title", headers["Subject"])
    if headers["From"]:
        metadata["author"] = headers["From"]
    with contextlib.suppress(ValueError, TypeError):
        metadata["date"] = parsedate_to_datetime(headers["Date"]).isoformat()
    if not any(text.strip() for _, text in body):
        return Converted("", metadata=metadata)
    found = out.result()
    return Converted(found.text, metadata=metadata, line_starts=found.line_starts)


def _header(message: EmailMessage, name: str) -> str:
    # Headers of real mail break the standard in ways that the parser does not expect.
    with contextlib.suppress(Exception):
        return " ".join(str(message[name] or "").split())
    return ""


def _header_line(data: bytes, name: str) -> int:
    head = re.split(rb"\r?\n\r?\n", data, maxsplit=1)[0]
    found = re.search(rb"^" + name.encode() + rb"[ \t]*:", head, re.M | re.I)
    return head.count(b"\n", 0, found.start()) + 1 if found else 1


def _body(
    message: EmailMessage, raw: bytes, *, prefer_html: bool
) -> tuple[list[tuple[int, str]], dict[str, Any]]:
    """The lines of the body, each with its number in the file, and the body's metadata."""
    order = ("html", "plain") if prefer_html else ("plain", "html")
    part = None
    with contextlib.suppress(Exception):
        part = message.get_body(preferencelist=order)
    if part is None:
        part = next((found for found in message.walk() if found.get_content_maintype() == "text"), None)
    if part is None:
        return [], {}
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return [], {}
    charset = part.get_content_charset()
    numbers = _numbers(part, raw, data)
    if part.get_content_subtype() == "html":
        page = html_to_markdown(decode(data, charset).text, whole_page=prefer_html)
        lines: list[tuple[int, str]] = []
        offset = 0
        for text in page.text.strip("\n").split("\n"):
            own = line_of(page.line_starts, page.text, 0, 1, offset)
            lines.append((numbers[min(own, len(numbers)) - 1], text))
            offset += len(text) + 1
        return lines, page.metadata
    texts = normalise(decode(data, charset).text).split("\n")
    numbers += [numbers[-1]] * (len(texts) - len(numbers))
    # A line of a letter that begins with a number sign is not a heading.
    return [
        (number, f"\\{text}" if text.startswith("#") else text)
        for number, text in zip(numbers, texts, strict=False)
    ], {}


def _numbers(part: Any, raw: bytes, data: bytes) -> list[int]:
    """The file line of each line of a decoded part; that of its first if it cannot be determined."""
    payload = part.get_payload()
    written = payload.encode("utf-8", "surrogateescape") if isinstance(payload, str) else b""
    # The parser returns lines unchanged, except for those at the end.
    at = max(raw.find(written[:_BEGINNING]) if written.strip() else -1, 0)
    first = raw.count(b"\n", 0, at) + 1
    encoding = str(part.get("Content-Transfer-Encoding") or "").strip().lower()
    count = data.count(b"\n") + 1
    if encoding == "base64" or not at:
        return [first] * count
    if encoding != "quoted-printable":
        return list(range(first, first + count))
    numbers = [first]
    for number, line in enumerate(written.split(b"\n"), start=first + 1):
        # An equals sign at the end joins a line to the next; `=0A` makes a new one.
        decoded = quopri.decodestring(line + b"\n")
        numbers += [number - 1] * (decoded.count(b"\n") - 1) + [number] * decoded.endswith(b"\n")
    return numbers[: max(count, 1)] + [numbers[-1]] * (count - len(numbers))

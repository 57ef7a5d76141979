"""E-mail messages and saved web archives (MHTML): headers, body, names of attachments."""

from __future__ import annotations

import contextlib
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from pinakes.ingest.convert.encoding import decode
from pinakes.ingest.convert.html import html_to_markdown
from pinakes.ingest.convert.text import normalise
from pinakes.model.document import Converted

_SHOWN = ("From", "To", "Cc", "Date")


def convert_eml(path: Path) -> Converted:
    """Convert a message: its subject is the title."""
    message = BytesParser(policy=policy.default).parsebytes(path.read_bytes())
    headers = {name: _header(message, name) for name in (*_SHOWN, "Subject")}
    web_archive = path.suffix.lower() in (".mht", ".mhtml")
    body, metadata = _body(message, prefer_html=web_archive)
    attachments = [str(part.get_filename()) for part in message.walk() if part.get_filename()]
    blocks = [body.strip("\n")]
    if not web_archive:
        lines = [f"{name}: {headers[name]}  " for name in _SHOWN if headers[name]]
        blocks = [f"# {headers['Subject'] or '(no subject)'}", "\n".join(lines), *blocks]
        if attachments:
            blocks.append(f"Attachments: {', '.join(attachments)}")
    if headers["Subject"]:
        metadata.setdefault("title", headers["Subject"])
    if headers["From"]:
        metadata["author"] = headers["From"]
    with contextlib.suppress(ValueError, TypeError):
        metadata["date"] = parsedate_to_datetime(headers["Date"]).isoformat()
    text = "\n\n".join(block for block in blocks if block.strip())
    return Converted(text + "\n" if text and body.strip() else "", metadata=metadata)


def _header(message: EmailMessage, name: str) -> str:
    # Headers of real mail break the standard in ways that the parser does not expect.
    with contextlib.suppress(Exception):
        return " ".join(str(message[name] or "").split())
    return ""


def _body(message: EmailMessage, *, prefer_html: bool) -> tuple[str, dict[str, Any]]:
    order = ("html", "plain") if prefer_html else ("plain", "html")
    part = None
    with contextlib.suppress(Exception):
        part = message.get_body(preferencelist=order)
    if part is None:
        part = next((found for found in message.walk() if found.get_content_maintype() == "text"), None)
    if part is None:
        return "", {}
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return "", {}
    charset = part.get_content_charset()
    if part.get_content_subtype() == "html":
        text, metadata, _ = html_to_markdown(decode(data, charset).text, whole_page=prefer_html)
        return text, metadata
    text = normalise(decode(data, charset).text)
    # A line of a letter that begins with a number sign is no heading of the message.
    return "\n".join(f"\\{line}" if line.startswith("#") else line for line in text.split("\n")), {}

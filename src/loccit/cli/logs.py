"""What is said on standard error besides results: plain lines, or one JSON object a line for machines.

With ``--log-format json`` everything on standard error is such an object: log records, and also what commands print
there themselves (progress, warnings, errors).
"""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
import traceback
from datetime import datetime, timezone
from enum import Enum
from typing import Annotated, Any, TextIO

import typer

from loccit.cli.output import json_safe, show_record

GENERAL = "Messages"
_OURS = "loccit"
# Commands begin a line that is more than information with one of these.
_LEVELS = ("error", "warning", "debug", "info")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "fields"}


class LogFormat(str, Enum):
    """How messages on standard error are written."""

    text = "text"
    json = "json"


class LogLevel(str, Enum):
    """From which level on messages are shown."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


LogFormatOption = Annotated[
    LogFormat,
    typer.Option(
        "--log-format",
        envvar="LOCCIT_LOG_FORMAT",
        help="Messages on standard error: plain text, or one JSON object per line.",
        rich_help_panel=GENERAL,
    ),
]
LogLevelOption = Annotated[
    LogLevel | None,
    typer.Option(
        "--log-level",
        envvar="LOCCIT_LOG_LEVEL",
        help="Show messages of this level and above; warning by default.",
        rich_help_panel=GENERAL,
    ),
]


def configure(log_format: LogFormat, level: LogLevel | None) -> None:
    """Send the messages of this process to standard error in the wanted form."""
    logger = logging.getLogger(_OURS)
    plain = log_format is LogFormat.text and level is None
    for handler in list(logger.handlers):
        if isinstance(handler, _Lines) and logger.level == handler.logger_level:
            logger.setLevel(logging.NOTSET)
        if isinstance(handler, _Lines) or not plain:
            logger.removeHandler(handler)
    # Said here, because a package that is imported later may set another level for everybody.
    chosen = logging.getLevelName(level.value.upper()) if level else logger.level or logging.WARNING
    if log_format is LogFormat.json:
        if not isinstance(sys.stderr, _JsonStream):
            sys.stderr = _JsonStream(sys.stderr)
        logger.addHandler(_JsonHandler(chosen))
    elif not logger.handlers:
        logger.addHandler(_TextHandler(chosen))
    logger.setLevel(chosen)


class JsonFormatter(logging.Formatter):
    """Writes a log record as one line of JSON: time, level, logger, message, fields, and the error if there was one."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for a record."""
        # Some libraries put marks of their own on every record.
        fields = {
            name: value
            for name, value in vars(record).items()
            if name not in _STANDARD and not name.startswith("_")
        }
        given = getattr(record, "fields", None)
        if isinstance(given, dict):
            fields |= given
        line: dict[str, Any] = {
            "time": _time(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **({"fields": fields} if fields else {}),
            **_span(),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = "".join(traceback.format_exception(*record.exc_info))
        return encode(line)


def encode(data: dict[str, Any]) -> str:
    """Return JSON on one line, which no terminal can take for a command."""
    return json_safe(json.dumps(data, default=str))


class _Lines(logging.Handler):
    """The handlers that are set here, with the level that the logger was given together with them."""

    def __init__(self, logger_level: int) -> None:
        super().__init__()
        self.logger_level = logger_level


class _JsonHandler(_Lines):
    def __init__(self, logger_level: int) -> None:
        super().__init__(logger_level)
        self.setFormatter(JsonFormatter())

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
            # Looked up each time: whoever runs a command may put another stream there.
            target: Any = getattr(sys.stderr, "target", sys.stderr)
            target.write(line + "\n")
            target.flush()
        except Exception:
            self.handleError(record)


class _TextHandler(_Lines):
    def emit(self, record: logging.LogRecord) -> None:
        show_record(record)


class _JsonStream(io.TextIOBase):
    """Standard error for commands that print there: each message becomes a JSON object."""

    def __init__(self, target: TextIO) -> None:
        super().__init__()
        self.target = target
        self._begun = ""
        self._guard = threading.Lock()

    def isatty(self) -> bool:
        """Say no: bars and colours are for people."""
        return False

    def fileno(self) -> int:
        """Return that of the stream behind."""
        return self.target.fileno()

    def writable(self) -> bool:
        """Say yes."""
        return True

    def write(self, text: str) -> int:
        """Take text; what ends with a line's end is one message, however many lines it has."""
        with self._guard:
            self._begun += text
            if self._begun.endswith("\n"):
                self._send()
        return len(text)

    def flush(self) -> None:
        """Send what there is."""
        with self._guard:
            self._send()
            if not self.target.closed:
                self.target.flush()

    def _send(self) -> None:
        text, self._begun = self._begun.strip(), ""
        if not text:
            return
        start, _, rest = text.partition(": ")
        level = start.lower() if start.lower() in _LEVELS else "info"
        said = rest if level == start.lower() else text
        now = datetime.now(timezone.utc).timestamp()
        line = {"time": _time(now), "level": level, "logger": "loccit.cli", "message": said}
        self.target.write(encode(line) + "\n")


def _time(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _span() -> dict[str, str]:
    """The ids of the span that is current, where spans are collected: by them, lines and spans find together."""
    api: Any = sys.modules.get("opentelemetry.trace")
    if api is None or not hasattr(api, "get_current_span"):
        return {}
    context = api.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}

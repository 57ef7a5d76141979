"""What happens when a command fails: one message, one exit code, and a JSON document where one was promised."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn

from loccit.cli.output import message, print_json, safe, show_record
from loccit.errors import LoccitError, NotFoundError, UsageError

ERROR, WRONG_USAGE, SOME_FAILED, NOTHING_FOUND, INTERRUPTED = 1, 2, 3, 4, 130

# The commands that help to find what was named wrongly, by the tools that do the same.
_COMMANDS = {
    "list_documents": "loccit documents",
    "list_outline": "loccit outline",
    "find_all": "loccit grep",
}


def guarded(run: Callable[[], object], given: Sequence[str]) -> NoReturn:
    """Run a command, and leave with its exit code; every exception becomes a message and a code."""
    options = given[: given.index("--")] if "--" in given else given
    debug = "--debug" in options or bool(os.environ.get("LOCCIT_DEBUG"))
    _prepare(debug)
    code: object = None
    try:
        code = run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = interrupted()
    except BrokenPipeError:
        _hang_up()
    except Exception as error:
        if debug:
            print(safe(traceback.format_exc()), file=sys.stderr)
        _fail(error, as_json="--json" in options)
    sys.exit(code if isinstance(code, int) else 0)


def interrupted() -> int:
    """Say that a command was interrupted, and return the exit code."""
    message("\nInterrupted. Run the same command again to resume.")
    return INTERRUPTED


def exit_code(error: Exception) -> int:
    """Return the exit code that an error of ours stands for."""
    if isinstance(error, UsageError):
        return WRONG_USAGE
    return NOTHING_FOUND if isinstance(error, NotFoundError) else ERROR


def _fail(error: Exception, as_json: bool) -> NoReturn:
    kind, hint = type(error).__name__, ""
    code = getattr(error, "exit_code", None)
    if isinstance(error, LoccitError):
        text, code = str(error), exit_code(error)
        if isinstance(error, NotFoundError):
            text = f"{text} {error.where_to_look(_COMMANDS)}".strip()
    elif isinstance(code, int) and hasattr(error, "format_message"):  # the command line could not be parsed
        text, kind = error.format_message(), UsageError.__name__
        context = getattr(error, "ctx", None)
        if context is not None:
            hint = f"Try '{context.command_path} --help' for help."
        if not text:  # no command was given, and the help has been shown
            sys.exit(code)
    elif kind == "Abort":  # of Typer, which is not always there
        text, code = "Aborted.", ERROR
    else:
        text, code = f"{kind}: {error}" if str(error) else kind, ERROR
        hint = "This should not happen. Add --debug to see the traceback."
    if not isinstance(code, int):
        code = ERROR
    print(safe(f"error: {text}"), file=sys.stderr)
    if hint:
        print(safe(hint), file=sys.stderr)
    if as_json:
        print_json({"error": {"type": kind, "message": text}})
    sys.exit(code)


def _hang_up() -> NoReturn:
    """The reader of our output has gone: leave quietly, and let nothing be written at shutdown."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(ERROR)


def _prepare(debug: bool) -> None:
    """Never fail on a character the terminal cannot show; send warnings of ours to standard error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
    logger = logging.getLogger("loccit")
    # Also back again: a process may run several commands.
    logger.setLevel(logging.DEBUG if debug else logging.NOTSET)
    if not logger.handlers:
        logger.addHandler(_Warnings())


class _Warnings(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        show_record(record)

from __future__ import annotations

import pytest

from loccit.cli.output import age, duration, plural, size
from loccit.cli.progress import Bars, Lines, Silent, reporter
from loccit.model import Progress


def test_lines_come_now_and_then(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("loccit.cli.progress.time.monotonic", lambda: now[0])
    with Lines() as lines:
        for done in range(0, 101, 10):
            lines(Progress("read", done, 200, "a.md"))
            now[0] += 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[0] == "Reading: 30 of 200 files, 10.0 a second, 17 s left"
    assert len(printed.err.splitlines()) == 3


def test_bars_take_every_stage(capsys: pytest.CaptureFixture[str]) -> None:
    with Bars() as bars:
        for stage in ("scan", "read", "embed", "other"):
            bars(Progress(stage, 1, 2, "docs/[bold]a\x1b[31m.md"))
    assert "\x1b" not in capsys.readouterr().err


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with reporter(quiet=True) as silent:
        silent(Progress("read", 1, 2))
    assert type(silent) is Silent
    assert isinstance(reporter(quiet=False), Lines)
    assert capsys.readouterr().err == ""


def test_figures() -> None:
    assert [plural(0, "file"), plural(1, "file"), plural(1200, "file")] == [
        "0 files",
        "1 file",
        "1,200 files",
    ]
    assert [size(12), size(1234), size(123_456_789)] == ["12 B", "1.2 kB", "123 MB"]
    assert [duration(0.42), duration(12.3), duration(200), duration(7500)] == [
        "0.4 s",
        "12 s",
        "3 min 20 s",
        "2 h 5 min",
    ]
    assert age("2001-01-01T00:00:00Z").endswith("days ago")
    assert age("never") == "never"

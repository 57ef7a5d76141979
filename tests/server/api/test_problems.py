"""What is written to the log about what goes wrong."""

from __future__ import annotations

import logging

import pytest

from loccit.errors import DamagedIndexError
from loccit.server.api import problems


def test_an_error_that_every_request_meets_is_logged_once_a_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("loccit.server.api.problems.time.monotonic", lambda: now)
    monkeypatch.setattr(problems, "_noted", {})
    caplog.set_level(logging.WARNING, "loccit")
    for _ in range(5):
        assert problems.as_problem(DamagedIndexError("The record is damaged.")).status == 503
    problems.as_problem(DamagedIndexError("So is the other."))
    assert [record.getMessage() for record in caplog.records] == [
        "The record is damaged.",
        "So is the other.",
    ]
    now += 61
    problems.as_problem(DamagedIndexError("The record is damaged."))
    assert len(caplog.records) == 3

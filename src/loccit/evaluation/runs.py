"""The results of an evaluation, and how they are saved to compare with later."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from loccit.errors import UsageError
from loccit.evaluation.calibration import Bin, Calibration, OffTopic
from loccit.evaluation.significance import Difference

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Answered:
    """One question, and how well it was answered; texts are left out for ablations."""

    id: str
    text: str
    values: dict[str, float]
    right: bool
    milliseconds: float
    confidence: float | None = None
    group: str = ""
    found: tuple[str, ...] = ()
    wanted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variant:
    """All questions of a set, asked in one way: a mode, possibly with stages switched off."""

    name: str
    mode: str
    disabled: tuple[str, ...]
    metrics: dict[str, Any]
    groups: dict[str, dict[str, float]]
    calibration: Calibration | None
    offtopic: OffTopic | None
    queries: list[Answered]

    def values(self, metric: str) -> dict[str, float]:
        """Return the value of each question by its id."""
        return {query.id: query.values[metric] for query in self.queries if metric in query.values}


@dataclass(frozen=True, slots=True)
class SetRun:
    """The measurements on one set; ``differences`` compares each further variant with the first."""

    name: str
    kind: str
    path: str
    main: str
    questions: int
    without_answer: int
    documents: int
    chunks: int
    build_seconds: float
    failed: list[str]
    variants: list[Variant]
    differences: dict[str, Difference] = field(default_factory=dict)

    @property
    def plain(self) -> list[Variant]:
        """The variants that differ from the first only in the mode."""
        return [variant for variant in self.variants if variant.disabled == self.variants[0].disabled]


@dataclass(frozen=True, slots=True)
class Compared:
    """A variant of a set in two runs: the differences of all metrics."""

    set: str
    variant: str
    main: str
    differences: dict[str, Difference]
    only_before: int = 0
    only_now: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """One evaluation of some sets; ``comparison`` is with the run in the file ``compared_with``."""

    created: str
    version: str
    model: str
    settings: dict[str, Any]
    sets: list[SetRun]
    compared_with: str = ""
    comparison: list[Compared] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON values."""
        return {"format": FORMAT, **asdict(self)}


def save_run(run: Run, path: Path) -> None:
    """Write a run into a file."""
    text = json.dumps(run.to_dict(), ensure_ascii=False, separators=(",", ":")) + "\n"
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error


def load_run(path: Path) -> Run:
    """Read a run that was saved."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError:
        raise UsageError(f"{path} is not JSON. Save a run with: loccit eval DIR --out {path}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise UsageError(f"{path} is not a run of this version. Save one with: loccit eval DIR --out {path}")
    try:
        return _run(data)
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is damaged ({type(error).__name__}: {error}).") from None


def _run(data: dict[str, Any]) -> Run:
    sets = [
        _build(
            SetRun,
            {
                **one,
                "variants": [_variant(variant) for variant in one["variants"]],
                "differences": _differences(one["differences"]),
            },
        )
        for one in data["sets"]
    ]
    comparison = [
        _build(Compared, {**one, "differences": _differences(one["differences"])})
        for one in data["comparison"]
    ]
    run: Run = _build(Run, {**data, "sets": sets, "comparison": comparison})
    return run


def _variant(data: dict[str, Any]) -> Variant:
    calibration = data["calibration"]
    if calibration:
        calibration = Calibration(calibration["error"], [_build(Bin, one) for one in calibration["bins"]])
    offtopic = _build(OffTopic, data["offtopic"]) if data.get("offtopic") else None
    queries = [_build(Answered, one) for one in data["queries"]]
    parts = {"calibration": calibration, "offtopic": offtopic, "queries": queries}
    made: Variant = _build(Variant, {**data, **parts})
    return made


def _differences(data: dict[str, Any]) -> dict[str, Difference]:
    return {name: _build(Difference, one) for name, one in data.items()}


def _build(kind: Any, data: dict[str, Any]) -> Any:
    """Build a value from known fields; fields added by a later version are ignored."""
    return kind(**{item.name: data[item.name] for item in fields(kind) if item.name in data})

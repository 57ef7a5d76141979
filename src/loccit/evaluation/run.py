"""Runs an evaluation: builds each set's index, asks every question, judges every answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from loccit.config import IndexSettings, Settings
from loccit.errors import UsageError
from loccit.evaluation.ablate import Way, differences, ways
from loccit.evaluation.build import Built, build
from loccit.evaluation.cache import RememberingEmbedder, cache_folder, place_for
from loccit.evaluation.calibration import calibrate, off_topic
from loccit.evaluation.datasets import FIXED, EvalSet, Question
from loccit.evaluation.judge import Judge, judge_for
from loccit.evaluation.metrics import main_metric, means, percentiles
from loccit.evaluation.places import Places
from loccit.evaluation.readers import read_all
from loccit.evaluation.runs import Answered, Run, SetRun, Variant
from loccit.library import Library
from loccit.model import Progress
from loccit.models.embedding import Embedder, load_embedder
from loccit.version import __version__

Report = Callable[[Progress], None]


def evaluate(
    folders: Iterable[str | Path],
    *,
    modes: Sequence[str] = (),
    ablate: bool = False,
    limit: int | None = None,
    settings: Settings | None = None,
    cache: Path | None = None,
    embedder: Embedder | None = None,
    progress: Report | None = None,
) -> Run:
    """Measure the sets in some folders; without ``cache``, indexes are built in a temporary folder."""
    if limit is not None and limit < 1:
        raise UsageError(f"The number of questions must be at least 1, not {limit}.")
    settings = settings or Settings()
    asked = ways(modes, ablate=ablate, disabled=settings.search.disabled)
    sets = [one.limited(limit) for one in read_all(Path(folder) for folder in folders)]
    if not sets:
        raise UsageError("Nothing to evaluate: give a folder with an evaluation set.")
    index = settings.index or IndexSettings()
    settings = replace(settings, index=index)
    model = embedder or load_embedder(index.embedding_model or None)
    with cache_folder(cache) as folder:
        done = [_evaluate(one, asked, settings, index, model, folder, progress) for one in sets]
    return Run(
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        version=__version__,
        model=model.name,
        settings=settings.to_dict(),
        sets=done,
    )


def _evaluate(
    evalset: EvalSet,
    asked: Sequence[Way],
    settings: Settings,
    index: IndexSettings,
    embedder: Embedder,
    folder: Path,
    progress: Report | None,
) -> SetRun:
    place = place_for(folder, evalset, index, embedder)
    built = build(evalset, place.folder, index, RememberingEmbedder(embedder, place.vectors), progress)
    places = Places(built.path)
    try:
        judge = judge_for(evalset, places)
        variants = [
            _ask(evalset, way, judge, settings, embedder, built, progress)
            # What is not a search has no modes and no stages.
            for way in (asked if judge.searches else [Way(judge.way, "")])
        ]
    finally:
        places.close()
    main = main_metric(evalset.kind)
    return SetRun(
        name=evalset.name,
        kind=evalset.kind,
        path=str(evalset.folder),
        main=main,
        questions=len(evalset.questions),
        without_answer=evalset.without_answer,
        documents=built.documents,
        chunks=built.chunks,
        build_seconds=round(built.seconds, 3),
        failed=[f"{failure.path}: {failure.reason}" for failure in built.failed],
        variants=variants,
        differences=differences(main, variants),
    )


def _ask(
    evalset: EvalSet,
    way: Way,
    judge: Judge,
    settings: Settings,
    embedder: Embedder,
    built: Built,
    progress: Report | None,
) -> Variant:
    # Given chunks are expected whole.
    given = ("focus",) if evalset.kind == FIXED else ()
    disabled = tuple(dict.fromkeys((*settings.search.disabled, *way.disabled, *given)))
    search = settings.search.with_overrides(search_mode=way.mode or None, disabled=disabled)
    answered: list[Answered] = []
    total = len(evalset.questions)
    with Library(
        built.path, settings=replace(settings, search=search), embedder=embedder, create=False
    ) as library:
        # One untimed question, so that the first one does not pay for opening everything.
        _answer(judge, library, evalset.questions[0])
        for question in evalset.questions:
            answer, milliseconds = _answer(judge, library, question)
            judged = judge.judge(question, answer)
            answered.append(
                Answered(
                    id=question.id,
                    text="" if way.disabled else question.text,
                    values={name: round(value, 6) for name, value in judged.values.items()},
                    right=judged.right,
                    milliseconds=round(milliseconds, 3),
                    confidence=getattr(answer, "confidence", None),
                    group=question.group,
                    # Texts are for people, who only look at the plain modes that closely.
                    found=() if way.disabled else judged.found,
                    wanted=() if way.disabled else judged.wanted,
                )
            )
            if progress:
                progress(Progress("ask", len(answered), total, f"{evalset.name}, {way.name}"))
        strays = [_answer(judge, library, question)[0].confidence for question in evalset.offtopic]
    sure = [(one.confidence, one.right) for one in answered if one.confidence is not None]
    return Variant(
        name=way.name,
        mode=way.mode,
        disabled=disabled,
        metrics={
            **{name: round(value, 6) for name, value in means([one.values for one in answered]).items()},
            "latency_ms": percentiles([one.milliseconds for one in answered]),
        },
        groups=_groups(answered),
        calibration=calibrate(sure),
        offtopic=off_topic(strays, sure),
        queries=answered,
    )


def _answer(judge: Judge, library: Library, question: Question) -> tuple[Any, float]:
    """Ask one question; return the answer and the milliseconds it took."""
    start = time.perf_counter()
    try:
        answer = judge.ask(library, question)
    except UsageError as error:
        raise UsageError(f"The question {question.id!r} cannot be asked: {error}") from error
    return answer, (time.perf_counter() - start) * 1000


def _groups(answered: Sequence[Answered]) -> dict[str, dict[str, float]]:
    """The means for each kind of question, if a set has several."""
    groups = sorted({one.group for one in answered if one.group})
    return {
        group: {
            "questions": sum(one.group == group for one in answered),
            **{
                name: round(value, 6)
                for name, value in means([one.values for one in answered if one.group == group]).items()
            },
        }
        for group in groups
        if len(groups) > 1
    }

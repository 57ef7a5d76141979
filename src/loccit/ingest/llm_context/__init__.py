"""Contexts by a language model: for each chunk, a sentence or two that situates it in its document.

The recipe is contextual retrieval: the model is shown the whole document, which the service caches, and one chunk after
another. Its answer replaces the structural context, both for embedding and for keyword search. It costs money and sends
documents to a service, so it is off unless a model is configured.

Answers are stored as soon as they arrive; a document applies them once it has all of them, in one transaction. So
whatever ends a run, the next one asks only what was never answered. A chunk without an answer keeps its context.

With a limit on the cost of a run, a prompt is sent only if it fits beside what was spent and what the prompts that are
on their way may cost.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, TypeVar

from loccit.config import IndexSettings
from loccit.errors import LoccitError
from loccit.index.folder.contexts import ContextStore
from loccit.index.folder.local import LocalIndex
from loccit.ingest.chunk import TokenIndex
from loccit.ingest.llm_context.plan import (
    DocumentPlan,
    Question,
    context_settings,
    estimate_contexts,
    most_dollars,
    plan_document,
    tidy,
)
from loccit.model import IndexReport, Progress
from loccit.models.embedding import Tokenizer, load_tokenizer
from loccit.models.llm import Completion, LanguageModel, ModelError, PromptError, load_model
from loccit.models.llm.prices import VARIABLE, Price, price_of

__all__ = ["ContextStage", "estimate_contexts"]

# This many failures in a row mean that the model is down, not that a prompt was bad.
_FAILURES = 3
# How long the keyword index may wait for contexts that are in the record.
_KEYWORD_SECONDS = 5.0
_UNUSED_DAYS = 90


@dataclass(slots=True)
class _Open:
    """A document whose questions are in progress."""

    plan: DocumentPlan
    answers: dict[bytes, str]
    missing: set[bytes] = field(default_factory=set)


class ContextStage:
    """One pass over the documents that need contexts. The caller holds the writer lock."""

    def __init__(
        self,
        index: LocalIndex,
        settings: IndexSettings,
        model_tokens: int,
        report: IndexReport,
        *,
        model: LanguageModel | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._index = index
        self._settings = settings
        self._model_tokens = model_tokens
        self._report = report
        self._model = model
        self._progress = progress or (lambda step: None)
        self._store = ContextStore(index.database)
        self._mark = context_settings(settings)
        self._open: dict[int, _Open] = {}
        self._waiting: dict[bytes, list[_Open]] = {}
        self._prepared = self._stopped = self._over_budget = False
        self._reason = ""
        self._failures_in_a_row = 0
        self._done = self._total = 0
        self._caught_up = time.monotonic()
        self._price: Price | None = None
        self._budget = settings.context_max_cost
        self._reserved: dict[bytes, float] = {}
        # How much more a prompt took than was reckoned: services count tokens in their own way, and models may think.
        self._excess = 1.0

    @property
    def _wanted(self) -> bool:
        return bool(self._settings.context_model and self._settings.contextual_embeddings)

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not (self._store.wanting(self._mark) if self._wanted else self._store.written())

    def run(self) -> None:
        """Write missing contexts; without a model, remove those that one wrote."""
        if self._wanted:
            self._write()
        else:
            self._take_back()

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return load_tokenizer(self._settings.embedding_model or None)

    def _plan(self, number: int, settings: IndexSettings) -> DocumentPlan:
        return plan_document(self._index, self._store, number, settings, self._tokenizer)

    def _take_back(self) -> None:
        documents = self._store.written()
        for count, number in enumerate(documents, 1):
            plan = self._plan(number, IndexSettings())
            self._store.put(number, plan.structural(self._settings, self._model_tokens), "")
            self._progress(Progress("context", count, len(documents), plan.document.source_path))

    # -- writing ---------------------------------------------------------------------------------------------

    def _write(self) -> None:
        self._total = self._store.wanting_chunks(self._mark)
        documents = self._documents()
        for question, answer in put_questions(
            documents, self._ask, self._settings.context_concurrency, lambda: self._stopped, self._affords
        ):
            if isinstance(answer, ModelError):
                self._failed(question, answer)
            else:
                self._answered(question, answer)
        if self._over_budget and not self._stopped:
            spent = self._report.context_dollars or 0.0
            self._stop(
                f"the next prompt might exceed the limit of ${self._budget:,.2f} (${spent:,.4f} is spent)."
            )
        # Documents still open lack an answer. Those not considered yet may have all of theirs from earlier
        # runs.
        for document in list(self._open.values()):
            self._close(document)
        for _ in documents:
            pass
        if self._report.context_failures:
            self._report.warnings.append(self._complaint())
        if self._report.context_calls:
            self._store.forget_unused(_UNUSED_DAYS)

    def _documents(self) -> Iterator[list[Question]]:
        """Open one document after another; yield its questions that have not been answered or asked yet."""
        for number in self._store.wanting(self._mark):
            plan = self._plan(number, self._settings)
            answers = self._store.known(set(plan.wanted.values()))
            document = _Open(plan, answers, {key for key in plan.wanted.values() if key not in answers})
            self._step(sum(key in answers for key in plan.wanted.values()), document)
            if not document.missing or not self._ready():
                self._close(document)
                continue
            self._open[number] = document
            new = {key for key in document.missing if key not in self._waiting}
            for key in document.missing:
                self._waiting.setdefault(key, []).append(document)
            for questions in plan.questions:
                group = [one for one in questions if one.key in new]
                # Writing to a cache costs extra, and nobody would read it.
                yield group if len(group) > 1 else [one.alone() for one in group]

    def _ready(self) -> bool:
        """Load the model on the first question: most runs have none."""
        if not self._prepared and not self._stopped:
            self._prepared = True
            try:
                self._model = self._model or load_model(self._settings.context_model)
                self._price = price_of(self._settings.context_model)
                if self._budget is not None and self._price is None:
                    self._stop(
                        f"its price is not known, so context_max_cost cannot be kept: name it in the file {VARIABLE}."
                    )
            except LoccitError as error:
                self._stop(str(error))
        return not self._stopped

    def _affords(self, question: Question) -> bool:
        """Whether a question fits into the limit, whatever those on their way cost; then its cost is reserved."""
        if self._budget is None or self._price is None:
            return True
        expected = most_dollars(question.prompt, TokenIndex("", self._tokenizer), self._price)
        spent = self._report.context_dollars or 0.0
        on_the_way = sum(self._reserved.values())
        self._over_budget = spent + (on_the_way + expected) * self._excess > self._budget
        if not self._over_budget:
            self._reserved[question.key] = expected
        return not self._over_budget

    def _ask(self, question: Question) -> Completion:
        """Ask a question, in a separate thread."""
        assert self._model is not None
        try:
            completion = self._model.complete(question.prompt)
        except ModelError:
            raise
        except Exception as error:  # a model of another package may raise anything
            raise ModelError(f"{self._model.name} failed: {error!r}.") from error
        if not tidy(completion.text):
            raise PromptError(f"{self._model.name} returned an empty answer.")
        return completion

    def _answered(self, question: Question, completion: Completion) -> None:
        context, report = tidy(completion.text), self._report
        # First of all: it is paid for.
        self._store.keep(question.key, context)
        self._failures_in_a_row = 0
        report.context_calls += 1
        report.context_input_tokens += completion.input_tokens
        report.context_output_tokens += completion.output_tokens
        report.context_cached_tokens += completion.cached_tokens
        report.context_cache_write_tokens += completion.cache_write_tokens
        reserved = self._reserved.pop(question.key, 0.0)
        if self._price is not None:
            cost = self._price.cost(
                completion.input_tokens,
                completion.output_tokens,
                completion.cached_tokens,
                completion.cache_write_tokens,
            )
            report.context_dollars = (report.context_dollars or 0.0) + cost
            if reserved:
                self._excess = max(self._excess, cost / reserved)
        for document in self._waiting.pop(question.key, ()):
            document.answers[question.key] = context
            self._settle(question, document)

    def _failed(self, question: Question, error: ModelError) -> None:
        self._reserved.pop(question.key, None)
        self._reason = str(error)
        if not isinstance(error, PromptError):
            self._failures_in_a_row += 1
            if error.lasting or self._failures_in_a_row >= _FAILURES:
                self._stop(str(error))
        for document in self._waiting.pop(question.key, ()):
            self._settle(question, document, answered=False)

    def _settle(self, question: Question, document: _Open, *, answered: bool = True) -> None:
        count = sum(key == question.key for key in document.plan.wanted.values())
        if answered:
            document.missing.discard(question.key)
        self._step(count, document)
        if not document.missing.intersection(self._waiting):
            self._close(document)

    def _close(self, document: _Open) -> None:
        """Apply the answers that a document has; with all of them, it is done."""
        self._open.pop(document.plan.id, None)
        wanted = document.plan.wanted.values()
        changes = document.plan.taking(document.answers, self._model_tokens)
        self._store.put(document.plan.id, changes, "" if document.missing else self._mark)
        self._report.contexts += len(changes)
        self._report.context_failures += sum(key in document.missing for key in wanted)
        if time.monotonic() - self._caught_up > _KEYWORD_SECONDS:
            self._index.catch_up_keyword()
            self._caught_up = time.monotonic()

    def _step(self, count: int, document: _Open) -> None:
        if count:
            self._done += count
            path = document.plan.document.source_path
            self._progress(Progress("context", self._done, self._total, path))

    def _stop(self, reason: str) -> None:
        self._stopped, self._reason = True, reason

    def _complaint(self) -> str:
        count = self._report.context_failures
        return (
            f"{count:,} chunk(s) have no context from {self._settings.context_model} yet, and are searched with their "
            f"headings instead: {self._reason} The next run tries again."
        )


# -- the schedule -----------------------------------------------------------------------------------------------


Q = TypeVar("Q")
A = TypeVar("A")

# A group whose first prompts are all refused (most likely too long) is abandoned.
_REFUSALS = 3
_HEARTBEAT = 1.0


@dataclass(slots=True)
class _Group(Generic[Q]):
    waiting: deque[Q]
    cached: bool = False
    refusals: int = 0


@dataclass(slots=True)
class _Helpers(Generic[Q, A]):
    """Threads that ask questions; daemons, so that nobody waits for a service that hangs at exit."""

    ask: Callable[[Q], A]
    questions: queue.SimpleQueue[tuple[_Group[Q], Q] | None] = field(default_factory=queue.SimpleQueue)
    answers: queue.SimpleQueue[tuple[_Group[Q], Q, A | ModelError | BaseException]] = field(
        default_factory=queue.SimpleQueue
    )
    busy: int = 0
    started: int = 0

    def put(self, group: _Group[Q], question: Q) -> None:
        self.busy += 1
        if self.busy > self.started:
            self.started += 1
            threading.Thread(target=self._work, daemon=True, name=f"loccit-context-{self.started}").start()
        self.questions.put((group, question))

    def get(self) -> tuple[_Group[Q], Q, A | ModelError]:
        while True:
            try:
                # With a timeout, because some systems ignore Ctrl-C while they wait without one.
                group, question, answer = self.answers.get(timeout=_HEARTBEAT)
            except queue.Empty:
                continue
            self.busy -= 1
            if isinstance(answer, BaseException) and not isinstance(answer, ModelError):
                raise answer
            return group, question, answer

    def dismiss(self) -> None:
        for _ in range(self.started):
            self.questions.put(None)

    def _work(self) -> None:
        while (item := self.questions.get()) is not None:
            group, question = item
            answer: A | ModelError | BaseException
            try:
                answer = self.ask(question)
            except BaseException as error:
                answer = error
            self.answers.put((group, question, answer))


def put_questions(
    groups: Iterator[Sequence[Q]],
    ask: Callable[[Q], A],
    concurrency: int,
    stopped: Callable[[], bool],
    affords: Callable[[Q], bool] = lambda question: True,
) -> Iterator[tuple[Q, A | ModelError]]:
    """Ask the questions of all groups, at most ``concurrency`` at once; yield the answers as they arrive.

    Groups are taken one by one as there is room. Once ``stopped`` returns true, no more questions are asked, but those
    in progress are waited for. A question that ``affords`` refuses waits until others have come back, and ends the run
    when none is left to wait for. Abandoned questions come back with the error that ended them.
    """
    ready: deque[tuple[_Group[Q], Q]] = deque()
    helpers: _Helpers[Q, A] = _Helpers(ask)
    limit = 1
    try:
        while True:
            while helpers.busy < limit and not stopped() and _fill(ready, groups) and affords(ready[0][1]):
                helpers.put(*ready.popleft())
            if not helpers.busy:
                return
            group, question, answer = helpers.get()
            given_up: list[Q] = []
            if isinstance(answer, ModelError):
                given_up = _after_failure(ready, group, answer)
            else:
                limit = concurrency
                if not group.cached:
                    group.cached = True
                    # Before new groups: a cache does not last long.
                    ready.extendleft((group, one) for one in reversed(group.waiting))
                    group.waiting.clear()
            yield question, answer
            for one in given_up:
                yield one, answer
    finally:
        helpers.dismiss()


def _fill(ready: deque[tuple[_Group[Q], Q]], groups: Iterator[Sequence[Q]]) -> bool:
    """Make sure that a question is ready, if there are any left."""
    while not ready:
        questions = next(groups, None)
        if questions is None:
            return False
        if questions:
            group = _Group(deque(questions))
            ready.append((group, group.waiting.popleft()))
    return True


def _after_failure(ready: deque[tuple[_Group[Q], Q]], group: _Group[Q], error: ModelError) -> list[Q]:
    """Let the next question of a group try to fill the cache, or return those that are hopeless."""
    if group.cached or not group.waiting:
        return []
    group.refusals += isinstance(error, PromptError)
    if group.refusals >= _REFUSALS:
        hopeless = list(group.waiting)
        group.waiting.clear()
        return hopeless
    ready.appendleft((group, group.waiting.popleft()))
    return []

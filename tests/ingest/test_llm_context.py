"""Contexts by a language model, from documents to what is found, with a service on the loopback address."""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.forked import run_forked
from tests.ingest.fakes import WordEmbedder, found, holdings
from tests.ingest.interrupted import index_until
from tests.models.llm.services import KEY, ChatHandler, MessagesHandler, RefusedError, Service, running

from loccit import Library
from loccit.config import IndexSettings, Settings
from loccit.index.folder.keyword import KeywordEntry
from loccit.ingest.llm_context import estimate_contexts
from loccit.models.llm import Completion, Prompt

MODEL = "anthropic:claude-test"
SOON = {"Retry-After": "0"}

REPORT = """# Annual report of Halcyon Mills

## Revenue

Revenue grew by three percent over the previous quarter.

## Outlook

We expect little change before the harvest.

## Board

The board met four times.
"""
LETTER = "# Letter\n\nThe cheque was sent on Monday.\n"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Service]:
    pytest.importorskip("anthropic")
    with running(MessagesHandler) as server:
        server.answer = answer
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path / "no-profiles"))
        monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
        yield server


@pytest.fixture
def filled(docs: Path) -> Path:
    (docs / "report.md").write_text(REPORT, encoding="utf-8")
    (docs / "letter.md").write_text(LETTER, encoding="utf-8")
    return docs


@pytest.fixture
def indexed(
    tmp_path: Path, filled: Path, quick: None, service: Service
) -> Iterator[Callable[..., tuple[Library, Any]]]:
    """Open the same index again and again, each time with settings of its own, and run over the documents."""
    opened: list[Library] = []

    def run(model: str | None = MODEL, **options: Any) -> tuple[Library, Any]:
        settings = {name: options.pop(name) for name in list(options) if name.startswith("context_")}
        index = IndexSettings(context_model=model, **settings) if model is not None else None
        library = Library(tmp_path / "index", settings=Settings(index=index), embedder=WordEmbedder())
        opened.append(library)
        return library, library.index(filled, **options)

    yield run
    for library in opened:
        library.close()


def passage(text: str) -> str:
    """The chunk that a prompt asks about."""
    match = re.search(r"<passage>\n(.*)\n</passage>", text, re.DOTALL)
    assert match
    return match[1]


def answer(shared: str, text: str) -> str:
    """Say which chunk it is, in words that no document has."""
    return f"Situated  {passage(text).split()[-1].strip('.')}ward\nin the firmament."


def contexts(library: Library) -> dict[str, str]:
    rows = library._index.database.rows("SELECT content, context FROM chunks ORDER BY id")
    return {row[0]: row[1] for row in rows}


def asked(service: Service) -> list[str]:
    """The chunks that were asked about, in the order in which the requests came."""
    return [passage(request["messages"][0]["content"][-1]["text"]) for request in service.requests]


# -- what it does ------------------------------------------------------------------------------------------------


def test_every_chunk_gets_a_context(indexed: Any, service: Service) -> None:
    library, report = indexed()
    assert (report.contexts, report.context_calls, report.context_failures) == (4, 4, 0)
    written = contexts(library)
    assert written["## Revenue\n\nRevenue grew by three percent over the previous quarter."] == (
        "Situated quarterward in the firmament."
    )
    # A heading alone has nothing to be situated.
    assert written["# Annual report of Halcyon Mills"].startswith("Annual report")
    for request in service.requests:
        document = request["messages"][0]["content"][0]["text"]
        assert "Annual report of Halcyon Mills" in document or "The cheque was sent" in document
        assert request["max_tokens"] == 100


def test_the_context_is_embedded_with_the_chunk(indexed: Any) -> None:
    library, _ = indexed()
    texts = library.embedder.texts
    assert any(text.startswith("Situated quarterward in the firmament.\n\n## Revenue") for text in texts)
    assert not any(text.startswith("Annual report of Halcyon Mills\nRevenue") for text in texts)
    assert library.doctor(repair=False).healthy


def test_a_chunk_is_found_by_meaning_of_its_context(indexed: Any) -> None:
    library, _ = indexed(model="")
    query = "situated harvestward in the firmament"
    before = library.search(query, mode="semantic", top_k=1).results[0]
    library, _ = indexed()
    after = library.search(query, mode="semantic", top_k=1).results[0]
    assert after.heading == "Outlook"
    assert after.semantic_score > before.semantic_score


@pytest.mark.skipif(
    "context" not in KeywordEntry.__dataclass_fields__, reason="the keyword index has no field for contexts"
)
def test_a_chunk_is_found_by_a_word_of_its_context(indexed: Any, filled: Path) -> None:
    library, _ = indexed(model="")
    assert found(library, "harvestward") == []
    library, _ = indexed()
    assert found(library, "harvestward") == [str(filled / "report.md")]


def test_tokens_are_counted(indexed: Any, service: Service) -> None:
    _, report = indexed()
    whole, prefixes = 0, []
    for request in service.requests:
        texts = [block["text"] for block in request["messages"][0]["content"]]
        whole += service.count(request["system"], *texts)
        if len(texts) == 2:
            prefixes.append(service.count(request["system"], texts[0]))
    assert report.context_input_tokens == whole
    # The three questions about the report: the first fills the cache, the others read from it.
    assert len(prefixes) == 3
    assert report.context_cache_write_tokens == prefixes[0]
    assert report.context_cached_tokens == prefixes[1] + prefixes[2]
    assert report.context_output_tokens > 0
    assert report.context_dollars is None


def test_a_document_of_one_chunk_is_not_put_into_the_cache(indexed: Any, service: Service) -> None:
    indexed()
    letter = [r for r in service.requests if "cheque" in r["messages"][0]["content"][0]["text"]]
    assert [len(request["messages"][0]["content"]) for request in letter] == [1]
    assert "cache_control" not in letter[0]["messages"][0]["content"][0]


def test_what_a_known_model_costs(indexed: Any) -> None:
    _, report = indexed("anthropic:claude-haiku-4-5")
    plain = report.context_input_tokens - report.context_cached_tokens - report.context_cache_write_tokens
    dollars = plain * 1.0 + report.context_cached_tokens * 0.1 + report.context_cache_write_tokens * 1.25
    assert report.context_dollars == pytest.approx((dollars + report.context_output_tokens * 5.0) / 1e6)


def test_progress_counts_chunks(indexed: Any) -> None:
    steps: list[Any] = []
    indexed(progress=steps.append)
    seen = [(step.done, step.total) for step in steps if step.stage == "context"]
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_service_of_the_other_kind(
    tmp_path: Path, filled: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    with running(ChatHandler) as chat:
        chat.answer = answer
        monkeypatch.setenv("OPENAI_BASE_URL", f"{chat.address}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        settings = Settings(index=IndexSettings(context_model="openai:gpt-test"))
        with Library(tmp_path / "index", settings=settings, embedder=WordEmbedder()) as library:
            report = library.index(filled)
            assert (report.contexts, report.context_failures, report.warnings) == (4, 0, [])
            assert report.context_cached_tokens > 0


# -- nothing is paid for twice -----------------------------------------------------------------------------------


def test_a_second_run_asks_nothing(indexed: Any, service: Service) -> None:
    _, first = indexed()
    _, second = indexed(None)
    assert (first.context_calls, second.context_calls, second.embedded) == (4, 0, 0)
    assert len(service.requests) == 4


def test_reading_everything_again_asks_nothing(indexed: Any, service: Service) -> None:
    library, _ = indexed()
    before = contexts(library)
    library, report = indexed(None, rebuild=True)
    assert (report.context_calls, report.contexts) == (0, 4)
    assert contexts(library) == before
    assert len(service.requests) == 4


def test_a_renamed_file_asks_nothing(indexed: Any, service: Service, filled: Path) -> None:
    indexed()
    (filled / "report.md").rename(filled / "renamed.md")
    library, report = indexed(None)
    assert len(report.renamed) == 1
    assert (report.context_calls, report.contexts, report.context_failures) == (0, 3, 0)
    assert "Situated harvestward in the firmament." in contexts(library).values()
    assert len(service.requests) == 4


def test_a_copy_asks_nothing(indexed: Any, service: Service, filled: Path) -> None:
    (filled / "copy.md").write_text(REPORT, encoding="utf-8")
    _, report = indexed()
    assert (report.contexts, report.context_calls) == (7, 4)
    assert sorted(asked(service)) == sorted(set(asked(service)))


def test_a_changed_document_is_asked_about_again(indexed: Any, service: Service, filled: Path) -> None:
    indexed()
    (filled / "letter.md").write_text(LETTER.replace("Monday", "Tuesday"), encoding="utf-8")
    library, report = indexed(None)
    assert report.context_calls == 1
    assert "Situated Tuesdayward in the firmament." in contexts(library).values()
    assert len(service.requests) == 5


def test_another_model_or_length_asks_again_and_reads_nothing(indexed: Any, service: Service) -> None:
    indexed()
    _, other = indexed("anthropic:claude-other")
    _, longer = indexed("anthropic:claude-other", context_max_tokens=200)
    _, faster = indexed("anthropic:claude-other", context_max_tokens=200, context_concurrency=2)
    _, back = indexed()
    assert [report.context_calls for report in (other, longer, faster, back)] == [4, 4, 0, 0]
    assert back.embedded == 0, "what is embedded is the same again"
    assert [report.unchanged for report in (other, longer, faster, back)] == [2, 2, 2, 2]


def test_answers_that_nobody_uses_are_kept_for_some_time(
    indexed: Any, service: Service, filled: Path
) -> None:
    library, _ = indexed()
    library._index.database.connection.execute("UPDATE contexts SET written_at = '2001-01-01'")
    (filled / "letter.md").write_text("# Letter\n\nAnother one entirely.\n", encoding="utf-8")
    library, _ = indexed(None)
    # The old letter's answer goes, those of the report are in use.
    assert library._index.database.value("SELECT COUNT(*) FROM contexts") == 4


# -- turning it on and off ---------------------------------------------------------------------------------------


def test_turning_it_on_and_off_reads_no_file_again(
    indexed: Any, tmp_path: Path, filled: Path, service: Service
) -> None:
    library, _ = indexed(model="")
    before, state = contexts(library), holdings(library, ("revenue",))
    library, on = indexed()
    assert (on.unchanged, on.updated, on.contexts) == (2, [], 4)
    assert on.embedded == 4
    library, off = indexed(model="")
    assert (off.unchanged, off.updated, off.contexts) == (2, [], 0)
    assert contexts(library) == before
    assert holdings(library, ("revenue",)) == state
    assert library.doctor(repair=False).healthy
    library, again = indexed()
    assert again.context_calls == 0
    assert len(service.requests) == 4


def test_the_model_is_kept_with_the_index(indexed: Any, filled: Path) -> None:
    indexed()
    (filled / "new.md").write_text("# New\n\nA new page.\n", encoding="utf-8")
    _, report = indexed(None)
    assert report.context_calls == 1


def test_without_contextual_embeddings_nobody_is_asked(
    tmp_path: Path, filled: Path, quick: None, service: Service
) -> None:
    settings = Settings(index=IndexSettings(context_model=MODEL, contextual_embeddings=False))
    with Library(tmp_path / "index", settings=settings, embedder=WordEmbedder()) as library:
        library.index(filled)
        assert set(contexts(library).values()) == {""}
    assert service.requests == []


def test_without_vectors_contexts_are_left_for_later_too(indexed: Any, service: Service) -> None:
    _, report = indexed(embed=False)
    assert report.contexts == 0
    assert service.requests == []
    _, report = indexed(None)
    assert report.contexts == 4


def test_a_long_context_leaves_room_for_the_text(indexed: Any, service: Service) -> None:
    service.answer = lambda shared, text: "word " * 900
    library, report = indexed(context_max_tokens=200)
    assert report.contexts == 4
    for context in contexts(library).values():
        assert len(context.split()) <= library.embedder.max_tokens // 2
    for text in library.embedder.texts:
        assert len(library.tokenizer.offsets(text)) <= library.embedder.max_tokens


# -- several at once ---------------------------------------------------------------------------------------------


def many(docs: Path, documents: int, sections: int) -> None:
    for number in range(documents):
        text = "".join(f"## Part {at}\n\nNumber {number} of {at}.\n\n" for at in range(sections))
        (docs / f"{number}.md").write_text(f"# Document {number}\n\n{text}", encoding="utf-8")


def lingering(shared: str, text: str) -> str:
    """Answer after a while, so that whatever may come meanwhile does."""
    time.sleep(0.2)
    return answer(shared, text)


def test_the_first_question_about_a_document_goes_alone(indexed: Any, service: Service, filled: Path) -> None:
    many(filled, 3, 6)
    service.answer = lingering
    indexed(context_concurrency=6)
    begun: dict[str, int] = {}
    for event, shared, _ in service.log:
        if event == "begin":
            begun[shared] = begun.get(shared, 0) + 1
        elif begun[shared] >= 1:
            begun[shared] += 100  # an answer has come: from now on all is allowed
        assert begun[shared] != 2, "two questions before the first answer"


def test_no_more_questions_at_once_than_allowed(indexed: Any, service: Service, filled: Path) -> None:
    many(filled, 2, 6)
    service.answer = lingering
    _, report = indexed(context_concurrency=3)
    assert report.context_failures == 0
    assert service.most_open == 3


def test_the_very_first_question_goes_alone(indexed: Any, service: Service) -> None:
    service.answer = lingering
    indexed()
    assert [event for event, _, _ in service.log[:2]] == ["begin", "end"]


# -- a model that fails ------------------------------------------------------------------------------------------


def test_a_failing_call_falls_back_and_is_tried_again(indexed: Any, service: Service) -> None:
    def moody(shared: str, text: str) -> str:
        return "" if "harvest" in passage(text) else answer(shared, text)

    service.answer = moody
    library, report = indexed()
    assert (report.contexts, report.context_failures) == (3, 1)
    assert len(report.warnings) == 1
    assert report.warnings[0].startswith(f"1 chunk(s) have no context from {MODEL} yet")
    assert "declined to answer" in report.warnings[0]
    assert "Annual report of Halcyon Mills\nOutlook" in contexts(library).values()
    assert found(library, "harvest")

    service.answer = answer
    before = len(service.requests)
    library, report = indexed(None)
    assert (report.contexts, report.context_calls, report.context_failures) == (1, 1, 0)
    assert len(service.requests) == before + 1
    assert "Situated harvestward in the firmament." in contexts(library).values()
    assert library.doctor(repair=False).healthy


def test_a_model_that_is_down_is_asked_a_few_times_only(indexed: Any, service: Service, filled: Path) -> None:
    many(filled, 6, 5)
    service.always = RefusedError(503, "down", headers=SOON)
    library, report = indexed(context_concurrency=1)
    assert len(service.requests) == 3 * 5  # three questions, each with its retries
    assert (report.contexts, report.context_failures) == (0, 34)
    assert len(report.warnings) == 1
    assert "answered 503" in report.warnings[0]
    assert report.embedded > 0, "search by meaning works all the same"
    assert found(library, "revenue", "semantic")

    service.always = None
    _, report = indexed(None)
    assert (report.contexts, report.context_failures) == (34, 0)


def test_a_model_that_goes_down_in_the_middle_loses_nothing(
    indexed: Any, service: Service, filled: Path
) -> None:
    many(filled, 3, 4)

    def dying(shared: str, text: str) -> str:
        if len(service.log) > 10:
            service.always = RefusedError(500, "gone", headers=SOON)
        return answer(shared, text)

    service.answer = dying
    _, report = indexed(context_concurrency=2)
    assert 0 < report.context_calls < 16
    assert report.contexts == report.context_calls
    assert report.context_failures == 16 - report.contexts
    service.always, service.answer = None, answer
    _, second = indexed(None)
    assert second.context_calls == 16 - report.context_calls
    assert second.context_failures == 0


def test_a_wrong_key_is_tried_once(indexed: Any, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-wrong-99")
    _, report = indexed()
    assert len(service.requests) == 1
    assert "refused the API key" in report.warnings[0]
    assert "sk-wrong-99" not in report.warnings[0]


def test_without_a_key_what_was_written_before_is_used(
    indexed: Any, service: Service, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed()
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    _, report = indexed(None)
    assert report.warnings == []
    (filled / "a-new-one.md").write_text("# New\n\nA new page.\n", encoding="utf-8")
    (filled / "report.md").rename(filled / "moved.md")
    library, report = indexed(None)
    assert "set ANTHROPIC_API_KEY" in report.warnings[0]
    assert (report.contexts, report.context_failures) == (3, 1)
    assert "Situated harvestward in the firmament." in contexts(library).values()


@pytest.mark.parametrize(
    ("model", "says"), [("nonsense", "Unknown language model"), ("mystery:m", "mystery:m")]
)
def test_a_model_that_does_not_exist_is_no_reason_to_fail(indexed: Any, model: str, says: str) -> None:
    _, report = indexed(model)
    assert len(report.added) == 2
    assert says in report.warnings[0]


@pytest.mark.parametrize("answers", ["raise", "blank"])
def test_a_model_of_another_package_may_do_anything(
    answers: str, indexed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd:
        name = "odd:one"

        def complete(self, prompt: Prompt) -> Completion:
            if answers == "raise":
                raise ZeroDivisionError("oops")
            return Completion(" \n ")

    monkeypatch.setattr("loccit.ingest.llm_context.load_model", lambda spec: Odd())
    _, report = indexed("odd:one")
    assert (report.contexts, report.context_failures) == (0, 4)
    assert ("oops" in report.warnings[0]) == (answers == "raise")


def test_a_document_that_is_refused_does_not_stop_the_others(
    indexed: Any, service: Service, filled: Path
) -> None:
    many(filled, 1, 8)
    real = MessagesHandler.check

    def check(handler: MessagesHandler, body: dict[str, Any]) -> None:
        if "Document 0" in body["messages"][0]["content"][0]["text"]:
            raise RefusedError(400, "prompt is too long")
        real(handler, body)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MessagesHandler, "check", check)
        _, report = indexed(context_concurrency=1)
    assert (report.contexts, report.context_failures) == (4, 8)
    assert "prompt is too long" in report.warnings[0]
    refused = [text for text in asked(service) if text.startswith("## Part")]
    assert len(refused) == 3


# -- estimates ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [100_000, 1000])
def test_what_is_estimated_is_what_is_sent(indexed: Any, service: Service, filled: Path, window: int) -> None:
    (filled / "long.md").write_text(long_document(), encoding="utf-8")
    (filled / "copy.md").write_text(REPORT, encoding="utf-8")
    library, _ = indexed(model="")
    wanted = IndexSettings(context_model="anthropic:claude-haiku-4-5", context_window_tokens=window)
    estimate = estimate_contexts(library._index, wanted)
    assert service.requests == []
    _, report = indexed("anthropic:claude-haiku-4-5", context_window_tokens=window)
    assert estimate.chunks == report.contexts
    assert estimate.calls == report.context_calls == len(service.requests)
    assert estimate.input_tokens == report.context_input_tokens
    assert estimate.output_tokens == sum(request["max_tokens"] for request in service.requests)
    assert estimate.dollars is not None and estimate.dollars > 0
    after = estimate_contexts(library._index, wanted)
    assert (after.documents, after.calls, after.input_tokens, after.dollars) == (0, 0, 0, 0.0)


def test_the_cached_part_of_an_estimate(indexed: Any, service: Service, filled: Path) -> None:
    (filled / "long.md").write_text(long_document(40), encoding="utf-8")
    library, _ = indexed(model="")
    estimate = estimate_contexts(library._index, IndexSettings(context_model=MODEL))
    indexed()
    long = [r for r in service.requests if "Subject 7" in r["messages"][0]["content"][0]["text"]]
    prefix = service.count(long[0]["system"], long[0]["messages"][0]["content"][0]["text"])
    assert prefix > 1024
    # The short ones are below what a service caches.
    assert estimate.cache_write_tokens == prefix
    assert estimate.cached_tokens == prefix * (len(long) - 1)


def test_an_estimate_without_a_model_is_empty(indexed: Any) -> None:
    library, _ = indexed(model="")
    assert estimate_contexts(library._index, IndexSettings()).calls == 0


# -- long documents ----------------------------------------------------------------------------------------------


def long_document(parts: int = 60) -> str:
    sections = [
        f"## Chapter {at}\n\n" + f"Subject {at} is treated at some length here, with reasons. " * 6
        for at in range(parts)
    ]
    return "# The great treatise\n\nBy A. Author, 1911.\n\n" + "\n\n".join(sections) + "\n"


def test_a_long_document_is_shown_in_windows(indexed: Any, service: Service, filled: Path) -> None:
    (filled / "long.md").write_text(long_document(), encoding="utf-8")
    indexed(context_window_tokens=1000)
    shown: dict[str, list[str]] = {}
    for request in service.requests:
        blocks = request["messages"][0]["content"]
        if "great treatise" in blocks[0]["text"]:
            shown.setdefault(blocks[0]["text"], []).append(passage(blocks[1]["text"]))
    assert 3 < len(shown) < 20, "several chunks share a window"
    assert sum(map(len, shown.values())) == 61
    for window, passages in shown.items():
        assert service.count(window) <= 1100
        assert "By A. Author, 1911." in window, "every window begins like the document"
        for text in passages:
            assert text in window
    assert max(map(len, shown.values())) >= 5


def test_a_window_has_the_outline_of_the_document(indexed: Any, service: Service, filled: Path) -> None:
    (filled / "long.md").write_text(long_document(), encoding="utf-8")
    indexed(context_window_tokens=2000)
    shown = {request["messages"][0]["content"][0]["text"] for request in service.requests}
    long = [text for text in shown if "great treatise" in text]
    assert len(long) > 1
    for text in long:
        assert "Outline of the document:" in text
        assert all(f"Chapter {at}\n" in text for at in range(60))


# -- a limit on the cost -----------------------------------------------------------------------------------------


LIMITED = "anthropic:claude-haiku-4-5"


@pytest.mark.parametrize("concurrency", [1, 10])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.2])  # answers here are far shorter than they may be
def test_a_run_costs_no_more_than_its_limit(
    indexed: Any, service: Service, filled: Path, share: float, concurrency: int
) -> None:
    many(filled, 4, 5)
    library, _ = indexed(model="")
    estimate = estimate_contexts(library._index, IndexSettings(context_model=LIMITED))
    assert estimate.dollars
    limit = estimate.dollars * share
    _, report = indexed(LIMITED, context_max_cost=limit, context_concurrency=concurrency)
    assert (report.context_dollars or 0.0) <= limit
    assert report.context_calls == len(service.requests) < estimate.calls
    assert report.context_failures == estimate.chunks - report.contexts > 0
    (warning,) = [text for text in report.warnings if "have no context" in text]
    assert f"{report.context_failures:,} chunk(s) have no context" in warning
    assert f"limit of ${limit:,.2f}" in warning and "is spent" in warning
    # The next run goes on, and nothing is asked twice.
    _, rest = indexed(LIMITED, context_max_cost=100.0)
    assert not rest.context_failures and not [text for text in rest.warnings if "have no context" in text]
    assert report.context_calls + rest.context_calls == estimate.calls
    assert len(set(asked(service))) == len(service.requests) == estimate.calls


def test_services_that_count_more_than_is_reckoned_stay_below_the_limit_too(
    indexed: Any, service: Service, filled: Path
) -> None:
    many(filled, 4, 5)
    library, _ = indexed(model="")
    estimate = estimate_contexts(library._index, IndexSettings(context_model=LIMITED))
    assert estimate.dollars
    service.times = 3
    limit = estimate.dollars / 3
    _, report = indexed(LIMITED, context_max_cost=limit)
    assert 0 < (report.context_dollars or 0.0) <= limit
    assert report.context_failures


def test_a_limit_needs_a_price(indexed: Any, service: Service) -> None:
    _, report = indexed("anthropic:claude-test", context_max_cost=1.0)
    assert service.requests == []
    (warning,) = [text for text in report.warnings if "have no context" in text]
    assert "its price is not known" in warning and "LOCCIT_LLM_PRICES" in warning


# -- a run that ends in the middle -------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(
    ("where", "call"),
    [
        ("loccit.index.folder.contexts:ContextStore.keep", 1),
        ("loccit.index.folder.contexts:ContextStore.keep", 6),
        ("loccit.index.folder.contexts:log_changes", 1),
        ("loccit.index.folder.contexts:insert_passages", 5),
        ("loccit.index.folder.contexts:ContextStore.put", 3),
        ("loccit.index.folder.record:Record.put_vectors", 2),
        ("loccit.index.folder.keyword_files:write_manifest", 2),
    ],
)
def test_killed_in_the_middle(
    where: str, call: int, tmp_path: Path, filled: Path, quick: None, service: Service
) -> None:
    many(filled, 4, 3)
    index = tmp_path / "index"
    settings = Settings(index=IndexSettings(context_model=MODEL, context_concurrency=1))
    with Library(index, embedder=WordEmbedder()) as library:
        library.index(filled)  # with structural contexts, so that all the rest is about contexts
        assert settings.index
        library._index.record.set_meta({"settings": settings.index.fingerprint()})
    killed = run_forked(index_until, index, filled, "SIGKILL", where, call)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with Library(index, settings=settings, embedder=WordEmbedder()) as library:
        for mode in ("keyword", "semantic", "hybrid", "exact"):
            assert library.search("revenue", mode=mode)
        kept = library._index.database.value("SELECT COUNT(*) FROM contexts")
        before = len(service.requests)
        report = library.index(filled)
        assert (report.context_failures, report.warnings) == (0, [])
        assert report.context_calls == 16 - kept == len(service.requests) - before
        assert library.doctor(repair=False).healthy
        result, written = holdings(library, ("revenue", "number")), contexts(library)
    # Whatever was not yet stored when the process ended is all that was asked twice.
    assert len(service.requests) - 16 <= 1
    with Library(tmp_path / "fresh", settings=settings, embedder=WordEmbedder()) as library:
        library.index(filled)
        assert holdings(library, ("revenue", "number")) == result
        assert contexts(library) == written

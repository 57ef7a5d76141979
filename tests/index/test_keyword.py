"""The keyword index: finding, phrases, updates, crashes, other processes, damage."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loccit.errors import IndexLockedError, IndexNotFoundError, IndexStateError, UsageError
from loccit.grammar.text.analysis import phrase_terms
from loccit.grammar.text.compounds import LUMP
from loccit.index.folder.keyword import DamagedIndexError, KeywordEntry, KeywordIndex


def entry(chunk: int, body: str, *, document: int = 0, language: str = "en", **texts: str) -> KeywordEntry:
    return KeywordEntry(
        document=document or chunk,
        chunk=chunk,
        language=language,
        title=texts.pop("title", ""),
        headings=texts.pop("headings", ""),
        body=body,
        fields=texts,
    )


def put(index: KeywordIndex, *entries: KeywordEntry, generation: int = 1) -> None:
    by_document: dict[int, list[KeywordEntry]] = {}
    for one in entries:
        by_document.setdefault(one.document, []).append(one)
    with index.writer() as writer:
        for document, group in by_document.items():
            writer.add_document(document, group)
        writer.commit(generation)


def found(index: KeywordIndex, query: str, *languages: str, **options: object) -> list[int]:
    hits = index.search(query, languages=languages or ("en",), limit=10, **options)  # type: ignore[arg-type]
    return [chunk for chunk, _ in hits]


def quoted(index: KeywordIndex, phrase: str) -> list[int]:
    hits, total = index.phrase(phrase, limit=10)
    assert total == len(hits)
    return sorted(chunk for chunk, _ in hits)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[KeywordIndex]:
    opened = KeywordIndex.open(tmp_path / "keyword")
    yield opened
    opened.close()


# Finding


def test_best_match_first_with_descending_scores(index: KeywordIndex) -> None:
    put(
        index,
        entry(1, "The controller shall notify the authority of a breach."),
        entry(2, "Breach notification: a breach must be notified."),
        entry(3, "Something else entirely."),
    )
    hits = index.search("breach notifications", languages=["en"], limit=10)
    assert [chunk for chunk, _ in hits] == [2, 1]
    assert hits[0][1] > hits[1][1] > 0
    assert found(index, "nowhere") == found(index, "") == found(index, "?!") == []
    assert index.search("breach", languages=["en"], limit=0) == []


@pytest.mark.parametrize(
    ("language", "body", "query"),
    [
        ("de", "Die Verträge wurden gekündigt.", "Vertrag"),
        ("ru", "Стороны заключили договоры аренды.", "договор"),
        ("zh", "个人信息处理者应当采取措施保障安全。", "信息处理"),
        ("zh", "应当依法缴纳所得税。", "税"),
        ("ja", "個人情報の保護に関する法律", "保護"),
        ("ko", "개인정보 보호법에 따라", "보호법"),
        ("ar", "يجب حماية البيانات الشخصية", "البيانات"),
        ("hi", "यह एक छोटा वाक्य है", "वाक्य"),
        ("th", "การคุ้มครองข้อมูลส่วนบุคคล", "ข้อมูล"),
        ("el", "Η προστασία των δεδομένων", "προστασια"),
        ("fr", "L'activité du responsable", "activite"),
        ("", "plain words of no known language", "words"),
    ],
)
def test_languages(index: KeywordIndex, language: str, body: str, query: str) -> None:
    put(index, entry(1, body, language=language), entry(2, "unrelated", language="en"))
    assert found(index, query, "en", language) == [1]
    assert quoted(index, body) == [1]


@pytest.mark.parametrize(
    ("body", "query"),
    [
        ("call getUserById here", "getUserById"),
        ("call getUserById here", "user"),
        ("parseJsonData", "parse_json_data"),
        ("written in C++ mostly", "C++"),
        ("see 32.706-2 for this", "32.706-2"),
        ("see 32.706-2 for this", "32.706"),
        ("an IL-6 receptor", "IL6"),
        ("the wellknown one", "well-known"),
        ("edit /etc/hosts now", "/etc/hosts"),
        ("since v1.2.3", "1.2.3"),
        ("a node.js server", "nodejs"),
    ],
)
def test_identifiers(index: KeywordIndex, body: str, query: str) -> None:
    put(index, entry(1, body), entry(2, "c code and other things"))
    assert found(index, query)[0] == 1


def test_an_exact_label_beats_its_parts(index: KeywordIndex) -> None:
    put(index, entry(1, "32.706-1 Clauses"), entry(2, "32.706-2 Clauses"), entry(3, "32 706 2 numbers"))
    assert found(index, "32.706-2")[0] == 2


def test_headings_and_frontmatter_are_searched_and_can_be_boosted_or_left_out(index: KeywordIndex) -> None:
    filler = "the general provisions of this part apply " * 5
    put(
        index,
        entry(1, filler + "erasure"),
        entry(2, filler, headings="Right to erasure"),
        entry(3, filler, tags="erasure", unknown="ignored"),
    )
    assert found(index, "erasure")[0] == 2
    assert set(found(index, "erasure")) == {1, 2, 3}
    assert found(index, "erasure", boosts={"tags": 50.0})[0] == 3
    assert set(found(index, "erasure", boosts={"tags": 0.0})) == {1, 2}
    with pytest.raises(UsageError, match=r"Unknown search fields: colour; available: .*title.*tags"):
        found(index, "erasure", boosts={"colour": 1.0})


@pytest.mark.parametrize("count", [1, 20, 600])
def test_only_in_some_documents(index: KeywordIndex, count: int) -> None:
    put(index, *(entry(number, "shared words") for number in range(1, 1001)))
    allowed = set(range(401, 401 + count))
    hits = index.search("shared", languages=["en"], limit=1000, documents=allowed)
    assert {chunk for chunk, _ in hits} == allowed
    assert index.search("shared", languages=["en"], limit=5, documents=sorted(allowed)) == hits[:5]
    assert hits[0][1] == index.search("shared", languages=["en"], limit=1)[0][1]
    assert index.phrase("shared words", limit=3, documents=allowed)[1] == count
    assert index.search("shared", languages=["en"], limit=5, documents=[]) == []
    assert index.search("shared", languages=["en"], limit=5, documents=range(5000, 9000)) == []


def test_rare_words_are_found_behind_a_large_filter(index: KeywordIndex) -> None:
    put(index, *(entry(number, "shared word" + " word" * (number % 3)) for number in range(1, 4001)))
    allowed = {number for number in range(1, 4001) if number % 3 == 0}
    hits = index.search("word", languages=["en"], limit=1300, documents=allowed)
    assert {chunk for chunk, _ in hits} <= allowed
    assert len(hits) == 1300


# Phrases and suggestions


def test_phrases_are_exact_words_in_order(index: KeywordIndex) -> None:
    put(
        index,
        entry(1, "The legitimate interests, pursued by the controller."),
        entry(2, "interests legitimate; controllers pursue"),
        entry(3, "Legitimate\n> **interests** of GitHub actions"),
        entry(4, "a well-known data-base, getUserById()"),
    )
    assert quoted(index, "Legitimate Interests") == [1, 3]
    assert quoted(index, "interests pursued by") == [1]
    assert quoted(index, "interest pursued") == []
    assert quoted(index, "github actions") == [3]
    assert quoted(index, "well known data base") == [4]
    assert quoted(index, "getuserbyid") == [4]
    assert quoted(index, "controllers") == [2]
    assert index.phrase("...", limit=5) == ([], 0)


def test_the_number_of_phrase_matches_is_the_whole_number(index: KeywordIndex) -> None:
    put(index, *(entry(number, "personal data") for number in range(1, 31)))
    hits, total = index.phrase("personal data", limit=4)
    assert (len(hits), total) == (4, 30)
    assert index.phrase("personal data", limit=0) == ([], 30)


def test_suggestions_are_frequent_words_as_written(index: KeywordIndex) -> None:
    put(index, entry(1, "controllers control"), entry(2, "Controllers"), entry(3, "contract"))
    assert index.suggest("CONT") == ["controllers", "contract", "control"]
    assert index.suggest("cont", limit=1) == ["controllers"]
    assert index.suggest(" ") == index.suggest("zzz") == []


# Updates


def test_updates_and_deletions(index: KeywordIndex) -> None:
    put(index, entry(1, "alpha"), entry(2, "beta", document=1), entry(3, "gamma"))
    put(index, entry(4, "delta", document=1), generation=2)
    assert index.generation == 2
    assert found(index, "alpha") == found(index, "beta") == []
    assert found(index, "delta") == [4]
    with index.writer() as writer:
        writer.delete(3)
        writer.commit(3)
    assert found(index, "gamma") == []
    assert index.documents() == {1}
    assert index.chunk_count() == 1


def test_adding_again_changes_nothing(index: KeywordIndex) -> None:
    for generation in (1, 2):
        put(index, entry(1, "alpha"), entry(2, "alpha", document=1), generation=generation)
    assert index.chunk_count() == 2
    with index.writer() as writer:  # twice before one commit
        writer.add_document(5, [entry(50, "omega", document=5)])
        writer.add_document(5, [entry(51, "omega", document=5)])
        writer.commit(3)
    assert found(index, "omega") == [51]


def test_what_is_not_committed_is_dropped(index: KeywordIndex) -> None:
    put(index, entry(1, "alpha"))
    with pytest.raises(RuntimeError), index.writer() as writer:
        writer.add_document(2, [entry(2, "beta")])
        raise RuntimeError("interrupted")
    with index.writer() as writer:
        writer.delete(1)
    assert found(index, "alpha") == [1]
    assert found(index, "beta") == []
    assert index.generation == 1
    put(index, entry(3, "gamma"), generation=2)
    assert index.documents() == {1, 3}


def test_several_commits_in_one_writer(index: KeywordIndex) -> None:
    with index.writer() as writer:
        for number in range(1, 6):
            writer.add_document(number, [entry(number, "alpha")])
            writer.commit(number)
            assert index.chunk_count() == number
            assert index.generation == writer.generation == number


def test_entries_of_another_document_are_refused(index: KeywordIndex) -> None:
    with index.writer() as writer, pytest.raises(ValueError, match="another document"):
        writer.add_document(1, [entry(1, "alpha", document=2)])


# Crashes


def test_crash_between_commit_and_manifest_is_caught_up(index: KeywordIndex, tmp_path: Path) -> None:
    manifest = tmp_path / "keyword" / "generation.json"
    put(index, entry(1, "alpha"))
    before = manifest.read_text()
    put(index, entry(2, "beta"), generation=2)
    index.close()
    manifest.write_text(before)
    reopened = KeywordIndex.open(tmp_path / "keyword")
    assert reopened.generation == 1
    put(reopened, entry(2, "beta"), generation=2)
    assert found(reopened, "beta") == [2]
    assert reopened.chunk_count() == 2
    reopened.close()


def test_crash_in_the_first_commit_leaves_nothing_behind(index: KeywordIndex, tmp_path: Path) -> None:
    put(index, entry(1, "alpha"))
    index.close()
    (tmp_path / "keyword" / "generation.json").unlink()
    reopened = KeywordIndex.open(tmp_path / "keyword")
    assert reopened.generation == 0
    put(reopened, entry(2, "beta"))
    assert reopened.documents() == {2}
    reopened.close()


# Other processes and threads

_WRITER = """
import sys
from pathlib import Path
from loccit.index.folder.keyword import KeywordEntry, KeywordIndex
with KeywordIndex.open(Path(sys.argv[1])).writer() as writer:
    for number in range(10, 15):
        writer.add_document(number, [KeywordEntry(number, number, "en", "", "", "omega")])
    writer.commit(writer.generation + 1)
    print("committed", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def other_writer(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", _WRITER, str(tmp_path / "keyword")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.communicate()


def _wait_for_commit(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "committed"


def test_reading_while_another_process_writes(
    index: KeywordIndex, other_writer: subprocess.Popen[str]
) -> None:
    put(index, entry(1, "alpha"))
    assert index.generation == 1
    _wait_for_commit(other_writer)
    assert found(index, "alpha") == [1]
    index.reload()
    assert index.generation == 2
    assert len(found(index, "omega")) == 5
    with pytest.raises(IndexLockedError), index.writer(timeout=0.05):
        pass


def test_a_killed_writer_holds_nobody_up(index: KeywordIndex, other_writer: subprocess.Popen[str]) -> None:
    _wait_for_commit(other_writer)
    other_writer.send_signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    other_writer.wait()
    put(index, entry(1, "alpha"), generation=2)
    assert index.chunk_count() == 6


def test_writers_in_threads_take_turns(tmp_path: Path) -> None:
    folder = tmp_path / "keyword"

    def work(number: int) -> None:
        own = KeywordIndex.open(folder)
        with own.writer() as writer:
            writer.add_document(number, [entry(number, "alpha")])
            writer.commit(writer.generation + 1)
        own.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(1, 9)))
    index = KeywordIndex.open(folder)
    assert index.documents() == set(range(1, 9))
    assert index.generation == 8
    index.close()


def test_searching_from_many_threads_while_writing(index: KeywordIndex) -> None:
    put(index, *(entry(number, f"alpha word{number}") for number in range(1, 101)))
    done = threading.Event()

    def search() -> bool:
        good = True
        while not done.is_set():
            good &= (
                len(index.search("alpha", languages=["en"], limit=100)) >= 100
                and index.phrase("alpha", limit=1)[1] >= 100
            )
        return good

    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(search) for _ in range(4)]
        for generation in range(2, 8):
            put(index, entry(1000 + generation, "alpha"), generation=generation)
        done.set()
        assert all(future.result() for future in running)


# Opening


def test_nothing_to_open(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFoundError):
        KeywordIndex.open(tmp_path / "missing", create=False)
    assert not (tmp_path / "missing").exists()


def test_new_index_is_empty(index: KeywordIndex, tmp_path: Path) -> None:
    assert index.generation == index.chunk_count() == 0
    assert index.documents() == set()
    assert found(index, "alpha") == []
    KeywordIndex.open(tmp_path / "keyword", create=False).close()


def test_closed_index_says_so(index: KeywordIndex) -> None:
    index.close()
    index.close()
    with pytest.raises(IndexStateError):
        found(index, "alpha")


def test_deleting_the_folder_and_starting_over(index: KeywordIndex, tmp_path: Path) -> None:
    put(index, entry(1, "alpha"))
    index.close()
    shutil.rmtree(tmp_path / "keyword")
    again = KeywordIndex.open(tmp_path / "keyword")
    assert again.generation == 0
    put(again, entry(2, "beta"))
    assert found(again, "beta") == [2]
    again.close()


@pytest.mark.parametrize(
    "damage", ["meta", "no meta", "manifest", "format", "analysis", "segment", "no segment", "schema"]
)
def test_damage_is_reported(index: KeywordIndex, tmp_path: Path, damage: str) -> None:
    put(index, entry(1, "alpha"))
    index.close()
    folder = tmp_path / "keyword"
    meta, manifest = folder / "meta.json", folder / "generation.json"
    segment = next(folder.glob("*.idx"))
    if damage == "meta":
        meta.write_text("{")
    elif damage == "no meta":
        meta.unlink()
    elif damage == "manifest":
        manifest.write_bytes(b"\x00" * 20)
    elif damage in ("format", "analysis"):
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), damage: "other"}))
    elif damage == "segment":
        segment.write_bytes(segment.read_bytes()[:10])
    elif damage == "no segment":
        segment.unlink()
    else:
        meta.write_text(meta.read_text().replace('"headings"', '"headlines"'))
    with pytest.raises(DamagedIndexError):
        KeywordIndex.open(folder)


def test_flipped_bits_are_found_by_verifying(index: KeywordIndex, tmp_path: Path) -> None:
    put(index, entry(1, "alpha beta gamma"))
    assert index.verify() == []
    segment = next((tmp_path / "keyword").glob("*.term"))
    content = bytearray(segment.read_bytes())
    content[len(content) // 3] ^= 0xFF
    segment.write_bytes(bytes(content))
    assert index.verify() == [segment.name]


# Any text


@pytest.mark.parametrize("unit", ["a", "_", "\u0301", "a.", "漢", "\x00", "\ud7ff", "🎉", "C++ "])
def test_hostile_texts(index: KeywordIndex, unit: str) -> None:
    put(index, entry(1, unit * 50_000, title=unit * 1000), entry(2, "alpha"))
    found(index, unit * 50_000)
    index.phrase(unit * 1000, limit=5)
    index.suggest(unit * 1000)
    assert found(index, "alpha") == [2]


_TEXTS = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(["getUserById", "32.706-2", "l'article", "東京都", "C++", "Straße"]),
    ),
    min_size=1,
    max_size=5,
).map(" ".join)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(_TEXTS, min_size=1, max_size=4), language=st.sampled_from(["en", "de", "ja", ""]))
def test_every_word_of_a_chunk_finds_it(index: KeywordIndex, texts: list[str], language: str) -> None:
    put(index, *(entry(number, text, language=language) for number, text in enumerate(texts, 1)))
    for number, text in enumerate(texts, 1):
        for word in LUMP.findall(text):
            if phrase_terms(word):
                assert number in quoted(index, word)
                assert number in found(index, word, language)
        if phrase_terms(text):
            assert number in quoted(index, text)


def test_entries_written_as_json_are_found_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Older versions of tantivy take ready-made terms only as JSON."""
    import tantivy

    text = "The getUserById call returns the well-known user record of Section 4.2."
    answers = []
    for name in ("terms", "json"):
        if name == "json":
            monkeypatch.delattr(tantivy, "PreTokenizedString", raising=False)
        index = KeywordIndex.open(tmp_path / name)
        with index.writer() as writer:
            writer.add_document(1, [KeywordEntry(1, 10, "en", "Title", "Heading", text, {"tags": "alpha"})])
            writer.commit(1)
        index.reload()
        searches = [
            index.search(q, languages=["en"], limit=5) for q in ("user", "getuserbyid", "alpha", "heading")
        ]
        phrases = [
            index.phrase(q, limit=5)[1] for q in ("well-known user record", "returns the", "the returns")
        ]
        answers.append((searches, phrases))
    assert answers[0] == answers[1]
    assert answers[0][1] == [1, 1, 0]

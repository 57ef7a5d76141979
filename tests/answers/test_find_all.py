from __future__ import annotations

import json
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from loccit import Library
from loccit.answers.verbatim.find_all import _Looked, find_all
from loccit.answers.verbatim.patterns import compile_pattern
from loccit.answers.verbatim.quotes import verify_quotes
from loccit.answers.verbatim.render import count_line
from loccit.cli.app import app
from loccit.errors import UsageError
from loccit.index.folder.texts import TextIndex
from loccit.index.port.records import StoredText
from loccit.model import FoundAll

runner = CliRunner()


def shown(found: FoundAll) -> list[tuple[str, str, int]]:
    return [(Path(hit.source_path).name, hit.section_label, hit.line) for hit in found.hits]


def test_a_phrase_is_found_across_lines_quotes_marks_and_case(library: Library) -> None:
    assert shown(library.find_all("harbour master MAY extend this period to")) == [
        ("act.md", "Section 1", 11)
    ]
    assert shown(library.find_all('the "harbour office" within')) == [("act.md", "Section 1", 10)]
    assert shown(library.find_all("dawn - unless")) == [("act.md", "Section 2(a)", 16)]
    assert shown(library.find_all("The Harbour Master may")) == [
        ("act.md", "Section 1", 10),
        ("note.md", "", 3),
    ]
    assert shown(library.find_all("vessel at anchor shows a white light")) == [
        ("act.md", "Section 2(a)", 16),
        ("note.md", "", 5),
    ]
    found = library.find_all("the harbour master's")
    assert (
        found.hits[0].text
        == "(a) A vessel at anchor shows a white light from dusk to dawn – unless the harbour"
    )
    assert found.total == found.documents == 1 and found.complete and not found.cursor


def test_words_with_hyphens_may_be_parted_at_the_end_of_a_line(tmp_path: Path) -> None:
    (tmp_path / "lease.txt").write_text(
        "No set-off is allowed, no set-\n   off of out-of-\npocket costs, and no\nout-\nof-pocket set—off. All day-\n"
        "to-day-\nto-day-to-\nday rent.\n"
    )
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "lease.txt"], embed=False)
        for pattern, lines in {
            "set-off": [1, 1, 5],
            "out-of-pocket": [2, 4],
            "no set- off of": [1],
            "day-to-day-to-day-to-day": [5],
            "pocket": [3, 5],
        }.items():
            found = library.find_all(pattern)
            assert (found.total, [hit.line for hit in found.hits]) == (len(lines), lines), pattern
        assert library.find_all("Set-off", ignore_case=False).total == 0


def test_phrases_are_of_whole_words_and_of_the_text_alone(library: Library) -> None:
    assert library.find_all("vess").total == 0
    assert library.find_all("law").total == 0  # it is a tag
    assert library.find_all("Vessel", ignore_case=False).total < library.find_all("vessel").total


def test_words_stand_in_one_paragraph_in_any_order(library: Library) -> None:
    assert shown(library.find_all("hour arrival vessel", kind="words")) == [("act.md", "Section 1", 10)]
    assert library.find_all("arrival lights", kind="words").total == 0


def test_a_regular_expression_counts_lines(library: Library) -> None:
    found = library.find_all(r"^vessel \d+ lies", kind="regex", limit=5)
    assert (found.total, found.documents, len(found.hits)) == (36, 12, 5)
    assert library.find_all(r"(?-i)^vessel", kind="regex").total == 0


def test_pages_of_hits_make_up_the_whole(library: Library) -> None:
    whole = library.find_all("at anchor", limit=1000)
    for size in (1, 2, 5, 37):
        hits, cursor = [], None
        while cursor != "":
            page = library.find_all("at anchor", limit=size, cursor=cursor)
            assert (page.total, page.documents) == (whole.total, whole.documents)
            hits += page.hits
            cursor = page.cursor
        assert hits == whole.hits


@pytest.mark.parametrize(
    ("pattern", "kind"), [("at anchor", "phrase"), ("anchor at", "words"), ("at.anchor", "regex")]
)
def test_many_hits_are_not_all_counted_but_all_shown(
    folder: Path, library: Library, monkeypatch: pytest.MonkeyPatch, pattern: str, kind: str
) -> None:
    whole = library.find_all(pattern, kind=kind, limit=1000)
    assert whole.complete and whole.total == len(whole.hits) == 38
    for module in ("find_all", "patterns"):
        monkeypatch.setattr(f"loccit.answers.verbatim.{module}.MOST_COUNTED", 30)
    hits, cursor = [], None
    while cursor != "":
        page = library.find_all(pattern, kind=kind, limit=7, cursor=cursor)
        assert (page.total, page.complete, page.note) == (30, False, "")
        assert 0 < page.documents <= whole.documents
        hits += page.hits
        cursor = page.cursor
    assert hits == whole.hits
    words = [pattern] if kind == "phrase" else [f"--{kind}", pattern]
    shown = runner.invoke(app, ["grep", *words, "-n", "2", "--index", str(folder / ".loccit")])
    assert shown.exit_code == 0 and "2 of 30+ hits in " in shown.stderr and "+ documents." in shown.stderr
    for module in ("find_all", "patterns"):
        monkeypatch.setattr(f"loccit.answers.verbatim.{module}.MOST_COUNTED", 38)
    assert library.find_all(pattern, kind=kind).complete


def test_more_than_ten_thousand_hits_have_no_exact_number(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two\n" * 5000)
    (tmp_path / "b.txt").write_text("one two\n" * 5000)
    with Library(tmp_path / ".loccit") as library:
        library.index(tmp_path, embed=False)
        asked = {"phrase": "one two", "regex": r"o\w+"}
        for kind, pattern in asked.items():
            found = library.find_all(pattern, kind=kind)
            assert (found.total, found.complete) == (10_000, True)
        (tmp_path / "c.txt").write_text("one two\n")
        library.index(tmp_path, embed=False)
        for kind, pattern in asked.items():
            found = library.find_all(pattern, kind=kind)
            assert (found.total, found.complete, bool(found.cursor)) == (10_000, False, True)
            assert count_line(found).startswith("100 of 10,000+ hits in ")


def test_what_takes_too_long_is_not_counted_to_the_end(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loccit.answers.verbatim.patterns._SECONDS", -1.0)
    found = library.find_all(".", kind="regex", limit=5)
    assert not found.complete and not found.cursor and "Narrow the pattern" in found.note


@pytest.mark.parametrize(
    ("pattern", "kind", "said"),
    [
        ("", "phrase", "pattern is empty"),
        ("…", "phrase", "contains no words"),
        ("a", "glob", "Unknown kind"),
        ("x" * 2000, "phrase", "characters"),
        ("(", "regex", "RE2"),
        (r"(a)\1", "regex", "RE2"),
        ("(?=a)", "regex", "RE2"),
        ("a*", "regex", "empty"),
        ("\ud800", "regex", "half of a surrogate pair"),
        ("a \ud800", "phrase", "half of a surrogate pair"),
        ("(a{500}){500}", "regex", "RE2"),
    ],
)
def test_what_can_mean_nothing_is_refused(library: Library, pattern: str, kind: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        library.find_all(pattern, kind=kind)


def test_no_expression_blows_up(library: Library) -> None:
    pattern = compile_pattern("(a+)+$", "regex")
    began = time.process_time()
    assert not list(pattern.spans("a" * 50_000 + "b"))
    assert time.process_time() - began < 5


def test_words_of_scripts_without_spaces_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# 合同\n\n甲方应当在三十日内支付全部款项。\n", encoding="utf-8")
    with Library(tmp_path / ".loccit") as library:
        library.index(tmp_path / "a.md", embed=False)
        assert library.find_all("应当").total == library.find_all("款项 应当", kind="words").total == 1


@pytest.mark.parametrize(
    ("pattern", "total"),
    [
        (r"Section\s+\d+", 2),  # one with a space that does not break
        (r"\w+ung\b", 3),
        (r"\bÜbungen\b", 1),
        (r"\bmenú\b", 1),
        (r"[\w-]+ßig", 1),
        (r"(?-i)\b\w+ Agreement", 2),
        (r"\W+Agreement", 2),
        (r"\S+\s[\S]+ Agreement", 2),
        (r"\QSection\E\s\d", 2),
        (r"\w{1,60}ßig", 1),
        (r"\w{1,500} Prüfung", 2),
        (r"(?-i)[A-Z]\w+", 10),
        (r"(?-i)prüfung", 0),
    ],
)
def test_letters_and_spaces_of_expressions_are_those_of_all_scripts(
    tmp_path: Path, pattern: str, total: int
) -> None:
    (tmp_path / "rules.txt").write_text(
        "Section\u00a04 and Section 5 of the Prüfung. Eine Prüfung und zwei Übungen; überhaupt regelmäßig.\n\n"
        "El menú menúes. The Café Agreement, the “Æther Agreement” and the Übung.\n",
        encoding="utf-8",
    )
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "rules.txt"], embed=False)
        found = library.find_all(pattern, kind="regex")
        assert (found.total, len(found.hits)) == (total, total)


def test_a_cursor_is_of_its_question_and_of_its_state(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one\n\none\n")
    with Library(tmp_path / ".loccit") as library:
        library.index(tmp_path / "a.md", embed=False)
        cursor = library.find_all("one", limit=1).cursor
        with pytest.raises(UsageError, match="another query"):
            library.find_all("two", cursor=cursor)
        with pytest.raises(UsageError, match="cursor is invalid"):
            library.find_all("one", cursor="abc")
        (tmp_path / "a.md").write_text("one\n\none\n\none\n")
        library.index(tmp_path / "a.md", embed=False)
        with pytest.raises(UsageError, match="has changed"):
            library.find_all("one", cursor=cursor)


def test_a_part_of_a_library_finds_in_its_own_documents(library: Library) -> None:
    part = library.scoped({"path": "docs/log-01.md"})
    assert part.find_all("at anchor").documents == 1
    assert library.find_all("at anchor", document="act.md").total == 1
    assert library.find_all("at anchor", filters={"tags": "law"}).documents == 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"pattern": "arrival vessel master"}, 'occur together in 1 paragraph (kind "words")'),
        ({"pattern": "zebra crossing"}, "in other words"),
        ({"pattern": r"zebra\d", "kind": "regex"}, "in other words"),
        ({"pattern": "HARBOUR ACT", "ignore_case": False}, "1 with different capitals"),
        ({"pattern": "anchor", "filters": {"tags": "novel"}}, "No document passes the filters"),
        ({"pattern": "zebra", "document": "act.md"}, "in 1 document only"),
    ],
)
def test_no_hits_say_where_to_look(library: Library, asked: dict[str, Any], said: str) -> None:
    found = library.find_all(**asked)
    assert found.total == 0 and found.complete and said in found.note
    assert found.to_dict()["note"] == found.note


# -- nothing is lost -------------------------------------------------------------------------------------------

SIGNS = st.sampled_from("abİςΣs'’\"“”-–—_*>. \n\n\t,é字0123\u00ad")
WORD_LIST = [
    "vessel",
    "don't",
    "it'll",
    "y'all'd've",
    "getUser",
    "snake_case",
    "32.706-2",
    "a/b",
    "harbour’s",
    "C++",
]
WORD_LIST += ["x-b-y", "set-off", "off-set-", "set-", "off"]
WORD_LIST += ["字", "字字", "b字", "don", "all", "harbour", "case", "user", "32.706", "x" * 130, "x" * 99]
WORDS = st.sampled_from(WORD_LIST)
TEXTS = st.lists(st.one_of(WORDS, SIGNS.map(str), st.just(" "), st.just("\n")), max_size=60).map("".join)


def naive(text: str, words: list[str]) -> list[tuple[int, int]]:
    """Compare at every offset, sign by sign."""
    kinds = ["'’‘‚‛ʼ＇`", '"“”„‟«»', "-‐‑‒–—−"]

    def alike(a: str, b: str) -> bool:
        low = [c.replace("İ", "i").lower().replace("ς", "σ") for c in (a, b)]
        return low[0] == low[1] or any(a in kind and b in kind for kind in kinds)

    def parted(sign: str) -> bool:
        return sign.isalnum() and sign != "字"

    def gap_end(at: int) -> int:
        while at < len(text) and text[at] in "*_":
            at += 1
        if at >= len(text) or not text[at].isspace():
            return -1
        while at < len(text) and (text[at].isspace() or text[at] in "*_>"):
            at += 1
        return at

    def match(at: int) -> int:
        for number, word in enumerate(words):
            if number:
                at = gap_end(at)
                if at < 0:
                    return -1
            for place, sign in enumerate(word):
                if at >= len(text) or not alike(text[at], sign):
                    return -1
                at += 1
                # A line may end after a hyphen.
                if sign in kinds[2] and word[place - 1 : place].isalnum() and word[place + 1 :][:1].isalnum():
                    at = max(at, gap_end(at))
        return -1 if parted(words[-1][-1]) and at < len(text) and text[at].isalnum() else at

    found, at = [], 0
    while at < len(text):
        end = match(at)
        if end > at and not (at and parted(words[0][0]) and text[at - 1].isalnum()):
            found.append((at, end))
            at = end
        else:
            at += 1
    return found


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, words=st.lists(WORDS, min_size=1, max_size=2))
def test_a_phrase_finds_what_a_comparison_of_every_offset_finds(text: str, words: list[str]) -> None:
    pattern = compile_pattern(" ".join(words), "phrase")
    assert list(pattern.spans(text)) == naive(text, words)


PATTERNS = st.one_of(
    st.tuples(st.just("phrase"), st.lists(WORDS, min_size=1, max_size=3).map(" ".join)),
    st.tuples(st.just("words"), st.lists(WORDS, min_size=1, max_size=3).map(" ".join)),
    st.tuples(
        st.just("regex"),
        st.sampled_from(
            [
                *map(re.escape, WORD_LIST),
                "ess.l",
                r"\d+",
                r"\w+\s+\w+",
                "^.",
                r".$",
                r"\Av",
                r"l\z",
                r"\bx",
                r"(?-m)^v",
                r"\b|s",
                "(?-m)l$",
                "[^a]+",
            ]
        ),
    ),
)


@settings(max_examples=300, deadline=None)
@given(
    texts=st.lists(TEXTS, max_size=5),
    pattern=PATTERNS,
    ignore_case=st.booleans(),
    gone=st.sets(st.integers(1, 5)),
)
def test_counting_finds_what_finding_one_by_one_finds(
    texts: list[str], pattern: tuple[str, str], ignore_case: bool, gone: set[int]
) -> None:
    kind, wanted = pattern
    compiled = compile_pattern(wanted, kind, ignore_case=ignore_case)
    stored = [StoredText(number, str(number), "", 0, text) for number, text in enumerate(texts, 1)]
    with tempfile.TemporaryDirectory() as folder:
        index = TextIndex(Path(folder))
        index.apply((), stored[:3], 1)
        index.apply(gone, [text for text in stored[3:] if text.document not in gone], 2)
        living = {text.document: text.text for text in stored if text.document not in gone}
        assert index.written.documents.tolist() == list(living)
        one_by_one = {document: len(list(compiled.spans(text))) for document, text in living.items()}
        for documents in (set(living), {1, 2}, {3}):
            looked = _Looked(index, documents)
            assert compiled.count(looked) == (
                {
                    document: count
                    for document, count in one_by_one.items()
                    if count and document in documents
                },
                True,
            )


def test_texts_are_caught_up_put_together_anew_and_compared(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntags: x\n---\none anchor\n")
    (tmp_path / "b.md").write_text("another anchor\n")
    index_folder = tmp_path / ".loccit"
    with Library(index_folder) as library:
        library.index(tmp_path, embed=False)
        assert library.find_all("anchor").total == 2
        (tmp_path / "a.md").write_text("no more\n")
        library.index(tmp_path, embed=False)
        assert [hit.text for hit in library.find_all("anchor").hits] == ["another anchor"]
    (index_folder / "texts" / "written.bin").write_bytes(b"")
    with Library(index_folder) as library:
        assert library.find_all("more|another", kind="regex").total == 2
        assert library.doctor().healthy


def test_a_library_that_cannot_be_caught_up_is_searched_whole(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("one anchor\n")
    with Library(tmp_path / ".loccit") as library:
        library.index(tmp_path / "a.md", embed=False)
        index = library._index
        state = index.texts._state
        (tmp_path / "b.md").write_text("another “big\nanchor” here\n")
        library.index(tmp_path / "b.md", embed=False)
        index.texts._state = state  # as it is while somebody else writes
        assert find_all(index, "anchor").total == 2
        assert verify_quotes(index, ["another big anchor"]).ok


# -- the command -----------------------------------------------------------------------------------------------


def test_the_command_shows_one_line_a_hit(folder: Path, library: Library) -> None:
    where = ["--index", str(folder / ".loccit")]
    out = runner.invoke(app, ["grep", "white", "light", *where])
    assert out.exit_code == 0
    assert "act.md:16: Section 2(a) [" in out.stdout
    assert "]: (a) A vessel at anchor shows a white light" in out.stdout
    assert "2 hits in 2 documents." in out.stderr
    data = json.loads(runner.invoke(app, ["grep", "at anchor", "-n", "2", "--json", *where]).stdout)
    assert len(data["hits"]) == 2 and data["cursor"] and data["total"] == 38
    more = runner.invoke(app, ["grep", "at anchor", "-n", "2", "--cursor", data["cursor"], *where])
    assert more.exit_code == 0 and "2 of 38 hits in 14 documents." in more.stderr
    assert runner.invoke(app, ["grep", "--regex", r"\d+ euro", *where]).exit_code == 0
    assert runner.invoke(app, ["grep", "--words", "fine", "euro", "-f", "tags=law", *where]).exit_code == 0
    none = runner.invoke(app, ["grep", "zebra", *where])
    assert none.exit_code == 4 and "0 hits" in none.stderr and "in other words" in none.stderr
    assert runner.invoke(app, ["grep", "--regex", "(", *where]).exit_code == 2

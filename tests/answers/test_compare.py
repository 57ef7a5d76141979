from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.compare import EDITS, judge, read_here
from typer.testing import CliRunner

from loccit import Library
from loccit.answers.comparing import compare_files
from loccit.answers.verbatim.compare import compare as compare_documents
from loccit.answers.verbatim.render import comparison_lines
from loccit.cli.app import app
from loccit.errors import ConversionError, NotFoundError, UsageError
from loccit.model import Comparison

runner = CliRunner()
EXAMPLES = Path(__file__).parents[2] / "examples"
POLICY = """# Policy

All staff read this.

## 1. Scope

This policy applies to all employees of the company.

(a) It covers data on laptops and phones.

(b) It covers data on paper in the archive.

## 2. Duties

Employees shall report a loss within 3 days to the office.

## 3. Review

The board reviews the policy every year in March.

## 4. Contact

Ask the officer for data protection about questions.
"""
Compare = Callable[[str, str], Comparison]


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    def files(old: str, new: str) -> Comparison:
        (tmp_path / "old.md").write_text(old, encoding="utf-8")
        (tmp_path / "new.md").write_text(new, encoding="utf-8")
        return compare_documents(read_here(tmp_path / "old.md"), read_here(tmp_path / "new.md"))

    return files


def shown(comparison: Comparison) -> list[tuple[str, str, str]]:
    return [
        (
            item.kind,
            item.old.section_label if item.old else "",
            item.new.section_label if item.new else "",
        )
        for item in comparison.differences
    ]


def test_what_is_the_same_has_no_differences(compare: Compare) -> None:
    found = compare(POLICY, POLICY.replace("report a loss within", "report\na loss   within"))
    assert not found.differences and found.same == 7


def test_changed_words_come_with_both_places(compare: Compare) -> None:
    found = compare(POLICY, "Preface.\n\n" + POLICY.replace("3 days", "5 working days"))
    item = next(
        item for item in found.differences if item.kind == "changed" and item.new and item.new.section_label
    )
    assert item.old and item.new
    assert (item.old.location, item.new.location) == ("2, lines 13–15", "2, lines 15–17")
    assert [(change.old, change.new) for change in item.changes if not change.same] == [("3", "5 working")]
    assert "within [-3-] {+5 working+} days" in comparison_lines(found)[-2]


def test_a_clause_less_and_a_title_more(compare: Compare) -> None:
    without = POLICY.replace("(b) It covers data on paper in the archive.\n\n", "")
    assert shown(compare(POLICY, without)) == [("removed", "1(b)", "")]
    assert shown(compare(without, POLICY)) == [("added", "", "1(b)")]
    assert shown(compare(POLICY, POLICY.replace("Duties", "What employees do"))) == [("changed", "2", "2")]


def test_a_new_section_shifts_numbers_and_nothing_else(compare: Compare) -> None:
    new = (
        POLICY.replace("## 4.", "## 5.")
        .replace("## 3.", "## 4.")
        .replace("## 2.", "## 2. Training\n\nEverybody attends a course of two hours.\n\n## 3.")
    )
    assert shown(compare(POLICY, new)) == [
        ("added", "", "2"),
        ("renumbered", "2", "3"),
        ("renumbered", "3", "4"),
        ("renumbered", "4", "5"),
    ]


def test_of_a_long_text_only_the_words_that_changed_are_shown(compare: Compare) -> None:
    number = random.Random(7)
    words = [f"word{number.randrange(3000)}" for _ in range(6000)]
    other = [*words]
    other[100], other[3000:3002], other[-100] = "early", ["now", "in", "between"], "late"
    (item,) = compare(" ".join(words), " ".join(other)).differences
    assert [change.new for change in item.changes if not change.same] == ["early", "now in between", "late"]


DIVIDED = """# Rules

## 1. Keys

The caretaker hands out the keys of the hall on Monday mornings only. (a) Every key is written down in the green book. \
(b) Who loses a key pays for a new lock and for all copies. (c) Copies are forbidden.

## 2. Noise

Music ends at ten in the evening, except on the day of the harvest feast.
"""


def test_text_that_is_only_divided_otherwise_has_not_changed(compare: Compare) -> None:
    listed = DIVIDED.replace("\\\n", "").replace(" (", "\n\n(")
    for old, new in ((DIVIDED, listed), (listed, DIVIDED)):
        assert shown(compare(old, new)) == []
    found = compare(DIVIDED, listed.replace("green book", "blue book").replace("ten in", "nine in"))
    assert [
        [(change.old, change.new) for change in item.changes if not change.same] for item in found.differences
    ] == [
        [("green", "blue")],
        [("ten", "nine")],
    ]


def test_what_remains_of_a_removed_chapter_is_not_reported_as_removed(compare: Compare) -> None:
    chapters = (
        "# Rules\n\n## House\n\nQuiet, please, all day and all night.\n\n### Keys\n\n"
        + DIVIDED.split("\n\n")[2]
    )
    rest = "# Rules\n\n## Keys\n\n" + DIVIDED.split("\n\n")[2]
    (item,) = compare(chapters, rest).differences
    assert item.kind == "removed"
    assert item.old is not None
    assert item.old.text == "## House\n\nQuiet, please, all day and all night."


def test_text_at_the_end_is_not_added_with_a_section_before_it(compare: Compare) -> None:
    end = (
        "\n---\n\nThe committee wrote these rules in the winter, and whoever wants to change them asks it "
        "for a vote first.\n"
    )
    (item,) = compare(DIVIDED + end, DIVIDED + "## 3. Dogs\n\nDogs stay outside.\n\n" + end).differences
    assert item.kind == "added"
    assert item.new is not None
    assert item.new.text == "Dogs Dogs stay outside"


def test_sections_below_a_new_heading_have_not_moved(compare: Compare) -> None:
    titled = DIVIDED.replace("## 1.", "## House rules\n\n### 1.").replace("## 2.", "### 2.")
    assert [item.kind for item in compare(DIVIDED, titled).differences] == ["added"]


def test_a_section_that_moves_is_one_difference(compare: Compare) -> None:
    review = "## 3. Review\n\nThe board reviews the policy every year in March.\n\n"
    new = POLICY.replace(review, "").replace("## 1. Scope", review + "## 1. Scope")
    assert shown(compare(POLICY, new)) == [("moved", "3", "3")]


def test_a_section_that_the_contents_still_name_is_one_difference(compare: Compare) -> None:
    titles = "Scope Terms Duties Records Fees Review Notices Clause".split()
    contents = "".join(f"- *3.10{number} {title}.*\n" for number, title in enumerate(titles, 1))
    sections = [
        f"## 3.10{number} {title}.\n\nWhat the office says about {title.lower()} holds for all contracts.\n\n"
        for number, title in enumerate(titles, 1)
    ]
    old, new = ("# Part 3\n\n" + contents + "\n" + "".join(some) for some in (sections, sections[:-1]))
    assert shown(compare(old, new)) == [("removed", "3.108", "")]


@pytest.mark.parametrize("name", ["harbour-safety-act.md", "pump-manual.md"])
def test_generated_edits_are_found_and_none_is_invented(tmp_path: Path, name: str) -> None:
    chance = random.Random(2)
    document = read_here(EXAMPLES / name)
    changed = tmp_path / name
    tried = 0
    for number in range(14):
        edit = EDITS[number % len(EDITS)](document, chance)
        if edit is None:
            continue
        changed.write_text(edit.text, encoding="utf-8")
        assert judge(compare_documents(document, read_here(changed)), edit) == "", EDITS[
            number % len(EDITS)
        ].__name__
        tried += 1
    assert tried >= 6


def test_documents_of_a_library_and_files(library: Library, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "act.md"
    text = (folder / "docs" / "act.md").read_text(encoding="utf-8")
    other.write_text(text.replace("48 hours", "24 hours"), encoding="utf-8")
    found = library.compare("act.md", str(other))
    assert shown(found) == [("changed", "Section 1", "Section 1")]
    assert library.compare("act.md", "note.md").same == 0
    assert shown(library.scoped({"path": "docs"}).compare("log-01.md", "log-01.md")) == []
    for name in ("nothing.md", "x" * 5000, ""):
        with pytest.raises(NotFoundError):
            library.compare("act.md", name)
    with pytest.raises(UsageError, match="new must not contain the character NUL"):
        library.compare("act.md", "\0")
    with pytest.raises(NotFoundError):
        library.compare("act.md", str(other), files=False)
    with pytest.raises(NotFoundError):
        library.scoped({"path": "docs"}).compare("act.md", str(other))


def test_files_are_read_within_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: Library, folder: Path
) -> None:
    (tmp_path / "a.md").write_text(POLICY)
    (tmp_path / "b.md").write_text(POLICY.replace("3 days", "5 days"))
    assert shown(compare_files(tmp_path / "a.md", tmp_path / "b.md")) == [("changed", "2", "2")]
    (tmp_path / "c.docx").write_bytes(b"PK\x03\x04 this is no Word document")
    with pytest.raises(ConversionError, match=r"c\.docx cannot be read"):
        compare_files(tmp_path / "a.md", tmp_path / "c.docx")
    # The process that asks converts nothing itself.
    monkeypatch.setattr("loccit.read.convert", None)
    monkeypatch.setattr("loccit.ingest.prepare.convert", None)
    (tmp_path / "answer.md").write_text('It says "A vessel at anchor shows a white light".')
    out = runner.invoke(app, ["verify", str(tmp_path / "answer.md"), "--index", str(folder / ".loccit")])
    assert out.exit_code == 0 and "1 exact" in out.stderr
    out = runner.invoke(app, ["verify", str(tmp_path / "c.docx"), "--index", str(folder / ".loccit")])
    assert out.exit_code == 1 and "cannot be read" in out.stderr


def test_the_command_needs_no_library_for_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LOCCIT_INDEX", raising=False)
    Path("old.md").write_text(POLICY)
    Path("new.md").write_text(POLICY.replace("3 days", "5 days"))
    out = runner.invoke(app, ["diff", "old.md", "new.md"])
    assert out.exit_code == 0 and "changed: 2, lines 13–15" in out.stdout and "[-3-] {+5+}" in out.stdout
    assert "1 changed" in out.stderr
    data = json.loads(runner.invoke(app, ["diff", "old.md", "new.md", "--json"]).stdout)
    assert data["changed"] == 1 and data["differences"][0]["old"]["section_label"] == "2"

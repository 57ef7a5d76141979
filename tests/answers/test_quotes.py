from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from benchmarks.quotes import altered, exact, sentences
from typer.testing import CliRunner

from loccit import Library
from loccit.answers.verbatim.quotations import quotations_in
from loccit.answers.verbatim.render import quote_lines
from loccit.cli.app import app
from loccit.errors import UsageError

runner = CliRunner()
EXAMPLES = Path(__file__).parents[2] / "examples"


def status(library: Library, quotation: str) -> str:
    return library.verify_quotes([quotation]).checks[0].status


@pytest.mark.parametrize(
    "quotation",
    [
        "The master of a vessel reports her arrival to the 'harbour office' within one hour.",
        "the harbour master may extend\nthis period to 48 hours, but not on Sundays",
        "[a] vessel under tow shows two lights",
        "A VESSEL UNDER TOW",
        "The master of a vessel … within one hour",
        "The master of a vessel [...] within one hour",
        "The master of a vessel reports her ar-\nrival to the „harbour office“",
        "shows a white light from dusk to dawn — unless the harbour master's office",
        "the harbour master [of the day] may extend this period",
        "pays a fine of 500 euro [2]",
        "The Harbour Master may extend this period. Nobody",
    ],
)
def test_what_stands_there_is_exact_however_it_is_printed(library: Library, quotation: str) -> None:
    assert status(library, quotation) == "exact"


@pytest.mark.parametrize(
    ("quotation", "said"),
    [
        ("the harbour master may extend this period to 24 hours", "[-24-] {+48+}"),
        ("The master of a vessel reports his arrival to the harbour office", "[-his-] {+her+}"),
        ("may extend this period to 48 hours, but on Sundays", "{+not+}"),
        ("A vessel under tow does not show two lights", "[-does not show-] {+shows+}"),
        ("Whoever fails to do so pays a fine of 5,000 euro", "[-5,000-] {+500+}"),
        ("A vessel at anchor shows a light from dusk to dawn", "{+white+}"),
    ],
)
def test_another_word_number_or_negation_is_altered(library: Library, quotation: str, said: str) -> None:
    check = library.verify_quotes([quotation]).checks[0]
    assert check.status == "altered" and said in quote_lines(check)[1]
    assert check.places[0].source_path.endswith("act.md") and check.places[0].section_label


def test_what_nobody_wrote_is_absent(library: Library) -> None:
    assert (
        status(library, "Cargo of a dangerous kind is declared to the customs officer in writing") == "absent"
    )
    assert status(library, "The captain drinks rum on deck") == "absent"


def test_words_of_every_sentence_are_no_quotation(tmp_path: Path) -> None:
    (tmp_path / "far.md").write_text(
        "The head of the office shall ensure that the procedures in paragraph (a) of this subsection are known.\n"
    )
    with Library(tmp_path / "index") as library:
        library.index(tmp_path / "far.md", embed=False)
        assert (
            status(library, "Agencies shall follow the procedures in paragraph (a) of this section.")
            == "absent"
        )
        assert (
            status(library, "shall ensure that the procedures in paragraph (b) of this section are known")
            == "altered"
        )


def test_a_word_of_many_passages_does_not_hide_the_one_that_is_quoted(tmp_path: Path) -> None:
    for number in range(40):
        text = f"# Pump manual\n\n## Manual steps of pump {number}\n\nPump: any error of the operator is a risk.\n"
        (tmp_path / f"pump-manual-steps-{number}.md").write_text(text)
    (tmp_path / "paper.md").write_text("If there are any manual steps, they risk operator error, we found.\n")
    with Library(tmp_path / "index") as library:
        library.index(tmp_path, embed=False)
        check = library.verify_quotes(["If pump are any manual steps, they risk operator error"]).checks[0]
    assert check.status == "altered" and check.places[0].source_path.endswith("paper.md")


def test_scripts_without_spaces_are_compared_sign_by_sign(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# 合同\n\n甲方应当在三十日内支付全部款项，逾期支付的，应当支付违约金。\n", encoding="utf-8"
    )
    with Library(tmp_path / "index") as library:
        library.index(tmp_path / "a.md", embed=False)
        report = library.verify_quotes("他说：“在三十日内支付全部款项”，又说“应当在六十日内支付全部款项”。")
    assert [check.status for check in report.checks] == ["exact", "altered"]
    assert "[-六-] {+三+}" in quote_lines(report.checks[1])[1]


@pytest.mark.parametrize("written", ["184–200", "184–\n200", "184– 200"])
@pytest.mark.parametrize("quoted", ["184–200", "184-\n200", "184- 200"])
def test_numbers_joined_by_a_dash_are_one_wherever_the_line_ends(
    tmp_path: Path, written: str, quoted: str
) -> None:
    (tmp_path / "paper.txt").write_text(f"See the tables of tides on pages {written}, printed in 1997.\n")
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "paper.txt"], embed=False)
        checks = library.verify_quotes(
            [f"tides on pages {quoted}, printed", "tides on pages 184–201, printed"]
        )
        assert [check.status for check in checks.checks] == ["exact", "altered"]


def test_comments_that_nobody_sees_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "rules.md").write_text(
        "We are not liable for\n\n<!-- lint-disable a1 -->\n\n- the use of a crane - or\n- its <b>loss</b>.\n"
    )
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "rules.md"], embed=False)
        checks = library.verify_quotes(["not liable for the use of a crane or its loss"]).checks
        assert [check.status for check in checks] == ["exact"]


def test_words_of_thousands_of_letters_are_compared_to_their_end(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"# Long\n\n{'x' * 999} and {'x' * 200_000}\n")
    with Library(tmp_path / "index") as library:
        library.index(tmp_path / "a.md", embed=False)
        assert status(library, "x" * 4999) == "absent"
        assert status(library, f"{'x' * 999} and") == "exact"
        assert [library.find_all("x" * length).total for length in (998, 999, 1000)] == [0, 1, 0]


def test_it_says_where(library: Library) -> None:
    check = library.verify_quotes(["A vessel at anchor shows a white light"]).checks[0]
    assert [Path(place.source_path).name for place in check.places] == ["act.md", "note.md"]
    assert [place.location for place in check.places] == ["Section 2(a), line 16", "Notes, lines 5–6"]
    assert len(library.verify_quotes(["lies at anchor and waits"]).checks[0].places) == 3
    assert library.verify_quotes(["lies at anchor and waits"]).checks[0].more == 17
    assert library.verify_quotes(["shows a white light"], document="note.md").checks[0].status == "exact"
    assert library.verify_quotes(["under tow shows two"], document="note.md").checks[0].status != "exact"
    assert (
        library.scoped({"path": "docs/act.md"}).verify_quotes(["lies at anchor and waits"]).checks[0].status
        == "absent"
    )


def test_quotations_are_taken_from_a_text() -> None:
    text = (
        'One says “a b c d”, the other "e f g h", „i j k l“ and «m n o p».\n\n'
        "> q r s t\n> u v\n> — Section 4\n\n"
        '```\nprint("not a real quotation")\n```\nA "term", and it is 5" wide.'
    )
    found, short = quotations_in(text)
    assert [one.text for one in found] == ["a b c d", "e f g h", "i j k l", "m n o p", "q r s t u v"]
    assert [one.cited for one in found] == ["", "", "", "", "Section 4"] and short == 1


def test_what_is_too_long_to_be_checked_is_named(library: Library) -> None:
    text = f"He said “Once {'upon a time ' * 100_000}”, and “A vessel carries four lights”."
    report = library.verify_quotes(text)
    assert [check.quotation for check in report.checks] == ["A vessel carries four lights"]
    assert report.left_out == 1
    assert "longer than 1,000,000 characters: “Once upon a time" in report.note


def test_a_stray_mark_hides_no_quotation_after_it() -> None:
    text = "A pipe of 5 “ is " + "longer, " * 900 + "and “the keeper sees it”."
    found, short = quotations_in(text)
    assert ([one.text for one in found], short) == (["the keeper sees it"], 0)


@pytest.mark.parametrize("text", ["“" * 200_000 + "”", '"a ' * 200_000, "“a„b" * 50_000 + "”"])
def test_marks_without_end_are_passed_over(text: str) -> None:
    assert quotations_in(text)[0] == []


def test_limits(library: Library) -> None:
    with pytest.raises(UsageError, match="characters"):
        library.verify_quotes(["word " * 2000])
    with pytest.raises(UsageError, match="no words"):
        library.verify_quotes(["…"])
    report = library.verify_quotes("> " + "word " * 300_000 + '\n\n"a b c"' * 3 + ' "x"')
    assert report.left_out == 2 and "not checked" in report.note


@pytest.mark.parametrize("text", ['"' * 3000, "“a b c " * 2000, "> x\n\n" * 2000, "„«»“" * 1000])
def test_text_that_only_looks_like_quotations(library: Library, text: str) -> None:
    library.verify_quotes(text)


def test_generated_quotations_are_judged_rightly(tmp_path: Path) -> None:
    chance = random.Random(3)
    with Library(tmp_path / "index") as library:
        library.index([EXAMPLES / "harbour-safety-act.md", EXAMPLES / "pump-manual.md"], embed=False)
        texts = {info.source_path: library.document(info.source_path).text for info in library.documents()}
        whole = "\n".join(" ".join(text.split()) for text in texts.values())
        found = [sentence for text in texts.values() for sentence in sentences(text)]
        assert len(found) > 20
        for number, sentence in enumerate(chance.sample(found, 20)):
            right, wrong = exact(sentence, number % 6, chance), altered(sentence, number % 4, chance)
            assert status(library, right) == "exact", right
            if wrong not in whole:
                assert status(library, wrong) == "altered", wrong


def test_the_command_checks_a_file(folder: Path, library: Library, tmp_path: Path) -> None:
    where = ["--index", str(folder / ".loccit")]
    answer = tmp_path / "answer.md"
    answer.write_text("The act says “a vessel under tow shows two lights”.", encoding="utf-8")
    good = runner.invoke(app, ["verify", str(answer), *where])
    assert good.exit_code == 0 and "exact: “a vessel under tow shows two lights”" in good.stdout
    bad = runner.invoke(app, ["verify", "-", *where], input='It is "a vessel under tow shows three lights".')
    assert bad.exit_code == 3 and "[-three-] {+two+}" in bad.stdout and "1 altered" in bad.stderr
    data = json.loads(runner.invoke(app, ["verify", str(answer), "--json", *where]).stdout)
    assert data["ok"] is True and data["checks"][0]["places"][0]["section_label"] == "Section 2(b)"
    assert runner.invoke(app, ["verify", "-", *where], input="Nothing is quoted.").exit_code == 4
    assert runner.invoke(app, ["verify", str(tmp_path / "none.md"), *where]).exit_code == 2

"""The place that is cited beside a quotation: right, elsewhere, or not said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loccit import Library
from loccit.answers.verbatim.quotations import as_quotation, quotation_of, quotations_in
from loccit.cli.app import app

runner = CliRunner()
LEASE = """# Lease of the Quay

## Section 1 Notice

Notice is given within 14 days of receipt.

## Section 2 Rent

(a) Rent is due monthly.

(b) Late rent bears interest at 5 %.

(c) All else is free of charge.

## Introduction to the annex

The annex has three tables.
"""
ACT = """# Hafengesetz

## § 1 Anmeldung

Der Kapitän meldet das Schiff binnen einer Stunde an.

## § 2 Gebühren

Die Gebühr beträgt 500 Euro. Der Kapitän meldet jede Änderung an.
"""
LAW = """# 港口法

## 第一条 通知

当事人应当在三十日内通知对方。

## 第二条 费用

逾期支付的，应当支付违约金。
"""


@pytest.fixture(scope="module")
def lease(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    import docx
    from reportlab.pdfgen.canvas import Canvas

    folder = tmp_path_factory.mktemp("cited") / "docs"
    folder.mkdir()
    for name, text in {"lease.md": LEASE, "hafen.md": ACT, "law.md": LAW}.items():
        (folder / name).write_text(text, encoding="utf-8")
    word = docx.Document()
    for line in ("The tenant pays in advance.", "The landlord repairs the roof.", "Both sign this paper."):
        word.add_paragraph(line)
    word.save(str(folder / "paper.docx"))
    canvas = Canvas(str(folder / "report.pdf"))
    for number in ("one", "two", "three"):
        canvas.drawString(100, 700, f"Page {number} tells of the tide of the year.")
        canvas.showPage()
    canvas.save()
    with Library(folder.parent / ".loccit") as library:
        assert not library.index(folder, embed=False).failed
        yield library


@pytest.mark.parametrize(
    "text",
    [
        '"within 14 days of receipt" (lease.md, Section 1)',
        "“within 14 days of receipt” (Lease of the Quay, § 1)",
        "“within 14 days of receipt” (Section 1)",
        "“within 14 days of receipt” (see Section 1 of the Lease of the Quay)",
        "“within 14 days of receipt” [lease.md:5]",
        "“within 14 days of receipt” (docs/lease.md, line 5)",
        "“within 14 days of receipt”, Section 1.",
        "“within 14 days of receipt” — Section 1, lease.md",
        "“within 14 days of receipt”[^a]\n\n[^a]: lease.md, Section 1.",
        "“within 14 days of receipt”\nLease of the Quay, Section 1 Notice, line 5\n",
        "> within 14 days of receipt\n> — Section 1\n",
        "> within 14 days of receipt\n\n(Section 1)\n",
        "Section 1 says that “within 14 days of receipt”.",
        "Section 1 of the lease: “within 14 days of receipt”",
        "“interest at 5 %” (Section 2(b))",
        "“interest at 5 %” (Section 2)",
        "“Rent is due monthly. (b) Late rent bears interest” (Section 2(a)–(b))",
        "“Rent is due monthly. (b) Late rent bears interest” (Section 2(a) to (c))",
        "“within 14 days of receipt. Section 2 Rent (a) Rent” (Sections 1–2)",
        "“The annex has three tables” (lease.md, Introduction to the annex, line 17)",
        "“rent” (Section 2(b))",
        "“binnen einer Stunde” (§ 1 Hafengesetz)",
        "»binnen einer Stunde« (Hafengesetz, Zeile 5)",
        "“三十日内通知对方”（第一条）",
        "“tide of the year” (report.pdf, p. 2)",
        "“Page two tells of the tide” (p. 2)",
        "“tide of the year. Page three” (report.pdf, pp. 2–3)",
        "“landlord repairs the roof” (paper.docx, paragraph 2)",
    ],
)
def test_a_right_citation(lease: Library, text: str) -> None:
    (check,) = lease.verify_quotes(text).checks
    assert (check.status, check.cited_place) == ("exact", "right"), check
    assert lease.verify_quotes([text]).checks == [check] or text.startswith("Section")


@pytest.mark.parametrize(
    ("text", "where", "note"),
    [
        ('"within 14 days of receipt" (lease.md, Section 2)', "Section 1, line 5", ""),
        ("“within 14 days of receipt” (Section 2)", "Section 1, line 5", ""),
        ("“within 14 days of receipt” (hafen.md, § 1)", "Section 1, line 5", ""),
        (
            "“within 14 days of receipt” (other.md, Section 1)",
            "Section 1, line 5",
            "no other.md in the library",
        ),
        ("“within 14 days of receipt” (Section 9)", "Section 1, line 5", "no Section 9 in lease.md"),
        ("“within 14 days of receipt” [lease.md:9]", "Section 1, line 5", ""),
        ("“within 14 days of receipt”\nLease of the Quay, Section 2 Rent, line 9\n", "Section 1, line 5", ""),
        ("Section 2 says: “within 14 days of receipt”", "Section 1, line 5", ""),
        ("> within 14 days of receipt\n> — Section 2\n", "Section 1, line 5", ""),
        ("“interest at 5 %” (Section 2(a))", "Section 2(b), line 11", ""),
        ("“interest at 5 %” (Section 2(b), line 9)", "Section 2(b), line 11", ""),
        (
            "“Rent is due monthly. (b) Late rent bears interest” (Section 2(a))",
            "Section 2(a)–(b), lines 9–11",
            "",
        ),
        ("“binnen einer Stunde” (§ 2 Hafengesetz)", "§ 1, line 5", ""),
        ("“三十日内通知对方”（第二条）", "第一条, line 5", ""),
        ("“Page two tells of the tide” (report.pdf, p. 3)", "p. 2", ""),
        ("“Page two tells of the tide” (report.pdf, p. 9)", "p. 2", ""),
        ("“landlord repairs the roof” (paper.docx, paragraph 3)", "paragraph 2", ""),
    ],
)
def test_a_false_citation_says_where(lease: Library, text: str, where: str, note: str) -> None:
    report = lease.verify_quotes(text)
    (check,) = report.checks
    assert (check.status, check.cited_place) == ("exact", "elsewhere"), check
    assert check.places[0].location.endswith(where) and note in check.cited_note
    assert not report.ok and report.misplaced == 1
    assert lease.verify_quotes([text]) == report or text.startswith("Section")


@pytest.mark.parametrize(
    "text",
    [
        "“within 14 days of receipt” is the rule.",
        "“within 14 days of receipt” (as Section 2 requires)",
        "“within 14 days of receipt” [1]",
        "“within 14 days of receipt” (emphasis added)",
        "Unlike Section 2, the notice clause says “within 14 days of receipt”.",
        "the “within 14 days of receipt”\nwhereas Section 2 has other rules.",
        "“within 14 days of receipt” (Smith 2020)",
    ],
)
def test_nothing_is_said_of_a_place_that_is_not_cited(lease: Library, text: str) -> None:
    report = lease.verify_quotes(text)
    assert [check.cited_place for check in report.checks] == ["not said"] and report.ok


def test_what_is_altered_is_judged_by_its_nearest_passage(lease: Library) -> None:
    right, wrong = lease.verify_quotes(
        "“Notice is given within 15 days of receipt” (Section 1), “Notice is given within 15 days of receipt” (Section 2)"
    ).checks
    assert (right.status, right.cited_place, wrong.cited_place) == ("altered", "right", "elsewhere")


def test_what_a_citation_has_besides_is_named(lease: Library) -> None:
    (check,) = lease.verify_quotes("“within 14 days of receipt” (Section 1 GDPR)").checks
    assert check.cited_place == "right" and check.cited_note == "“GDPR” was not understood."
    (check,) = lease.verify_quotes("“within 14 days of receipt” (Section 1(4))").checks
    assert check.cited_place == "right" and "only Section 1 is known" in check.cited_note


def test_a_page_of_what_has_none_is_not_judged(lease: Library) -> None:
    quotation = "“within 14 days of receipt”"
    (check,) = lease.verify_quotes(f"{quotation} (p. 3)").checks
    assert check.cited_place == "not said"
    for cited, judged in (("lease.md, Section 1, p. 3", "right"), ("lease.md, Section 2, p. 3", "elsewhere")):
        (check,) = lease.verify_quotes(f"{quotation} ({cited})").checks
        assert (check.cited_place, check.cited_note) == (judged, "Nothing is known of pages of lease.md.")


def test_what_one_of_several_cited_documents_lacks_is_not_said_of_all(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Harbour Code\n\nTwo parts.\n", encoding="utf-8")
    for name, number, words in (
        ("b", 10, "Each vessel shows a light."),
        ("c", 20, "No horn is sounded at night."),
    ):
        text = f"# Harbour Code\n\n## Section {number} Signals\n\n{words}\n"
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    with Library(tmp_path / ".loccit") as library:
        library.index([tmp_path / f"{name}.md" for name in "abc"], embed=False)
        said = '"No horn is sounded at night." (Harbour Code, Section {})'
        (right,), (false,), (missing,) = (
            library.verify_quotes(said.format(number)).checks for number in (20, 10, 30)
        )
    assert (right.cited_place, right.cited_note) == ("right", "")
    assert (false.cited_place, false.cited_note) == ("elsewhere", "")
    assert missing.cited_place == "elsewhere" and "No Section 30 was found in" in missing.cited_note


def test_a_document_that_may_not_be_seen_is_not_judged(lease: Library) -> None:
    (check,) = lease.verify_quotes("“within 14 days of receipt” (hafen.md, § 1)", document="lease.md").checks
    assert (check.status, check.cited_place) == ("exact", "not said")


@pytest.mark.parametrize(
    "entry",
    [
        "within 14 days of receipt",
        "“within 14 days of receipt”",
        "“within 14 days of receipt”, the notice says (Section 2)",
        "“Notice is given” and “within 14 days of receipt” (Section 2)",
        "“within 14 days” (Section 1), and later “interest at 5 %” (Section 2)",
        "Section 2 says “within 14 days of receipt”",
        "within 14 days of receipt (lease.md, Section 2)",
    ],
)
def test_an_entry_of_a_list_that_does_not_end_with_a_citation_is_all_quotation(
    lease: Library, entry: str
) -> None:
    (check,) = lease.verify_quotes([entry]).checks
    assert (check.quotation, check.cited, check.cited_place) == (entry, "", "not said")


def test_each_entry_of_a_list_is_one_quotation(lease: Library) -> None:
    entries = [
        "within 14 days of receipt",
        '"All “else” is "free" of charge" (lease.md, Section 2(c))',
        "> Rent is due monthly.\n>\n> Late rent bears interest\n\nLease of the Quay, Section 2, lines 9–11",
        "“Rent” (see Section 1).",
        "“Late rent bears interest at 6 %” (Section 2(b))",
        "“… given within 14 days” (lease.md, “Notice” of Section 1)",
    ]
    checks = lease.verify_quotes(entries).checks
    assert [(check.status, check.cited_place) for check in checks] == [
        ("exact", "not said"),
        ("exact", "right"),
        ("altered", "right"),
        ("exact", "elsewhere"),
        ("altered", "right"),
        ("exact", "right"),
    ]


def test_what_documents_have_in_marks_and_brackets_is_a_quotation(tmp_path: Path) -> None:
    (tmp_path / "act.md").write_text(
        "# Act\n\n## Section 1\n\nThe **“Quay”** (Section 2) is open, as the law says (see Section 2).\n\n"
        "It shuts at night (Section 2) and\nopens by day.\n\n## Section 2\n\nThe quay is of stone.\n"
    )
    with Library(tmp_path / ".loccit") as library:
        library.index(tmp_path / "act.md", embed=False)
        entries = ["“Quay” (Section 2)", "as the law says (see Section 2)", "It shuts at night (Section 2)"]
        own = library.verify_quotes(entries)
        assert own.ok and [(check.quotation, check.cited) for check in own.checks] == [
            (entry, "") for entry in entries
        ]
        # The words of the document are the same, its marks are not; and what follows may be the next heading.
        claims = library.verify_quotes(["“It shuts at night” (Section 2)", "“opens by day” (Section 2)"])
        assert [(check.status, check.cited_place) for check in claims.checks] == [("exact", "elsewhere")] * 2
        cited = library.verify_quotes(["“It shuts at night (Section 2)” (act.md, Section 1)"])
        assert [check.cited_place for check in cited.checks] == ["right"]


def test_the_command_says_so(lease: Library, tmp_path: Path) -> None:
    answer = tmp_path / "answer.md"
    answer.write_text('It says "within 14 days of receipt" (lease.md, Section 2).', encoding="utf-8")
    index = ["--index", str(lease.path)]
    found = runner.invoke(app, ["verify", str(answer), *index])
    assert found.exit_code == 3
    assert "not in the cited place: lease.md, Section 2" in found.stdout and "Section 1 [" in found.stdout
    assert "1 exact, 0 altered, 0 absent; 1 not in the cited place." in found.stderr
    found = runner.invoke(app, ["verify", str(answer), *index, "--json"])
    data = json.loads(found.stdout)
    assert (data["ok"], data["misplaced"], data["checks"][0]["cited_place"]) == (False, 1, "elsewhere")


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "“Personal data” means: ”x” and „y“\n\nSecond paragraph\n> quoted\n```\ncode",
        "it's a 'well-known' \"term\", [1] and … so on",
        "“" * 3 + "open only",
        "word " * 4000 + "“inner” " + "word " * 4000,
        "甲方“电子”数据 5 %",
    ],
)
def test_what_is_put_in_quotation_marks_is_read_back(text: str) -> None:
    from loccit.answers.verbatim.words import words_of

    copy = f"{as_quotation(text)}\nAct, Section 2, line 3\n"
    (found,) = quotations_in(copy)[0]
    assert [word.key for word in words_of(found.text)] == [
        word.key for word in words_of(" ".join(text.split()))
    ]
    assert found.cited == "Act, Section 2, line 3"
    assert quotation_of(copy) == found


@pytest.mark.parametrize(
    "cited", ["Articles 4–29", "Articles 4 to 29", "Articles 4-29", "Arts. 4–29 of many.md"]
)
def test_a_long_range(tmp_path: Path, cited: str) -> None:
    text = "\n\n".join(
        f"## Article {number} Rule\n\nNumber {number} is the word of it." for number in range(1, 41)
    )
    (tmp_path / "many.md").write_text(f"# Many\n\n{text}\n")
    with Library(tmp_path / ".loccit") as library:
        library.index(tmp_path / "many.md", embed=False)
        said = {
            number: library.verify_quotes(f"“Number {number} is the word” ({cited})").checks[0]
            for number in (3, 4, 17, 29, 30)
        }
    assert [check.cited_place for check in said.values()] == [
        "elsewhere",
        "right",
        "right",
        "right",
        "elsewhere",
    ]
    assert not said[17].cited_note


def test_titles_that_quote_are_no_quotations() -> None:
    for address in ("", "\nhttp://127.0.0.1:80/read?doc=a&place=k7q2m9xt"):
        copy = f"“Notice is given”\nThe “Act of the Sea and all”, 2. On “a new law” here, lines 21–22{address}\n\n“More is said” here."
        first, second = quotations_in(copy)[0]
        assert first.text == "Notice is given" and first.cited.startswith(
            "The “Act of the Sea and all”, 2. On"
        )
        assert (second.text, second.cited) == ("More is said", "")


def test_a_quotation_of_several_paragraphs() -> None:
    (found,) = quotations_in("“Notice is given.\n\nRent is due” (Section 2).\n\nMore.")[0]
    assert (found.text, found.cited) == ("Notice is given. Rent is due", "Section 2")


@pytest.mark.parametrize(
    ("cited", "note"),
    [
        ("Section 3 of stores.md", "There is no Section 3 in stores.md."),
        ("Section 6 of stores.md", "No Section 6 was found in stores.md."),
        ("Section 35/A of stores.md", ""),
    ],
)
def test_a_cited_place_is_denied_only_with_evidence(tmp_path: Path, cited: str, note: str) -> None:
    sections = "".join(f"## Section {n} Stores\n\nThe keeper signs book {n}.\n\n" for n in (1, 2, 4, 5, 9))
    (tmp_path / "stores.md").write_text(
        f"# Stores\n\n{sections}Whoever takes a crate\n\n35/A The board may open a second store.\n"
    )
    with Library(tmp_path / "index") as library:
        library.index([tmp_path / "stores.md"], embed=False)
        quoted = "The board may open a second store." if "35" in cited else "The keeper signs book 9."
        (check,) = library.verify_quotes(f"“{quoted}” ({cited})").checks
    assert check.cited_note == note
    assert (check.cited_place == "right") is (not note)

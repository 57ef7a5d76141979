"""What answers say about what there is and is not: each sentence is true of documents that no rule was made for."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from loccit import Library
from loccit.errors import NotFoundError

ACT = """# Workplace Relations Act 2015

## PART 2 Leave

##### 6C. **Transfer of leave**

**6C.**—(1) An employee who is entitled to leave may, on or before the day, transfer it—

(*a*) to a spouse,

(*b*) to a civil partner,

F9[(*c*) to a cohabitant, or]

(*d*) to an adopter.

(2) Subsection (1) applies where—

(*a*) the employee is unwell,

F15[(*b*) the employee is abroad, or

(*c*) the employee is the parent,]

(*d*) the employee is detained.

(3)The employer shall be notified in writing.

(4) A notice of postponement under subsection (3) shall specify the new date.

##### 13AA. **Record of leave**

F3[**13AA.**—(1) The employer shall keep a record of leave taken.

(2) An inspector may examine the record.]

##### 14B. **Remote working**

**14B**.— (1) In this section "remote" means away from the office.

F22[(2) An employee may request remote working.

(2A) A request is made in writing.

(3) The employer shall answer within four weeks.]

(4) The following is inserted after section 9 of the Act of 1994:

“(5) A refusal states grounds.

(6) Grounds are given in writing.”.

(5) A decision may be appealed.
"""

# Signs that nobody foresaw, before the numbers of some clauses.
ODD = """# Harbour Dues Act

## Section 7 Dues

¤4¤(1) Dues are paid by the master of a vessel—

(a) on arrival,

(b) on departure.

(2) A vessel in distress pays nothing.

¤5¤(3) The collector keeps an account—

(a) of dues,

(b) of exemptions.

# Section 8 Collectors

† (1) The Minister appoints collectors.

† (2) A collector carries a warrant.

##### 21BX **Penalties**

A person who evades dues commits an offence.
"""


def _library(folder: Path, documents: dict[str, str]) -> Library:
    for name, text in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    library = Library(folder / ".loccit")
    library.index([folder], embed=False)
    return library


@pytest.fixture(scope="module")
def acts(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return _library(tmp_path_factory.mktemp("acts"), {"act.md": ACT, "odd.md": ODD})


# -- clauses whose numbers stand behind other signs ------------------------------------------------------------


@pytest.mark.parametrize(
    ("reference", "begins"),
    [
        ("6C(1)(d)", "(*d*) to an adopter"),
        ("6C(2)(d)", "(*d*) the employee is detained"),
        ("6C(4)", "(4) A notice of postponement"),
        ("section 13AA", "##### 13AA."),
        ("13AA(2)", "(2) An inspector"),
        ("Section 14B(2)", "(2) An employee may request"),
        ("14B(2A)", "(2A) A request"),
        ("14B(4)", "(4) The following is inserted"),
        ("14B(5)", "(5) A decision"),
    ],
)
def test_a_clause_behind_the_mark_of_an_amendment_is_that_clause(
    acts: Library, reference: str, begins: str
) -> None:
    found = acts.section(reference, document="act.md")
    assert found.exact and found.text.startswith(begins)
    first = acts.search(f"{reference} of the Workplace Relations Act").results[0]
    assert first.content.lstrip("# *").startswith(begins.lstrip("# *"))


def test_no_hit_bears_the_label_of_another_clause(acts: Library) -> None:
    said = {
        "specify the new date": "6C(4)",
        "employee is detained": "6C(2)(d)",
        "notified in writing": "6C(3)",
        "to a cohabitant": "6C(1)(c)",
        # What is quoted belongs to the clause that quotes it.
        "Grounds are given": "14B(4)",
        "request remote working": "14B(2)",
        # Whatever sign stands before a number, the number counts.
        "on departure": "Section 7(1)(b)",
        "vessel in distress": "Section 7(2)",
        "of exemptions": "Section 7(3)(b)",
    }
    assert {phrase: acts.find_all(phrase).hits[0].section_label for phrase in said} == said


@pytest.mark.parametrize(
    ("reference", "line"),
    [("Section 7(1)", 5), ("Section 7(2)", 11), ("Section 7(3)(b)", 17), ("Section 8(2)", 23)],
)
def test_a_clause_behind_a_sign_that_nobody_foresaw_is_that_clause(
    acts: Library, reference: str, line: int
) -> None:
    found = acts.section(reference, document="odd.md")
    assert found.exact and found.lines.first == line
    response = acts.search(f"{reference} of the Harbour Dues Act")
    assert "There is no" not in response.note
    assert response.results[0].lines is not None and response.results[0].lines.first == line


def test_a_heading_that_begins_with_the_number_is_shown(acts: Library) -> None:
    found = acts.section("section 21BX")
    assert found.text.startswith("##### 21BX") and "“21BX Penalties”" in found.doubt
    assert "There is no" not in acts.search("section 21BX").note


@pytest.mark.parametrize("reference", ["Section 7(9)", "Section 7(1)(q)"])
def test_a_clause_that_no_line_has_is_missing(acts: Library, reference: str) -> None:
    assert "No line of this section" in acts.section(reference, document="odd.md").doubt
    response = acts.search(f"{reference} of the Harbour Dues Act")
    assert f"No {reference} was found in" in response.note
    assert not any(result.exact_match for result in response.results)


# -- who has a place, and how it is written ----------------------------------------------------------------------


def test_what_could_contain_a_place_is_not_said_to_have_it(tmp_path: Path) -> None:
    chapters = "\n\n".join(f"## {n} On {word}\n\nText on {word}." for n, word in enumerate("abcdefg", 1))
    manuals = {f"manual{n}.md": f"# Manual {n}\n\n{chapters}" for n in range(11)}
    cables = "# Guide\n\n## Cables\n\nPower cables are kept dry.\n"
    with _library(tmp_path, {**manuals, "cables.md": cables}) as library:
        for reference, frame in itertools.product(
            ("Rule 4.10.1", "Section 4.10.1", "Section 4(b)"), ("{}", "What does {} say about power cables?")
        ):
            response = library.search(frame.format(reference))
            assert f"No {reference} was found" in response.note and "documents have" not in response.note
            assert not any(result.exact_match for result in response.results)
            with pytest.raises(NotFoundError, match="No section is called"):
                library.section(reference)
        assert library.search("What does Rule 4.10.1 say about power cables?").results[0].heading == "Cables"
        # A bare number is a section, but no rule.
        assert "11 documents have a Section 4:" in library.search("Section 4").note
        assert "have a Rule 4" not in library.search("Rule 4").note


LANGUAGES = {
    "a-en.md": ("Article {}", "The controller keeps the record number {} of processing."),
    "b-de.md": ("Artikel {}", "Die Würde Nummer {} des Menschen ist unantastbar."),
    "c-fr.md": ("Article {}", "Le conducteur respecte la règle numéro {} du code."),
    "d-ar.md": ("المادة {}", "يلتزم صاحب العمل بالحكم رقم {} من هذا القانون."),
    "e-ru.md": ("Статья {}", "Работодатель соблюдает правило {} настоящего кодекса."),
    "f-zh.md": ("第{}条", "市人民政府应当加强监督管理，第{}项内容。"),
}
_HAN = "零一二三四五六七八九十"


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Library:
    def text(name: str) -> str:
        label, words = LANGUAGES[name]
        numbers = _HAN[1:] if "zh" in name else [str(number) for number in range(1, 11)]
        return f"# {name}\n\n" + "\n\n".join(f"## {label.format(n)}\n\n{words.format(n)}" for n in numbers)

    return _library(tmp_path_factory.mktemp("mixed"), {name: text(name) for name in LANGUAGES})


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("第十条", "f-zh.md"),
        ("第3条", "f-zh.md"),
        ("المادة 3", "d-ar.md"),
        ("ماذا تقول المادة 7", "d-ar.md"),
        ("статья 5", "e-ru.md"),
        ("Artikel 3", "b-de.md"),
        ("Article 3", "a-en.md"),
        ("article 3 conducteur", "c-fr.md"),
    ],
)
def test_a_reference_leads_first_to_documents_in_its_language(
    mixed: Library, query: str, document: str
) -> None:
    response = mixed.search(query)
    assert Path(response.results[0].source_path).name == document
    assert Path(mixed.section(query).source_path).name == document or " " in query
    for result in response.results:
        # What a text of another language says is not said in the words of the query.
        assert (
            not result.as_written or query.casefold() in result.content.casefold() or len(query.split()) > 2
        )


def test_how_many_documents_have_a_place_is_said_of_that_label(mixed: Library) -> None:
    assert "documents have" not in mixed.search("المادة 3").note
    assert "2 documents have an Article 3: a-en.md, c-fr.md; name one." in mixed.search("Article 3").note
    assert "3 documents have a place with the number of Artikel 3" in mixed.search("Artikel 3").note


# -- one work in several files ----------------------------------------------------------------------------------


def test_a_work_in_several_files_is_looked_through_whole(tmp_path: Path) -> None:
    documents = {
        "harbour/README.md": "# Harbour Code\n\nThree parts.\n\n## Contents\n\nSee the files.\n",
        "harbour/general.md": "# General\n\n## Section 1 Scope\n\nThe scope.\n",
        "harbour/dues.md": "# Dues\n\n## Section 10 Dues\n\nDues are paid.\n",
        "pilots/rules.md": "# Pilot Rules\n\n## Section 1 Scope\n\nAll pilots.\n",
        "pilots/more.md": "# Pilot Rules, Part II Exams\n\n## Section 20 Exams\n\nExams are held.\n",
        "letter.md": "# Letter\n\n## Section 30 Greeting\n\nHello.\n",
    }
    with _library(tmp_path, documents) as library:
        for query, path in (
            ("Section 10 of the Harbour Code", "dues.md"),
            ("Harbour Code, section 1", "general.md"),
            ("Section 1 of the Pilot Rules", "rules.md"),
            ("Section 20 of the Pilot Rules", "more.md"),
        ):
            response = library.search(query)
            assert Path(response.results[0].source_path).name == path and "There is no" not in response.note
            assert Path(library.section(query).source_path).name == path
        assert Path(library.section("Section 10", document="Harbour Code").source_path).name == "dues.md"
        for query in ("Section 30 of the Harbour Code", "Section 10 of the Pilot Rules"):
            note = library.search(query).note
            assert "No Section" in note and "was found in “" in note and "filters" not in note
        with pytest.raises(
            NotFoundError, match=r"No section of letter\.md is called 'Section 20'\. \S+more\.md has one"
        ):
            library.section("Section 20", document="letter.md")
        with pytest.raises(NotFoundError, match=r"No section of letter\.md is called 'Article 20'") as caught:
            library.section("Article 20", document="letter.md")
        assert "has one" not in str(caught.value)


# -- what else is said of an answer -------------------------------------------------------------------------------


def test_a_place_that_many_documents_have_matches_well(tmp_path: Path) -> None:
    documents = {f"act{n}.md": f"# Act {n}\n\n## Section 3 Dues\n\nDues of act {n}.\n" for n in range(12)}
    with _library(tmp_path, documents) as library:
        response = library.search("Section 3")
        assert response.confidence < 0.15 and response.results[0].section_label == "Section 3"
        assert "12 documents have a Section 3" in response.note and "Nothing matches" not in response.note


def test_a_phrase_that_only_frontmatter_has_is_missing_in_the_text_alone(tmp_path: Path) -> None:
    text = "---\ntitle: Zebra crossing manual\nkeywords: quagga\n---\n\nStripes are painted.\n"
    with _library(tmp_path, {"manual.md": text}) as library:
        assert "No passage in the library has “Zebra crossing”." in library.search('"Zebra crossing"').note
        found = library.find_all("quagga")
        assert found.total == 0 and "Frontmatter is not looked through." in found.note
        assert not library.find_all("stripes").note


def test_a_filter_shows_nothing_for_a_phrase_that_the_whole_library_would_not(tmp_path: Path) -> None:
    documents = {"dues.md": "# Dues\n\nPay in time.\n", "ends.txt": "Ends\n\nThe gale warning ends.\n"}
    with _library(tmp_path, documents) as library:
        assert len(library.search('"gale warning"').results) == 1
        for filters in ({"type": "md"}, {"language": "fr"}):
            response = library.search('"gale warning"', filters=filters)
            assert not response.results and "No match found." in response.note


def test_only_places_with_a_number_like_it_are_suggested(acts: Library) -> None:
    for reference, suggested in (
        ("Section 9", "Section 8"),
        ("Rule 9", ""),
        ("section 900", ""),
        ("14C", "14B."),
    ):
        with pytest.raises(NotFoundError) as refused:
            acts.section(reference, document="odd.md" if reference != "14C" else "act.md")
        assert ("Did you mean" in str(refused.value)) == bool(suggested) and suggested in str(refused.value)


def test_a_place_that_is_gone_is_said_to_be_only_what_is_known(tmp_path: Path) -> None:
    page = tmp_path / "act.md"
    with _library(
        tmp_path, {"act.md": "# Act\n\n## Section 1 Dues\n\nPaid.\n\n## Section 2 Ends\n\nHere.\n"}
    ) as library:
        old = library.section("Section 2").place_id
        page.write_text("# Act\n\n## Section 1 Dues\n\nPaid.\n")
        library.index([tmp_path], embed=False)
        with pytest.raises(NotFoundError) as refused:
            library.section(old)
    assert "no such place any more" in str(refused.value)
    # Two words are in too many places: they were not looked for, so that they are missing is not known.
    assert "too short to be looked for" in str(refused.value) and "was not found" not in str(refused.value)


# -- numbers as they are printed --------------------------------------------------------------------------------

PRINTED = {
    "lov.md": "# Lov\n\n## § 5 Formål\n\nEn.\n\n## § 5¹ Unntak\n\nTo.\n\n## § 6 Mer\n\nTre.\n\n## § 51 Slutt\n\nFire.\n",
    "cod.md": "# Codul\n\n## Articolul 19 Unu\n\nA.\n\n## Articolul 19<sup>1</sup> Doi\n\nB.\n\n"
    "## Articolul 19^2 Trei\n\nC.\n\n## Articolul 191 Patru\n\nD.\n",
    "book.md": "# Handbook\n\n## D. Conduct\n\n1. Be kind.\n\n2. Be fair.\n\n## H. Schedules\n\nText.\n\n"
    "## I. Schedules of fees\n\nFees.\n",
    "guide.md": "# Guidance\n\n## III. Review\n\n### C. Offers\n\n#### 3. Offers by mail\n\nText.\n",
    "rules.md": "# Rules\n\n220 bis. Inspectors may enter.\n\n22-7-2 No person may fish.\n\n35/A The board meets.\n",
    "code.md": "# Code\n\n## § 14 Erste\n\nA.\n\n## Art. 14 Zweite\n\nB.\n",
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return _library(tmp_path_factory.mktemp("printed"), PRINTED)


@pytest.mark.parametrize(
    ("document", "reference", "begins"),
    [
        ("lov.md", "§ 5", "## § 5 Formål"),
        ("lov.md", "§ 5¹", "## § 5¹ Unntak"),
        ("lov.md", "§ 5^1", "## § 5¹ Unntak"),
        ("lov.md", "§ 51", "## § 51 Slutt"),
        ("cod.md", "art. 19¹", "## Articolul 19<sup>1</sup>"),
        ("cod.md", "Articolul 19^2", "## Articolul 19^2"),
        ("cod.md", "Articolul 191", "## Articolul 191"),
        ("book.md", "H.", "## H. Schedules"),
        ("book.md", "Section I", "## I. Schedules"),
        ("book.md", "I. Schedules of fees", "## I. Schedules"),
        ("guide.md", "III.C.3", "#### 3. Offers"),
        ("code.md", "§ 14", "## § 14"),
        ("code.md", "Art. 14", "## Art. 14"),
    ],
)
def test_a_place_is_found_by_its_number_as_printed(
    printed: Library, document: str, reference: str, begins: str
) -> None:
    found = printed.section(reference, document=document)
    assert found.exact and not found.alternatives
    assert found.text.startswith(begins)


@pytest.mark.parametrize(
    ("document", "reference", "line"),
    [
        ("book.md", "D.2", "2. Be fair."),
        ("book.md", "D(2)", "2. Be fair."),
        ("rules.md", "220 bis", "220 bis. Inspectors may enter."),
        ("rules.md", "22-7-2", "22-7-2 No person may fish."),
        ("rules.md", "35/A", "35/A The board meets."),
    ],
)
def test_a_line_that_begins_with_the_number_as_printed_is_shown(
    printed: Library, document: str, reference: str, line: str
) -> None:
    found = printed.section(reference, document=document)
    assert found.exact or [item.text for item in found.numbered_lines] == [line]
    assert line in found.text


# -- what may be denied -----------------------------------------------------------------------------------------

DENIALS = {
    "act.md": "# Ferry Act\n\n" + "\n\n".join(f"## Article {n} Rule {n}\n\nText." for n in (1, 2, 3, 5, 9)),
    "court.txt": "JUDGMENT\n\n1. The claimant sues.\n\n2. The defendant denies it.\n\nORDER\n\n"
    "1. The defendant pays.\n\n2. Costs are reserved.\n",
    "ja.md": "# 法\n\n## 第二条 定義\n\n次の各号のとおりとする。\n\n一 船舶\n\n二 港湾\n",
    "policy.md": "# Policy\n\n## 4.9 Revocation\n\n### 4.9.1 Reasons\n\nRevoke if:\n\n1. it is asked for;\n2. a key is lost.\n",
}


@pytest.fixture(scope="module")
def partly(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return _library(tmp_path_factory.mktemp("partly"), DENIALS)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("Article 4 of the Ferry Act", "There is no Article 4 in"),
        (
            "Article 7 of the Ferry Act",
            "No Article 7 was found in “Ferry Act”; the nearest: Article 5 and Article 9.",
        ),
        ("Article 10 of the Ferry Act", "No Article 10 was found in"),
        ("paragraph 7 of court.txt", "No paragraph 7 was found in"),
        ("paragraph 2 of court.txt", "line 5, line 11 of court begin with that number."),
        ("第二条第二号 of ja.md", "line 9 of 第二条"),
        ("4.9.1(2) of policy.md", "4.9.1(2)"),
    ],
)
def test_a_place_is_missing_only_where_its_series_is_whole(partly: Library, query: str, said: str) -> None:
    response = partly.search(query)
    assert said in response.note or response.results[0].section_label == said
    assert said.startswith("There is no") or "There is no" not in response.note


def test_a_number_that_begins_several_lines_is_not_certain(partly: Library) -> None:
    assert partly.search("paragraph 2 of court.txt").confidence < 0.5
    found = partly.section("paragraph 2", document="court.txt")
    assert found.exact or [item.line for item in found.numbered_lines] == [5, 11]


# -- parts of places in words that no lexicon has ------------------------------------------------------------------


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("elsewhere")
    articles = "".join(
        f"### Pasal {n}\n\n(1) Petugas mencatat barang ke-{n} pada hari yang sama:\n\na. dengan pena;\n\nb. dengan cap.\n\n"
        f"(2) Kepala gudang memeriksa catatan ke-{n} setiap minggu.\n\n"
        for n in range(1, 13)
    )
    (folder / "gudang.md").write_text(f"# Peraturan Gudang\n\n{articles}")
    library = Library(folder / "index")
    library.index([folder / "gudang.md"], embed=False)
    return library


@pytest.mark.parametrize(
    ("reference", "begins"),
    [
        ("Pasal 8 ayat (2)", "(2) Kepala gudang memeriksa catatan ke-8 "),
        ("ayat 2 Pasal 8", "(2) Kepala gudang memeriksa catatan ke-8 "),
        ("ayat (2) dari Pasal 11", "(2) Kepala gudang memeriksa catatan ke-11 "),
        ("Pasal 3 ayat (1) huruf b", "b. dengan cap."),
        ("huruf b ayat (1) Pasal 3", "b. dengan cap."),
        ("Pasal 8 dan 2", "### Pasal 8"),
    ],
)
def test_parts_of_a_place_are_read_in_any_language(elsewhere: Library, reference: str, begins: str) -> None:
    assert elsewhere.section(reference, document="gudang.md").text.startswith(begins)
    assert elsewhere.search(reference, top_k=1).results[0].content.startswith(begins)


def test_a_part_that_is_not_there_leads_to_what_it_would_be_in(elsewhere: Library) -> None:
    found = elsewhere.section("Pasal 8 ayat (2) huruf k", document="gudang.md")
    assert not found.exact
    assert found.section_label == "Pasal 8(2)"

"""References lead to another document only when the text names it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.search.naming import names_of_all

from loccit import Library
from loccit.grammar.labels.names import names_of
from loccit.index.port.names import Entry
from loccit.model import Reference
from loccit.search.understand.names import NameIndex


@contextmanager
def library_of(folder: Path, documents: Mapping[str, str]) -> Iterator[Library]:
    for name, text in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with Library(folder / ".loccit") as library:
        library.index([folder], embed=False)
        yield library


def reference_in(library: Library, document: str, words: str) -> Reference:
    found = [
        reference
        for result in library.search("pay", mode="keyword", top_k=20).results
        if Path(result.source_path).name == document
        for reference in result.cross_references
        if words in reference.text
    ]
    assert found, f"no reference {words!r} in {document}"
    return found[0]


STATUTE = "# Data Protection Regulation (DPR)\n\n## Article 13\n\n(1) Who shall pay.\n\n(2) When to pay.\n"


def test_a_number_that_one_other_document_has_leads_nowhere(tmp_path: Path) -> None:
    documents = {
        "law.md": STATUTE,
        "contract.md": "# Supply\n\n## 1. Price\n\nThey pay under section 13(2).\n",
    }
    with library_of(tmp_path, documents) as library:
        reference = reference_in(library, "contract.md", "13(2)")
        assert not reference.resolved and reference.sure == 0
        assert "13(2)" in reference.reason


@pytest.mark.parametrize(
    ("title", "words", "sure"),
    [
        ("Harbour Dues Act 1998", "section 13 of the Harbour Dues Act 1998", 1.0),
        ("Harbour Dues Act (HDA)", "section 13 of the HDA", 0.9),
        ("Regulation (EU) 2019/77 on dues", "Article 13 of Regulation (EU) No 2019/77", 0.95),
        ("RFC 4321 - Dues", "Section 13 of [RFC4321]", 0.95),
    ],
)
def test_a_named_document_is_found_and_says_how_sure_that_is(
    tmp_path: Path, title: str, words: str, sure: float
) -> None:
    documents = {
        "other.md": f"# {title}\n\n## Section 13\n\nDues are owed.\n",
        "own.md": f"# Supply\n\n## 1. Price\n\nThey pay under {words} and more.\n",
    }
    if "Article" in words:
        documents["other.md"] = documents["other.md"].replace("Section", "Article")
    with library_of(tmp_path, documents) as library:
        reference = reference_in(library, "own.md", "13")
        assert Path(reference.target_path).name == "other.md", reference
        assert reference.target_section == "sec_13" and reference.sure == sure


def test_a_name_that_several_documents_have_leads_nowhere_and_says_so(tmp_path: Path) -> None:
    act = "# Harbour Dues Act\n\n## Section 13\n\nDues are owed.\n"
    own = "# Supply\n\n## 1. Price\n\nThey pay under section 13 of the Harbour Dues Act.\n"
    with library_of(tmp_path, {"a/one.md": act, "b/two.md": act + "\nTwice.\n", "own.md": own}) as library:
        reference = reference_in(library, "own.md", "13")
        assert not reference.resolved and "2 documents are called" in reference.reason


def test_a_title_that_only_says_what_a_document_is_means_the_one_beside(tmp_path: Path) -> None:
    loan = "# Loan Agreement\n\n## 13. Interest\n\nInterest is owed.\n"
    own = "# Pledge\n\n## 1. Price\n\nThey pay under section 13 of the Loan Agreement.\n"
    with library_of(
        tmp_path, {"x/loan.md": loan, "x/pledge.md": own, "y/other.md": own + "\nElse.\n"}
    ) as library:
        beside = reference_in(library, "pledge.md", "13")
        assert beside.resolved and beside.sure < 0.8
        elsewhere = reference_in(library, "other.md", "13")
        assert not elsewhere.resolved and "does not say which document" in elsewhere.reason


def test_a_work_in_numbered_files_is_named_by_its_numbers(tmp_path: Path) -> None:
    documents = {
        f"code/part{n}.md": f"# Part {n}\n\n## {n}.101 {what}\n\nTo pay for {what}, see 32.101 or FEES 41.101.\n"
        for n, what in ((7, "ships"), (32, "the storage of cargo"), (41, "pilots at night"))
    }
    documents["else/contract.md"] = "# Supply\n\n## 1. Price\n\nThey pay under section 32.101.\n"
    with library_of(tmp_path / "fees", documents) as library:
        reference = reference_in(library, "part7.md", "32.101")
        assert Path(reference.target_path).name == "part32.md" and reference.sure == 0.9
        named = reference_in(library, "part7.md", "FEES 41.101")
        assert Path(named.target_path).name == "part41.md"
        assert not reference_in(library, "contract.md", "32.101").resolved


def test_refs_say_how_sure_they_are_in_both_directions(tmp_path: Path) -> None:
    text = "# Supply\n\n## 1. Price\n\nThey pay under section 2.\n\n## 2. Terms\n\nSee section 1(x).\n"
    with library_of(tmp_path, {"a.md": text}) as library:
        answer = library.references("1", document="a.md").to_dict()
        assert answer["cites"][0]["reference"]["sure"] == 0.97
        assert answer["cited_by"][0]["reference"]["sure"] < 0.6, "it leads only to what would hold (x)"


def test_the_names_of_a_document() -> None:
    names = names_of(
        "/x/kschg.md", "Kündigungsschutzgesetz (KSchG)", {"jurabk": "KSchG", "aliases": ["Dismissal Act"]}
    )
    assert names.short["kundigungsschutzgesetz"] == names.full["dismissal act"] == 1.0
    assert names.short["kschg"] == 0.9
    assert names_of("/x/pep-0557.rst", "PEP 557 – Data Classes", {}).short["pep 557"] == 0.95


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Ley 7/2001, de 31 de mayo, de puertos", "Ley 7/2001"),
        ("Ley Orgánica 3/2018 de datos", "Ley Orgánica 3/2018, de 5 de diciembre"),
        ("Real Decreto-ley 8/2020, de 17 de marzo", "Real Decreto-ley 8/2020"),
        ("中华人民共和国合同法", "合同法"),
        ("合同法", "中华人民共和国合同法"),
        ("Kündigungsschutzgesetz (KSchG)", "Kündigungsschutzgesetzes"),
        ("Bürgerliches Gesetzbuch", "Bürgerlichen Gesetzbuchs"),
        ("Lov om chekker [sjekkloven]", "sjekkloven"),
        ("Regulation (EU) 2016/679 on data", "Verordnung (EU) 2016/679"),
        ("Directive 95/46/EC of 24 October", "Richtlinie 95/46/EG"),
        ("RFC 2119 - Key words", "RFC2119"),
        ("PEP 8 – Style Guide", "PEP 8"),
        ("Työaikalaki", "työaikalain"),
    ],
)
def test_a_document_is_found_by_what_queries_and_texts_call_it(title: str, name: str) -> None:
    own, other = Entry(1, "/x/act.md", title), Entry(2, "/x/text.md", "Text")
    with names_of_all([own, other]) as names:
        index = NameIndex(names)
        meant = index.named(name, other)
        assert meant.entry == own and meant.sure >= 0.9, meant
        found = index.find(f"§ 3 of {name}")
        assert [called.documents for called in found] == [{1}], found


def test_a_decree_of_the_same_number_is_another() -> None:
    title = "Real Decreto 8/2020, de 17 de marzo"
    with names_of_all([(1, "/x/a.md", title)]) as names:
        index = NameIndex(names)
        assert not index.find("artículo 3 del Decreto 8/2020")
        assert index.named("Ley 8/2020", Entry(2, "/x/b.md", "B")).entry is None


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("Altölverordnung", "nach § 13 der Altölverordnung"),
        ("Kündigungsschutzgesetz (KSchG)", "nach § 13 des Kündigungsschutzgesetzes"),
        ("Bürgerliches Gesetzbuch", "nach § 13 des Bürgerlichen Gesetzbuchs"),
        ("Ley 7/2001, de 31 de mayo, de puertos", "según el artículo 13 de la Ley 7/2001"),
        ("Real Decreto-ley 8/2020, de 17 de marzo", "conforme al artículo 13 del Real Decreto-ley 8/2020"),
        ("Arbeidstijdenwet", "volgens artikel 13 van de Arbeidstijdenwet"),
        ("Lov om chekker [sjekkloven]", "jf. sjekkloven § 13"),
        ("Työaikalaki", "katso työaikalain 13 §"),
        ("合同法", "根据《合同法》第13条"),
    ],
)
def test_a_place_of_a_named_act_is_not_one_of_the_text_itself(tmp_path: Path, title: str, words: str) -> None:
    kind = "第13条" if "第" in words else "Artículo 13" if "rt" in words else "§ 13"
    other = f"# {title}\n\n## {kind}\n\nEs gilt das hier.\n"
    own = f"# Vorschrift\n\n## {kind}\n\nEigenes.\n\n## {kind.replace('3', '4')}\n\nMan pay, {words}.\n"
    with library_of(tmp_path, {"other.md": other, "own.md": own}) as library:
        reference = reference_in(library, "own.md", "13")
        assert Path(reference.target_path).name == "other.md", reference
        assert reference.target_section == "sec_13" or "13" in reference.target_section

"""What acts and other documents are called beside their titles: one compound, a number, a part of a file name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.naming import names_of_all

from loccit.grammar.labels.names import names_of
from loccit.search.understand.names import NameIndex, popular_name
from loccit.search.understand.query import understand

TITLES = {
    "f-ferkg.md": "Mindestruhegesetz für Fährleute (BFährRG)",
    "b-betrieb.md": "Verordnung über das Errichten, Betreiben und Anwenden von Seilbahnen (SeilBetreibV)",
    "t-teil.md": "Gesetz über Hafenarbeit und befristete Liegeplätze (HaBfG)",
    "s-sich.md": "Gesetz zur Sicherung der Torfversorgung (TorfSiG 1975)",
    "d-neun.md": "Neunte Verordnung zur Durchführung des Deichgesetzes (DeichV 9)",
    "XLS-0065-single-vault_README.md": "One vault",
    "XLS-0066-lending_README.md": "Lending, as XLS 65 has it",
    "MOORINGGROUPINC_04_30_2003-EX-10.28-ENDORSEMENT_AGREEMENT.txt": "Exhibit 10.28",
    "CORALINC_07_20_2000-EX-10.5-LICENSE_AGREEMENT.txt": "License",
    "Ruritania_2008.txt": "Ruritania 2008",
}
PATHS = list(TITLES)


@pytest.fixture(scope="module")
def named() -> Iterator[NameIndex]:
    with names_of_all([(number, path, TITLES[path]) for number, path in enumerate(PATHS, 1)]) as names:
        yield NameIndex(names)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("§ 3 Bundesfährleuteruhegesetz", "f-ferkg.md"),
        ("§ 3 des Bundesfährleuteruhegesetzes", "f-ferkg.md"),
        ("§ 2 Seilbahn-Betreiberverordnung", "b-betrieb.md"),
        ("Seilbahnbetreiberverordnung § 2", "b-betrieb.md"),
        ("§ 8 Hafenarbeits- und Befristungsgesetz", "t-teil.md"),
        ("§ 1 Torfsicherungsgesetz", "s-sich.md"),
        ("§ 1 TorfSiG", "s-sich.md"),
        ("§ 4 der 9. DeichV", "d-neun.md"),
        ("Section 3 of XLS-65", "XLS-0065-single-vault_README.md"),
        (
            "Section 3 of the Mooring endorsement agreement",
            "MOORINGGROUPINC_04_30_2003-EX-10.28-ENDORSEMENT_AGREEMENT.txt",
        ),
        ("Section 8 of the Coral license agreement", "CORALINC_07_20_2000-EX-10.5-LICENSE_AGREEMENT.txt"),
        ("Article 5 of the Ruritanian text", "Ruritania_2008.txt"),
        ("§ 1 Torfgesetz", ""),
        ("§ 1 Hafengesetz", ""),
        ("§ 3 Umweltgesetz", ""),
    ],
)
def test_a_name_in_use_means_its_document(named: NameIndex, query: str, path: str) -> None:
    understood = understand(query, names=named)
    assert {PATHS[document - 1] for document in understood.named} == ({path} if path else set())
    assert len(understood.references) == 1


@pytest.mark.parametrize(
    ("title", "named", "other"),
    [
        (
            "Ley Orgánica 7/2012, por la que se modifica la Ley Orgánica 10/1995",
            "ley organica 7 2012",
            "ley organica 10 1995",
        ),
        ("Gesetz zur Durchführung der Verordnung (EU) 2017/2394", "", "regulation 2017 2394"),
        ("General Data Protection Regulation (EU) 2016/679", "regulation 2016 679", "eu"),
    ],
)
def test_an_act_is_not_called_by_the_number_of_the_one_it_amends(title: str, named: str, other: str) -> None:
    names = names_of("a.md", title, {})
    assert not named or named in names.short
    assert other not in {*names.short, *names.full}


def test_the_words_of_a_country_are_in_the_names_that_have_the_country(named: NameIndex) -> None:
    assert named.fitting(["ruritanian"]) == {PATHS.index("Ruritania_2008.txt") + 1: 1.0}


@given(st.text(max_size=120))
def test_any_text_may_be_read_for_popular_names(named: NameIndex, text: str) -> None:
    for start in range(len(text)):
        name = popular_name(text, start)
        assert name is None or (start < name[2] <= len(text) and name[1])
    named.find(text)

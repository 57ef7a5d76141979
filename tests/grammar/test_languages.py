"""Labels in many languages: headings, references, and the lexicon that they are read by."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit.grammar.labels import find_labels, find_places, normalise_number, parse_heading
from loccit.grammar.labels.lexicon import load, lowered, one_of
from loccit.grammar.labels.model import CONTAINERS, LEAF_KINDS, rank
from loccit.grammar.labels.numbers import chinese_value


def ids(text: str) -> list[str]:
    return [found.label.section_id for found in find_labels(text)]


@pytest.mark.parametrize(
    ("heading", "section_id", "title"),
    [
        ("第三十七条 为了", "sec_37", "为了"),
        ("第三条", "sec_3", ""),
        ("第一百零五条　本法", "sec_105", "本法"),
        ("第12条 目的", "sec_12", "目的"),
        ("第十二条之一 附加", "sec_12-1", "附加"),
        ("第三章 总则", "chapter_3", "总则"),
        ("第一编 总则", "part_1", "总则"),
        ("第一节 一般规定", "sec_1", "一般规定"),
        ("附件一 名单", "annex_1", "名单"),
        ("一、总则", "sec_1", "总则"),
        ("第二十四条の二 届出", "sec_24-2", "届出"),
        ("第五条（定義）", "sec_5", "（定義）"),
        ("제3조(목적)", "sec_3", "(목적)"),
        ("제3조의2(정의)", "sec_3-2", "(정의)"),
        ("제1장 총칙", "chapter_1", "총칙"),
        ("المادة ٣", "sec_3", ""),
        ("المادة (3)", "sec_3", ""),
        ("المادة الحادية والعشرون: التعريفات", "sec_21", "التعريفات"),
        ("المادة الرابعة بعد المائتين", "sec_204", ""),
        ("الفصل الثاني", "chapter_2", ""),
        ("ماده ۵", "sec_5", ""),
        ("Статья 12. Сфера действия", "sec_12", "Сфера действия"),
        ("Глава 2. Права", "chapter_2", "Права"),
        ("Стаття 5. Мова", "sec_5", "Мова"),
        ("Art. 12. Zakres", "sec_12", "Zakres"),
        ("Rozdział 3 Przepisy", "chapter_3", "Przepisy"),
        ("Art. 5º Todos são iguais", "sec_5", "Todos são iguais"),
        ("Artigo 5.º-A", "sec_5_a", ""),
        ("Art. 5 Ambito", "sec_5", "Ambito"),
        ("Capo II Disposizioni", "chapter_2", "Disposizioni"),
        ("Artikel 3:12 Begrippen", "sec_3_12", "Begrippen"),
        ("Eerste afdeling Algemeen", "division_1", "Algemeen"),
        ("Article L. 121-1", "sec_l121_1", ""),
        ("Article R*123-4", "sec_r123_4", ""),
        ("Article A01", "sec_a01", ""),
        ("Article 1er", "sec_1", ""),
        ("Article premier", "sec_1", ""),
        ("Titre Ier : Dispositions", "title_1", "Dispositions"),
        ("Artículo 3 bis. Ámbito", "sec_3bis", "Ámbito"),
        ("Artículo único. Objeto", "sec_sole", "Objeto"),
        ("Artículo vigésimo primero. Objeto", "sec_21", "Objeto"),
        ("Disposición adicional primera. Plazo", "additional_provision_1", "Plazo"),
        ("Disposición final decimotercera", "final_provision_13", ""),
        ("CAPÍTULO PRIMERO", "chapter_1", ""),
        ("§ 3a Begriff", "sec_3a", "Begriff"),
        ("Art 2", "sec_2", ""),
        ("Anlage 1 (zu § 5)", "annex_1", "(zu § 5)"),
        ("Zweiter Teil Verfahren", "part_2", "Verfahren"),
        ("Dritter Abschnitt", "division_3", ""),
        ("1 § Soveltamisala", "sec_1", "Soveltamisala"),
        ("12 a § Ansökan", "sec_12a", "Ansökan"),
        ("2 luku. Yleiset säännökset", "chapter_2", "Yleiset säännökset"),
        ("§ 3 a. Formål", "sec_3a", "Formål"),
        ("§ 3 a.Formål", "sec_3a", "Formål"),
        ("§ 4.Søknaden", "sec_4", "Søknaden"),
        ("Kapittel 2. Farvann", "chapter_2", "Farvann"),
        ("5. § A törvény", "sec_5", "A törvény"),
        ("MADDE 5 – Tanımlar", "sec_5", "Tanımlar"),
        ("İKİNCİ BÖLÜM Kurul", "chapter_2", "Kurul"),
        ("Čl. 5 Působnost", "sec_5", "Působnost"),
        ("Άρθρο 5 Ορισμοί", "sec_5", "Ορισμοί"),
        ("Άρθρο 5Α", "sec_5α", ""),
        ("धारा ५", "sec_5", ""),
        ("Sec. 12-2. Penalties", "sec_12_2", "Penalties"),
        ("§ 46.2-101. Definitions", "sec_46_2_101", "Definitions"),
        ("§ 1234.5a-1 Scope", "sec_1234_5a_1", "Scope"),
        ("ARTICLE ONE", "sec_1", ""),
        ("Section Twenty-One Notices", "sec_21", "Notices"),
        ("FIRST SCHEDULE", "schedule_1", ""),
        ("Attachment C", "attachment_c", ""),
        ("Addendum 2: Fees", "addendum_2", "Fees"),
        ("Subchapter B General", "subchapter_b", "General"),
    ],
)
def test_heading_in_another_language(heading: str, section_id: str, title: str) -> None:
    label, rest = parse_heading(heading)
    assert (label.section_id if label else "", rest) == (section_id, title)


@pytest.mark.parametrize(
    "heading",
    [
        "第三条规定的事项",
        "First part of the story",
        "First things first",
        "Erste Hilfe",
        "Part one of many",
        "Section unique to us",
        "All 3 of them",
        "S 5 class",
        "Premier League",
    ],
)
def test_heading_that_only_looks_like_one(heading: str) -> None:
    assert parse_heading(heading) == (None, heading)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("根据本法第三十七条第二款的规定", ["sec_37_2"]),
        ("第二十五条第一款第（三）项", ["sec_25_1_3"]),
        ("第25条第2項", ["sec_25_2"]),
        ("第三条、第五条和第七条", ["sec_3", "sec_5", "sec_7"]),
        ("제3조의2 제1항", ["sec_3-2_1"]),
        ("وفقا للمادة ٣ من القانون", ["sec_3"]),
        ("المادة (الرابعة) من النظام", ["sec_4"]),
        ("ст. 12 и п. 3 ст. 5", ["sec_12", "sec_5_3"]),
        ("в соответствии с пунктом 3 статьи 12", ["sec_12_3"]),
        ("статьями 5 и 6", ["sec_5", "sec_6"]),
        ("Art. 12 ust. 3 pkt 4", ["sec_12_3_4"]),
        ("art. 12 § 3", ["sec_12_3"]),
        ("Art. 5º, § 1º", ["sec_5_1"]),
        ("art. 5º, inciso II, alínea a", ["sec_5_ii_a"]),
        ("Art. 5, comma 2, lett. b)", ["sec_5_2_b"]),
        ("artikel 3, tweede lid, onder a", ["sec_3_2_a"]),
        ("artikel 3, lid 2", ["sec_3_2"]),
        ("l’article L. 121-1 du code", ["sec_l121_1"]),
        ("l'article 5, alinéa 2", ["sec_5_2"]),
        ("asetuksen 27 artiklan 3 kohdassa", ["sec_27"]),
        ("artikel 6:162 BW", ["sec_6_162"]),
        ("article 5, deuxième alinéa", ["sec_5_2"]),
        ("§ 3 Abs. 2 Satz 1 Nr. 4 Buchst. a", ["sec_3_2_1_4_a"]),
        ("Buchstabe a des Artikels 6", ["sec_6_a"]),
        ("3 kap. 5 §", ["chapter_3", "sec_5"]),
        ("§ 5 odst. 2 písm. a)", ["sec_5_2_a"]),
        ("άρθρο 5 παρ. 2", ["sec_5_2"]),
        ("§ 3-2 første ledd", ["sec_3_2_1"]),
        ("ss. 2 and 3", ["sec_2", "sec_3"]),
        ("s. 12(3)", ["sec_12_3"]),
        ("Sched. 2", ["schedule_2"]),
        ("Reg. 4", ["sec_4"]),
        ("Recital 12", ["recital_12"]),
        ("Chapter 7 / Subchapter B", ["chapter_7", "subchapter_b"]),
        ("the First Schedule", ["schedule_1"]),
        ("5.(2)(b)", ["sec_5_2_b"]),
        ("5(2)b", ["sec_5_2_b"]),
        ("5 (2) (b)", ["sec_5_2_b"]),
        ("Section 5.(2)(b)", ["sec_5_2_b"]),
        ("Art. 6 (1) f", ["sec_6_1_f"]),
        ("4.2(a)(i)", ["sec_4_2_a_i"]),
        ("第三条 of 民法典", ["sec_3"]),
        ("Artículo 3 of BOE-A-2020", ["sec_3"]),
        ("Artículo primero of BOE-A-2020", ["sec_1"]),
    ],
)
def test_reference_in_another_language(text: str, expected: list[str]) -> None:
    assert ids(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the first part of the day",
        "a second chapter opens",
        "John's 5 dogs",
        "et al. 2019",
        "BGBl. I S. 821",
        "€ 1.758,62",
        "in the year 1934.\n\n(3) No",
        "this Article.\n\n5. Next",
        "第三方",
        "one section ones",
        "ek is here",
    ],
)
def test_prose_is_no_reference(text: str) -> None:
    assert ids(text) == []


def test_a_range_of_chinese_articles_has_its_members() -> None:
    places = find_places("第三条至第五条")
    assert [[label.key for label in place.labels] for place in places] == [["3", "4", "5"]]


# -- the lexicon ---------------------------------------------------------------------------------------------


def test_every_language_uses_known_kinds_and_fields() -> None:
    kinds = load().kinds
    known = {"kinds", "parts", "after", "around", "numbers", "ordinals", "sole", "number_joins", "genitive"}
    known |= {"and", "to", "of", "asked"}
    for item in files("loccit.grammar.labels.lexicon").iterdir():
        if not item.name.endswith(".json") or item.name == "kinds.json":
            continue
        language = json.loads(item.read_text(encoding="utf-8"))
        assert set(language) <= known, item.name
        for table in ("kinds", "parts", "after"):
            assert set(language.get(table, {})) <= set(kinds), item.name


def test_titles_hold_chapters_and_chapters_sections() -> None:
    assert rank("book") < rank("title") < rank("chapter") < rank("article") < rank("section") < rank("")
    assert not CONTAINERS & LEAF_KINDS


@given(st.integers(0, 9999))
def test_chinese_numerals_are_read(value: int) -> None:
    digits = "零一二三四五六七八九"
    written = "".join(
        (digits[figure] + unit) if figure else "零"
        for figure, unit in zip(map(int, f"{value:04}"), "千百十 ", strict=True)
    )
    written = written.replace(" ", "").lstrip("零") or "零"
    assert chinese_value(written) == value


@given(st.text(max_size=40))
def test_small_letters_keep_their_places(text: str) -> None:
    assert len(lowered(text)) == len(text)


def test_words_that_share_a_beginning_are_all_matched() -> None:
    words = ["art", "article", "articles", "§", "disposición adicional"]
    assert all(re.fullmatch(one_of(words), word) for word in words)
    assert not re.fullmatch(one_of(words), "artic")


def test_numbers_of_other_scripts_are_normalised() -> None:
    assert normalise_number("٢١") == normalise_number("２１") == normalise_number("二十一") == ("21",)


@pytest.mark.parametrize(
    "unit",
    ["第一条", "第", "المادة ", "part one ", "пункт 3 ", "artikel 3, tweede lid, ", "5 §", "第（", "一"],
)
def test_hostile_text_in_another_language_is_read_to_the_end(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    find_labels(text)
    parse_heading(text)

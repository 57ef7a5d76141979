"""When two texts in nearly the same words are one, and when they are two."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.search.refine.builders import wording

from loccit.search.select.duplicates import NearDuplicates, nearly_same, same_claim, same_facts, similarity
from loccit.search.select.wording import capitalised, numbers

CLAUSE = (
    "The receiving party shall keep confidential all information that is disclosed to it under this agreement, shall "
    "use it for no purpose other than the purpose stated, and shall return or destroy every copy of it within 30 days "
    "of the end of this agreement. The disclosing party, Acme Holdings, may ask for a written statement that this has "
    "been done. These duties go on after the agreement has ended for as long as the information is not public."
)


def merged(first: str, second: str, language: str = "en") -> bool:
    """Whether the second text would be left out for the first."""
    duplicates = NearDuplicates(0.7)
    duplicates.keep(wording(first, 1, language=language))
    return duplicates.find(wording(second, 2, language=language)) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a written statement", "a signed statement"),
        ("every copy of it", "each copy of it"),
        ("disclosed to it under", "disclosed under"),
        ("Acme Holdings", "**Acme Holdings**"),
        ("this agreement, shall", "this agreement; shall"),
        ("The disclosing party, Acme", "The   disclosing\nparty, Acme"),
        ("The receiving", "THE RECEIVING"),
        ("has been done.", "has been done. A simple letter is enough for that."),
        ("confidential", "con-\nfidential"),
    ],
)
def test_small_changes_of_wording_make_no_second_text(old: str, new: str) -> None:
    assert merged(CLAUSE, CLAUSE.replace(old, new))
    assert merged(CLAUSE.replace(old, new), CLAUSE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("30 days", "60 days"),
        ("30 days", "thirty days"),
        ("within 30", "after 30"),
        ("30 days", "30 % of the days"),
        ("Acme Holdings", "Globex Holdings"),
        ("Acme Holdings", "Acme Holdings or Initech"),
        ("may ask", "may not ask"),
        ("may ask", "must ask"),
        ("shall return", "need not return"),
        ("The receiving party", "The receiving party, unless excused,"),
        ("is not public", "is public"),
        ("has ended", "has ended in 2024"),
        ("that is disclosed", "that is disclosed by the employee"),
    ],
)
def test_what_differs_in_numbers_names_or_sense_is_kept_apart(old: str, new: str) -> None:
    changed = CLAUSE.replace(old, new)
    assert changed != CLAUSE
    assert nearly_same(wording(CLAUSE), wording(changed), 0.7), "the words alone would not tell them apart"
    assert not merged(CLAUSE, changed)
    assert not merged(changed, CLAUSE)


def test_names_that_change_places_change_who_owes() -> None:
    text = f"{CLAUSE} Acme pays the costs that Globex has in doing so, and of nobody else."
    other = text.replace("Acme pays", "X pays").replace("Globex", "Acme").replace("X pays", "Globex pays")
    assert nearly_same(wording(text), wording(other), 0.7)
    assert not merged(text, other)


def test_roles_in_small_letters_are_kept_apart() -> None:
    lessor = (
        "the lessor keeps the roof and the outer walls in repair and bears the cost of it for the whole term"
    )
    assert nearly_same(wording(lessor), wording(lessor.replace("lessor", "lessee")), 0.7)
    assert not merged(lessor, lessor.replace("lessor", "lessee"))


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("秘密保持義務は契約終了後も存続するものとし受領者は情報を第三者に開示しない", "秘密保持義務は、契約終了後も存続するものとし、受領者は情報を第三者に開示しない。", True),
        ("受領者は契約終了後三十日以内に秘密情報のすべてを返還するものとする", "受領者は契約終了後六十日以内に秘密情報のすべてを返還するものとする", False),
        ("甲方应当在本合同签订后及时向乙方支付全部货款并承担运输费用", "甲方应当在本合同签订后及时向丙方支付全部货款并承担运输费用", False),
        ("甲方可以将本合同的权利转让给其他公司并通知对方当事人", "甲方不可以将本合同的权利转让给其他公司并通知对方当事人", False),
        ("يلتزم المستأجر بدفع الإيجار في اليوم الأول من كل شهر دون تأخير إلى مالك العقار المذكور أعلاه في هذا العقد", "يلتزم المستأجر بدفع الإيجار في اليوم الأول من كل شهر دون تأخير إلى مالك العقار المذكور أعلاه في العقد هذا", True),
        ("يلتزم المستأجر بدفع الإيجار في اليوم الأول من كل شهر دون تأخير إلى مالك العقار أحمد المذكور في هذا العقد", "يلتزم المستأجر بدفع الإيجار في اليوم الأول من كل شهر دون تأخير إلى مالك العقار محمود المذكور في هذا العقد", False),
        ("किरायेदार हर महीने की पहली तारीख को किराया देगा और मकान को अच्छी हालत में रखेगा", "किरायेदार हर महीने की पहली तारीख को किराया देगा और मकान को अच्छी हालत में रखेगा।", True),
        ("इस घर का किरायेदार को ५ दिन में किराया देना होगा और मकान को अच्छी हालत में रखना होगा सदा ही", "इस घर का किरायेदार को ९ दिन में किराया देना होगा और मकान को अच्छी हालत में रखना होगा सदा ही", False),
    ],
)  # fmt: skip
def test_other_scripts(first: str, second: str, same: bool) -> None:
    assert nearly_same(wording(first), wording(second), 0.7)
    assert merged(first, second) is same


def test_programs_that_differ_in_a_name_are_two() -> None:
    code = "def left(node):\n    if node is None:\n        return 0\n    return max(depth(node.left), depth(node.first)) + size(node)\n"
    assert nearly_same(wording(code), wording(code.replace("first", "other")), 0.7)
    assert not merged(code, code.replace("first", "other"))
    assert not merged(code, code.replace("return 0", "return 1"))
    assert merged(code, code.replace("    ", "  ") + "# the end\n")


@pytest.mark.parametrize(
    ("old", "new"), [("getToken", "getUser"), ("max_age", "max_size"), ("iPhone", "iPad")]
)
def test_names_of_things_are_names(old: str, new: str) -> None:
    text = f"Before the server answers it calls {old} once, waits for the answer, and writes what came back into the log."
    assert nearly_same(wording(text), wording(text.replace(old, new)), 0.7)
    assert not merged(text, text.replace(old, new))


def test_german_nouns_count_as_names_and_formatting_does_not() -> None:
    text = (
        "Der Mieter hat die Wohnung bei Ende des Vertrages in dem Zustand zurückzugeben, in dem er sie übernommen hat, und "
        "alle Schlüssel an den Verwalter zu übergeben, auch soweit er sie selbst hat anfertigen lassen."
    )
    assert merged(
        text, text.replace("Mieter", "**Mieter**").replace("Schlüssel an", "Schlüssel\nan"), language="de"
    )
    assert not merged(text, text.replace("Verwalter", "Nachbarn"), language="de")
    assert not merged(text, text.replace("hat die Wohnung", "hat die Wohnung nicht"), language="de")


def test_short_texts_are_compared_by_letters() -> None:
    assert merged("The lamp is lit at dusk.", "The lamp is lit at dusk")
    assert merged("The lamp is lit at dusk.", "The lamps are lit at dusk.") is False
    assert not merged("The fee is due monthly.", "The fee is due yearly.")
    assert not merged("See Annex A.", "See Annex B.")
    assert (
        similarity(wording("short"), wording("a much longer text than that which has many words in it")) < 0.2
    )


def test_the_same_clause_under_another_number_is_one() -> None:
    first, second = f"## 4.2 Secrecy\n\n{CLAUSE}", f"### 5.1 Secrecy\n\n{CLAUSE}"
    duplicates = NearDuplicates(0.7)
    duplicates.keep(wording(first, 1, label="4.2"))
    assert duplicates.find(wording(second, 2, label="5.1")) == 1
    # A number that is no label of the section is part of what is said.
    assert not merged(first, second)


def test_the_same_text_under_a_heading_with_another_name_is_two() -> None:
    assert not merged(f"## Delivery to Hamburg\n\n{CLAUSE}", f"## Delivery to Rotterdam\n\n{CLAUSE}")


def test_rows_of_a_table_mean_what_its_header_says() -> None:
    rows = "| pump | 40 |\n| valve | 12 |\n| motor | 77 |"
    heads = ("| part | price |\n|---|---|\n", "| part | weight |\n|---|---|\n")
    price, weight = (wording(head + rows, prefix=len(head)) for head in heads)
    assert price.key != weight.key


def test_overlap_with_the_chunk_before_does_not_count() -> None:
    assert wording("Something else before. " + CLAUSE, prefix=23).key == wording(CLAUSE).key


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Passwords must be changed every 90 days.", "Every 90 days, credentials have to be renewed.", True),
        ("Passwords must be changed every 90 days.", "Every 60 days, credentials have to be renewed.", False),
        (
            "The fee is paid by Acme at the start of a year.",
            "At the start of a year, Globex pays the fee.",
            False,
        ),
        ("# Fee Schedule\n\nWhat Acme pays.", "# What It Costs\n\nPayments made by Acme.", True),
        ("The tenant shall not sublet.", "Subletting is never open to the tenant.", True),
        ("Acme pays the fee each year.", "Globex settles the yearly charge.", False),
        ("A lease may be ended early.", "It is possible to end a lease early.", False),
        ("The buyer bears the risk of the voyage.", "Risk during the voyage lies with the seller.", False),
        ("Visitors may enter the hold.", "Visitors may not go into the hold.", False),
        ("You must report a fire.", "It may be reported that there is a fire.", False),
        ("It costs 10 in 2023 and 20 in 2024.", "In 2023 the price is 20, in 2024 it is 10.", False),
        ("The rent is due on the 5th of May.", "On the 5th of June the rent must be paid.", False),
        ("Le loyer est dû le 5 mars.", "On paie le loyer le 5 avril.", False),
        ("Notice is given in two weeks.", "One gives notice three weeks ahead.", False),
        ("At least half of the crew stays aboard.", "No more than half of the crew is aboard.", False),
        ("Report it before the voyage.", "Tell the office after the voyage.", False),
        ("The pump of Acme lifts what the valve of Globex holds.", "Globex lifts what Acme holds.", False),
        ("受领者不得披露信息", "收到信息的一方可以公开它", False),
    ],
)
def test_texts_of_like_meaning_must_agree_in_numbers_and_names(first: str, second: str, same: bool) -> None:
    assert same_facts(wording(first), wording(second)) is same
    assert same_facts(wording(second), wording(first)) is same


def test_german_facts_are_told_apart_too() -> None:
    rent = wording("Die Miete zahlt Müller zu Beginn des Jahres.", language="de")
    assert same_facts(rent, wording("Die Miete wird von Müller zu Beginn des Jahres gezahlt.", language="de"))
    assert not same_facts(rent, wording("Schmidt zahlt die Miete, wenn ein Jahr beginnt.", language="de"))


def test_numbers_keep_their_signs_and_units() -> None:
    assert numbers("between -5 and +5 °C, 3-4 m², €20 or 20%") == ("-5", "5°", "3", "4", "m²", "€20", "20%")
    assert numbers("x < 5") != numbers("x > 5")


def test_names_inside_sentences_leave_out_what_only_begins_one() -> None:
    inside, first = capitalised("# Big Heading\n- Item one\nThey met in Paris. Later, Anna left.")
    assert (set(inside), set(first)) == ({"paris", "anna"}, {"item", "later"})


text = st.text(alphabet=st.characters(codec="utf-8"), max_size=60) | st.lists(
    st.sampled_from(["Acme", "shall", "not", "pay", "30", "days", "the", "**fee**", "合同", "5%", "\n"]),
    max_size=40,
).map(" ".join)


@settings(deadline=None)
@given(text, text)
def test_comparison_works_on_any_text_and_both_ways(first: str, second: str) -> None:
    a, b = wording(first), wording(second)
    assert 0 <= similarity(a, b) <= 1
    assert similarity(a, b) == similarity(b, a)
    assert nearly_same(a, b, 0.7) == nearly_same(b, a, 0.7)
    assert same_claim(a, b) == same_claim(b, a)
    assert same_facts(a, b) == same_facts(b, a)
    assert same_claim(a, wording(first)) and same_facts(a, wording(first))


@settings(deadline=None)
@given(text)
def test_white_space_and_case_never_make_a_difference(first: str) -> None:
    assert wording("  " + first.replace(" ", "\n ")).key == wording(first).key

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.extract.definitions import MAX_DEFINITION, extract_definitions
from loccit.extract.definitions.glossary import is_definition_heading
from loccit.model import Converted, Definition
from loccit.structure import parse
from loccit.structure.places import find_places
from loccit.structure.places.tree import build_sections


def extract(text: str, language: str = "en", markdown: bool = True) -> list[Definition]:
    parsed = parse(Converted(text, markdown=markdown))
    return extract_definitions(parsed, build_sections(parsed), "a.md", language)


def pairs(text: str, language: str = "en") -> list[tuple[str, str]]:
    return [(d.term, d.definition_text) for d in extract(text, language)]


INLINE = [
    '"Fee" means the sum.',
    "“Fee” means the sum.",
    "‘Fee’ means the sum.",
    "'Fee' means the sum.",
    "«Fee» means the sum.",
    "« Fee » means the sum.",
    "„Fee“ means the sum.",
    "**Fee** means the sum.",
    "*Fee* means the sum.",
    "_Fee_ means the sum.",
    "__Fee__ means the sum.",
    "`Fee` means the sum.",
    '**"Fee"** means the sum.',
    "“**Fee**” means the sum.",
    '"Fee" shall mean the sum.',
    '"Fee" mean the sums.',
    '"Fee" has the meaning given in clause 4.',
    '"Fee" has the meaning assigned to it in Schedule 1.',
    '"Fee" shall have the meaning set out in Schedule 1.',
    '"Fee" refers to the sum.',
    '"Fee" shall refer to the sum.',
    '"Fee" is defined as the sum.',
    '"Fee" includes the sum.',
    '"Fee", as used in this clause, means the sum.',
    '"Fee," as used in this clause, means the sum.',
    "*Fee* (10 U.S.C. 101(a)(13)) means the sum.",
    "‘Fee’ of the carrier means the sum.",
]


@pytest.mark.parametrize("text", INLINE)
def test_inline_form(text: str) -> None:
    assert pairs(f"# Agreement\n\nIt is agreed.\n\n{text}\n") == [("Fee", text)]


@pytest.mark.parametrize("text", INLINE)
def test_inline_form_as_an_item_ends_with_the_item(text: str) -> None:
    document = f"## Terms used\n\n(a) It is agreed;\n\n(b) {text}\n\n(c) The parties shall meet.\n"
    assert pairs(document) == [("Fee", text)]


@pytest.mark.parametrize(
    ("text", "term", "definition"),
    [
        ("Fee: the sum that is due.", "Fee", None),
        ("Fee - the sum that is due.", "Fee", None),
        ("Fee – the sum that is due.", "Fee", None),
        ("Fee — the sum that is due.", "Fee", None),
        ("- Fee: the sum that is due.", "Fee", "Fee: the sum that is due."),
        ("- Fee is the sum that is due.", "Fee", "Fee is the sum that is due."),
        ("- **Fee**: the sum that is due.", "Fee", "**Fee**: the sum that is due."),
        ("- **Fee:** the sum that is due.", "Fee", "**Fee:** the sum that is due."),
        ("- `fee` - the sum that is due.", "fee", "`fee` - the sum that is due."),
        ("- [Fee](fees.md): the sum that is due.", "Fee", "[Fee](fees.md): the sum that is due."),
        ("Fee means the sum that is due.", "Fee", None),
        ("The term Fee means the sum that is due.", "Fee", None),
        ("Late fee (LF) means the sum that is due.", "Late fee (LF)", None),
        ("Fee, as used in this part, means the sum.", "Fee", None),
        ("Fee includes the sum that is due.", "Fee", None),
        ('"Fee" is the sum that is due.', "Fee", None),
        ('"Fee" the sum that is due.', "Fee", None),
        ("**Fee** the sum that is due.", "Fee", None),
        ('*Fee* (see "charge").', "Fee", None),
        ("Fee\n: the sum that is due.", "Fee", None),
        ("### Fee\n\nThe sum that is due.", "Fee", "The sum that is due."),
        ("### A\n\n#### Fee\n\nThe sum that is due.", "Fee", "The sum that is due."),
        ("| Term | Definition |\n|---|---|\n| Fee | The sum that is due. |", "Fee", "The sum that is due."),
        ("| No. | Begriff | Bedeutung |\n|---|---|---|\n| 1 | „Fee“ | Die Summe. |", "Fee", "Die Summe."),
        ("| | |\n|---|---|\n| **Fee** | The sum. |", "Fee", "The sum."),
    ],
)
def test_form_that_counts_only_in_a_definitions_section(text: str, term: str, definition: str | None) -> None:
    assert pairs(f"# A\n\n## Glossary\n\n{text}\n\n## Payment\n\nPay.\n") == [(term, definition or text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('Acme Holdings Limited (the "Company") sells tea.', [("Company", "Acme Holdings Limited")]),
        (
            "It respects the Charter of Fundamental Rights (the ‘Charter’).",
            [("Charter", "Charter of Fundamental Rights")],
        ),
        ('He met Acme Holdings Ltd (hereinafter "Acme").', [("Acme", "Acme Holdings Ltd")]),
        ("The London Tea Exchange (“LTE”) opened.", [("LTE", "London Tea Exchange")]),
        (
            '**Acme Limited**, a company registered under number 4 (the "**Seller**"), sells.',
            [("Seller", "**Acme Limited**, a company registered under number 4")],
        ),
        (
            'Acme Tea Company and Beta Tea Company (together, the "Sellers" and each a "Seller") sell.',
            [
                ("Sellers", "Acme Tea Company and Beta Tea Company"),
                ("Seller", "Acme Tea Company and Beta Tea Company"),
            ],
        ),
        (
            'They entered into a new credit agreement (the "facility").',
            [("facility", "new credit agreement")],
        ),
        ('Under the Tea Duties Act (12 U.S.C. 4(a)) (the "Act") pay.', [("Act", "Tea Duties Act")]),
        (
            "(a) kept no longer than needed (‘storage limitation’);",
            [("storage limitation", "kept no longer than needed")],
        ),
        ("Die Acme Tee GmbH (nachfolgend „Verkäufer“ genannt) liefert.", [("Verkäufer", "Acme Tee GmbH")]),
        ("The deoxyribonucleic acid (DNA) is long.", []),
        ('He said so ("never again") and left.', []),
        ('Set the value ("default") first.', []),
        ('Call f("x") now.', []),
        ('Use it (for example "tea").', []),
    ],
)
def test_name_in_brackets(text: str, found: list[tuple[str, str]]) -> None:
    assert pairs(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "What does “fee” mean?",
        "I know what “love” means.",
        "The album “Blue” includes ten songs.",
        "In the poem, “Ozymandias” is a king.",
        "He asked whether “soon” means today.",
        "This means war.",
        "**Note:** this means that nothing is lost.",
        "Fee: 4 pounds.",
        "Fee - the sum that is due.",
        "- Fee is the sum that is due.",
        "He said “no” and means it.",
        "“Stop,” he said, “this means trouble.”",
        '```\n"Fee" means the sum.\n```',
        "Pay 5% of the total, which includes “tips” and refers to nothing.",
    ],
)
def test_prose_is_no_definition(text: str) -> None:
    assert pairs(f"# Notes\n\n{text}\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "In this Agreement:",
        "For the purposes of this Regulation: the following applies.",
        "Note: fees are due at once.",
        "The following terms are used: fee and charge.",
        "This section is about fees - and charges.",
    ],
)
def test_introduction_of_a_glossary_is_no_definition(text: str) -> None:
    assert pairs(f"## Definitions\n\n{text}\n") == []


def test_terms_that_share_a_definition() -> None:
    for text, terms in [
        ('"Fee" and "Charge" mean the sum.', ["Fee", "Charge"]),
        ('"Fee" or "Charge" means the sum.', ["Fee", "Charge"]),
        ('*Fee* or "charge" means the sum.', ["Fee", "charge"]),
        ('"Fee," "charge," and "cost" have the meaning given in 4.', ["Fee", "charge", "cost"]),
        ("„Fee“ und „Kosten“ bedeuten die Summe.", ["Fee", "Kosten"]),
    ]:
        assert pairs(text, "de" if "„" in text else "en") == [(term, text) for term in terms]


ACT = """# Act

## 1 Definitions

In this Act:

(a) "berth" means a quay. The term does not include a slipway.

(b) "cargo" means goods, but does not include—

(1) fuel;

(2) stores:

(i) food; or

(ii) drink; and

(3) mail.

(c) "day" means a day other than a Sunday;

(h) "event" means a thing that happens;

(i) "pilot" means a person with a licence.

## 2 Duties

(a) Each pilot shall report.
"""


def test_each_has_exactly_its_own_text_with_its_sub_items() -> None:
    found = {d.term: d for d in extract(ACT)}
    assert list(found) == ["berth", "cargo", "day", "event", "pilot"]
    assert found["berth"].definition_text.endswith("a slipway.")
    assert found["cargo"].definition_text.startswith('"cargo" means goods')
    assert found["cargo"].definition_text.endswith("(3) mail.")
    assert found["event"].definition_text == '"event" means a thing that happens;'
    assert found["pilot"].definition_text.endswith("a licence.")
    assert {d.source_section for d in found.values()} == {"sec_1"}
    for definition in found.values():
        assert ACT[definition.start : definition.end] == definition.definition_text


def test_exceptions_are_kept_as_printed() -> None:
    found = {d.term: d.exceptions for d in extract(ACT)}
    assert found["berth"] == ("The term does not include a slipway.",)
    assert found["cargo"][0].startswith("but does not include—") and found["cargo"][0].endswith("mail.")
    assert found["day"] == ("other than a Sunday",)
    assert found["pilot"] == ()


@pytest.mark.parametrize(
    ("text", "exceptions"),
    [
        ("means a sum, except that tips are free.", ("except that tips are free.",)),
        ("means a sum excluding tips; it is due.", ("excluding tips",)),
        ("means a sum (other than a tip) that is due.", ("other than a tip",)),
        ("means a sum unless waived.", ("unless waived.",)),
        ("means a sum. It does not include tips. It is due. Fees do not include tax.",
         ("It does not include tips.", "Fees do not include tax.")),
        ("means a sum, including, but not limited to, tips.", ()),
        ("means sums including but not limited to tips and fees, but not including tax.", ("but not including tax.",)),
        ("means a sum paid by a person other than a guest.", ("other than a guest.",)),
        ("means a sum that a person other than a guest pays.", ()),
        ("means a house that is closed unless invited.", ()),
        ("means a body which acts for a place other than the State.", ()),
        ("means a person, other than a guest, who pays.", ("other than a guest",)),
        ("means sums other than tips paid, at once, but does not include tax.",
         ("other than tips paid, at once", "but does not include tax.")),
        ("means all sums of the house, the yard and the inn with its cellars (other than the old one).", ()),
        ("means: (a) a sum other than a tip; or (b) a price.", ()),
        ("means a person who asks but does not bring an appeal.", ()),
        ("means a sum. Where it is late, the guest shall not pay interest unless asked.", ()),
        ("means a sum.", ()),
    ],
)  # fmt: skip
def test_exceptions(text: str, exceptions: tuple[str, ...]) -> None:
    (definition,) = extract(f'## Definitions\n\n"Fee" {text}\n')
    assert definition.exceptions == exceptions


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("means—\n\n(*a*) tea, or\n\n(*b*) milk;\n\n“Tip” means a gift.", "(*b*) milk;"),
        ("means:\n\n**(a)** tea, or\n\n**(b)** milk.\n\n“Tip” means a gift.", "**(b)** milk."),
        ("means any of these:\n\n12\n<PAGE>\n\n(a) tea;\n\n(b) milk.\n\n“Tip” means a gift.", "(b) milk."),
        ("means a sum in either list:\n\nhttps://a.example\n\nhttps://b.example\n\n“Tip” means a gift.",
         "https://b.example"),
        ("means a sum due:\n\nProvided that no tip counts.\n\n“Tip” means a gift.", "no tip counts."),
        ("means a house—\n\n(a) of stone, or\n\n(b) that is a—\n\n(i) barn, or\n\n(ii) mill.\n\n“Tip” means a gift.",
         "(ii) mill."),
    ],
)  # fmt: skip
def test_a_list_or_paragraph_after_a_colon_belongs_to_the_definition(text: str, meaning: str) -> None:
    fee, tip = extract(f"## Definitions\n\n“Fee” {text}\n")
    assert fee.definition_text.endswith(meaning) and tip.term == "Tip"
    assert not fee.goes_on


def test_a_definition_that_cannot_be_followed_says_that_it_goes_on() -> None:
    (fee,) = extract("## Definitions\n\n“Fee” means these sums:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert fee.definition_text == "“Fee” means these sums:" and fee.goes_on
    fee, _ = extract("## Definitions\n\n“Fee” means a sum:\n\n“Tip” means a gift.\n")
    assert fee.definition_text == "“Fee” means a sum" and not fee.goes_on
    # A heading that repeats the term means nothing by itself.
    (control,) = extract('## Definitions\n\n**Control**: "Control" means the power to direct.\n')
    assert control.definition_text == '"Control" means the power to direct.'


def test_several_in_one_paragraph() -> None:
    text = (
        'In this clause: "A1" means tea; "B1" means coffee, and "C1" means milk. Pay at once. '
        'In this part, "D1" means water. The end.'
    )
    assert pairs(text) == [
        ("A1", '"A1" means tea;'),
        ("B1", '"B1" means coffee,'),
        ("C1", '"C1" means milk.'),
        ("D1", '"D1" means water.'),
    ]


def test_lines_without_blank_lines_between() -> None:
    text = '## Definitions\n\n(a) "A1" means tea:\n(i) black;\n(ii) green;\n(b) "B1" means coffee.\n(c) Nothing else.\n'
    assert pairs(text) == [("A1", '"A1" means tea:\n(i) black;\n(ii) green;'), ("B1", '"B1" means coffee.')]


def test_paragraph_that_goes_on_about_the_term() -> None:
    text = "## Definitions\n\n*Tea* means a drink.\n\nThe term includes mate.\n\nParties shall pay.\n"
    assert pairs(text) == [("Tea", "*Tea* means a drink.\n\nThe term includes mate.")]


def test_definition_whose_list_holds_another() -> None:
    text = "## Definitions\n\n*Tea*—\n\n(1) Means a drink;\n\n(2) *Mate*, as used here, means a herb.\n\n*Milk* means milk.\n"
    assert [term for term, _ in pairs(text)] == ["Tea", "Mate", "Milk"]
    assert pairs(text)[0][1].endswith("a herb.")


@pytest.mark.parametrize(
    ("language", "text", "term"),
    [
        ("de", "## Begriffsbestimmungen\n\n1. „Kai“ ist jede Anlegestelle.", "Kai"),
        ("de", "## Begriffsbestimmungen\n\n1. „Kai“ jede Anlegestelle;", "Kai"),
        ("de", "## Regeln\n\nIm Sinne dieser Ordnung bezeichnet „Kai“ jede Anlegestelle.", "Kai"),
        ("de", "## Regeln\n\nIm Sinne dieses Gesetzes ist „Kai“ jede Anlegestelle.", "Kai"),
        ("fr", "## Définitions\n\n« quai » : tout lieu.", "quai"),
        ("fr", "## Règles\n\nAu présent chapitre, on entend par « quai » tout lieu.", "quai"),
        ("es", "## Definiciones\n\n1) «muelle»: todo lugar.", "muelle"),
        ("es", "## Reglas\n\nA efectos de esta ley, se entenderá por «muelle» todo lugar.", "muelle"),
    ],
)
def test_other_languages(language: str, text: str, term: str) -> None:
    assert [found for found, _ in pairs(text, language)] == [term]


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Definitions", True),
        ("Glossary of terms", True),
        ("Interpretation", True),
        ("Terms", True),
        ("Defined terms", True),
        ("Terminology", True),
        ("Definitions of Words and Terms", True),
        ("Network terminology", True),
        ("Begriffsbestimmungen", True),
        ("Définitions", True),
        ("Definiciones", True),
        ("Payment terms", False),
        ("Term", False),
        ("Terms and conditions", False),
        ("Custom resource definitions", False),
        ("Purpose and Definitions", False),
        ("", False),
    ],
)
def test_definition_heading(heading: str, expected: bool) -> None:
    assert is_definition_heading(heading) is expected


def test_normalized_term() -> None:
    (found,) = extract('"Cross-border  Lessee\'s Fee" means a sum.')
    assert (found.term, found.term_normalized) == ("Cross-border Lessee's Fee", "cross_border_lessees_fee")
    assert found.id == "a.md_def_cross_border_lessees_fee"


def test_equal_definitions_are_kept_once_and_different_ones_stay() -> None:
    text = '# A\n\n"Fee" means a sum.\n\n"Fee" means a tax.\n\n## Definitions\n\n"Fee" means a sum.\n'
    assert [(d.definition_text, d.source_section) for d in extract(text)] == [
        ('"Fee" means a tax.', "a"),
        ('"Fee" means a sum.', "definitions"),
    ]


def test_plain_text_document() -> None:
    found = extract('AGREEMENT\n\n"Fee" means a sum.\n\nThe parties pay.\n', markdown=False)
    assert [d.definition_text for d in found] == ['"Fee" means a sum.']


_QUOTES = ['"{}"', "“{}”", "‘{}’", "'{}'", "«{}»", "„{}“", "**{}**", "*{}*", "_{}_", "“**{}**”", '**"{}"**']
_VERBS = ["means", "shall mean", "refers to", "is defined as", "has the meaning of", "includes"]
_WORDS = st.sampled_from("harbour vessel cargo quay pilot lamp rope tide crane wharf buoy anchor".split())
_TERMS = st.lists(_WORDS, min_size=1, max_size=4).map(" ".join)
_MARKS = [
    lambda n: "",
    lambda n: f"({chr(97 + n)}) ",
    lambda n: f"({n + 1}) ",
    lambda n: f"{n + 1}. ",
    lambda n: f"{n + 1}) ",
    lambda n: "- ",
]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    terms=st.lists(_TERMS, min_size=1, max_size=20, unique=True),
    styles=st.lists(st.tuples(st.sampled_from(_QUOTES), st.sampled_from(_VERBS)), min_size=20, max_size=20),
    bodies=st.lists(st.lists(_WORDS, min_size=1, max_size=12).map(" ".join), min_size=20, max_size=20),
    nested=st.lists(st.booleans(), min_size=20, max_size=20),
    mark=st.sampled_from(_MARKS),
    heading=st.sampled_from(["Definitions", "Glossary", "Rules"]),
)
def test_generated_lists_come_back(
    terms: list[str],
    styles: list[tuple[str, str]],
    bodies: list[str],
    nested: list[bool],
    mark: object,
    heading: str,
) -> None:
    assert callable(mark)
    items, expected = [], []
    for n, term in enumerate(terms):
        quote, verb = styles[n]
        text = f"{quote.format(term)} {verb} the {bodies[n]}"
        prefix = mark(n)
        if nested[n]:
            text += ":\n\n    (i) one;\n\n    (ii) two" if prefix == "- " else ":\n\n(i) one;\n\n(ii) two"
        if prefix.startswith("(") and n == 8:
            text = text.replace("(i)", "(A)").replace("(ii)", "(B)")  # below (i) nobody writes (i)
        text += "."
        items.append(prefix + text)
        expected.append((term, text))
    assert (
        pairs(f"# Act\n\n## {heading}\n\nIn this Act:\n\n" + "\n\n".join(items) + "\n\n## Duties\n\nPay.\n")
        == expected
    )


@pytest.mark.parametrize(
    "text",
    [
        '"a" ' * 60_000,
        '"a" means ' * 30_000,
        '"a" and ' * 30_000,
        "(" * 200_000,
        '("' * 60_000,
        'x ("a" ' * 30_000,
        "*" * 200_000,
        "## Definitions\n\n" + "x: y\n\n" * 20_000,
        "## Definitions\n\n" + '(1) "a" means:\n\n' * 10_000,
        "## Definitions\n\n" + '(1) "a" means:\n\n(a) "b" means:\n\n(i) "c" means:\n\n' * 3_000,
        "## Definitions\n\n" + "".join("  " * n + f'- "a{n}" means:\n' for n in range(120)),
        "## Glossary\n\n" + "### T\n\n" * 20_000,
        "## Glossary\n\n" + "word " * 100_000,
        '"a" as ' * 30_000,
        '"a" means x. ' * 20_000,
        "| Term | Definition |\n|---|---|\n" + "| a | b |\n" * 20_000,
        '"' + "a\u0301" * 100_000 + '" means x',
    ],
    ids=lambda text: text[:24],
)
def test_hostile_text_is_read_in_linear_work(text: str) -> None:
    found = extract(text)
    assert all(len(d.definition_text) <= 2 * MAX_DEFINITION + len(text) for d in found)
    assert sum(len(d.definition_text) for d in found) <= 12 * len(text) + MAX_DEFINITION


# -- forms of drafting around the world ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ('(3) OPERATOR.—The term "operator" means any person who runs a ship.', ["operator"]),
        ("(4) PORT.—The term 'port' has the meaning given such term in section 3.", ["port"]),
        ('A "large vessel" is any vessel of more than 500 tons.', ["large vessel"]),
        ("“Affiliate” shall refer to any company under common control.", ["Affiliate"]),
        ('No fee is due. For legal entities, "You" includes any entity that controls them.', ["You"]),
        ("**“Services” or “Work”** means what the supplier does.", ["Services", "Work"]),
        ('"Anchor Location” means the place of a meeting.', ["Anchor Location"]),
        ('### 4.5 "Model" means a large language or machine learning model.', ["Model"]),
        ('This Master Services Agreement (this "Agreement") is made today.', ["Agreement"]),
    ],
)
def test_forms_of_english_drafting(text: str, terms: list[str]) -> None:
    assert [item.term for item in extract(f"# Act\n\n## Section 7. Rules\n\n{text}\n")] == terms


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("de", "Arbeitnehmer im Sinne des Gesetzes sind Arbeiter und Angestellte.", ["Arbeitnehmer"]),
        ("de", "Ein Hafen im Sinne dieser Verordnung ist jede Anlage am Wasser.", ["Hafen"]),
        ("de", "Im Sinne dieses Gesetzes sind Schiffe alle Fahrzeuge, die schwimmen.", ["Schiffe"]),
        ("fr", "On entend par navire tout engin flottant.", ["navire"]),
        ("es", "A los efectos de esta ley se entiende por buque toda embarcación.", ["buque"]),
        ("zh", "本法所称船舶，是指各类排水或者非排水的船、艇。", ["船舶"]),
        ("zh", "（二）港口，是指具有船舶进出功能的区域；", ["港口"]),
        ("ja", "この法律において「船舶」とは、水上に浮かぶものをいう。", ["船舶"]),
    ],
)
def test_idioms_of_other_languages(language: str, text: str, terms: list[str]) -> None:
    found = extract(f"# X\n\n## § 1\n\n{text}\n", language)
    assert [item.term for item in found] == terms


def test_an_explanation_before_a_relative_clause_is_no_term_of_its_own() -> None:
    text = "Fährleute im Sinne des Gesetzes sind Schiffer und Knechte sowie\ndie zu ihrer Lehre Angenommenen. Gut."
    assert pairs(f"# X\n\n## § 2 Geltung\n\n{text}\n", "de") == [("Fährleute", text)]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("(2) Ausführer ist jede Person, die Waren liefert.", ["Ausführer"]),
        ("(3) Güter sind Waren und Software.", ["Güter"]),
        ("(4) Das Bestimmungsland ist das Land, in dem Güter bleiben.", ["Bestimmungsland"]),
        ("(5) Dieses Gesetz ist ein Gesetz.", []),
        ("(6) Absatz 1 ist entsprechend anzuwenden.", []),
        ("Güter sind Waren und Software.", []),
    ],
)
def test_numbered_sentences_of_german_definitions(text: str, terms: list[str]) -> None:
    found = extract(f"# X\n\n## § 2 Begriffsbestimmungen\n\n(1) Es gilt Folgendes.\n\n{text}\n", "de")
    assert [item.term for item in found] == terms
    assert not extract(f"# X\n\n## § 2 Ausfuhr\n\n{text}\n", "de")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("(2) Offene Boote sind kleine Fahrzeuge ohne Deck.", ["Offene Boote"]),
        ("(2) Schiffer ist, wer ein Boot führt.", ["Schiffer"]),
        ("(2) Die Ausrüstung umfasst Leinen und Anker.", ["Ausrüstung"]),
        ("(2) Eine Havarie liegt vor, wenn ein Boot leckt.", ["Havarie"]),
        ("(2) Als Steg gilt jede Brücke ins Wasser.", ["Steg"]),
        ("(2) Boote im Sinne des § 2 Abs. 1\nNr. 3 sind Fahrzeuge.", ["Boote"]),
        ("(2) Für Boote im Sinne des § 1 gelten die Regeln.", []),
        ("(2) Bei Sturm ist das Boot zu sichern.", []),
        ("Im Sinne dieser Ordnung sind\n\n1.  Kai:\n\n    jede Anlegestelle;\n\n2.  kleine Boote:\n\n    alle bis 5 m.",
         ["Kai", "kleine Boote"]),
        ("In diesem Gesetz bedeuten:\n\n1.  Kai\n\n    jede Anlegestelle;\n\n2.  Pier\n\n    ein langer Kai.", ["Kai", "Pier"]),
        ("Im Sinne dieser Ordnung ist oder sind\n\n1.  Boote die Fahrzeuge ohne Deck;\n2.  Stand der Technik das Niveau.",
         ["Boote", "Stand der Technik"]),
        ("- a) **Kai**\n\n  Kai ist jede Anlegestelle.\n\n- b) **Boot**\n\n  Boote sind klein.", ["Kai", "Boot"]),
        ("<sup>1</sup> Boote sind Fahrzeuge ohne Deck.\n\n<sup>2</sup> Kais sind Anlegestellen.", ["Boote", "Kais"]),
    ],
)  # fmt: skip
def test_paragraphs_and_items_of_german_definitions(text: str, terms: list[str]) -> None:
    found = extract(f"# X\n\n## § 2 Begriffsbestimmungen\n\n{text}\n", "de")
    assert [item.term for item in found] == terms
    assert all(len(item.definition_text) > len(item.term) + 8 for item in found)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("a) bedeutet «Kai» jede Anlegestelle;", ["Kai"]),
        ("Für dieses Abkommen umfasst der Ausdruck «Kai» jede Anlegestelle.", ["Kai"]),
        ("Im Sinne dieses Vertrags: 1. bedeutet «Kai» eine Anlegestelle; 2. bedeutet «Boot» ein Fahrzeug.", ["Kai", "Boot"]),
        ("Unter dem Ausdruck „Kai“ versteht man jede Anlegestelle.", ["Kai"]),
        ("Als „Kai“ werden alle Anlegestellen bezeichnet.", ["Kai"]),
        ("„Kai“ im Sinne dieser Bedingungen ist jede Anlegestelle.", ["Kai"]),
        ("Eine Ordnung, die als „Kai“ bezeichnet werden soll, gilt.", []),
        ("Dateien (auch als „Kai“ bezeichnet) gelten.", []),
    ],
)  # fmt: skip
def test_quoted_german_terms_count_anywhere(text: str, terms: list[str]) -> None:
    assert [item.term for item in extract(f"# X\n\n## § 7 Betrieb\n\n{text}\n", "de")] == terms


def test_three_terms_with_a_comma_before_the_last_share_a_definition() -> None:
    text = '"Bow", "Stern", and "Keel" mean parts of a boat.'
    assert pairs(text) == [("Bow", text), ("Stern", text), ("Keel", text)]


def test_a_single_sub_heading_of_a_definitions_section_is_no_term() -> None:
    text = '# Definitions\n\nIn this chapter "boat" means a craft.\n\n## History\n\nEnacted in 1990.\n'
    assert [item.term for item in extract(text)] == ["boat"]


def test_a_name_in_a_bare_bracket_counts_when_the_document_uses_it() -> None:
    used = 'They hire Ann Lee ("Employee") today.\n\nEmployee works. Employee rests.\n'
    assert [item.term for item in extract(f"# A\n\n{used}")] == ["Employee"]
    assert not extract('# A\n\nThey hire Ann Lee ("Employee") today.\n\nShe works.\n')


@pytest.mark.parametrize(
    "text",
    [
        'The "Executive," on behalf of himself, "releases" means nothing.',
        '"or" has the inclusive meaning of "and/or".',
        '"He came. Then he went." means that he left.',
    ],
)
def test_fragments_sentences_and_common_words_are_no_terms(text: str) -> None:
    terms = [item.term for item in extract(f"# A\n\n## Definitions\n\n{text}\n")]
    assert not [term for term in terms if term.lower() not in ("executive", "releases")], terms


def test_each_definition_says_how_sure_its_form_is() -> None:
    strict, bracket = extract('# A\n\n"Rent" means a sum.\n\nThe Harbour Trust (the "Trust") pays.\n')
    assert strict.sure > bracket.sure > 0.5


def test_a_list_that_is_announced_is_read_like_a_glossary() -> None:
    text = "# Code\n\n## Article L1\n\nAu sens du présent titre, on entend par :\n\n1° Navire : un engin flottant ;\n\n2° Port : un lieu."
    assert [item.term for item in extract(text, "fr")] == ["Navire", "Port"]
    other = "# Code\n\n## Article L1\n\nIls comprennent :\n\n1° Navire : un engin flottant ;\n\n2° Port : un lieu."
    assert not extract(other, "fr")


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        (
            "en",
            "# Law\n\n## 1. Definitions\n\nlamp\nmeans a light that burns oil.\n\nwick\nmeans a cord.\n",
            ["lamp", "wick"],
        ),
        (
            "en",
            "# Std\n\n## 3 Terms and definitions\n\n### 3.1\n\n**beacon**\n\nlight that marks a hazard\n",
            ["beacon"],
        ),
        ("en", "# Std\n\n## 3 Terms and definitions\n\n3.1\nberth\nplace where a ship lies\n", ["berth"]),
        ("en", '# Act\n\n## 5 Words\n\n<a id="s5"></a>**_lamp_** means a light under this Act.\n', ["lamp"]),
        ("ro", "# Lege\n\n## Art. 2\n\nÎn această lege, prin far se înțelege o lumină pe țărm.\n", ["far"]),
        (
            "pl",
            "# Ustawa\n\n## Art. 2\n\nW ustawie przez latarnię rozumie się światło na brzegu.\n",
            ["latarnię"],
        ),
        ("sv", "# Lag\n\n## 2 §\n\nMed fyr avses ett ljus på stranden.\n", ["fyr"]),
        ("el", "# Νόμος\n\n## Άρθρο 2 Ορισμοί\n\n(α) «Φάρος» σημαίνει φως στην ακτή.\n", ["Φάρος"]),
        ("en", "# Lantern Act 2001 (“the Act”)\n\nLamps burn.\n", ["Act"]),
        ("en", "# Poem\n\nThe sea – a grey thing – sleeps. Warning – no light shall wake it.\n", []),
    ],
)
def test_terms_in_the_shapes_of_many_kinds_of_documents(language: str, text: str, terms: list[str]) -> None:
    parsed = find_places(parse(Converted(text)), "md")
    sections = build_sections(parsed)
    found = extract_definitions(parsed, sections, "a.md", language)
    assert [definition.term for definition in found] == terms

"""What is read from sentences: duties, deadlines and amounts, in English and German."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from loccit.extract.obligations import amounts, deadlines, duties, extract_obligations, read_sentence, units
from loccit.model import Converted
from loccit.model.obligation import Obligation, ObligationRow, row_line
from loccit.structure import Positions, parse
from loccit.structure.clauses import extract_clauses
from loccit.structure.places.tree import build_sections


def read(sentence: str, language: str = "en") -> dict[str, Any]:
    rows = read_sentence(sentence, language)
    return {
        "deadlines": [item.deadline.normal for row in rows for item in row[2] if item.deadline.normal],
        "amounts": [item.amount.normal for row in rows for item in row[3]],
        "duties": [(row[0], row[1].bearer) for row in rows if row[1]],
    }


@pytest.mark.parametrize(
    ("language", "sentence", "expected"),
    [
        ("en", "Tenants shall pay within 30 days of receipt.", ["30 day"]),
        ("en", "Notice is given no later than seventy-two hours after it.", ["72 hour"]),
        ("en", "It lasts thirty (30) days, or 60, 90 or 120 business days.", ["30 day"] + [
            f"{days} business day" for days in (60, 90, 120)
        ]),
        ("en", "The term is 12 months.", ["12 month"]),
        ("en", "Reply within five working days.", ["5 working day"]),
        ("en", "It ends on the thirtieth day following publication.", ["30 day"]),
        ("en", "It expires on the fifth anniversary of the closing.", ["5 year"]),
        ("en", "The report is due by October 30 and applies from 25 May 2018.", ["--10-30", "2018-05-25"]),
        ("en", "The Agreement dated as of May 1, 1999 concerns a child of at least 16 years of age.", []),
        ("en", "The Buyer has (10) days from the notice to answer.", ["10 day"]),
        ("en", "(3) Years of service are counted.", []),
        ("en", "Allow 3–5 business days, or 10 -12 weeks.", ["3 business day", "5 business day", "10 week", "12 week"]),
        ("en", "It has been idle for 15 or more consecutive days.", ["15 day"]),
        ("en", "Claims made after the 6th day of April, 1988 by persons aged over 66 years.", ["1988-04-06"]),
        ("en", "This Part shall take effect on March 1, 1990.", ["1990-03-01"]),
        ("en", "The loan runs for two and a half years.", ["2.5 year"]),
        ("en", "It reports not later than 31 March, or before 5 May 2027.", ["--03-31", "2027-05-05"]),
        ("en", "Dogs seen after 3 May may bark.", []),
        ("en", "Answer within a week or, at 8 hours a day, within an hour.", ["1 hour", "1 week", "8 hour"]),
        ("en", "Answer within a day or two.", []),
        ("de", "Er legt sie binnen eines Monats vor.", ["1 month"]),
        ("de", "Die Kündigung ist mit dreimonatiger Frist zum Quartal möglich.", ["3 month"]),
        ("de", "Die 10-jährige Bindung gilt nicht für 16-Jährige.", ["10 year"]),
        ("de", "Der Antrag ist bis zum 21. Tag vor der Wahl zu stellen.", ["21 day"]),
        ("de", "Sie dauert eine halbe Stunde und ist nichts für Personen unter 18 Jahren.", ["0.5 hour"]),
        ("de", "Die Einladung erfolgt vier Sitzungstage vorher.", ["4 day"]),
        ("de", "Fällt das Ende auf einen Sonntag, so zählt er nicht.", []),
        ("de", "Zum Schluss eines Geschäftsjahres wird gezählt, was in einem Kalenderjahr anfiel.", []),
        ("de", "Die Laufzeit verlängert sich um ein weiteres Kalenderjahr.", ["1 year"]),
        ("de", "Dieses Reglement tritt auf den 1. Juni 2004 in Kraft.", ["2004-06-01"]),
        ("de", "Sie endet spätestens drei Monate nach dem Übergang.", ["3 month"]),
        ("de", "Die Ausbildung dauert dreieinhalb Jahre.", ["3.5 year"]),
        ("de", "Diese Verordnung tritt am 1. April 2007 in Kraft.", ["2007-04-01"]),
        ("de", "Das Gesetz vom 25. Juli 1996 gilt bis zum 31.12.2020.", ["2020-12-31"]),
        ("de", "Die Frist beträgt fünf Werktage, alle zwei Jahre.", ["5 working day", "2 year"]),
    ],
)  # fmt: skip
def test_deadlines(language: str, sentence: str, expected: list[str]) -> None:
    assert sorted(read(sentence, language)["deadlines"]) == sorted(expected)


@pytest.mark.parametrize(
    ("language", "sentence", "expected"),
    [
        ("en", "Fines are up to 20 000 000 EUR, or up to 4 % of the turnover.", ["20000000 EUR", "4 %"]),
        ("en", "The fee is EUR 500.", ["500 EUR"]),
        ("en", "At most Twenty-Five Million Dollars ($25,000,000) are lent.", ["25000000 USD"]),
        (
            "en",
            "Ten Million and No/100 Dollars ($10,000,000.00) or $3.5 million.",
            ["10000000 USD", "3500000 USD"],
        ),
        ("en", "Interest is one-half of one percent (0.50%) or 45/100 of 1%.", ["0.5 %", "0.45 %"]),
        ("en", "Those holding at least 66-2/3% decide.", ["66.67 %"]),
        ("en", "It is rounded to the nearest 1%.", []),
        ("en", "The rate is one and three-fourths per cent.", ["1.75 %"]),
        ("en", "Where the means do not exceed £6 24.40", ["6 GBP"]),
        ("en", "Half of the club's income, 60% of it in spring, comes from rent.", ["60 %"]),
        ("en", "A fine not exceeding two hundred thousand ringgit or RM5,000.", ["200000 MYR", "5000 MYR"]),
        ("en", "A fine of ten lakh rupees, or Rs. 2,500.", ["1000000 INR", "2500 INR"]),
        ("en", "AUD$1,500, S$20, US$30 and C$4.50.", ["1500 AUD", "20 SGD", "30 USD", "4.5 CAD"]),
        ("en", "The deposit is EUR 90 (in words: ninety euros).", ["90 EUR"]),
        (
            "en",
            "A cap of £2.5bn, €3 mn of it in cash, $40k in kind, 5m EUR later; $6 k) no more.",
            ["2500000000 GBP", "3000000 EUR", "40000 USD", "5000000 EUR", "6 USD"],
        ),
        ("de", "Die Geldbuße beträgt bis zu fünfundzwanzigtausend Euro.", ["25000 EUR"]),
        ("de", "Die Zulage beträgt 1.357,80 Euro oder 20 vom Hundert.", ["1357.8 EUR", "20 %"]),
        ("de", "Ab 250 Millionen Euro, vor dem 2. März.", ["250000000 EUR"]),
        ("de", "In Höhe von 80 Prozent der Bemessungsgrundlage.", ["80 %"]),
        (
            "de",
            "Der Ansatz beträgt 90–200 Franken, der Rabatt 5 bis 10 Prozent.",
            ["90 CHF", "200 CHF", "5 %", "10 %"],
        ),
        ("de", "Es kostet Fr. 250.– im Jahr, Frau Fr. Meier.", ["250 CHF"]),
        ("de", "Die Note wird mit 40 Prozent gewichtet.", []),
    ],
)
def test_amounts(language: str, sentence: str, expected: list[str]) -> None:
    assert read(sentence, language)["amounts"] == expected


@pytest.mark.parametrize(
    ("language", "sentence", "expected"),
    [
        ("en", "(a) The controller shall notify the breach.", [("duty", "The controller")]),
        ("en", "Where it fails, the Board shall not adopt it.", [("prohibition", "the Board")]),
        ("en", "No person may file a protest.", [("prohibition", "No person")]),
        ("en", "Either party may terminate this Agreement.", [("permission", "Either party")]),
        ("en", "Provider will deliver the report.", [("duty", "Provider")]),
        ("en", "Borrower agrees to pay the fee.", [("duty", "Borrower")]),
        ("en", "Notice must be given.", [("duty", "")]),
        ("en", "On 1 January 2024 the Board shall publish the list.", [("duty", "the Board")]),
        ("en", "Effective 2025-03-15, the CA MUST use it.", [("duty", "the CA")]),
        ("en", "The duty shall be increased by the sum of ten pounds.", [("duty", "")]),
        ("en", "However, the court may order a sale.", [("permission", "the court")]),
        ("en", "34. —(1) The Minister may by order appoint a day.", [("permission", "The Minister")]),
        ("en", "( b ) the Executive shall make it available.", [("duty", "the Executive")]),
        ("en", "Section 214 of the Income Tax Act shall have effect.", [("duty", "")]),
        (
            "en",
            "A person to whom a pension is granted may surrender it.",
            [("permission", "A person to whom a pension is granted")],
        ),
        (
            "en",
            "Where the premises are let, the owner, the agent and the tenant shall sign.",
            [("duty", "the owner, the agent and the tenant")],
        ),
        ("en", "Each processor and, where applicable, its agent shall keep a record.", [("duty", "")]),
        ("en", "This ensures that the agency may act.", [("permission", "the agency")]),
        ("en", "The duty is charged on tea imported on or after the 5th day of May, 1924.", []),
        ("en", "If a dispute shall arise, the tribunal shall decide it.", [("duty", "the tribunal")]),
        ("en", "Should the Buyer fail to pay, interest accrues.", []),
        ("en", "A server that does not agree to it is not reached.", []),
        ("en", "Nothing in this Act shall affect the right to fish.", []),
        ("en", "The Seller shall have no right to withdraw.", [("prohibition", "The Seller")]),
        ("en", "Banks are not required to lend.", [("permission", "Banks")]),
        ("en", "You don't have to give a reason.", [("permission", "You")]),
        ("en", "Guests no longer have to sign.", [("permission", "Guests")]),
        ("en", "The Company shall never be required to pay.", [("permission", "The Company")]),
        ("en", "It shall not be necessary to produce a copy.", [("permission", "")]),
        ("en", "The Buyer does not have the right to cancel.", [("prohibition", "The Buyer")]),
        ("en", "The Buyer shall not have the right to cancel.", [("prohibition", "The Buyer")]),
        ("en", "The lessee mustn’t sublet.", [("prohibition", "The lessee")]),
        ("en", "The page won't have a margin.", []),
        (
            "en",
            "The tenant shall be permitted, but shall not be required, to repair it.",
            [("permission", "The tenant")],
        ),
        (
            "en",
            "The Buyer may, but shall not be required, to inspect it.",
            [("permission", "The Buyer"), ("permission", "The Buyer")],
        ),
        ("en", "The tenant is required, at its own cost, to repair it.", [("duty", "The tenant")]),
        ("en", "In the event that a Lender shall fail, the Agent shall pay.", [("duty", "the Agent")]),
        ("en", "If Licensee shall fail, Licensor may end it.", [("permission", "Licensor")]),
        ("en", "Lists as Bank may request are sent.", [("permission", "Bank")]),
        (
            "en",
            "Such architect as Tenant may select, shall act.",
            [("permission", "Tenant"), ("duty", "")],
        ),
        ("en", "Anyone, that owned the shares, shall tell.", [("duty", "")]),
        ("en", "That party shall pay.", [("duty", "That party")]),
        ("en", "Paragraphs 1, 2 and 3 shall not apply here.", [("prohibition", "")]),
        ("en", "He or she should have the right to ask.", [("permission", "He or she")]),
        ("en", "It may be extended by a further six weeks.", [("permission", "")]),
        ("en", "It shall be issued by the bodies referred to in Article 4.", [("duty", "the bodies")]),
        (
            "en",
            "Those data should, when they are used for that purpose, be governed by a more specific Union act.",
            [("recommendation", "")],
        ),
        ("en", "(g) issue lists of cases in which a bank is required to tell.", [("duty", "a bank")]),
        ("en", "Any agents, owners, or heirs may ask.", [("permission", "Any agents, owners, or heirs")]),
        ("en", "They might have to climb.", []),
        ("en", "It would need not only to read but to write.", []),
        ("en", "Throughout the Term the Supplier shall serve.", [("duty", "the Supplier")]),
        ("en", "Places where equipment has to be kept.", [("duty", "")]),
        ("en", "The rest stands, and the parties shall amend it.", [("duty", "")]),
        ("en", "The Agent, or any Bank, may ask.", [("permission", "The Agent, or any Bank")]),
        ("en", "At rest—walking, or resting—the players must begin.", [("duty", "the players")]),
        ("en", "Some tasks may need a week.", []),
        ("en", "The parties do not undertake to renew the lease.", []),
        ("en", "Not all members may vote.", []),
        ("de", "Nicht jedes Mitglied muss erscheinen.", []),
        ("en", "Leave must be granted by the Board.", [("duty", "the Board")]),
        ("en", "The Company shall pay and shall tell.", [("duty", "The Company"), ("duty", "The Company")]),
        ("en", "“Fees” shall mean the amounts of Schedule 1.", []),
        ("en", "The tide will turn at six.", []),
        ("en", "Shall we go?", []),
        ("de", "Der Betreiber hat die Prüfung durchzuführen.", [("duty", "Der Betreiber")]),
        ("de", "Im Falle des Satzes 1 hat die Behörde dies mitzuteilen.", [("duty", "die Behörde")]),
        ("de", "Sie haben jederzeit das Recht, Auskunft zu verlangen.", [("permission", "Sie")]),
        ("de", "Der Mieter hat die Möglichkeit, den Raum zu tauschen.", [("permission", "Der Mieter")]),
        ("de", "Der Mieter hat das Recht des Nachbarn zu achten.", [("duty", "Der Mieter")]),
        ("de", "Der Verwahrer darf die Wertpapiere nicht veräußern.", [("prohibition", "Der Verwahrer")]),
        ("de", "Wohnräume darf er nur mit Zustimmung betreten.", [("prohibition", "er")]),
        (
            "de",
            "Gelangt Öl in das Wasser, so hat der Verursacher ihn zu rufen.",
            [("duty", "der Verursacher")],
        ),
        ("de", "Sinkt die Sicht unter 200 Meter, muss der Schiffer ankern.", [("duty", "der Schiffer")]),
        ("de", "Fehlt der Schein, so müssen es die Behörden zurückweisen.", [("duty", "")]),
        ("de", "Wer nicht zahlt, muss ausziehen.", [("duty", "Wer nicht zahlt")]),
        ("de", "Der Mieter, der nicht zahlt, muss ausziehen.", [("duty", "Der Mieter")]),
        ("de", "Die Unterlagen sind fünf Jahre aufzubewahren.", [("duty", "")]),
        ("de", "Der Prüfling soll die Aufgabe lösen.", [("recommendation", "Der Prüfling")]),
        ("de", "Kann er nicht erreicht werden, endet die Frist.", []),
        ("de", "Der Mieter muss keine Kaution stellen.", [("permission", "Der Mieter")]),
        ("de", "Der Halter ist nicht verpflichtet, es zu melden.", [("permission", "Der Halter")]),
        ("de", "Die Vorschrift ist nicht anzuwenden.", [("prohibition", "")]),
        (
            "de",
            "Das Verfahren kann ruhen, wenn die Frist nicht abgelaufen ist.",
            [("permission", "Das Verfahren")],
        ),
        (
            "de",
            "Der Empfänger darf Daten, die er erhalten hat, nicht weitergeben.",
            [("prohibition", "Der Empfänger")],
        ),
        (
            "de",
            "Der Prüfling kann die nicht bestandene Prüfung wiederholen.",
            [("permission", "Der Prüfling")],
        ),
    ],
)
def test_duties(language: str, sentence: str, expected: list[tuple[str, str]]) -> None:
    assert read(sentence, language)["duties"] == expected


def test_a_period_says_what_it_counts_from_and_a_duty_its_exception() -> None:
    sentence = (
        "The controller shall, not later than 72 hours after having become aware of it, notify the authority, "
        "unless the breach is unlikely to result in a risk."
    )
    ((kind, duty, (deadline,), _, gaps),) = read_sentence(sentence, "en")
    assert (kind, gaps) == ("duty", ()) and duty is not None
    assert deadline.deadline.relation == "within"
    assert deadline.deadline.event == "after having become aware of it"
    assert duty.exception == "unless the breach is unlikely to result in a risk"
    ((_, duty, _, _, _),) = read_sentence("Der Erbe muss zahlen, es sei denn, er hat verzichtet.", "de")
    assert duty is not None and duty.exception.startswith("es sei denn")


@pytest.mark.parametrize(
    ("language", "sentence", "expected"),
    [
        ("en", "That period SHALL NOT be less than two years.", ["at least 2 year"]),
        ("en", "If it takes more than 3 days, tell us.", ["more than 3 day"]),
        ("en", "Answer in less than 3 days.", ["less than 3 day"]),
        ("en", "A rate shall not, without consent, be less than 5 per cent. or more than 40 per cent.",
            ["at least 5 %", "at most 40 %"]),
        ("en", "Sums that equal or exceed $300, or 20 % or more.", ["at least 300 USD", "at least 20 %"]),
        ("en", "The Company will not permit its debt to exceed $80.", ["at most 80 USD"]),
        ("en", "You must not disclose accounts of more than $50.", ["more than 50 USD"]),
        ("en", "Give notice not later than 10 days before the meeting.", ["at least 10 day"]),
        ("en", "Apply not earlier than 10 days before it.", ["at most 10 day"]),
        ("en", "Tell us at the latest 24 hours after it.", ["within 24 hour"]),
        ("en", "Begin at the earliest 5 days after it.", ["at least 5 day"]),
        ("en", "For each 12-month period ending on a Sunday.", ["for 12 month"]),
        ("en", "Pay not less than ten nor more than sixty days after it.", ["at least 10 day", "at most 60 day"]),
        ("en", "It takes between 3 and 5 days and costs between $2 and $4.",
            ["at least 3 day", "at most 5 day", "at least 2 USD", "at most 4 USD"]),
        ("en", "Work shall not begin before 1 May 2025.", ["from 2025-05-01"]),
        ("en", "The Act does not apply to contracts made before 1 May 2025.", ["before 2025-05-01"]),
        ("en", "A stamp duty of ten shillings is paid.", [" 10 shilling"]),
        ("de", "Die Strafe darf 500 Euro nicht übersteigen.", ["at most 500 EUR"]),
        ("de", "Die Menge darf 5 Prozent nicht unterschreiten.", ["at least 5 %"]),
        ("de", "Sie darf drei Tage nicht unterschreiten und neun Tage nicht überschreiten.",
            ["at least 3 day", "at most 9 day"]),
        ("en", "The fee isn't more than $30 and won’t fall below $10.", ["at most 30 USD", "at least 10 USD"]),
        ("de", "Er dauert länger als drei Tage.", ["more than 3 day"]),
        ("de", "Die Ladung geht spätestens 14 Tage vor der Sitzung zu.", ["at least 14 day"]),
        ("de", "Eine Rechnung über 250 Euro.", [" 250 EUR"]),
    ],
)  # fmt: skip
def test_bounds_are_what_the_comparison_and_its_negation_say(
    language: str, sentence: str, expected: list[str]
) -> None:
    rows = read_sentence(sentence, language)
    found = [(i.start, f"{i.deadline.relation} {i.deadline.normal}") for row in rows for i in row[2]]
    found += [(i.start, f"{i.amount.bound} {i.amount.normal}") for row in rows for i in row[3]]
    assert [text for _, text in sorted(found)] == expected


@pytest.mark.parametrize(
    ("sentence", "action", "exception"),
    [
        ("The shop shall, except on Sundays, open at nine.", "open at nine", "except on Sundays"),
        ("It must list fees other than those of the bank.", "list fees other than those of the bank", ""),
        ("It must send a list (of keys except old ones).", "send a list (of keys except old ones)", ""),
        ("It must name parts, including but not limited to bolts.",
            "name parts, including but not limited to bolts", ""),
    ],
)  # fmt: skip
def test_an_exception_is_that_of_the_duty(sentence: str, action: str, exception: str) -> None:
    ((_, duty, _, _, _),) = read_sentence(sentence, "en")
    assert duty is not None and (duty.action, duty.exception) == (action, exception)


def test_a_period_before_the_subject_is_that_of_the_main_verb() -> None:
    sentence = (
        "Within 60 days after the board recommends the costs that the agency should pay, the agency shall notify "
        "the board of its decision."
    )
    rows = read_sentence(sentence, "en")
    assert [(duty and duty.action, len(deadlines)) for _, duty, deadlines, _, _ in rows] == [
        ("pay", 0),
        ("notify the board of its decision", 1),
    ]
    two = read_sentence("Within 30 days the seller shall deliver, the buyer shall pay within 10 days.", "en")
    assert [[item.deadline.text for item in row[2]] for row in two] == [["30 days"], ["10 days"]]


def test_what_is_not_understood_is_marked() -> None:
    gaps = {
        "Notice must be given.": ("bearer",),
        "The Seller shall deliver promptly.": ("deadline",),
        "The Buyer shall pay $_____ at closing.": ("amount",),
        "Le vendeur doit livrer.": ("language",),
    }
    for sentence, expected in gaps.items():
        ((*_, found),) = read_sentence(sentence, "fr" if sentence.startswith("Le ") else "en")
        assert found == expected


def obligations(text: str, language: str = "en") -> list[Obligation]:
    parsed = parse(Converted(text))
    return extract_obligations(
        "a.md", parsed.text, parsed.body_start, build_sections(parsed), language, parsed.position
    )


def test_headings_and_code_are_left_out_and_lines_are_kept() -> None:
    text = "# You shall pay 5 EUR\n\nThe tenant\nshall pay [rent](x.md).\n\n```\nx shall y\n```\n\n- Rent is 9 EUR.\n"
    found = obligations(text)
    assert [(item.kind, item.lines, item.text) for item in found] == [
        ("duty", (3, 4), "The tenant shall pay rent ."),
        ("statement", (10, 10), "- Rent is 9 EUR."),
    ]
    assert text[found[0].start : found[0].end] == "The tenant\nshall pay [rent](x.md)."
    assert extract_obligations("a.py", "# x shall y\n", 0, [], "en", Positions("", ())) == []


def test_a_row_is_one_line() -> None:
    (found,) = obligations(
        "# Lease\n\nThe tenant shall pay at least EUR 500 within 3 days of notice unless\nexcused."
    )
    line = row_line(ObligationRow("a.md", "Lease", "sec_1", "Section 1", "Lease", found), name="a.md")
    assert line == (
        "a.md, Section 1, lines 3–4: duty: The tenant | shall | pay at least EUR 500 within 3 days of notice "
        "| time: within 3 day (of notice) | amount: at least 500 EUR | unless excused"
    )


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    "part",
    [
        "12, ",
        "one hundred and ",
        "$1,000 ",
        "he shall ",
        "ist ",
        "hat er ",
        "may not be ",
        "(",
        "1 May ",
        "](",
    ]
    + ["1", "1/2 of 1% ", "unless shall ", "ein", "within a period of ", ", ", "“ ", "agrees that "],
)
def test_hostile_sentences_take_time_in_proportion(part: str, language: str) -> None:
    text = part * (100_000 // len(part)) + "shall pay 5 EUR in 3 days"
    started = time.process_time()
    extract_obligations("a.txt", text, 0, [], language, Positions(text, ()))
    assert time.process_time() - started < 10


def test_hints_pass_over_nothing_that_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(__file__).parents[1] / "corpus" / "docs"
    texts = [path.read_text("utf-8") for path in sorted(folder.rglob("*.md"))]
    sentences = [sentence for text in texts for _, _, sentence in units.sentences(text, 0, [])]
    with_hints = [read_sentence(sentence, language) for sentence in sentences for language in ("en", "de")]
    assert sum(map(bool, with_hints)) > 100
    for module in (amounts, deadlines, duties):
        monkeypatch.setattr(module, "has_any", lambda folded, hints: True)
    assert with_hints == [
        read_sentence(sentence, language) for sentence in sentences for language in ("en", "de")
    ]


def _in_places(text: str) -> list[Obligation]:
    parsed = parse(Converted(text))
    sections = build_sections(parsed)
    places = [*sections, *extract_clauses(parsed, sections)]
    return extract_obligations("a.md", text, parsed.body_start, places, "en", parsed.position)


LIST = """# Lamps

## 4.9 Revocation

The keeper MUST put out a lamp within 5 days if one of the following occurs:

1. The owner asks for it in writing.
2. The lamp smokes.

The keeper SHOULD tell the owner.

The operator:

- shall clean the glass every 30 days;
- may paint the frame.
"""


def test_an_item_inherits_what_its_lead_in_says_and_says_so() -> None:
    rows = _in_places(LIST)
    smoke = next(row for row in rows if row.text.endswith("The lamp smokes."))
    assert (smoke.kind, smoke.bearer, smoke.modal) == ("duty", "The keeper", "MUST")
    assert [item.normal for item in smoke.deadlines] == ["5 day"]
    assert "inherited" in smoke.gaps and smoke.text.startswith("The keeper MUST put out a lamp")
    assert smoke.action.startswith("put out a lamp") and smoke.action.endswith("The lamp smokes.")
    told = next(row for row in rows if row.kind == "recommendation")
    assert "inherited" not in told.gaps
    clean = next(row for row in rows if "clean the glass" in row.action)
    assert clean.bearer == "The operator" and "inherited" in clean.gaps and "bearer" not in clean.gaps


@pytest.mark.parametrize(
    ("language", "sentence", "kinds"),
    [
        ("en", "If a dispute shall arise, lamps go out.", ["unknown"]),
        ("en", "What light shall break through yonder window?", []),
        ("en", "The sea is grey and the lamps are lit.", []),
        ("es", "Los libros se conservan durante cinco años.", ["unknown"]),
        ("fr", "Le registre est gardé pendant 10 ans.", ["unknown"]),
        ("nl", "De boeken blijven zeven jaar liggen.", ["unknown"]),
        ("pl", "Opłata wynosi 50 EUR.", ["unknown"]),
    ],
)
def test_what_no_rule_understands_is_unknown_and_never_silent(
    language: str, sentence: str, kinds: list[str]
) -> None:
    assert [row[0] for row in read_sentence(sentence, language)] == kinds


def test_a_long_sentence_and_deep_lists_take_bounded_time() -> None:
    long = "The keeper shall " + "light the lamp and " * 1500 + "go."
    assert _in_places(f"# Lamps\n\n{long}\n")
    nested = "".join("  " * depth + "- The keeper shall do this:\n" for depth in range(60))
    assert _in_places(f"# Lamps\n\n{nested}")

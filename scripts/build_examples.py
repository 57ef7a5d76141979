"""Build the two binary documents of ``examples/`` from the text in this file.

    python scripts/build_examples.py

writes

``examples/service-agreement.docx``
    A contract as a lawyer's template makes it in Word. The numbers ``1.``, ``1.1``, ``(a)`` and ``(i)`` come
    from one multi-level list that is linked to the styles; they are nowhere in the text. The recitals and the
    schedules have lists of their own, clause 13 is numbered directly in its paragraphs, and there are tables
    and footnotes.

``examples/annual-report.pdf``
    A report with a cover, a table of contents, bookmarks, running heads, page numbers, ruled tables and a
    page in two columns.

Both are reproducible: dates are fixed, the zip archive carries no clock time, and the PDF is written in
ReportLab's invariant mode. The same versions of python-docx, ReportLab and zlib give the same bytes. It needs
python-docx and reportlab, which are development dependencies.

The texts use a small notation, one block to a paragraph, blocks separated by an empty line. A block says what
it is by its first characters (see ``STYLES`` for the contract and ``report_story`` for the report);
``**bold**`` is bold and ``[^text]`` is a footnote.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import docx
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn
from docx.shared import Mm, Pt, RGBColor
from reportlab.lib import colors
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)
from reportlab.platypus.tableofcontents import TableOfContents

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def blocks(text: str) -> Iterator[str]:
    """Yield the paragraphs of ``text``, each on one line."""
    for block in re.split(r"\n\s*\n", text.strip()):
        yield " ".join(block.split())


# ----------------------------------------------------------------------------------------------------------
# The contract
# ----------------------------------------------------------------------------------------------------------

CONTRACT_TITLE = "Service Agreement"

CONTRACT = """
: Dated 3 March 2025

: **Quillmark Systems Limited**, a company registered in Aldermere under number 208814, whose office is at
14 Ropewalk, Sennick (the “**Supplier**”); and

: **Sennick Ferries plc**, a company registered in Aldermere under number 031907, whose office is at Ferry
House, Old Quay, Sennick (the “**Customer**”).

> Background

* The Customer carries passengers and vehicles between the harbours of Aldermere and sells its tickets
online.

* The Supplier develops and runs booking systems, and has offered to run one for the Customer.

* The parties have agreed that the Supplier will do so on the terms of this Agreement.

# Definitions and interpretation

## Definitions

In this Agreement the following words have the following meanings.

“**Business Day**” means a day other than a Saturday, a Sunday or a public holiday in Aldermere.

“**Confidential Information**” means all information, in whatever form, that one party discloses to the
other and that is marked as confidential or ought reasonably to be treated as such. It does not include
information that is or becomes public other than through a breach of this Agreement.

“**Customer Data**” means the data that the Customer, its staff or its passengers enter into the System, and
everything that the System derives from them.

“**Fees**” means the sums set out in Schedule 1.

“**Personal Data**” means any information relating to an identified or identifiable living person.

“**Security Incident**” means any event by which Customer Data are lost, altered, disclosed or made
inaccessible without authority.

“**Services**” means the services described in clause 2.1.

“**System**” means the booking platform known as Marlin, in the version in use at the time.

“**Term**” means the period described in clause 9.1.

## Interpretation

In this Agreement:

- a reference to a clause or a Schedule is to a clause of, or a Schedule to, this Agreement;

- headings are for convenience and do not affect the meaning of a provision;

- the words “including” and “in particular” do not limit what precedes them; and

- if a Schedule conflicts with a clause, the clause prevails.

# Services

## Supply of the Services

Throughout the Term the Supplier shall:

- make the System available to the Customer and its passengers;

- maintain the System, which includes:

-- the correction of errors within the times set out in Schedule 2;

-- the installation of security updates within five Business Days after their publication; and

-- two improved releases in each year; and

- answer the questions of the Customer’s staff between 06:00 and 22:00 on every day of the year.

## Standard of performance

The Supplier shall perform the Services with the skill and care to be expected of an experienced provider of
similar services, and shall employ people who are qualified for the work they are given.

## Duties of the Customer

The Customer shall give the Supplier, free of charge and in good time:

- the timetable and the tariff for each season, not later than 30 days before the season begins;

- access to its premises where equipment has to be installed or repaired; and

- the name of one person who is entitled to take decisions on its behalf.

## Changes

Neither party may change the Services on its own. A change takes effect when both have signed a note that
describes the change, its price and its date. The Supplier shall not refuse a change unreasonably if the
Customer bears the cost.

# Fees and payment terms

## Fees

The Customer shall pay the Fees. They do not include value added tax, which is added at the rate then in
force.

## Invoices

The Supplier shall send an invoice at the end of each month. An invoice shall state the number of bookings
made in the month, the Fees due for them, and any credit to which the Customer is entitled under clause 7.2.

## Time for payment

The Customer shall pay each invoice within 30 days after receiving it, by transfer to the account named on
the invoice.

## Disputed sums

If the Customer disputes part of an invoice in good faith:

- it shall tell the Supplier within 14 days which part it disputes, and why;

- it shall pay the remainder in accordance with clause 3.3; and

- the parties shall deal with the disputed part in accordance with clause 11.1.

## Late payment

A sum that is overdue bears interest at four per cent a year above the base rate of the Bank of Aldermere.
[^Interest runs from day to day and is not compounded.] The Supplier may suspend the Services only if a sum
that is not disputed has been overdue for 45 days and the Customer has been warned in writing ten Business
Days beforehand.

## Adjustment of Fees

The Supplier may raise the Fees once a year, with effect from 1 April, by not more than the rise of the
consumer price index over the preceding calendar year. Notice of the rise shall be given before 1 February.

# Confidentiality

## Duty of confidence

Each party shall keep the other’s Confidential Information secret, shall use it only for the purposes of
this Agreement, and shall protect it with at least the care that it applies to its own.

## Permitted disclosure

A party may disclose the other’s Confidential Information:

- to those of its employees, advisers and subcontractors who need it for the purposes of this Agreement and
who are bound by a duty of confidence no less strict than this clause 4;

- to the extent that a court, a regulator or the law requires it, provided that the party:

-- gives the other as much warning as is lawful and practicable; and

-- discloses no more than is required; and

- with the written consent of the other party.

## Return and destruction

On request, and in any event at the end of the Term, each party shall return or destroy the other’s
Confidential Information. Copies in routine backups may be kept until they are overwritten in the ordinary
course, and remain subject to this clause.

## Duration

The duties in this clause 4 continue for five years after the end of the Term, and for Personal Data without
limit.

# Data protection

## Roles

As regards the Personal Data of passengers, the Customer decides why and how they are used. The Supplier
handles them only on the Customer’s behalf.

## Duties of the Supplier

The Supplier shall:

- handle Personal Data only on the documented instructions of the Customer;

- keep Personal Data within Aldermere, unless the Customer has agreed otherwise in writing;

- encrypt Personal Data wherever they are stored or transmitted;

- help the Customer to answer passengers who ask to see, correct or erase what is held about them; and

- delete Personal Data 24 months after the journey to which they relate.

## Security Incidents

The Supplier shall inform the Customer of a Security Incident without undue delay, and at the latest 24
hours after learning of it. The message shall describe:

- what has happened and when;

- whose data are concerned, as far as is known; and

- what the Supplier has done and proposes to do.

## Subcontractors

The Supplier may entrust Personal Data to a subcontractor only with the Customer’s prior written consent and
under a contract that imposes the duties of clause 5.2. The Supplier answers for its subcontractors as for
itself. Before it receives any data a subcontractor shall give the undertaking described in clause 4.2(a).

# Intellectual property

## The System

All rights in the System belong to the Supplier. The Customer may use the System during the Term, for its
own business and that of its subsidiaries, but may not copy it, sell it or take it apart.

## Customer Data

All rights in Customer Data belong to the Customer. The Supplier may use them only to perform the Services.

## Claims by others

If a third party claims that the use of the System infringes its rights, the Supplier shall defend the claim
at its own cost and shall pay whatever is awarded, provided that the Customer:

- tells the Supplier of the claim promptly;

- leaves the conduct of the defence to the Supplier; and

- makes no admission without the Supplier’s consent.

# Service levels

## Availability

The Supplier shall ensure that the System is available for the share of each month stated in Schedule 2.
Planned work between 01:00 and 04:00, of which the Customer has had seven days’ notice, does not count as
unavailability.

## Service credits

For each month in which availability falls short, the Customer is entitled to a credit as set out in
Schedule 2. The credit is deducted from the next invoice.

## Repeated failure

If credits fall due in three months out of any six, the Customer may end this Agreement under clause 9.3(b)
without giving the Supplier a further chance to put matters right.

# Liability

## No limit

Nothing in this Agreement limits liability:

- for death or personal injury caused by negligence;

- for fraud; or

- under clause 6.3.

## Limit

Subject to clause 8.1, the total liability of each party in any calendar year shall not exceed 150 per cent
of the Fees paid or payable for that year. For breaches of clause 5 the limit is 300 per cent. [^The higher
limit for data protection was agreed in return for the longer first term in clause 9.1.]

## Excluded loss

Subject to clause 8.1, neither party is liable for loss of profit or goodwill, or for loss that could not
have been foreseen when this Agreement was made. The cost of carrying passengers by other means when the
System has failed is not excluded by this clause.

## Insurance

The Supplier shall maintain professional indemnity insurance of not less than five million crowns for each
claim, and shall show the policy on request.

# Term and termination

## Term

This Agreement begins on 1 April 2025 and runs for a first term of three years. It is then renewed from year
to year, unless either party gives notice of at least six months before the end of the current period.

## Leaving early

After the first 18 months the Customer may end this Agreement at any time, without giving a reason, by
notice of 120 days and payment of a sum equal to two months’ average Fees.

## Termination for cause

Either party may end this Agreement with immediate effect by written notice if the other:

- commits a serious breach that cannot be put right;

- commits a serious breach and has not put it right within 30 days after being asked to; or

- becomes insolvent, which includes the case where it:

-- cannot pay its debts as they fall due;

-- enters into an arrangement with its creditors; or

-- has an administrator appointed over its assets.

## Consequences

When this Agreement ends, for whatever reason:

- the Supplier shall hand over Customer Data in an open, documented format within ten Business Days;

- the Supplier shall, if asked, continue the Services for up to six months at the Fees then in force, so
that the Customer can move to another system; and

- clauses 4, 5, 6.2 and 8 continue to have effect.

# Force majeure

## Relief

A party is not in breach of this Agreement while, and to the extent that, an event beyond its reasonable
control prevents it from performing. Such events include storm, flood, fire, war, epidemic, and the failure
of public power or telecommunications networks. They do not include strikes of the party’s own staff, or the
failure of a subcontractor unless the subcontractor was itself prevented by such an event.

## Duties of the party affected

The party affected shall inform the other at once, shall do what it reasonably can to limit the
consequences, and shall resume performance as soon as possible.

## Long events

If the event lasts for more than 60 days, the other party may end this Agreement by notice of ten Business
Days.

# Settling disputes

## Talks

If a dispute arises, the persons named under clause 2.3(c) and their counterparts shall meet within ten
Business Days. If they do not agree, the chief executives shall meet within a further ten.

## Mediation

A dispute that has not been settled under clause 11.1 shall be submitted to a mediator appointed by the
Sennick Chamber of Commerce. Neither party shall begin proceedings until the mediator has declared the
attempt to be at an end, except to obtain an interim order.

# Governing law

## Law

This Agreement, and any claim that arises from it, is governed by the law of Aldermere.

## Courts

The courts of Sennick have exclusive jurisdiction.

# General

= **Notices.** A notice shall be in writing and delivered by hand, by courier or by electronic mail to the
address that the other party last gave. A notice received after 17:00 is treated as received on the next
Business Day.

= **Assignment.** Neither party may transfer its rights or duties without the written consent of the other.

= **Whole agreement.** This Agreement replaces everything that the parties said or wrote about its subject
before it was signed.

= **Amendment.** A change to this Agreement is valid only in writing. This also applies to a change of this
clause 13.4.

= **Severance.** If a provision is invalid, the rest stands, and the parties shall replace the invalid
provision by a valid one that comes closest to its purpose.

= **Waiver.** A party that does not insist on a right at once does not thereby lose it.

@ Fees

: The Fees are calculated for each calendar month as follows. All amounts are in crowns.

!fees

: For bookings made at a ticket counter only half of the booking fee is charged. Cancelled bookings are
charged in full unless the Customer cancelled the sailing.

@ Service levels

!levels

: Availability is measured from outside the Supplier’s network, once a minute, as the share of minutes in
which a test booking could be completed within ten seconds.

: Signed for **Quillmark Systems Limited** by Maud Ellery, Managing Director

: Signed for **Sennick Ferries plc** by Jonas Prior, Chief Executive
"""

CONTRACT_TABLES = {
    "fees": [
        ["Item", "Unit", "Price"],
        ["Base fee", "month", "18,500"],
        ["Booking fee, up to 50,000 bookings", "booking", "0.42"],
        ["Booking fee, above 50,000 bookings", "booking", "0.31"],
        ["Ticket gate connected", "gate and month", "75"],
        ["Work on changes under clause 2.4", "day", "940"],
        ["Training at the Customer’s premises", "day", "1,150"],
    ],
    "levels": [
        ["Measure", "Promised", "Credit if missed"],
        ["Availability, April to September", "99.9 %", "10 % of the base fee for each 0.1 % below"],
        ["Availability, October to March", "99.5 %", "5 % of the base fee for each 0.1 % below"],
        ["Errors that stop bookings: first answer", "15 minutes", "1,000 for each case"],
        ["Errors that stop bookings: solved", "4 hours", "2,500 for each case"],
        ["Other errors: solved", "10 Business Days", "none"],
    ],
}

# One level of a list: number format, text, linked style id, left indent and hanging indent (in twips).
Level = tuple[str, str, str, int, int]

# Ids above those that python-docx's template uses for its own lists.
CLAUSE_LIST, SCHEDULE_LIST, RECITAL_LIST = 100, 101, 102

# How a block begins, and the style that it gets. Blocks with none of these are body text.
STYLES = {
    "# ": "Heading 1",
    "## ": "Heading 2",
    "- ": "Clause Level 3",
    "-- ": "Clause Level 4",
    "* ": "Recital",
    "> ": "Unnumbered Heading",
    ": ": "Normal",
    "@ ": "Schedule Heading",
    "= ": "Body Text",
}


def list_definition(list_id: int, levels: list[Level]) -> Any:
    """Return a ``w:abstractNum``; where nothing hangs, a space follows the number instead of a tab."""
    xml = [f'<w:abstractNum {nsdecls("w")} w:abstractNumId="{list_id}">']
    xml += [f'<w:nsid w:val="5A17{list_id:04X}"/>', '<w:multiLevelType w:val="multilevel"/>']
    for level, (kind, text, style, left, hanging) in enumerate(levels):
        indent = f'<w:pPr><w:ind w:left="{left}" w:hanging="{hanging}"/></w:pPr>'
        suffix = "" if hanging else '<w:suff w:val="space"/>'
        xml.append(
            f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
            f'<w:pStyle w:val="{style}"/>{suffix}<w:lvlText w:val="{text}"/>'
            f'<w:lvlJc w:val="left"/>{indent}</w:lvl>'
        )
    return parse_xml("".join([*xml, "</w:abstractNum>"]))


def add_lists(document: Any) -> None:
    """Define the three automatic numberings of the contract."""
    numbering = document.part.numbering_part.element
    definitions: dict[int, list[Level]] = {
        CLAUSE_LIST: [
            ("decimal", "%1.", "Heading1", 720, 720),
            ("decimal", "%1.%2", "Heading2", 720, 720),
            ("lowerLetter", "(%3)", "ClauseLevel3", 1287, 567),
            ("lowerRoman", "(%4)", "ClauseLevel4", 1854, 567),
        ],
        SCHEDULE_LIST: [("decimal", "Schedule %1 —", "ScheduleHeading", 0, 0)],
        RECITAL_LIST: [("upperLetter", "(%1)", "Recital", 720, 720)],
    }
    first_instance = numbering.find(qn("w:num"))  # the definitions have to stand before the instances
    for list_id, levels in definitions.items():
        first_instance.addprevious(list_definition(list_id, levels))
    for list_id in definitions:
        numbering.append(
            parse_xml(
                f'<w:num {nsdecls("w")} w:numId="{list_id}"><w:abstractNumId w:val="{list_id}"/></w:num>'
            )
        )


def number(properties: Any, list_id: int, level: int) -> None:
    """Let a style's or a paragraph's properties take part in a list."""
    numbering = properties.get_or_add_numPr()
    numbering.get_or_add_ilvl().val = level
    numbering.get_or_add_numId().val = list_id


def add_styles(document: Any) -> None:
    """Set up the styles, and link the numbered ones to their list."""
    styles = document.styles
    styles["Normal"].font.name = "Cambria"
    styles["Normal"].font.size = Pt(11)
    styles["Normal"].paragraph_format.space_after = Pt(6)
    styles["Body Text"].paragraph_format.left_indent = Mm(12.7)

    def new(name: str, based_on: str) -> Any:
        style = styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
        style.base_style = styles[based_on]
        return style

    for name, size in (("Title", 24), ("Heading 1", 13), ("Heading 2", 11)):
        styles[name].font.size = Pt(size)
        styles[name].font.color.rgb = RGBColor(0x1F, 0x3A, 0x4D)
        styles[name].paragraph_format.space_after = Pt(4)
    number(styles["Heading 1"].element.get_or_add_pPr(), CLAUSE_LIST, 0)
    number(styles["Heading 2"].element.get_or_add_pPr(), CLAUSE_LIST, 1)
    number(new("Clause Level 3", "Normal").element.get_or_add_pPr(), CLAUSE_LIST, 2)
    number(new("Clause Level 4", "Normal").element.get_or_add_pPr(), CLAUSE_LIST, 3)
    number(new("Recital", "Normal").element.get_or_add_pPr(), RECITAL_LIST, 0)
    schedule = new("Schedule Heading", "Heading 1")
    schedule.next_paragraph_style = styles["Normal"]
    schedule.paragraph_format.page_break_before = True
    number(schedule.element.get_or_add_pPr(), SCHEDULE_LIST, 0)
    unnumbered = new("Unnumbered Heading", "Normal")
    unnumbered.font.bold = True
    unnumbered.paragraph_format.keep_with_next = True

    note = new("footnote text", "Normal")
    note.style_id = "FootnoteText"
    note.font.size = Pt(9)
    reference = styles.add_style("footnote reference", WD_STYLE_TYPE.CHARACTER)
    reference.style_id = "FootnoteReference"
    reference.font.superscript = True


def add_runs(paragraph: Any, text: str, footnotes: list[str]) -> None:
    """Write ``text`` with its bold words, and collect its footnotes."""
    for piece in re.split(r"(\*\*.+?\*\*|\s?\[\^.+?\])", text):
        if piece.startswith("**"):
            paragraph.add_run(piece.strip("*")).bold = True
        elif piece.lstrip().startswith("[^"):
            footnotes.append(piece.strip()[2:-1])
            mark = OxmlElement("w:footnoteReference")
            mark.set(qn("w:id"), str(len(footnotes)))
            paragraph.add_run(style="footnote reference")._r.append(mark)
        elif piece:
            paragraph.add_run(piece)


def add_footnotes(document: Any, footnotes: list[str]) -> None:
    """Attach the part that holds the footnotes, which python-docx does not write by itself."""
    xml = [f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:footnotes {nsdecls("w")}>']
    for number_, kind in ((-1, "separator"), (0, "continuationSeparator")):
        xml.append(
            f'<w:footnote w:type="{kind}" w:id="{number_}"><w:p><w:r><w:{kind}/></w:r></w:p></w:footnote>'
        )
    for number_, text in enumerate(footnotes, 1):
        xml.append(
            f'<w:footnote w:id="{number_}"><w:p><w:pPr><w:pStyle w:val="FootnoteText"/></w:pPr>'
            '<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:footnoteRef/></w:r>'
            f'<w:r><w:t xml:space="preserve"> {text}</w:t></w:r></w:p></w:footnote>'
        )
    xml.append("</w:footnotes>")
    part = Part(
        PackURI("/word/footnotes.xml"),
        CONTENT_TYPE.WML_FOOTNOTES,
        "".join(xml).encode("utf-8"),
        document.part.package,
    )
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)


def add_table(document: Any, rows: list[list[str]]) -> None:
    """Add a ruled table whose first row is a heading that repeats on every page."""
    table = document.add_table(rows=0, cols=len(rows[0]), style="Table Grid")
    widths = [Mm(70), Mm(35), Mm(47)]
    for index, row in enumerate(rows):
        for cell, text, width in zip(table.add_row().cells, row, widths, strict=True):
            cell.width = width
            cell.paragraphs[0].paragraph_format.space_after = Pt(2)
            cell.paragraphs[0].add_run(text).bold = index == 0
    for table_column, width in zip(table.columns, widths, strict=True):
        table_column.width = width
    header = OxmlElement("w:tblHeader")
    table.rows[0]._tr.get_or_add_trPr().append(header)
    document.add_paragraph().paragraph_format.space_after = Pt(0)


def add_page_number(footer: Any) -> None:
    """Put the page number, as a field, into the footer."""
    paragraph = footer.paragraphs[0]
    paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), "PAGE")
    paragraph._p.append(field)


def write_contract(path: Path) -> None:
    """Write the contract to ``path``."""
    document: Any = docx.Document()
    section = document.sections[0]
    section.page_width, section.page_height = Mm(210), Mm(297)
    section.header.paragraphs[0].text = "Quillmark Systems Limited and Sennick Ferries plc"
    add_page_number(section.footer)
    add_lists(document)
    add_styles(document)

    footnotes: list[str] = []
    document.add_paragraph(CONTRACT_TITLE, style="Title")
    for block in blocks(CONTRACT):
        if block.startswith("!"):
            add_table(document, CONTRACT_TABLES[block[1:]])
            continue
        mark = next((mark for mark in STYLES if block.startswith(mark)), "")
        paragraph = document.add_paragraph(style=STYLES.get(mark, "Body Text"))
        if mark == "= ":  # numbered in the paragraph itself, not by its style
            number(paragraph._p.get_or_add_pPr(), CLAUSE_LIST, 1)
        add_runs(paragraph, block[len(mark) :], footnotes)
    add_footnotes(document, footnotes)

    properties = document.core_properties
    properties.title = CONTRACT_TITLE
    properties.author = properties.last_modified_by = "Quillmark Systems Limited"
    properties.subject = "Booking services for Sennick Ferries plc"
    properties.comments = ""
    properties.created = properties.modified = datetime(2025, 3, 3, 9, 0)
    properties.revision = 1
    document.save(buffer := io.BytesIO())
    path.write_bytes(without_times(buffer.getvalue()))


def without_times(archive: bytes) -> bytes:
    """Return the zip archive with every member dated 1980-01-01, so that equal contents are equal bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            member.create_system = 3  # the same on every platform
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            new.writestr(member, old.read(name))
    return target.getvalue()


# ----------------------------------------------------------------------------------------------------------
# The report
# ----------------------------------------------------------------------------------------------------------

REPORT_OWNER = "Fjordline Energy Cooperative"
REPORT_TITLE = "Annual report 2025"

REPORT = """
# 1 Letter from the chair

Dear members,

When eleven farms and a sawmill founded this cooperative in 1923, they wanted one thing: a lamp in the
kitchen that did not smoke. A hundred and two years later we are 38,400 households and 2,150 businesses, and
what we want has not changed much. We want the light to come on, at a price that a pensioner can pay, and we
want the river to be in good health when our grandchildren fish in it.

Measured by this, 2025 was a good year with a bad week in it. The bad week came in November. The storm that
the newspapers called Gudrun took down fourteen kilometres of line between Ytre Nes and Holm, and for some
of our members the kitchen was dark for four days. Our crews worked in snow up to the hip. I went with them
for one of those days and did not do anything useful, but I came home with great respect and wet socks. What
we learned from that week, and what it will cost to be better prepared, is set out in section 4.

The rest of the year was kinder. Snow came early in the mountains and melted slowly, so that the reservoirs
were full in July and the turbines at Skarvfoss ran as they have not run since 2012. The new heat recovery
plant in Sundvik, which was much debated at two annual meetings, delivered more than we had promised. And
for the third year in succession nobody who works for us lost their life or their health in doing so.

The board proposes a bonus to members of 54 million crowns. That is half of the result. The other half goes
into the ground, quite literally: it pays for cables where there are now poles.

I thank our 312 employees, the district councils, and the members who wrote to us, including those who were
angry. They were usually right.

: Sigrun Aldvik, chair of the board

# 2 The year at a glance

Generation fell by less than one per cent, income by a little more; costs fell faster than either, and the
result rose by seven per cent. The average member was without power for 63 minutes, a third less than in the
year before, in spite of the November storm.

!key

> Table 1. Key figures.

## 2.1 Three decisions

Three decisions of the year will still matter when this report has been forgotten.

- In March the board decided to put 120 kilometres of overhead line underground by 2032, beginning with the
exposed coast of Ytre Nes.

- In June the annual meeting voted, by 1,204 to 377, against the purchase of a share in an offshore wind
farm. The sum set aside for it was returned to the reserve.

- In September we opened the price of every tariff to inspection: each bill now shows how the sum was
arrived at.

# 3 Generation

## 3.1 Hydropower

Our three hydropower stations delivered 644.0 gigawatt-hours, slightly more than in 2024. Skarvfoss had its
best year since 2012. Lille Tind stood still for seven weeks in spring while the runner of its second
turbine was replaced; the old one, which had turned since 1961, now stands in the park in front of the
school in Brekkedal.

The fish ladder at Skarvfoss was rebuilt in 2023. In the autumn of 2025 the counter registered 1,873 salmon
on their way to the spawning grounds, against 1,140 in the year before and 610 in the last year of the old
ladder. The minimum flow below the dam was kept on every day of the year.

## 3.2 Wind

The wind farm at Ytre Nes has sixteen turbines. It delivered 236.8 gigawatt-hours, six per cent less than in
2024: the summer was calm, and two machines were out of service for nine weeks after lightning had damaged
their blades. Since August the turbines stop by themselves when a camera recognises an eagle within 600
metres. This has cost 0.4 per cent of the yield. No dead eagle has been found since.

## 3.3 Heat

The heat recovery plant in Sundvik takes the warmth that the fish processing halls used to blow into the air
and sends it to 1,900 flats, the swimming pool and the hospital. It delivered 61.2 gigawatt-hours of heat, a
tenth more than in 2024, and replaced about 5,800 tonnes of heating oil.

!generation

> Table 2. Energy delivered, in gigawatt-hours.

# 4 Network and reliability

## 4.1 Interruptions

The average member was without electricity for 63 minutes in 2025. Planned work accounts for 19 of these,
the storm in November for 28, and everything else for 16. Members in Ytre Nes waited longest, as they do in
every year.

!reliability

> Table 3. Minutes of interruption for the average member, by district.

## 4.2 The November storm

On 18 November the wind at the Ytre Nes lighthouse reached 47 metres a second. Between ten at night and four
in the morning 212 poles broke or fell. At the worst moment 6,300 households had no power. Half of them were
supplied again after nine hours, nine out of ten after 31 hours, and the last farm, at the end of the valley
of Holm, after 97 hours.

Three things went well. The stock of poles that had been laid out along the coast in October was where it
was needed. The neighbouring cooperatives sent forty people without being asked twice. And the mobile
generators kept both nursing homes warm.

Two things did not. The telephone exchange failed after two hours because its battery was old, so that
members could not reach us when they most wished to. And the map on our website showed districts as supplied
that were not. Both faults have been put right. Members who were without power for more than 24 hours have
received 1,500 crowns each, without having to apply.

## 4.3 Cables instead of poles

By the end of the year 11 kilometres of new cable had been laid. The programme to 2032 will cost 430 million
crowns, of which 130 million come from the state fund for resilience. Where the cable crosses bog, we close
the trench with the turf that was cut from it; after one summer it can hardly be seen.

+++

# 5 Members and community

## 5.1 Membership

On 31 December 2025 the cooperative had 40,550 members, 620 more than a year before. Every member has one
vote, whether the member is a shipyard or a summer cottage. Of the new members, two thirds are under forty
years of age.

## 5.2 The annual meeting

The annual meeting was held on 14 June in the sports hall at Sundvik. 1,581 members voted, 940 of them in
the hall and the others online. It was the first meeting with interpretation into sign language and into
three other languages.

## 5.3 Help with bills

A household that cannot pay its bill can ask for a plan. In 2025 we agreed 834 such plans; 790 are being
kept. We have not disconnected a household with children or in winter since 2009, and do not intend to
begin.

## 5.4 Schools

Every pupil of the sixth year visits one of our stations. They may start a turbine, under supervision, and
most remember it. This year 611 pupils came. Four of last year’s trainees gave such a visit as the reason
for applying.

## 5.5 The village funds

One half of one per cent of our income goes to funds that the villages themselves administer. In 2025 this
was 4.6 million crowns. Among other things the money paid for:

- a lift at the community house in Holm;

- a boat shed for the rowing club of Ytre Nes;

- new skates, in all sizes, to be borrowed at the rink in Brekkedal; and

- a piano that is tuned.

## 5.6 Complaints

We received 1,412 complaints, a quarter of them about the week of the storm. The members’ ombudsman decided
63 cases and found against us in 22. Her report is published in full on our website. In response we have
rewritten the letter on estimated readings, which, as she put it, could be understood only by its author.

## 5.7 Power at the quay

Since May the coastal ferries have been able to draw electricity from the shore while they lie at Sundvik
for the night. The engines, which used to run until morning, are silent. The harbour council counts it as a
success that people have begun to complain about the gulls instead.

## 5.8 Borrowing a meter

Any member may borrow a meter that shows what each appliance in the house consumes. In 2025 there were 740
loans. The most frequent discovery was an old freezer in the cellar, the second most frequent a heated floor
that nobody had known about. On average the households that borrowed a meter used eight per cent less in the
months that followed.

## 5.9 Visitors

The power station museum at Brekka was open on 140 days and had 9,300 visitors, who were received by
volunteers. The oldest of them, who is ninety-one, was employed there as a boy to oil the bearings and still
does so on Sundays.

===

# 6 People and safety

## 6.1 Who we are

At the end of the year 312 people worked for the cooperative, 118 of them women. The average age fell to 43.
We train twenty-six apprentices, more than ever before, and all nine who finished in summer stayed with us.

## 6.2 Safety at work

There were three injuries that led to absence, against five in 2024: a fall from a ladder, a crushed finger
and a burn. No one was permanently harmed. The rate of injuries was 5.6 for each million hours worked.

Since the spring everybody who works on a line, from the apprentice to the head of operations, may stop the
work by saying so, and has to give the reason only afterwards. The right was used 41 times. In 29 of these
cases the work was continued in another way, in the remaining 12 as before. All of them are counted as a
success.

## 6.3 Pay

The highest salary in the cooperative is 5.1 times the lowest. Women earned 98.4 per cent of what men earned
in comparable work; the remaining difference is explained by stand-by duty, for which new rules apply from
2026.

## 6.4 Training

Each employee spent on average six days in training. Everybody who climbs has now practised the rescue of an
injured colleague from a pole, in the dark and with cold hands, because that is how it happens. The course
was designed by our own linesmen and has since been taken over by two neighbouring cooperatives.

## 6.5 Contractors

About ninety people work for us through other firms, mostly on the cable programme. They are covered by the
same rules as our own staff, they are counted in the figures above, and they are paid at least the wage that
we would pay. In two cases we found that overtime had not been recorded. The hours were paid, and one of the
two firms no longer works for us.

===

# 7 Financial review

## 7.1 Income and result

Operating income was 920.0 million crowns, 12.0 million less than in 2024. The price of electricity on the
exchange fell in the first half of the year, and we passed the fall on to members with effect from April.
Because we had to buy less energy than in 2024, the cost of purchases fell by 36.6 million, and the
operating result rose to 177.0 million.

!income

> Table 4. Income statement, in millions of crowns.

## 7.2 Investment and debt

We invested 268 million crowns: 142 million in the network, 71 million in the turbine at Lille Tind, 38
million in heat, and 17 million in vehicles and systems. Interest-bearing debt fell by 22 million to 1,084
million crowns. Four fifths of it carry a fixed rate, on average 3.1 per cent, until 2030 or later. Equity
stands at 47 per cent of the balance sheet.

## 7.3 Use of the result

The board proposes to pay 54.0 million crowns to members as a bonus in proportion to their consumption, and
to transfer 53.6 million to the reserve. For a household that uses 16,000 kilowatt-hours a year the bonus is
about 870 crowns.

# 8 Risks and outlook

## 8.1 Weather

A dry year would cost us about 90 million crowns, a storm like that of November about 35 million. The
reserve is large enough for both in the same year, but not for both in two years running.

## 8.2 Prices

One third of our generation has been sold in advance at fixed prices until 2027. A fall of ten per cent in
the market price would lower the result by about 26 million crowns.

## 8.3 Attacks on our systems

The control of the stations is separated from the office network and can be run by hand. We exercised this
in October: for eight hours Skarvfoss was operated by telephone, two retired engineers and a notebook. It
worked. The office systems are the weaker part; a second location for backups will be ready in the summer of
2026.

## 8.4 What we expect of 2026

We expect to deliver about 955 gigawatt-hours and a result of between 95 and 115 million crowns. Network
charges will rise by two per cent on 1 January, which is less than the rise of prices in general.

# 9 Governance

## 9.1 The board

The board has nine members: six elected by the annual meeting, two by the employees and one by the district
councils. It met eleven times. Attendance was 96 per cent. No member of the board does business with the
cooperative.

## 9.2 Audit

The accounts were audited by Lindqvist and Daughters, who have done so since 2021 and whose mandate ends in
2027. They have approved them without reservation. The audit cost 0.9 million crowns. The same firm gave no
other advice.

## 9.3 Calendar

The annual meeting of 2026 takes place on 13 June in Brekkedal. Motions must reach the office by 2 May. The
bonus will be credited to members’ bills in August.
"""

REPORT_TABLES = {
    "key": [
        ["", "2025", "2024"],
        ["Energy delivered (GWh)", "942.0", "950.0"],
        ["Operating income (million crowns)", "920.0", "932.0"],
        ["Operating result (million crowns)", "177.0", "170.0"],
        ["Result for the year (million crowns)", "107.6", "100.6"],
        ["Members at year end", "40,550", "39,930"],
        ["Minutes without power, average member", "63", "97"],
        ["Employees at year end", "312", "305"],
        ["Injuries with absence", "3", "5"],
    ],
    "generation": [
        ["Plant", "Kind", "2025", "2024"],
        ["Skarvfoss", "Hydropower", "412.6", "398.1"],
        ["Lille Tind", "Hydropower", "187.3", "201.4"],
        ["Brekka", "Hydropower", "44.1", "43.0"],
        ["Ytre Nes", "Wind", "236.8", "251.9"],
        ["Sundvik", "Heat recovery", "61.2", "55.6"],
        ["Total", "", "942.0", "950.0"],
    ],
    "reliability": [
        ["District", "Planned", "Storm", "Other", "2025", "2024"],
        ["Sundvik", "17", "6", "12", "35", "61"],
        ["Brekkedal", "22", "31", "17", "70", "104"],
        ["Holm", "20", "49", "19", "88", "118"],
        ["Ytre Nes", "21", "83", "24", "128", "187"],
        ["All districts", "19", "28", "16", "63", "97"],
    ],
    "income": [
        ["", "2025", "2024"],
        ["Sale of electricity", "611.4", "640.2"],
        ["Network charges", "248.9", "239.5"],
        ["District heating", "47.6", "42.3"],
        ["Other income", "12.1", "10.0"],
        ["Total operating income", "920.0", "932.0"],
        ["Energy purchased", "–214.7", "–251.3"],
        ["Staff", "–152.4", "–146.9"],
        ["Maintenance", "–118.6", "–109.2"],
        ["Depreciation", "–176.3", "–171.6"],
        ["Other costs", "–81.0", "–83.0"],
        ["Operating result", "177.0", "170.0"],
        ["Net financial items", "–39.0", "–41.0"],
        ["Result before tax", "138.0", "129.0"],
        ["Tax", "–30.4", "–28.4"],
        ["Result for the year", "107.6", "100.6"],
    ],
}
SUM_ROWS = ("Total", "All districts", "Operating result", "Result ")

NAVY, SEA, PALE = colors.HexColor("#1f3a4d"), colors.HexColor("#4f8a9b"), colors.HexColor("#e6eff2")
BODY = ParagraphStyle(
    "Body", fontName="Times-Roman", fontSize=11, leading=15.5, spaceAfter=7, alignment=TA_JUSTIFY
)
BULLET = ParagraphStyle("Bullet", BODY, leftIndent=14, bulletIndent=3, spaceAfter=4)
SIGNED = ParagraphStyle("Signed", BODY, fontName="Times-Italic", spaceBefore=6)
CAPTION = ParagraphStyle("Caption", BODY, fontName="Times-Italic", fontSize=9, leading=12, spaceAfter=12)
CHAPTER = ParagraphStyle(
    "Chapter",
    fontName="Helvetica-Bold",
    fontSize=18,
    leading=23,
    textColor=NAVY,
    spaceBefore=14,
    spaceAfter=9,
    keepWithNext=1,
)
SECTION = ParagraphStyle(
    "Section", CHAPTER, fontSize=12.5, leading=16, textColor=SEA, spaceBefore=9, spaceAfter=4
)
CONTENTS = ParagraphStyle("Contents", CHAPTER, spaceBefore=0)
COVER = ParagraphStyle("Cover", CHAPTER, fontSize=30, leading=37, alignment=TA_CENTER)
COVER_SMALL = ParagraphStyle("CoverSmall", COVER, fontSize=16, leading=22, textColor=SEA)

WIDTH, HEIGHT = A4
MARGIN, GAP = 25 * mm, 8 * mm


def report_table(rows: list[list[str]]) -> Any:
    """Return a ruled table with a shaded head, figures to the right and sums in bold."""
    first = 74 * mm if len(rows[0]) <= 3 else 40 * mm
    others = (WIDTH - 2 * MARGIN - first) / (len(rows[0]) - 1)
    rules = [
        ("FONT", (0, 0), (-1, -1), "Helvetica", 9.5),
        ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 9.5),
        ("BACKGROUND", (0, 0), (-1, 0), PALE),
        ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
        ("GRID", (0, 0), (-1, -1), 0.5, SEA),
        ("TOPPADDING", (0, 0), (-1, -1), 3),
    ]
    for index, row in enumerate(rows):
        if row[0].startswith(SUM_ROWS) and index:
            rules.append(("FONT", (0, index), (-1, index), "Helvetica-Bold", 9.5))
    table = Table(rows, colWidths=[first] + [others] * (len(rows[0]) - 1), repeatRows=1, spaceBefore=4)
    table.setStyle(TableStyle(rules))
    return table


def report_story() -> list[Any]:
    """Turn the notation into what ReportLab sets.

    ``#`` and ``##`` are headings, ``-`` is a bullet, ``!`` a table, ``>`` its caption and ``:`` a signature;
    ``+++`` begins a page in two columns and ``===`` goes back to one.
    """
    contents = TableOfContents(dotsMinLevel=0, tableStyle=TableStyle([("TOPPADDING", (0, 0), (-1, -1), 1)]))
    contents.levelStyles = [
        ParagraphStyle("Contents 1", BODY, fontName="Helvetica-Bold", fontSize=10, leading=13),
        ParagraphStyle("Contents 2", BODY, leftIndent=14, fontSize=10, leading=11),
    ]
    story = [
        Paragraph(REPORT_OWNER, COVER),
        Paragraph(REPORT_TITLE, COVER_SMALL),
        NextPageTemplate("page"),
        PageBreak(),
        Paragraph("Contents", CONTENTS),
        contents,
        PageBreak(),
    ]
    for block in blocks(REPORT):
        mark, _, text = block.partition(" ")
        if mark == "#":
            story.append(Paragraph(text, CHAPTER))
        elif mark == "##":
            story.append(Paragraph(text, SECTION))
        elif mark == "-":
            story.append(Paragraph(text, BULLET, bulletText="•"))
        elif mark == ">":
            story += [Spacer(1, 4), Paragraph(text, CAPTION)]
        elif mark == ":":
            story.append(Paragraph(text, SIGNED))
        elif mark.startswith("!"):
            story.append(report_table(REPORT_TABLES[mark[1:]]))
        elif mark == "+++":
            story += [NextPageTemplate("columns"), PageBreak()]
        elif mark == "===":
            story += [NextPageTemplate("page"), PageBreak()]
        else:
            story.append(Paragraph(block, BODY))
    return story


def draw_cover(canvas: Any, _: Any) -> None:
    """Draw a fjord in a few strokes."""
    canvas.saveState()
    canvas.setFillColor(PALE)
    canvas.rect(0, 0, WIDTH, HEIGHT * 0.5, stroke=0, fill=1)
    ridges = [
        (
            colors.HexColor("#a9c6cf"),
            [(0, 0.34), (0.18, 0.45), (0.33, 0.36), (0.55, 0.48), (0.8, 0.37), (1, 0.44)],
        ),
        (SEA, [(0, 0.40), (0.14, 0.33), (0.30, 0.25), (0.42, 0.20), (0.62, 0.20), (0.78, 0.31), (1, 0.36)]),
        (NAVY, [(0, 0.24), (0.16, 0.17), (0.34, 0.10), (0.5, 0.075), (0.72, 0.10), (0.9, 0.2), (1, 0.22)]),
    ]
    for colour, points in ridges:
        path = canvas.beginPath()
        path.moveTo(0, 0)
        for x, y in points:
            path.lineTo(x * WIDTH, y * HEIGHT)
        path.lineTo(WIDTH, 0)
        path.close()
        canvas.setFillColor(colour)
        canvas.drawPath(path, stroke=0, fill=1)
    canvas.restoreState()


def draw_page(canvas: Any, document: Any) -> None:
    """Draw the running head and the page number."""
    canvas.saveState()
    canvas.setFont("Helvetica", 8.5)
    canvas.setFillColor(SEA)
    canvas.drawString(MARGIN, HEIGHT - 15 * mm, REPORT_OWNER)
    canvas.drawRightString(WIDTH - MARGIN, HEIGHT - 15 * mm, REPORT_TITLE)
    canvas.setStrokeColor(SEA)
    canvas.line(MARGIN, HEIGHT - 17 * mm, WIDTH - MARGIN, HEIGHT - 17 * mm)
    canvas.drawCentredString(WIDTH / 2, 13 * mm, str(document.page))
    canvas.restoreState()


def write_report(path: Path) -> None:
    """Write the report to ``path``."""
    document = BaseDocTemplate(
        str(path),
        pagesize=A4,
        title=f"{REPORT_OWNER}: {REPORT_TITLE}",
        author=REPORT_OWNER,
        subject="Report of the board to the members for the year 2025",
        creator="",
        lang="en-GB",
        invariant=1,  # no creation date, no random identifier
    )
    text_width, text_height = WIDTH - 2 * MARGIN, HEIGHT - 45 * mm
    column = (text_width - GAP) / 2

    def frame(x: float, width: float) -> Any:
        return Frame(x, 22 * mm, width, text_height, 0, 0, 0, 0)

    cover = Frame(MARGIN, HEIGHT * 0.5, text_width, HEIGHT * 0.3, 0, 0, 0, 0)
    columns = [frame(MARGIN, column), frame(MARGIN + column + GAP, column)]
    document.addPageTemplates(
        [
            PageTemplate("cover", [cover], onPage=draw_cover),
            PageTemplate("page", [frame(MARGIN, text_width)], onPage=draw_page),
            PageTemplate("columns", columns, onPage=draw_page),
        ]
    )

    def note_heading(flowable: Any) -> None:
        """Give a heading its bookmark and its line in the contents."""
        style = getattr(getattr(flowable, "style", None), "name", "")
        if style not in ("Chapter", "Section"):
            return
        level = ("Chapter", "Section").index(style)
        text = flowable.getPlainText()
        key = text.split()[0]
        document.canv.bookmarkPage(key)
        document.canv.addOutlineEntry(text, key, level, closed=False)
        document.notify("TOCEntry", (level, text, document.page, key))

    document.afterFlowable = note_heading
    document.multiBuild(report_story())


def main() -> None:
    """Write both documents and say so."""
    for name, write in (("service-agreement.docx", write_contract), ("annual-report.pdf", write_report)):
        write(EXAMPLES / name)
        print(f"examples/{name}: {(EXAMPLES / name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

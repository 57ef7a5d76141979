"""The tasks: a question, what a complete answer must have, and what an agent does to find it.

The facts were made by reading the documents. A script knows only what its question says, what the tools say of
themselves, and what was answered before; it uses the tools that the server has, so that it also runs where there are
fewer of them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.agent_tasks.agent import Agent, Reply

GDPR, AGREEMENT, PROTESTS = "gdpr.md", "service-agreement.docx", "Part33.docx"
OLD_POLICY, NEW_POLICY = "records-policy-2024.md", "records-policy-2025.md"
QUOTED = (
    "Within three working days the master shall send the Harbour Master a written account",
    "inform the Customer of a Security Incident without undue delay, and at the latest 48 hours after learning of it",
    "The Supplier shall indemnify the Customer against every loss of whatever kind.",
)


_LINK = re.compile(r"\]\([^)\s]*\)")
_OLD, _NEW = re.compile(r"\[-(.*?)-\] ?"), re.compile(r"\{\+(.*?)\+\} ?")
_MARKS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-"} | dict.fromkeys("*#[]()|"))
# What tells an agent that a clause takes something away from another.
_LIMITS = re.compile(r"not apply|restrict|derogat|exempt|except|unless|notwithstanding", re.IGNORECASE)
_CITED = re.compile(r"^- '(.+?)'.*→.*\[(\w+)\]")
_CITING = re.compile(r"^- (\S.*?)(?: \[(\w+)\])? \((?:line|paragraph)")
# A reference to a part of the clause that one is reading.
_HERE = re.compile(r"paragraph|\d+$", re.IGNORECASE)
_HEADED = re.compile(r"^Section: (.+?)(?: \[.*)?$")
# The line above a passage, after its path; and how the statutes here call a place.
_FOUND = re.compile(r"^<?\w+>?\[\d+\] (?:[^,\[]*\.\w+, )?(.*)")
_LABEL = re.compile(r"(?:Article|Section|clause) \d[\w.()-]*|(?<![\w\[–-])\d+\.[\d.-]*\d", re.IGNORECASE)
_FIRST = re.compile(r"\[1\] (?:[^,]*/)?([^/,]+)")
_READ_ON = re.compile(r"offset=(\d+)")


@dataclass(frozen=True, slots=True)
class Fact:
    """Where something stands, and what is said there; words after a ``|`` do as well."""

    place: str
    says: tuple[str, ...]

    def within(self, text: str) -> bool:
        """Whether a text says it, and where it stands."""
        label = rf"(?<![\w.]){re.escape(self.place)}(?!\w|\.\d)"
        return bool(re.search(label, text)) and self.said(text)

    def said(self, text: str) -> bool:
        """Whether a text has the words, wherever they are from."""
        have = plain(text)
        return all(any(plain(way) in have for way in words.split("|")) for words in self.says)


def fact(place: str, *says: str) -> Fact:
    """Return a fact."""
    return Fact(place, says)


def plain(text: str) -> str:
    """Return words without Markdown, brackets and the plural of days; of a line with a change, the old and the new."""
    lines = []
    for line in text.splitlines():
        if _OLD.search(line) or _NEW.search(line):
            lines += [_NEW.sub("", _OLD.sub(r"\1 ", line)), _OLD.sub("", _NEW.sub(r"\1 ", line))]
        else:
            lines.append(line)
    bare = _LINK.sub("", "\n".join(lines)).translate(_MARKS).casefold()
    return " ".join(bare.replace("days", "day").split())


@dataclass(frozen=True, slots=True)
class Task:
    """A question, with its facts and its script, which returns the entries of a list that it would answer with.

    ``evaluation`` tells whether the documents are in the evaluation sets.
    """

    number: int
    question: str
    facts: tuple[Fact, ...]
    work: Callable[[Agent], Awaitable[list[str]]]
    evaluation: bool = True


# -- what scripts do again and again ---------------------------------------------------------------------------


async def read(agent: Agent, references: list[str], document: str) -> list[Reply]:
    """Read places of a document: all at once where the server takes lists, else each in a call of its own."""
    if agent.takes("read_section", "step"):
        return [await agent.call("read_section", reference=references, document=document)]
    return [
        await agent.call("read_section", reference=reference, document=document) for reference in references
    ]


async def read_whole(agent: Agent, reference: str, document: str) -> None:
    """Read a place to its end."""
    reply = await agent.call("read_section", reference=reference, document=document)
    while (more := _READ_ON.search(reply.text)) and not reply.refused:
        reply = await agent.call("read_section", reference=reference, document=document, offset=int(more[1]))


def section_of(reply: Reply, words: str) -> str:
    """Return the label of the first passage of a search that has some words in its location or heading."""
    location = ""
    for line, following in pairwise([*reply.lines, ""]):
        if found := _FOUND.match(line):
            place = f"{found[1]} {following}"
            # The innermost place is named last, or by the heading below.
            labels: list[str] = [
                *_LABEL.findall(found[1]),
                *(_LABEL.findall(following)[:1] if following[:1] == "#" else []),
            ]
            if words.casefold() in place.casefold() and labels:
                return labels[-1]
        elif line.startswith("Location:"):
            location = line
        elif (label := _HEADED.match(line)) and words.casefold() in location.casefold():
            return label[1]
    raise LookupError(f"No passage stands under {words!r}.")


def shown_lines(reply: Reply) -> str:
    """Return which lines of its document the first place of an answer has."""
    location = next((line for line in reply.lines if line.startswith("Location:")), "")
    return location.rpartition(", ")[2]


# -- the scripts -----------------------------------------------------------------------------------------------


async def erasure(agent: Agent) -> list[str]:
    found = await agent.call("search_documents", query="right to erasure", document=GDPR, top_k=3)
    article = section_of(found, "right to erasure")
    linked = await agent.call("follow_references", reference=article, document=GDPR)
    if shown_lines(found) != shown_lines(linked):
        (found,) = await read(agent, [article], GDPR)
    limits = found.text.partition("\n3. ")[2]
    cited = [
        match[2]
        for line in linked.lines
        if (match := _CITED.match(line)) and match[1] in limits and not _HERE.match(match[1])
    ]
    citing = [
        match[2] or match[1] for line in linked.lines if (match := _CITING.match(line)) and _may_limit(line)
    ]
    await read(agent, list(dict.fromkeys([*cited, *citing])), GDPR)
    return []


def _may_limit(line: str) -> bool:
    """Whether a line on who cites a clause tells of a limit; where it does not tell what is said, one has to look."""
    return bool(_LIMITS.search(line)) or not _tells(line)


def _tells(line: str) -> bool:
    """Whether a line on who cites a clause has the words around the citation, not the citation alone."""
    return not re.search(r"\): '[^']*'(?: \(sure.*)?$", line)


async def exceptions(agent: Agent) -> list[str]:
    linked = await agent.call("follow_references", reference="4.2(a)", document=NEW_POLICY)
    # A line that tells a whole sentence need not be read again.
    citing = [
        match[2] or match[1]
        for line in linked.lines
        if (match := _CITING.match(line)) and ("…" in line or not _tells(line))
    ]
    await read(agent, ["4.2(a)", *citing], NEW_POLICY)
    return []


async def deadlines_of_agreement(agent: Agent) -> list[str]:
    return await _deadlines(agent, AGREEMENT)


async def _deadlines(agent: Agent, document: str) -> list[str]:
    reply = await agent.call("list_obligations", document=document, kind="deadline", unit="day")
    return reply.lines[1:]


async def old_deadlines(agent: Agent) -> list[str]:
    reply = await agent.call("search_documents", query='"days"', document=AGREEMENT, top_k=50)
    return reply.text.split("\n\n<quote-")[1:]


async def fines(agent: Agent) -> list[str]:
    if agent.takes("list_obligations"):
        return (await agent.call("list_obligations", document=GDPR, kind="amount")).lines[1:]
    found = await agent.call(
        "search_documents", query="administrative fines up to EUR", document=GDPR, top_k=3
    )
    await read(agent, [section_of(found, "fines").partition("(")[0]], GDPR)
    return []


async def changes(agent: Agent) -> list[str]:
    if agent.takes("compare"):
        lines = (await agent.call("compare", old=OLD_POLICY, new=NEW_POLICY)).lines[2:]
        return re.split(r"\n(?=(?:added|removed|moved|renumbered|changed): )", "\n".join(lines))
    await read_whole(agent, "Records Policy 2024", OLD_POLICY)
    await read_whole(agent, "Records Policy 2025", NEW_POLICY)
    return []


async def breach(agent: Agent) -> list[str]:
    for document, words in (
        (GDPR, "notification of a personal data breach"),
        (AGREEMENT, "security incident"),
    ):
        await agent.call(
            "search_documents", query=f"{words}: to whom, when, with what", document=document, top_k=3
        )
    return []


async def debarment(agent: Agent) -> list[str]:
    found = await agent.call("search_documents", query="causes for debarment", top_k=3)
    document = next(match[1] for line in found.lines if (match := _FIRST.search(line)))
    await read_whole(agent, section_of(found, "causes for debarment"), document)
    return []


async def term(agent: Agent) -> list[str]:
    reply = await agent.call("define_term", term="simplified acquisition threshold", document=PROTESTS)
    if reply.refused:
        await agent.call("define_term", term="simplified acquisition threshold")
    return []


async def following(agent: Agent) -> list[str]:
    if agent.takes("read_section", "step"):
        await agent.call("read_section", reference="33.103", document=PROTESTS, step="next")
        return []
    outline = await agent.call("list_outline", document=PROTESTS)
    at = next(n for n, line in enumerate(outline.lines) if line.strip().startswith("- 33.103 "))
    await read_whole(agent, outline.lines[at + 1].split()[1], PROTESTS)
    return []


async def survival(agent: Agent) -> list[str]:
    question = "which clauses continue to have effect after the agreement ends"
    found = await agent.call("search_documents", query=question, document=AGREEMENT, top_k=5)
    said = next(line for line in found.lines if "continue to have effect" in line)
    place = f"{section_of(found, 'consequences')}{said.split()[0]}"
    await agent.call("follow_references", reference=place, document=AGREEMENT)
    await agent.call("list_outline", document=AGREEMENT, depth=2)
    return []


async def protests(agent: Agent) -> list[str]:
    if agent.takes("list_obligations"):
        return await _deadlines(agent, PROTESTS)
    await agent.call("list_outline", document=PROTESTS, depth=3)
    await read_whole(agent, "Subpart 33.1", PROTESTS)
    return []


async def quotations(agent: Agent) -> list[str]:
    if agent.takes("verify_quotes"):
        await agent.call("verify_quotes", quotations=list(QUOTED))
        return []
    for quoted in QUOTED:
        await agent.call("search_documents", query=f'"{quoted}"', top_k=3)
    return []


async def agreement_deadlines(agent: Agent) -> list[str]:
    return await (deadlines_of_agreement if agent.takes("list_obligations") else old_deadlines)(agent)


# -- the tasks -------------------------------------------------------------------------------------------------

TASKS = (
    Task(
        1,
        "Which articles of the GDPR limit the right to erasure, and what do the clauses that they cite say?",
        (
            fact(
                "Article 17", "Paragraphs 1 and 2 shall not apply to the extent that processing is necessary"
            ),
            fact("Article 11", "In such cases, Articles 15 to 20 shall not apply"),
            fact("Article 23", "may restrict by way of a legislative measure"),
            fact("Article 85", "exemptions or derogations from Chapter II (principles), Chapter III"),
            fact("Article 9", "for the purposes of preventive or occupational medicine"),
            fact("Article 9", "protecting against serious cross-border threats to health"),
            fact("Article 9", "by or under the responsibility of a professional subject to the obligation"),
            fact(
                "Article 89", "shall be subject to appropriate safeguards, in accordance with this Regulation"
            ),
        ),
        erasure,
    ),
    Task(
        2,
        "What are the exceptions to clause 4.2(a) of the Records Policy 2025?",
        (
            fact("4.2(a)", "financial records six years"),
            fact("4.3", "does not apply to records of land or buildings"),
            fact("8.1", "records under a legal hold shall not be destroyed"),
            fact("A", "if that is longer than the period in clause 4.2(a)"),
        ),
        exceptions,
        evaluation=False,
    ),
    Task(
        3,
        "List every deadline in days of the Service Agreement.",
        (
            fact("2.1", "within five Business Days after their publication"),
            fact("2.3", "not later than 30 days before the season begins"),
            fact("3.3", "within 30 days after receiving it"),
            fact("3.4", "within 14 days"),
            fact("3.5", "overdue for 45 days", "ten Business Days beforehand"),
            fact("7.1", "seven days' notice"),
            fact("9.2", "notice of 120 days"),
            fact("9.3", "within 30 days after being asked to"),
            fact("9.4", "within ten Business Days"),
            fact("10.3", "more than 60 days|at most 60 days", "notice of ten Business Days"),
            fact("11.1", "meet within ten Business Days"),
            fact("Schedule 2", "10 Business Days"),
        ),
        agreement_deadlines,
        evaluation=False,
    ),
    Task(
        4,
        "List every amount of a fine in the GDPR.",
        (
            fact("Article 83", "10 000 000 EUR", "up to 2 %"),
            fact(
                "Article 83", "20 000 000 EUR", "up to 4 %", "infringements of the following provisions|83(5)"
            ),
            fact("Article 83", "Non-compliance with an order by the supervisory authority|83(6)"),
        ),
        fines,
    ),
    Task(
        5,
        "What changed between the Records Policy of 2024 and that of 2025?",
        (
            fact("Records Policy 2025", "Records Policy 2024"),
            fact("4.2", "seven years after the period", "six years after the period"),
            fact("5.1", "within 30 days after receiving", "within 20 days after receiving"),
            fact("5.3", "may be appealed against to the Council within 21 days"),
            fact("5.4", "exceed 25 crowns", "exceed 30 crowns"),
            fact("6.3", "Keys are issued against signature"),
            fact("7", "Records may be entrusted to a processor only under a contract"),
            fact("8.2", "every legal hold once", "every legal hold twice"),
            fact("12.3", "at more than 1,000", "at more than 500"),
            fact("5.4", "renumbered: 5.3|5.4 The fee for copies"),
            fact("8", "renumbered: 7|8 Legal hold"),
            fact("9", "renumbered: 8|9 Training"),
            fact("10", "renumbered: 9|10 Electronic records"),
            fact("11", "renumbered: 10|11 Archive"),
            fact("12", "renumbered: 11|12 Papers of members"),
            fact("13", "renumbered: 12|13 Costs"),
            fact("14", "renumbered: 13|14 Review"),
        ),
        changes,
        evaluation=False,
    ),
    Task(
        6,
        "Compare what the GDPR and the Service Agreement say on the notice of a breach.",
        (
            fact(
                "Article 33",
                "not later than 72 hours after having become aware of it",
                "supervisory authority",
            ),
            fact("Article 33", "The processor shall notify the controller without undue delay"),
            fact("Article 33", "describe the nature of the personal data breach"),
            fact("Article 33", "name and contact details of the data protection officer"),
            fact("Article 33", "describe the likely consequences", "describe the measures taken or proposed"),
            fact("Article 34", "shall communicate the personal data breach to the data subject"),
            fact("5.3", "at the latest 24 hours after learning of it"),
            fact("5.3", "what has happened and when", "whose data are concerned"),
            fact("5.3", "what the Supplier has done and proposes to do"),
        ),
        breach,
    ),
    Task(
        7,
        "What are the causes for debarment in the FAR?",
        (
            fact("9.406-2", "Commission of fraud or a criminal offense"),
            fact("9.406-2", "antitrust statutes relating to the submission of offers"),
            fact("9.406-2", "embezzlement, theft, forgery, bribery"),
            fact("9.406-2", 'Intentionally affixing a label bearing a "Made in America" inscription'),
            fact("9.406-2", "any other offense indicating a lack of business integrity"),
            fact("9.406-2", "Willful failure to perform", "A history of failure to perform"),
            fact("9.406-2", "Drug-Free Workplace, as indicated by"),
            fact("9.406-2", "Commission of an unfair trade practice"),
            fact("9.406-2", "Delinquent Federal taxes"),
            fact("9.406-2", "Knowing failure by a principal", "Significant overpayment"),
            fact("9.406-2", "false certification under 52.209-13"),
            fact("9.406-2", "not in compliance with Immigration and Nationality Act"),
            fact("9.406-2", "any other cause of so serious or compelling a nature"),
        ),
        debarment,
    ),
    Task(
        8,
        "What does “simplified acquisition threshold” mean in FAR Part 33?",
        (
            fact("Part 2", "means $350,000, except for"),
            fact("Part 2", "$1 million for any contract to be awarded and performed"),
            fact("Part 2", "$2 million for any contract to be awarded and performed"),
            fact("Part 2", "the term means $650,000"),
        ),
        term,
    ),
    Task(
        9,
        "What does the section after 33.103 of the FAR say?",
        (
            fact("33.104", "Procedures for protests to GAO are found at 4 CFR Part 21"),
            fact("33.104", "The protest file shall include an index"),
            fact("33.104", "Protests after award", "GAO decision time"),
            fact("33.104", "the Government may require the awardee to reimburse the Government the amount"),
        ),
        following,
    ),
    Task(
        10,
        "Which clauses of the Service Agreement survive its termination, and for how long?",
        (
            fact("9.4", "clauses 4, 5, 6.2 and 8 continue to have effect"),
            fact(
                "4.4",
                "continue for five years after the end of the Term, and for Personal Data without limit",
            ),
            fact("4", "Confidentiality"),
            fact("5", "Data protection"),
            fact("6.2", "Customer Data"),
            fact("8", "Liability"),
        ),
        survival,
        evaluation=False,
    ),
    Task(
        11,
        "List all deadlines for protests in FAR Part 33.",
        (
            fact("33.102", "100 days after the date on which the final ruling is made"),
            fact("33.102", "within 14 days after the person first discovered the possible violation"),
            fact("33.103", "within 10 days of knowledge of initial adverse agency action"),
            fact("33.103", "10 days after the basis of protest is known"),
            fact("33.103", "within 10 days after contract award", "within 5 days after a debriefing date"),
            fact("33.103", "within 35 days after the protest is filed"),
            fact("33.104", "no later than 1 day after the protest is filed"),
            fact(
                "33.104", "within 30 days after the GAO notifies the agency", "within 20 days after receipt"
            ),
            fact(
                "33.104",
                "5 days prior to the filing of the report",
            ),
            fact("33.104", "within 2 days after receipt of this list"),
            fact(
                "33.104", "within 2 days after the protester knew", "within 2 days of receipt of the request"
            ),
            fact("33.104", "within this 2-day period"),
            fact("33.104", "Within 2 days after receipt of a copy of the protective order request"),
            fact("33.104", "within 10 days, or 5 days if express option is used"),
            fact("33.104", "due within 5 days after the hearing"),
            fact("33.104", "within 30 days of the written finding"),
            fact(
                "33.104", "within 5 days after a debriefing date offered to the protester for any debriefing"
            ),
            fact("33.104", "within 5 days of the hearing"),
            fact("33.104", "within 100 days from the date of filing", "within 65 days"),
            fact(
                "33.104", "within 60 days of receiving the GAO recommendations", "5 days after the expiration"
            ),
            fact("33.104", "within 60 days after receipt of the GAO's recommendation"),
            fact(
                "33.104",
                "Within 60 days after the GAO recommends the amount",
                "shall notify the GAO of the action",
            ),
        ),
        protests,
    ),
    Task(
        12,
        "Are these quotations real? " + " ".join(f"“{quoted}”" for quoted in QUOTED),
        (
            fact(
                "306", "Within three working days the master shall send the Harbour Master a written account"
            ),
            fact("5.3", "24 hours after learning of it"),
            fact("", "1 absent|no document has this|nothing matches"),
        ),
        quotations,
        evaluation=False,
    ),
)

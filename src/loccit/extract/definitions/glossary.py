"""Definitions sections: how they are recognised, and the looser forms that count only there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from loccit.extract.definitions.forms import Anchor, find_verb, read_terms
from loccit.extract.definitions.german import german_anchor, term_alone
from loccit.extract.definitions.terms import QUOTES, TERM, clean_term
from loccit.extract.definitions.units import Unit
from loccit.grammar.text.folding import fold, lower
from loccit.model import Place
from loccit.structure import Block

# A heading counts if it has one of the first words and no others than these two groups: "Purpose and
# Definitions" covers more.
_NAMES = frozenset(
    """
    definition definitions glossary interpretation interpretations terminology terms nomenclature
    vocabulary begriffsbestimmung begriffsbestimmungen begriffsdefinitionen begriffserklarung
    begriffserklarungen begrifflichkeiten begriffe definitionen glossar glossaire terminologie definiciones definicion
    glosario terminologia definizioni definizione glossario definicoes definicao begripsbepalingen
    definities begrippen begrippenlijst woordenlijst definicions definitii definicje definitioner
    definisjoner maaritelmat pojmu pojmy ορισμοι ορισμος определения дефиниции понятия
    """.split()
)
_FILLERS = frozenset(
    """
    a all an and certain common construction contract defined defining for general in index key list
    meaning meanings of other rules special technical the this these to used principal main important
    basic words word term expressions abbreviations acronyms acronym agreement act regulation part
    section chapter clause document standard policy symbols und allgemeine weitere verwendete von der die des et y e
    vymezeni vymedzenie zakladni zakladne zakladnich pojem vyklad основные термины ed de du da
    di termes terminos generales utilises utilisees
    """.split()
)
_WORD_LISTS = frozenset("glossary terminology glossar glossaire glosario glossario".split())
_LETTERS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_OPENERS = frozenset(
    """
    in for the following where as unless note notes example examples see if when this these those it its
    they such which that who any no nothing source remark remarks here there and or but not each except
    subject however provided also im fur unter means mean including includes warning tip important
    caution step
    """.split()
)
_NOT_IN_TERM = frozenset(
    "is are was were shall will must may can should has have had does do which that who whose what how why you we it "
    "they following below above sind ist werden wird "
    "entend entendent entiende entienden entendera intende verstaan".split()
)
_THE_TERM = re.compile(r"(?:(?:the|an?)\s+)?(?:terms?|expressions?|words?|phrases?)\s+", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:the|an?|der|die|das|les?|la|une?|el|los|las|una|il|lo)\s+(?=\S)", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*(?::(?=\s|$)|—|–|-(?=\s|$)|=(?=\s))\s*|\s*\n:\s+")
_PLAIN = re.compile(r"([^\n:;!?\"“”‘«»„*`|]{2,90}?)(?::(?=\s)|\s+[–—-](?=\s)|—|\s*\n:\s)")
_PLAIN_HEAD = re.compile(
    r"[^\n:;!?\"“”‘«»„*`|,(]{2,90}?(?=,|\s\(|\s(?:means?|shall mean|refers? to|has|have|is defined"
    r"|are defined|denotes?|includes?|bedeutet|bezeichnet|désigne|significa|is|are)\b)"
)
_LINKED = re.compile(r"\[[^\[\]\n]{1,100}\]\([^()\s]{0,300}\)")
_SEE = re.compile(r"\s*[,—–-]?\s*\(?see\b", re.IGNORECASE)
_MEANING = re.compile(r"\s+(?:an?|the|any|all|one|each|every|ein|eine|der|die|das|un|une|le|la|los|las)\s")
_BEING_A = re.compile(r"(?:is|are)\s+(?:an?|the|any|all|one)\b")
_CELL = re.compile(r"(?<!\\)\|")
_TERM_COLUMNS = frozenset(
    "term terms word expression concept begriff begriffe ausdruck terme terminos termino termine definedterm "
    "abbreviation acronym".split()
)
_MEANING_COLUMNS = frozenset(
    """
    definition definitions meaning meanings description explanation bedeutung erlauterung erklarung
    beschreibung signification significado definicion definizione significato betekenis
    """.split()
)


_CLAUSE_ENTRY = re.compile(
    r"^(?:#{1,6}[ \t]+)?\d{1,2}(?:\.\d{1,3}){1,4}[ \t]*\n\s*"
    r"(?P<term>(?:[*_]{1,3})?[^\W\d_][^\n.;:!?|]{1,80}(?<![ \t]))[ \t]*\n",
    re.MULTILINE,
)
_HEADING = re.compile(r"^#{1,6}[ \t]", re.MULTILINE)
_LONGEST_MEANING = 2000
_GIVEN = re.compile(
    r"\((?:[Tt]he\s+|hereinafter\s+(?:the\s+)?)?[“\"„«](?:[Tt]he\s+)?(?P<term>[^“”\"„«»]{2,60})[”\"“»]\)\s*$"
)
_ANNOUNCED = re.compile(
    r"\b(?:on entend par|se (?:entiende|entienden|entenderá|entenderán) por|si intende per|entende-se por"
    r"|wordt verstaan onder|following (?:terms|words|expressions)\b[^.;:\n]{0,120}\bmeanings?\b[^.;:\n]{0,60}"
    r")\s{0,3}[:—–][ \t]*$"
    r"|(?-i:I[mn]|Für)\s+(?:sinne\s+|die\s+(?:zwecke|anwendung)\s+)?(?:diese[rsm]?|des|der)\b(?:[^.;:\n]|\n(?!\s*\n)){0,200}?"
    r"\b(?:ist|sind|bedeute[nt]|bezeichne[nt]|gelten\s+als|gilt\s+als|gelten\s+(?:die\s+)?folgenden?\s+\w+)"
    r"(?:\s+d(?:er|ie)\s+(?:begriffe?|ausdr(?:uck|ücke)))?\s{0,3}[:—–]?[ \t]*\n[ \t]*$"
    r"|下列用语的?含义[^。\n]{0,12}$",
    re.IGNORECASE | re.MULTILINE,
)


# Each of these has one of them in it, and most texts have none.
_ANNOUNCING = tuple(
    "on entend par|se entiend|se entenderá|si intende per|entende-se por|wordt verstaan onder|following terms"
    "|following words|following expressions|im sinne|in diese|für die|下列用语".split("|")
)


def announced_lists(text: str, start: int = 0) -> Iterator[int]:
    """Yield where a text announces a list of definitions: ``on entend par :``, ``have the following meanings:``."""
    low = text.lower()
    if any(map(low.__contains__, _ANNOUNCING)):
        yield from (match.start() for match in _ANNOUNCED.finditer(text, start))


def definition_sections(sections: Sequence[Place]) -> list[bool]:
    """Return for each section whether it is a definitions section or part of one."""
    inside: list[bool] = []
    for section in sections:
        above = section.parent is not None and inside[section.parent]
        inside.append(above or is_definition_heading(section.title or section.heading))
    return inside


def is_definition_heading(heading: str) -> bool:
    """Whether a heading announces definitions and nothing else.

    >>> is_definition_heading("Definitions and interpretation"), is_definition_heading("Payment terms")
    (True, False)
    """
    if len(heading) > 100:
        return False
    words = [fold(lower(word)) for word in _LETTERS.findall(heading)]
    if (
        words
        and len(words) <= 5
        and (words[-1] in _WORD_LISTS or (words[0] in _WORD_LISTS and "of" in words[1:2]))
    ):
        return True
    return bool(words) and not _NAMES.isdisjoint(words) and all(w in _NAMES or w in _FILLERS for w in words)


def entry(text: str, unit: Unit, list_follows: bool, goes_on: bool, announced: bool) -> Anchor | None:
    """Return the definition that a unit of a definitions section begins with, in the forms without a quoted verb.

    ``goes_on``: the next paragraph belongs to the same item; ``announced``: a sentence announces the list.
    """
    term = TERM.match(text, unit.body, unit.end)
    if term is not None:
        return _set_off(text, unit, term, list_follows, goes_on)
    linked = _LINKED.match(text, unit.body, unit.end)
    if linked is not None:
        words = clean_term(linked.group())
        separator = _SEPARATOR.match(text, linked.end(), unit.end)
        return Anchor((words,), unit.body, separator.end(), True) if words and separator else None
    found = (term_alone(text, unit) if goes_on else None) or _bare_with_verb(text, unit)
    if found is None and unit.marked and list_follows:
        # `3. Fahrzeuge:` with a list below; `In this Act:` announces one of definitions.
        alone = term_alone(text, unit)
        found = alone if alone and _bare_term(alone.terms[0]) else None
    if found is None and unit.marked:
        found = next(german_anchor(text, unit, True, announced), None)
    found = found or _bare(text, unit)
    return replace(found, sure=0.85) if found else None


def _set_off(text: str, unit: Unit, term: re.Match[str], list_follows: bool, goes_on: bool) -> Anchor | None:
    terms, end = read_terms(text, term, unit.end)
    if not terms:
        return None
    printed = term.group().strip("*_").rstrip()
    here = any(map(str.isalnum, text[end : unit.end]))
    plain = (
        printed[-1] in ":—–"
        or _SEPARATOR.match(text, end, unit.end)
        or (printed[0] != "`" and (_MEANING.match(text, end, unit.end) or _SEE.match(text, end, unit.end)))
    )
    if printed[0] in QUOTES:
        plain = plain or unit.marked or list_follows
    elif printed[0] != "`":
        stopped = printed[-1] == "." or text[end : end + 1] == "."
        # A numbered "(1) *Programs*." is more often a heading within a definition than a term.
        plain = plain or (not unit.places if stopped else goes_on and not here)
    says_more = list_follows or goes_on or here
    return Anchor(terms, unit.body, end, True, sure=0.9) if plain and says_more else None


def _bare_with_verb(text: str, unit: Unit) -> Anchor | None:
    the_term = _THE_TERM.match(text, unit.body, unit.end)
    begin = the_term.end() if the_term else unit.body
    head = _PLAIN_HEAD.match(text, begin, min(unit.end, begin + 120))
    if head is None:
        return None
    end = head.end()
    if text[end : end + 2] == " (":
        close = text.find(")", end, end + 40)
        end = close + 1 if close > 0 else end
    verb = find_verb(text, end, unit.end)
    if verb is None:
        return None
    if verb["being"] and not (unit.bullet and _BEING_A.match(text, verb.start("being"), unit.end)):
        return None
    words = text[begin:end]
    article = _ARTICLE.match(words)
    term = _bare_term(words[article.end() :] if article and not the_term else words)
    return Anchor((term,), unit.body, verb.end(), True) if term else None


def _bare(text: str, unit: Unit) -> Anchor | None:
    match = _PLAIN.match(text, unit.body, unit.end)
    if match is None or not any(map(str.isalnum, text[match.end() : unit.end])):
        return None
    term = _bare_term(match[1])
    return Anchor((term,), unit.body, match.end(), True) if term else None


def _bare_term(words: str) -> str:
    """Return a term that nothing sets off from the text, if it looks like a name and not like a sentence."""
    term = clean_term(words)
    parts = [fold(lower(word)) for word in _LETTERS.findall(term)]
    if not parts or len(term.split()) > 8 or parts[0] in _OPENERS or not _NOT_IN_TERM.isdisjoint(parts):
        return ""
    return "" if ". " in term else term


def clause_entries(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield term and span of the clauses of a standard's vocabulary: number, term and meaning, each on its own line."""
    found = list(_CLAUSE_ENTRY.finditer(text, start, end))
    for match, after in zip_longest(found, found[1:]):
        stop = after.start() if after else min(end, match.end() + _LONGEST_MEANING)
        heading = _HEADING.search(text, match.end(), stop)
        stop = heading.start() if heading else stop
        term = _bare_term(match["term"])
        if term and any(map(str.isalnum, text[match.end() : stop])):
            yield term, match.start("term"), match.end() + len(text[match.end() : stop].rstrip())


def given_in_heading(heading: str) -> str:
    """Return the name that a heading gives in brackets: ``Harbour Act 2001 (“the Act”)``.

    >>> given_in_heading("Lantern Services Agreement (the “Agreement”)"), given_in_heading("Rules (draft)")
    ('Agreement', '')
    """
    match = _GIVEN.search(heading)
    return clean_term(match["term"]) if match else ""


def heading_term(section: Place) -> str:
    """Return the term that a heading in a glossary can be, or "" if it is rather a part of the document."""
    title = section.title or section.heading
    # Numbered headings are parts of a statute unless written like a term, in lower case (as in ISO
    # standards).
    if (section.label and not title[:1].islower()) or title[-1:] in "?!" or is_definition_heading(title):
        return ""
    term = clean_term(title)
    return term if len(term) > 1 and len(term.split()) <= 8 else ""


def table_entries(text: str, block: Block, glossary: bool) -> Iterator[tuple[str, str, int, int]]:
    """Yield term, meaning and position of the rows in a table of definitions."""
    if not block.header_end:
        return
    header = [
        fold(lower(cell)).replace(" ", "").strip("*_")
        for cell in _cells(text[block.start : block.header_end])
    ]
    terms = [i for i, cell in enumerate(header) if cell in _TERM_COLUMNS]
    meanings = [i for i, cell in enumerate(header) if cell in _MEANING_COLUMNS]
    if terms and meanings:
        term_at, meaning_at = terms[0], meanings[0]
    elif glossary and len(header) == 2:
        term_at, meaning_at = 0, 1
    else:
        return
    at = block.header_end
    while at < block.end:
        stop = text.find("\n", at, block.end)
        stop = block.end if stop < 0 else stop
        cells = _cells(text[at:stop])
        if len(cells) > max(term_at, meaning_at):
            term, meaning = clean_term(cells[term_at]), cells[meaning_at]
            if term and any(map(str.isalnum, meaning)):
                yield term, meaning, at, stop
        at = stop + 1


def _cells(row: str) -> list[str]:
    line = row.partition("\n")[0].strip().strip("|")
    return [cell.strip() for cell in _CELL.split(line)]

"""Other documents: how acts, codes and treaties are named, and whether a reference belongs to one."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from loccit.extract.references.items import KIND_OF, S0, S1
from loccit.grammar.labels.lexicon import load, one_of
from loccit.grammar.labels.model import is_sub
from loccit.grammar.labels.readers import parse_whole

_AND_WORDS = one_of(load().conjunctions)
_EU = (
    rf"(?:(?:Council|Commission|Delegated|Implementing|Framework){S1})*"
    rf"(?:Regulations?|Directives?|Decisions?|Recommendation|Verordnung|Richtlinie|Beschluss|[Rr]èglement|[Dd]irective"
    rf"|[Dd]écision|Reglamento|Directiva|Decisión|Regolamento|Direttiva|Decisione|Regulamento|Diretiva|Decisão"
    rf"|Verordening|Richtlijn|Besluit|[Ll]oi|Orden|Lei|Legge|Ley(?:{S1}(?:Orgánica|Foral))?"
    rf"|(?:Real{S1})?Decreto(?:[- ](?:[Ll]ey|[Ll]ei|[Ll]egislativo|Foral))?)"
    rf"{S1}(?:\([A-Z][\w, ]{{1,16}}\){S1})?(?:(?:No|Nr|N|n)[.°º]{{0,2}}{S0})?"
    rf"\d{{1,4}}/\d{{1,4}}(?:/[A-Z]{{2,8}}){{0,2}}"
)
_PART = r"\d{1,5}[a-z]{0,2}(?:[.\-‑]\d{1,5}[a-z]?)*(?:\([0-9A-Za-z]{1,4}\))*"
_UNIT = r"§§?|(?:[Ss]ections?|[Ss]ecs?\.|[Cc]hapters?|[Pp]arts?|[Ss]ubparts?)(?=\W|\d)"
_INTRO = rf"(?:{S0}App\.)?(?:{S0}(?P<part>{_UNIT}){S0})?"
_CODE = (
    rf"\d{{1,2}}{S0}(?:U\.{S0}S\.{S0}C\b\.?(?:A\.)?|USC|C\.{S0}F\.{S0}R\.|CFR){_INTRO}(?:{S0}(?P<place>{_PART}))?"
    rf"(?:{S1}(?:and|or|to|through){S1}(?=\d{{1,5}}\.\d){_PART})?"
)
_LAW = (
    rf"(?:Pub\.?{S0}L\.?|Public{S1}Law|P\.L\.)(?:{S0}No\.?)?{S0}\d{{2,3}}[-‑–]\d{{1,4}}"
    rf"|(?:RFC|PEP){S0}\d{{1,5}}(?![\w.]\w)"
)
_NOUN = (
    "Act|Code|Treaty|Charter|Convention|Constitution|Law|Statute|Statutes|Ordinance|Agreement|Protocol|Order|Bill|Rules"
    "|Regulation|Regulations|Directive|Decision|Covenant|Contract|Lease|Deed|Standard|Policy|Guidelines|Handbook|Manual"
    "|Verordnung|Gesetz|Gesetzes|Gesetzbuch|Gesetzbuchs|Gesetzbuches|Vertrag|Vertrags|Vertrages|Richtlinie|Traité|Loi|Règlement"
    "|Ley|Código|Constitución|Estatuto|Reglamento|Decreto|Orden|Convenio|Tratado|Lei|Constituição|Legge|Codice"
    "|Costituzione|Wet|Wetboek|Grondwet|Besluit|Verdrag"
)
# Acts are compounds in German, Dutch and Scandinavian languages, where they are also written in lower case.
_COMPOUND = r"gesetz(?:es|buch(?:e?s)?)?|ordnung|richtlinie|vertrag(?:e?s)?|satzung|wet|wetboek|besluit"
_DATED = rf"\b(?:{_NOUN}),?{S1}(?:of{S1})?(?:1[6-9]|20)\d\d(?!\d)"
_NAMES = re.compile(
    rf"(?<![\w/])(?:(?P<eu>{_EU})|(?P<code>{_CODE})|(?P<law>{_LAW})|(?P<dated>{_DATED}))|(?<=《)[^《》\n]{{2,50}}(?=》)"
)
# Every name has one of these in it. Most texts have few, and looking for these is far quicker.
_MARKS = re.compile(r"[\dUCPR《](?:(?<=\d)/\d|(?<=[12])[06-9]\d\d|(?<=[UC])\.|SC|FR|FC|EP|ub|\.L|(?<=《))")
_LONGEST_NAME, _LONGEST_NUMBER = 160, 80
_SMALL = frozenset("of and the on for in to against with or".split())
# What precedes a word such as *Act* in a name: capitalised words, and small ones between.
_BEFORE_NOUN = re.compile(
    rf"(?<![\w'’.&-])(?:(?!(?:The|See|Under)\b)[A-Z][\w'’.&-]*,?{S1}(?:(?:{'|'.join(_SMALL)}){S1})*)+\Z"
)
_NOUN_ONLY = re.compile(rf"{_NOUN}|\w{{3,60}}(?:{_COMPOUND})")
# These names continue after the word: `Treaty on European Union`.
_GO_ON = frozenset(
    "Treaty Charter Convention Protocol Constitution Covenant Statute Ley Código Estatuto Reglamento Convenio Tratado"
    " Lei Legge Codice Wet Wetboek Besluit".split()
)
_JOINS = frozenset("of on the for de del la los las y e do da dos della".split())
_WORDS = re.compile(r"[\w'’&-]+")
_TAIL = re.compile(
    rf"(?:,?{S1}of|{S1}(?:to|in|under|from|des|der|zur|zum|du|de{S1}la|del|de|do|da|della|van|i|av)){S1}"
    rf"(?:(?:the|le|la|los|las|het|de|einer|eines){S1})?(?:(?:Annex|Appendix|Schedule|Protocol){S1}(?:to|of){S1}(?:the{S1})?)?"
)
# `of this Act` in the languages at hand: the first need a word such as *of* before them, the others do without.
_POINTING = (
    "this|these|the{S1}present|ce|cette|la{S1}présente|este|esta|estos|estas|la{S1}presente|el{S1}presente|questo|questa"
    "|l[ao]s?{S1}presentes?|acest\\w{1,3}|aceast\\w|e|šio|šios|šī|šā|цього|цієї|този|тази"
).replace("{S1}", S1)
_POINTING_ALONE = (
    r"diese[srm]|vorliegende[rsnm]|présente?s?|presentes?|deste|desta|del{S1}presente|aquest\w{0,2}|prezent\w{1,5}|deze|dit"
    r"|denn[ae]|dette|detta|niniejsz\w+|tohoto|této|těchto|tohto|tejto|настоящ\w+|παρόντος|παρούσ\w+|παρόν|jelen|käesoleva\w*"
).replace("{S1}", S1)
_OF_ANY = (
    rf"(?:of|to|in|under|from|by|an|in|von|der|de|d[ue]|del|della?|nell[ao]|do|da|van|i|av|til|din|al|ale|a|του|της|των|z){S1}"
    r"|(?:d|del|dell|nell)['’]"
)
_SELF = re.compile(
    rf",?{S1}(?:(?:{_OF_ANY})(?:{_POINTING})|(?:{_OF_ANY})?(?:του{S1}|της{S1}|των{S1}|de{S1}la{S1}|de{S1}l['’])?(?:{_POINTING_ALONE}))"
    rf"{S1}(?P<noun>[^\W\d_][\w-]{{1,40}})|{S1}(?:hereof|herein|hereto|hereunder)\b"
)
# Where a text calls itself something; its beginning tells.
_BEGINNING = 40_000
_CALLS_ITSELF = re.compile(rf"(?<!\w)(?:{_POINTING}|{_POINTING_ALONE}){S1}(?P<noun>[^\W\d_][\w-]{{2,40}})")
_THAT = re.compile(
    rf",?{S1}(?:of|to|in|under|from){S1}(?:that|the{S1}same|the{S1}said|the{S1}latter|such|each|its|their|those){S1}"
    rf"(?P<noun>{_NOUN}|agreement|contract|act|code|clause|provision|treaty|directive|regulation)s?\b"
    rf"|{S1}(?:thereof|therein|thereto)\b"
)
_SHORT = re.compile(r"[^\S\n]{1,2}(?P<name>[A-ZÄÖÜ][A-Za-zÄÖÜäöü]{0,10}-?[A-ZÄÖÜ]{1,6})(?![\w'’])")
_OF_SHORT = re.compile(
    rf",?{S1}(?:of|to|in|under){S1}(?:the{S1})?(?P<name>[A-Z]{{2,8}}(?:[ -]\d{{2,6}})?)(?![\w'’])"
)
_US_CODE = re.compile(rf",?{S1}(?:of{S1}(?:the{S1})?)?(?P<name>(?:United{S1}States|U\.{S0}S\.){S1}Code)\b")
# A name may be a link: `[RFC 5280](https://…), section 3.1`.
_RIGHT_BEFORE = re.compile(rf"(?:\]\([^()\s]{{1,300}}\))?,?{S1}")
_NEAR = 320
# What may stand right before a reference: an act in title marks (Chinese) or small letters, the key of a bibliography
# entry, an abbreviation.
_BEFORE = re.compile(
    rf"(?:《([^《》\n]{{2,50}})》|\[([A-Za-z][\w.+:-]{{1,40}})\],?{S1}"
    r"|(?<![\w-])(?i:(\w{0,40}(?:loven|lova|lagen|balken|förordningen|forskriften|lain|asetuksen|seaduse|seadustiku)))[^\S\n]{1,2}"
    r"|(?<![\w.])([A-Z]{2,8})[^\S\n]{1,2})\Z"
)
# What may stand between a number and what it is a part of: further parts, in words that no grammar here reads.
_SUB = one_of([*(word for word, kind in KIND_OF.items() if is_sub(kind)), "lid", "leden"])
_PIECE = (
    r"(?:\d{1,4}[a-z]?[°ºª.)]{0,2}|\(?\w{1,3}\)|[b-kmnp-xz](?!['’\w])|[ivx]{1,5}|\d{1,2}(?:st|nd|rd|th|er|e|ème)|à|bis|tot|až|έως|до|through"
    r"|§§?\s?\d{1,4}|[^\W\d_]{1,12}\.?(?=[^\S\n]?\(?(?:\d|[ivx]+(?!\w)|\w\)))|\w{1,3}\."
    rf"|(?:(?!the\b|other\b|any\b|this\b)[^\W\d_]{{3,10}}{S1})?{_SUB}(?!\w))"
)
_FURTHER = re.compile(
    rf"(?:[,;]?[^\S\n]{{0,2}}\n?(?:(?:{_AND_WORDS}|[^\W\d_]{{1,3}}){S1})?{_PIECE}(?![\w/])){{1,7}}",
    re.IGNORECASE,
)
_GENITIVE = re.compile(
    rf"(?P<plain>,?{S1}(?:of|des|du|de{S1}la|de{S1}los|de{S1}las|de{S1}l['’]|del|dell['’]|dell[aeo]|de|da|do|das|dos|van|din|van{S1}(?:de|het|een)|al|ai|ale"
    rf"|der|i|av|του|της|των|z{S1})(?:(?<=['’])|{S1}))(?P<det>(?:the|a|an|my|your|our|his|her|their){S1})?|{S1}"
)
_PHRASE = re.compile(
    rf"(?:\d{{1,5}}/\d{{2,4}}|(?:[^\W\d_]{{1,3}}\.){{1,3}}|[^\W\d_][\w'’&-]*)(?:(?:,?{S1}(?:(?:of|on|for|and|de|du|des|la|le|les|el|l['’]|van|het|per|al|op|over|zum|zur|über|und|o|no|nr|č|č\.|n\.|št\.|br\.|din){S0})*)"
    r"(?:[A-ZÀ-ÞΆ-ΏΑ-ΩА-ЯČŘŠŽĽŤĎ][\w'’&-]*|\d[\w/.()-]*\b|\([A-Z]{2,8}\))){0,12}"
)
# Laws and the like in the languages that write them in small letters, by how these words begin.
_ACT = re.compile(
    r"(?:ustaw|rozporządzen|kodeks|konstytuc|zákon|vyhláš|nařízen|nariaden|ústav|předpis|закон|кодекс|указ|наредб|постанов|конституц|νόμ"
    r"|ν\.|π\.|συντάγμ|συμβάσ|οδηγί|leg[ei]|cod(?:ul|ice|ig)|ordonan|constitu|zakon|uredb|törvény|rendelet|seadus|likum|įstatym|la[ik]i|lov|lag"
    r"|loi|arrêt|règlement|décret|directive|ordonnance|convention|traité|ley|llei|reglament|decret|convenio|tratado|direct|wet|besluit|regeling"
    r"|verordening|richtlijn|verdrag|act|code|treaty|charter|statut|regulation|rules|agreement|contract|policy|standard|report|form|document)"
    r"|\w*(?:gesetz|ordnung|satzung|richtlinie|vertrag|übereinkommen|konvention|verfassung|wet|besluit|richtlijn|verordening|loven|lagen|laki|lain)",
    re.IGNORECASE,
)
# Those whose genitive stands right behind the number, without a word such as *of*.
_BARE_ACT = re.compile(
    r"(?:ustaw|rozporządzen|kodeks|konstytuc|zákon|vyhláš|nařízen|nariaden|ústav|předpis|[Фф]едеральн|закон|кодекс|указ|наредб|постанов|конституц"
    r"|zakon|uredb|[νπ]\.|samma\s+lag|\w*(?:lagen|förordningen|balken)\b)|(?-i:[A-ZÄÖÜ])\w*(?:gesetz|gesetzbuch|ordnung|satzung)(?:e?s)?\b",
    re.IGNORECASE,
)
# Words that are more than genitives, in these languages or in others.
_WEAK = ("der", "i", "av", "z", "do", "da", "dos", "das", "al", "ai", "ale")
_NOT_A_WHOLE = frozenset(
    "which whom any each all every both one such its their that those this these which two three".split()
)
_POSSESSIVE = re.compile(r"\b(?:dessen|deren|its|their|ses|son|leurs?|sus?|seus?|suoi|suo|jeho|jejich)\s+\Z")
# `(Landsverordening AVBZ, artikel 12)`
_CALLED_BEFORE = re.compile(rf"(?<!\w)(?P<name>(?:[A-ZÄÖÜ][\w'’-]*{S1}){{0,5}}[A-ZÄÖÜ][\w'’-]*),{S1}\Z")
# An act that is cited right before a number: `NIST SP 800-89, Section 5`, `L 1989-07-06/30, art. 45`.
_CITED_BEFORE = re.compile(
    rf"(?:(?=[\w./-]*\d)(?=[\w./-]*[/-])[\w./-]{{4,30}}|\]\([^()\s]{{1,300}}\)|(?<!\w)[A-Z][\w.-]*(?:{S1}[A-Z][\w.-]*)*{S1}\d{{2,5}}(?:-\d+)?)(?:\)?,?{S1}|{S1}§{S1})\Z"
)
# `c. 149, s. 1`, `ABl. L 63 vom 6.3.2015, S. 1`: the number of something that is cited, but not the year of a sentence,
# nor what the line itself is numbered: `4.3 Clause 4.2 does not apply`.
_COUNTED_BEFORE = re.compile(
    r"(?<=[^\s*_#>•-][^\S\n])(?!(?:1[5-9]|20)\d\d,)\d(?:[\w./-]{0,20}\w)?,?[^\S\n]\Z"
)
# The key of a bibliography entry: `Section 6.2 of [RFC5246]`, `[Menezes], Section 2.3`.
_CITED = re.compile(rf",?{S1}(?:of|in|from|to|under){S1}\[(?P<name>[A-Za-z][\w.+:-]{{1,40}})\](?!\()")
_NOT_NAMES = frozenset(
    "AND OR OF THE IN TO BY UNDER PER FOR WITH SHALL NOT ALSO ANY AS THIS NOTE SEE MAY IS ARE BE ON AT IF IT AN ALL"
    " AM PM EUR USD GBP CHF WARNING DANGER CAUTION IMPORTANT TODO MUST WILL UND ODER DER DIE DAS UTC GMT".split()
)


@dataclass(frozen=True, slots=True)
class Name:
    """Another document as named in the text, and the part that the name itself states (``42 U.S.C. 1983``)."""

    name: str
    start: int
    end: int
    kind: str = ""
    number: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Owner:
    """What a reference belongs to.

    ``how`` is ``this`` document, an ``other`` one, the one named ``last``, or a ``title`` to look up; ``this`` with a
    name is *the Act*, as this one is called.
    """

    how: str
    name: str
    end: int


# What a title says of another act: `Verordnung zur Ausführung des Hafengesetzes`, `Harbour Act (Fees) Regulations`.
_OF_ANOTHER = re.compile(
    r"\b(?:des|der|dem)\s+(?:[A-ZÄÖÜ][\w-]*e[nrs]\s+)?[A-ZÄÖÜ][\w-]*(?:gesetz|ordnung|buch|satzung)(?:es|s)?\b"
    r"|^(?:The\s+)?[A-Z][\w ,'’-]{2,80}?\bAct\b(?=.*\b(?:Regulations?|Rules|Order|By-?laws?|Notice)\b)"
    r"|\b(?:under|implementing|amending|to\s+amend)\s+(?:the\s+)?[A-Z][\w ,'’-]{2,80}?\bAct\b"
)
# Where a title goes on about another act: *ordonnance modifiant l'ordonnance du 7 mars 1991*.
_ABOUT_ANOTHER = re.compile(
    r"\b(?:modifi|amend|implement|en\s+(?:application|exécution)|pris\s+en|zur\s+(?:Änderung|Durchführung|Ausführung)|(?:tot|houdende)\s+wijziging"
    r"|uitvoering|kter\w+\s+se\s+(?:mění|provád)|o\s+změně|pentru\s+(?:modific|complet|aplic)|por\s+l[ao]\s+que\s+se\s+modifica)\w*",
    re.IGNORECASE,
)
# The date or number of an act, behind its name: another act where it is not in the own title.
_NUMBERED = re.compile(
    r"[^.,;:()\n]{0,45}?(?P<number>\d{1,5}/\d{2,4}|(?:\d{1,2}\.?\s\w{3,12}\s)?\b(?:1[5-9]|20)\d\d\b|(?<=\s[Nnč])[r.°º]{0,2}\s?\d[\d.]*)"
)
# Behind *the act*: that it is one named before, and not this one.
_MENTIONED = re.compile(
    r"\s+(?:[a-zà-ÿ]{4,}\s+(?:d['’]|de\s|del\s|sobre\s|relati)|précitée?|susvisée?|visée?\b|susmentionnée?|above|aforesaid|mentioned|referred|cited|modifiée?|που|d['’]|de[slr]?\s|du\s|van\s|over\s|relati|of\s+\d|vom\s+\d|van\s+\d|de\s+\d|od?\s+\d)"
)


class Own:
    """The document's own names: its titles, and what it calls itself (*this Act*)."""

    def __init__(self, titles: Iterable[str], text: str = "") -> None:
        titles = [_OF_ANOTHER.sub(" ", _ABOUT_ANOTHER.split(title)[0]) for title in titles if title]
        self._titles = [title.casefold() for title in titles]
        self._words = {word for title in self._titles for word in _WORDS.findall(title)}
        self._shorts = {
            "".join(word[0] for word in _WORDS.findall(re.sub(r"[(\d].*", "", title)) if word[0].isupper())
            for title in titles
        }
        # In small letters: to ignore their case in the expression takes three times as long.
        beginning = text[:_BEGINNING].lower()
        called = Counter(match["noun"].casefold() for match in _CALLS_ITSELF.finditer(beginning))
        acts = (word.casefold() for title in titles for word in _WORDS.findall(title) if _ACT.match(word))
        self._nouns = {noun for noun, count in called.items() if count > 1} or set(acts)

    def means(self, phrase: str, behind: str) -> bool:
        """Whether *the Regulation*, after a number and with what stands behind it, is this document."""
        first, *others = _WORDS.findall(phrase) or [""]
        if (numbered := _NUMBERED.match(behind)) and not any(
            numbered["number"] in title for title in self._titles
        ):
            return False
        if others and any(phrase.casefold() in title for title in self._titles):
            return True
        dated = any(map(str.isdigit, phrase))
        called = any(_same(first.casefold(), noun) for noun in self._nouns)
        if not called or dated or _MENTIONED.match(behind):
            return False
        return all(
            len(word) < 4 or any(_same(word.casefold(), own) for own in self._words) for word in others
        )

    def __contains__(self, name: str) -> bool:
        if name.isupper() and " " not in name:
            return len(name) > 2 and (name in self._shorts or name.casefold() in self._words)
        for ending in ("es", "s"):
            # A genitive: des Kündigungsschutzgesetzes.
            if name.endswith(ending) and name[: -len(ending)].casefold() in self._words:
                return True
        if number := re.search(r"\d+/\d+", name):
            return any(number.group() in title for title in self._titles)
        folded = name.casefold()
        if " " in folded:
            return any(folded in title for title in self._titles)
        return folded in self._words


def _same(one: str, other: str) -> bool:
    """Whether two words are forms of one: *Hafengesetz* and *Hafengesetzes*."""
    shared = max(4, min(len(one), len(other)) - 2)
    return one[:shared] == other[:shared] and abs(len(one) - len(other)) < 4


def find_names(text: str, series: str = "") -> list[Name]:
    """Return the documents that a text names by number or year, and those of its own ``series``, in order."""
    found: list[Name] = []
    if series:
        other = re.compile(rf"(?<![\w/-]){re.escape(series)}[- ]\d{{1,6}}(?![\w.]\w)")
        found += [Name(match.group(), *match.span()) for match in other.finditer(text)]
    for match in _near_marks(text):
        start, end = match.span()
        kind = ""
        number: tuple[str, ...] = ()
        name = match.group()
        if match["dated"]:
            floor = max(found[-1].end if found else 0, start - 160)
            if (run := _BEFORE_NOUN.search(text, floor, start)) is None:
                continue
            start = run.start()
            name = text[start:end]
        elif match["code"] and match["place"]:
            label = parse_whole(match["place"])
            number = label.number if label else ()
            part = match["part"]
            name = text[start : match.start("part" if part else "place")]
            kind = KIND_OF.get((part or "").lower().rstrip("."), "section")
        found.append(Name(" ".join(name.split()), start, end, kind, number))
    return sorted(found, key=lambda name: name.start) if series else found


def _near_marks(text: str) -> Iterator[re.Match[str]]:
    """Yield the names of a text, which is read around the marks only."""
    done = 0
    for mark in _MARKS.finditer(text):
        at = mark.start()
        while at >= done and (
            near := _NAMES.search(text, max(done, at - _LONGEST_NAME), at + _LONGEST_NUMBER)
        ):
            name = _NAMES.match(text, near.start()) or near
            yield name
            done = max(name.end(), done + 1)
        done = max(done, at)


class Names:
    """The documents named in a text, found by their start or end."""

    def __init__(self, text: str, names: list[Name], own: Own) -> None:
        self._text, self._own = text, own
        self.all = names
        self._starts = {name.start: name for name in names}
        self._ends = [name.end for name in names]

    def last(self, at: int, since: int) -> str:
        """The last name before a position, but not before ``since``."""
        index = bisect_left(self._ends, at + 1) - 1
        return self.all[index].name if index >= 0 and self.all[index].start >= since else ""

    def before(self, start: int, listed: bool = False) -> str:
        """The document named right before a reference: ``FAR 52.232-16``, ``Companies Act 2006, section 5``.

        ``listed``: another reference is there.
        """
        index = bisect_left(self._ends, start + 1) - 1
        if (
            index >= 0
            and start - self._ends[index] < _NEAR
            and _RIGHT_BEFORE.fullmatch(self._text, self._ends[index], start)
        ):
            return self.all[index].name
        if _POSSESSIVE.search(self._text, max(0, start - 12), start):
            return self.last(start, max(0, start - _NEAR)) or "what is named before"
        match = _BEFORE.search(self._text, max(0, start - 60), start)
        name = next(filter(None, match.groups()), "") if match else ""
        if not name and (called := _CALLED_BEFORE.search(self._text, max(0, start - 90), start)):
            name = called["name"] if any(map(_ACT.match, called["name"].split())) else ""
        reach = _NEAR if ")" in self._text[max(0, start - 4) : start] else 60
        if not name and (cited := _CITED_BEFORE.search(self._text, max(0, start - reach), start)):
            name = cited.group().strip(" ,\n")
        if not name and not listed and _COUNTED_BEFORE.search(self._text, max(0, start - 30), start):
            name = "what is cited before"
        return "" if name in _NOT_NAMES else name

    def after(self, at: int, shouting: bool, numbered: bool = True) -> Owner | None:
        """What a reference that ends at ``at`` says it belongs to, if anything; ``numbered`` if it has a number."""
        text = self._text
        if match := _SELF.match(text, at):
            return Owner("this", "", match.end())
        if match := _THAT.match(text, at):
            return Owner("last", match["noun"] or "", match.end())
        if match := _CITED.match(text, at) or _US_CODE.match(text, at):
            return Owner("other", match["name"], match.end())
        match = _OF_SHORT.match(text, at) or (None if shouting else _SHORT.match(text, at))
        if match and match["name"] not in _NOT_NAMES:
            return Owner("other", match["name"], match.end())
        owner = self._named_after(at) or (self._whole(at) if numbered else None)
        own = owner and owner.how == "other" and self._own.means(owner.name, text[owner.end : owner.end + 80])
        return Owner("this", owner.name, owner.end) if owner and own else owner

    def _named_after(self, at: int) -> Owner | None:
        text = self._text
        match = _TAIL.match(text, at)
        if match is None:
            return None
        if named := self._starts.get(match.end()):
            return Owner("other", named.name, named.end)
        return self._called(match.end())

    def _whole(self, at: int) -> Owner | None:
        """What a number is a part of, by the noun phrase behind it, in any language: `van de zwemwaterrichtlijn`."""
        text = self._text
        further = _FURTHER.match(text, at, at + 80)
        for begin in (further.end(), at) if further else (at,):
            if begin != at and _SELF.match(text, begin):
                return Owner("this", "", at)
            match = _GENITIVE.match(text, begin)
            phrase = _PHRASE.match(text, match.end(), match.end() + 160) if match else None
            if match is None or phrase is None:
                continue
            if named := self._starts.get(match.end()):
                return Owner("other", named.name, named.end)
            words = " ".join(phrase.group().split())
            first = words.partition(" ")[0].casefold()
            plain = (match["plain"] or "").strip(" ,\n")
            act = (_ACT if plain else _BARE_ACT).match(words) is not None
            if first in _NOT_A_WHOLE or first in KIND_OF:
                continue
            if not (act or (plain and plain != "der" and (not words[0].islower() or plain not in _WEAK))):
                continue
            return Owner("other", words, phrase.end())
        return None

    def _called(self, at: int) -> Owner | None:
        """A document or clause by its capitalised name: ``the Treaty on European Union``, ``the Changes clause``."""
        best: Owner | None = None
        end, last = at, ""
        for count, match in enumerate(_WORDS.finditer(self._text, at, at + 200)):
            between = self._text[end : match.start()]
            odd = between.strip(" \n,()" if best is None else " \n,")
            if count > 14 or odd or "\n\n" in between or (count == 0 and between):
                break
            word = match.group()
            if count and word in ("clause", "provision", "section", "article"):
                return Owner("title", self._text[at:end], match.end())
            if "," in between and best is not None:
                break
            if word[0].isupper() or word.isdecimal():
                if best is not None or _NOUN_ONLY.fullmatch(word):
                    best = Owner("other", self._text[at : match.end()], match.end())
                    if word not in _GO_ON and last not in _GO_ON:
                        break
                    last = word if word in _GO_ON else last
            elif word not in (_SMALL if best is None else _JOINS):
                break
            end = match.end()
        return best

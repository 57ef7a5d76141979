"""Other documents: how acts, codes and treaties are named, and whether a reference belongs to one."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from loccit.ingest.extract.references.items import KIND_OF, S0, S1
from loccit.labels.readers import parse_whole

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
_SMALL_ACT_NAME = r"(?i:\w{3,40}(?:loven|lova|lagen|balken|förordningen|forskriften|lain|asetuksen))"
_SMALL_ACT = re.compile(rf"(?P<name>{_SMALL_ACT_NAME})(?!\w)")
# Genitives that assign a place to another act without a preposition, in Polish, Czech and Russian.
_OF_AN_ACT = re.compile(
    rf"{S1}(?P<name>(?:ustawy|rozporządzenia|Kodeksu|Konstytucji|zákona|vyhlášky|nařízení|(?:Федерального{S1})?[Зз]акона|[Кк]одекса)"
    rf"(?:{S1}(?:č\.|nr|№){S0}[\d/-]{{1,12}})?)(?!\w)"
)
_DATED = rf"\b(?:{_NOUN}),?{S1}(?:of{S1})?(?:1[6-9]|20)\d\d(?!\d)"
_NAMES = re.compile(
    rf"(?<![\w/])(?:(?P<eu>{_EU})|(?P<code>{_CODE})|(?P<law>{_LAW})|(?P<dated>{_DATED}))|(?<=《)[^《》\n]{{2,50}}(?=》)"
)
# Every name has one of these in it. Most texts have none, and looking for these is far quicker.
_MARKS = re.compile(r"\d/\d|U\.|USC|C\.|CFR|Pub|P\.L\.|RFC|PEP|(?:1[6-9]|20)\d\d|《")
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
    rf"(?P<the>(?:the|le|la|los|las|het|de|einer|eines){S1})?"
)
_SELF = re.compile(
    rf"(?:,?{S1}(?:of|to|in|under|from){S1}(?:this|the{S1}present)|{S1}diese[srm]|{S1}du{S1}présent){S1}(?:{_NOUN}|document"
    rf"|contract|agreement|Ordnung|Satzung|règlement|contrat|accord)\b|{S1}(?:hereof|herein|hereto|hereunder)\b"
    rf"|{S1}(?:de{S1}(?:esta|este|la{S1}presente)|del{S1}presente|van{S1}(?:deze|dit)|i{S1}(?:denne|denna)"
    rf"|niniejsze\w{{1,3}}|tohoto|této|настояще\w{{1,3}}){S1}\w{{2,40}}(?:{S1}(?:[Dd]ecreto|[Oo]rgánica|zákona))?"
)
_THAT = re.compile(
    rf",?{S1}(?:of|to|in|under|from){S1}(?:that|the{S1}same|the{S1}said|the{S1}latter|such|each|its|their|those){S1}"
    rf"(?P<noun>{_NOUN}|agreement|contract|act|code|clause|provision|treaty|directive|regulation)s?\b"
    rf"|{S1}(?:thereof|therein|thereto)\b"
)
_LOOSE = re.compile(
    rf"{S1}(?:of|to){S1}(?:the|a|an|each|any|your|our){S1}(?:(?:basic|prime|foregoing|applicable|resulting){S1})?"
    r"(?P<noun>clause|provision|contract|agreement|solicitation|report|form|proposal|treaty|act|code|constitution|statute"
    r"|policy|standard|subcontract|lease|plan|schedule|questionnaire|certificate|specification|guide|manual)s?\b"
)
_SHORT = re.compile(r"[^\S\n]{1,2}(?P<name>[A-ZÄÖÜ][A-Za-zÄÖÜäöü]{0,10}-?[A-ZÄÖÜ]{1,6})(?![\w'’])")
_ANNEX = re.compile(
    rf"(?P<word>Annex|Appendix|Schedule|Exhibit|Attachment|Protocol)\b(?P<to>{S1}(?:to|of){S1}(?:the{S1})?)?"
)
_OF_SHORT = re.compile(
    rf",?{S1}(?:of|to|in|under){S1}(?:the{S1})?(?P<name>[A-Z]{{2,8}}(?:[ -]\d{{2,6}})?)(?![\w'’])"
)
_US_CODE = re.compile(rf",?{S1}(?:of{S1}(?:the{S1})?)?(?:United{S1}States|U\.{S0}S\.){S1}Code\b(?P<name>)")
# A name may be a link: `[RFC 5280](https://…), section 3.1`.
_RIGHT_BEFORE = re.compile(rf"(?:\]\([^()\s]{{1,300}}\))?,?{S1}")
_NEAR = 320
# What may stand right before a reference: an act in title marks (Chinese) or small letters, the key of a bibliography
# entry, an abbreviation.
_BEFORE = re.compile(
    rf"(?:《([^《》\n]{{2,50}})》|\[([A-Za-z][\w.+:-]{{1,40}})\],?{S1}|(?<![\w-])({_SMALL_ACT_NAME})[^\S\n]{{1,2}}"
    r"|(?<![\w.])([A-Z]{2,8})[^\S\n]{1,2})\Z"
)
# Anything else that a part may belong to; only used to tell that it is not a part of the current place.
_OF_SOMETHING = re.compile(
    rf"{S1}of{S1}(?:(?:the|a|an|each|any|this|that|such|its|their){S1}(?P<noun>[\w-]+)|(?P<name>[A-Z]\w+))"
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

    ``how`` is ``this`` document, an ``other`` one, the one named ``last``, a ``title`` to look up, or
    something named ``loosely`` (*the contract*).
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


class Own:
    """The document's own names."""

    def __init__(self, titles: Iterable[str]) -> None:
        titles = [_OF_ANOTHER.sub(" ", title) for title in titles if title]
        self._titles = [title.casefold() for title in titles]
        self._words = {word for title in self._titles for word in _WORDS.findall(title)}
        self._shorts = {
            "".join(word[0] for word in _WORDS.findall(re.sub(r"[(\d].*", "", title)) if word[0].isupper())
            for title in titles
        }

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


def find_names(text: str) -> list[Name]:
    """Return the documents that a text names by number or year, in order."""
    found: list[Name] = []
    for match in _NAMES.finditer(text) if _MARKS.search(text) else ():
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
    return found


class Names:
    """The documents named in a text, found by their start or end."""

    def __init__(self, text: str, names: list[Name]) -> None:
        self._text = text
        self.all = names
        self._starts = {name.start: name for name in names}
        self._ends = [name.end for name in names]

    def last(self, at: int, since: int) -> str:
        """The last name before a position, but not before ``since``."""
        index = bisect_left(self._ends, at + 1) - 1
        return self.all[index].name if index >= 0 and self.all[index].start >= since else ""

    def before(self, start: int) -> str:
        """The document named right before a reference: ``FAR 52.232-16``, ``Companies Act 2006, section 5``."""
        index = bisect_left(self._ends, start + 1) - 1
        if (
            index >= 0
            and start - self._ends[index] < _NEAR
            and _RIGHT_BEFORE.fullmatch(self._text, self._ends[index], start)
        ):
            return self.all[index].name
        match = _BEFORE.search(self._text, max(0, start - 60), start)
        name = next(filter(None, match.groups()), "") if match else ""
        return "" if name in _NOT_NAMES else name

    def after(self, at: int, shouting: bool) -> Owner | None:
        """What a reference that ends at ``at`` says it belongs to, if anything."""
        text = self._text
        if match := _SELF.match(text, at):
            return Owner("this", "", match.end())
        if match := _THAT.match(text, at):
            return Owner("last", match["noun"] or "", match.end())
        if match := _CITED.match(text, at) or _US_CODE.match(text, at) or _OF_AN_ACT.match(text, at):
            return Owner("other", match["name"] or "United States Code", match.end())
        match = _OF_SHORT.match(text, at) or (None if shouting else _SHORT.match(text, at))
        if match and match["name"] not in _NOT_NAMES:
            return Owner("other", match["name"], match.end())
        match = _TAIL.match(text, at)
        if match is None:
            return None
        at_name = match.end()
        annex = _ANNEX.match(text, at_name) if match["the"] else None
        if annex:
            at_name = annex.end()
        if named := self._starts.get(at_name):
            return Owner("other", named.name, named.end)
        if annex:
            whole = self.after(annex.start("to"), shouting) if annex["to"] else None
            return whole or Owner("title", annex["word"], annex.end("word"))
        if small := _SMALL_ACT.match(text, at_name):
            return Owner("other", small["name"], small.end())
        if called := self._called(at_name):
            return called
        loose = _LOOSE.match(text, at)
        return Owner("loosely", f"the {loose['noun']}", loose.end()) if loose else None

    def something(self, at: int) -> str:
        """The words that say what a relative reference is a part of, if they name no known place."""
        match = _OF_SOMETHING.match(self._text, at)
        return (match["noun"] or match["name"]) if match else ""

    def _called(self, at: int) -> Owner | None:
        """A document or clause by its capitalised name: ``the Treaty on European Union``, ``the Changes clause``."""
        best: Owner | None = None
        end, last = at, ""
        for count, match in enumerate(_WORDS.finditer(self._text, at, at + 200)):
            between = self._text[end : match.start()]
            if count > 14 or between.strip(" \n,") or "\n\n" in between or (count == 0 and between):
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

"""Phrases that define in other languages: ``on entend par « X »``, ``X im Sinne dieses Gesetzes sind``, ``X是指``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pinakes.ingest.definitions.forms import Anchor, read_terms
from pinakes.ingest.definitions.terms import TERM, clean_term
from pinakes.ingest.definitions.units import Unit

_BEING = r"(?:ist|sind|gilt|gelten|bedeutet|bedeuten|bezeichnet|bezeichnen)"
_IM_SINNE = r"im sinne (?:dieser|dieses|des|der|von)\b"
# What a term stands after; then it may be set off, or bare up to a sign or the first word of the explanation.
_BEFORE = re.compile(
    r"\b(?:on entend par|s['’]entend(?:ent)? par|se (?:entiende|entienden|entenderá|entenderán) por|si intende per"
    r"|(?:entende-se|entendem-se) por|wordt verstaan onder|verstaat men onder"
    rf"|{_IM_SINNE}[^.;„“\"«»\n]{{0,80}}?\b{_BEING}"
    r"(?: (?:der|die) (?:ausdruck|ausdrücke|begriff|begriffe))?)\s*:?\s*"
    r"(?:(?:l['’]|(?:der|die|das|eine?|la|le|les|el|los|las|un|une|una|il|lo|gli|het|de)\s)\s*)?",
    re.IGNORECASE,
)
_EXPLAINED = (
    r"(?:tou(?:t|te|s|tes)|l[eao]s?|un[ea]?|ce(?:lui|lle|ux|lles)|el|los|las|aquel\w*|cualquier\w*|tod[oa]s?|il|lo|gli|ogni"
    r"|qualquer|alle[rsmn]?|jede[rsmn]?|solche|wer|ein[es]?|eine[rsmn]?|d(?:er|ie|as)(?:jenigen?)?|elke?|iedere?)"
)
_OPEN = "".join(
    rf"(?<!\b{word})" for word in "de del du des à au en y et ou o a e par por sur di da von und".split()
)
_BARE = re.compile(rf"(?P<term>[^\W\d_][^«»„“”\"‘’,;:.()\n]{{1,70}}?){_OPEN}(?=\s*[:,]|\s+{_EXPLAINED}\s)")
_GERMAN = re.compile(
    rf"(?P<term>[A-ZÄÖÜ][^.;:,„“\"()\n]{{1,80}}?),?\s+im Sinne (?:dieser|dieses|des|der|von)\b"
    rf"[^.;:\n]{{0,80}}?\b{_BEING}\b"
)
_ARTICLE = re.compile(r"(?:Der|Die|Das|Ein|Eine|Als)\s+(?=\w)")
_MEANT = r"(?:是指|系指|指的是|指(?!定|导|示|派|挥|标|数|引|南|控|责|令|明|出|向|使))"
_DIGITS = r"[一二三四五六七八九十\d]{1,3}"
_CHINESE = re.compile(
    rf"(?:所称的?|所指的?|所谓)[“「]?(?P<called>[^，。；：、“”「」\s]{{1,30}})[”」]?[，,]?\s{{0,2}}(?:{_MEANT}|包括|为)"
    rf"|(?<![^\n；])[ \t　]{{0,8}}(?:[（(]{_DIGITS}[）)]|{_DIGITS}[、.])?\s{{0,4}}"
    rf"(?![^，。；：\n]{{0,24}}所[称指谓])[“「]?(?P<listed>[^，。；：、“”「」（）()\s]{{1,25}})[”」]?[，,：:]?\s{{0,2}}是指"
)
_JAPANESE = re.compile(r"「(?P<called>[^「」\n]{1,40})」(?P<listed>)とは")
_VERBS = re.compile(
    r"\b(?:ist|sind|wird|werden|hat|haben|kann|können|muss|müssen|soll|sollen|darf|dürfen|nicht)\b"
)
_MOST_WORDS = 6


def phrase_anchors(text: str, unit: Unit) -> Iterator[Anchor]:
    """Yield definitions whose words say so by an idiom of their language, in order of their kind."""
    german = _GERMAN.match(text, unit.body, unit.end)
    for match in _BEFORE.finditer(text, unit.body, unit.end):
        if german and match.start() < german.end():
            # `Arbeitnehmer im Sinne des Gesetzes sind Arbeiter und …` explains what stands before.
            continue
        term = TERM.match(text, match.end(), unit.end)
        leading = match.start() == unit.body
        if term is not None:
            terms, end = read_terms(text, term, unit.end)
            if terms:
                yield Anchor(terms, term.start(), end, leading=leading)
            continue
        bare = _BARE.match(text, match.end(), unit.end)
        name = _name(bare["term"]) if bare else ""
        # German nouns have a capital; `gilt auch eine Leistung` goes on with something else.
        name = "" if "sinne" in match.group().lower() and not name[:1].isupper() else name
        if bare and name:
            yield Anchor((name,), match.start() if leading else bare.start(), bare.end(), leading, sure=0.85)
    if german:
        article = _ARTICLE.match(german["term"])
        name = _name(german["term"][article.end() if article else 0 :])
        if name and not _VERBS.search(name):
            yield Anchor((name,), unit.body, german.end(), True, sure=0.9)
    for pattern in (_CHINESE, _JAPANESE):
        for found in pattern.finditer(text, unit.start, unit.end):
            name = clean_term(found["called"] or found["listed"])
            if name:
                yield Anchor(
                    (name,),
                    found.start("called" if found["called"] else "listed"),
                    found.end(),
                    True,
                    sure=0.9,
                )


def _name(words: str) -> str:
    """A term that nothing sets off, when it is short enough to be one."""
    name = clean_term(words)
    return name if name and name.count(" ") < _MOST_WORDS else ""

"""The forms of definitions: where one starts, and which terms it defines.

Other languages have their own phrases: ``on entend par « X »``, ``X是指``; German ones are in ``german``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from loccit.extract.definitions.terms import QUOTES, TERM, clean_term
from loccit.extract.definitions.units import Unit

MAX_SHARED = 8
_MAX_LOOSE = 50  # per unit: anchors inside other anchors' sentences, which only hostile text has in numbers

_GERMAN_VERB = r"(?:ist|sind|gilt|gelten|bedeutet|bedeuten|bezeichnet|bezeichnen)"
_WORD_OF = r"(?:der|die)\s+(?:ausdruck|ausdrücke|begriffe?)"
# With a capital: `X im Sinne dieses Gesetzes ist` explains what precedes it.
_SENSE = r"(?-i:Im)\s+sinne\s+(?:dieser|dieses|des|der|von)\b"
# A full stop before a number ends no sentence: `im Sinne des § 2 Abs. 1 ist`.
IN_THE_SENSE = (
    rf"i[mn]\s+Sinne\s+(?:dieser|dieses|des|der|von)\b(?:[^.;:]|\.(?=\s?\d)){{0,80}}?\b{_GERMAN_VERB}\b"
)
_STRONG = (
    r"(?:(?:also|collectively|each|both) )?(?:(?:shall|will|is to|are to) )?"
    r"(?:means?\b|(?:has|have) the (?:\w+ )?meanings?\b"
    r"|(?:be|is|are) (?:hereby )?defined (?:as|to mean|in|by|at|under)\b"
    r"|be construed as\b|(?:is|are) (?:the )?(?:abbreviated title|abbreviation) (?:for|of)\b"
    r"|bedeute[nt]\b|bezeichne[nt]\b|bezieh(?:t|en) sich auf\b|(?:hat|haben) die Bedeutung\b"
    r"|désigne(?:nt)?\b|signifie(?:nt)?\b|s['’]entend(?:ent)? (?:de|par|comme)\b"
    r"|înseamnă\b|oznacza(?:ją)?\b|znamená\b|означает\b|betyder\b|σημαίν(?:ει|ουν)\b|νο(?:είται|ούνται)\b"
    r"|significan?\b|se refiere[n]? a\b|se entender[áa]n?\b|betekent\b|indica(?:no)?\b"
    rf"|{IN_THE_SENSE})"
)
_WEAK = (
    r"(?-i:(?:(?:shall|will) )?(?:(?:also|only) )?"
    r"(?:refers? to|denotes?|includes?|does not include|gelten als|gilt als)\b)"
)
_BEING = r"(?:is|are|ist|sind|est|sont|es|son)\b(?! to\b)"
_SPACE = r"[\s,*_]*"
_VERB = re.compile(rf"{_SPACE}(?:(?P<strong>{_STRONG})|(?P<weak>{_WEAK})|(?P<being>{_BEING}))", re.IGNORECASE)
_OPENING = re.compile(r"[ \n\t,]*\(")
# After a qualifier "is" is too weak; the group keeps the groups of both patterns aligned.
_LATER_VERB = re.compile(rf"(?<=[\s,])(?:(?P<strong>{_STRONG})|(?P<weak>{_WEAK})|(?P<being>(?!)))")
# What may be between a term and its verb: "‘consent’ of the data subject means", "X, as used in 4.2, means".
_QUALIFIER = re.compile(
    r"\s*,?\s*(?:as|when|if|in|for|of|with|within|pursuant|under|unless|used|including|consistent|whether|im|bei"
    r"|in relation|au sens|lorsqu)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|this|that|which|he|she|they|these|we|you|terms?)[\s,]*$", re.IGNORECASE)
_BREAK = re.compile(r";\s|[\"“”‘«»„`<>]|(?<!\w)'|[.!?][\"”’)]?\s+[A-Z\"“‘*]|\n\s*\n")
_JOIN = re.compile(
    r"\s*(?:,?\s*(?:and(?:/or)?|or|und|oder|sowie|et|ou|y|o)\b|,|/)\s*(?:the (?:term|expression|word)s? )?"
)
_SPACES = re.compile(r"\s+")
# What precedes a term that is only asked about, or a German name that is only given: `kurz als „X“ bezeichnet`.
_ASKING = re.compile(
    r"\b(?:what|how|whether|why|does|do|did|would|could|might|whatever|than|als|kurz)"
    r"(?:\s+(?:the\s+)?(?:word|term|phrase|expression)s?)?\s*$",
    re.IGNORECASE,
)
# What precedes a term with which a clause begins: what it applies to, or the end of the clause before.
_INTRODUCED = re.compile(
    r"(?:\b(?:in this (?:section|subsection|act|part|chapter|article|definition|clause|paragraph|agreement|schedule)"
    r"|terms?|words?|expressions?|phrases?|references? to|Begriffe?|Ausdruck|Ausdrücke|terme|término)"
    r"|(?:^|[.;)]\s)(?:in|for|as|under|when|wherever|throughout|im|für)\b[^.;]{0,150}[,:—–-])\s*(?:an?\s+|the\s+)?$",
    re.IGNORECASE,
)
_BOUNDARY = re.compile(
    r"(?:[.;:—–)\n]|[.;][\"”’]|(?:[.;,]\s*)?\b(?:and|or|und|et|y))\s*(?:\(?\w{1,4}[.)]\s*)?"
    r"(?:(?:and|or)\s+)?(?:(?:the|an?)\s+)?(?:(?:term|expression|word|phrase)s?\s+)?$",
    re.IGNORECASE,
)
_ONE = re.compile(r"(?:^|[.!?;:—–(]\s{0,2}|\n\s*|,\s)an?\s+$", re.IGNORECASE)
_BEING_ONE = re.compile(r"\s+(?:an?|the|any|one|all|each|every|defined)\b")
_LEAD = re.compile(r"\s*(?:(?:the|an?)\s+)?(?:(?:terms?|expressions?|words?|phrases?)\s+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Anchor:
    """The start of a definition. ``cuts``: it ends the previous one in the same paragraph.

    ``sure`` is the confidence in its form.
    """

    terms: tuple[str, ...]
    start: int
    after: int
    leading: bool
    cuts: bool = True
    sure: float = 0.95


def read_terms(text: str, first: re.Match[str], limit: int) -> tuple[tuple[str, ...], int]:
    """Read a term and those that share its definition ("A", "B" and "C"); return them and where they end."""
    terms = [clean_term(first.group())]
    at = first.end()
    while len(terms) < MAX_SHARED:
        # American style puts the comma inside: "A," "B," and "C".
        joint = _JOIN.match(text, at, limit) or (
            _SPACES.match(text, at, limit) if text[at - 2] == "," else None
        )
        following = TERM.match(text, joint.end(), limit) if joint else None
        if following is None or not (term := clean_term(following.group())):
            break
        terms.append(term)
        at = following.end()
    return tuple(dict.fromkeys(term for term in terms if term)), at


def find_verb(text: str, at: int, limit: int) -> re.Match[str] | None:
    """Return the verb after a term, past brackets and a qualifying phrase."""
    while (match := _VERB.match(text, at, limit)) is None and (opening := _OPENING.match(text, at, limit)):
        at = closing_bracket(text, opening.end() - 1, limit)
        if at < 0:
            return None
    if match is not None:
        return match
    if not _QUALIFIER.match(text, at, limit):
        return None
    match = _LATER_VERB.search(text, at, min(limit, at + 400))
    if match is None or _BREAK.search(text, at, match.start()) or _PRONOUN.search(text, at, match.start()):
        return None
    return match if text.count("(", at, match.start()) == text.count(")", at, match.start()) else None


def closing_bracket(text: str, opening: int, limit: int, reach: int = 600) -> int:
    """Return the offset after the closing bracket, or -1."""
    depth = 0
    for at in range(opening, min(limit, opening + reach)):
        if text[at] == "(":
            depth += 1
        elif text[at] == ")":
            depth -= 1
            if depth == 0:
                return at + 1
    return -1


def inline_anchors(text: str, unit: Unit, glossary: bool) -> list[Anchor]:
    """Return the definitions with a verb anywhere in a unit: ``"X" means``, ``**X** refers to``."""
    anchors: list[Anchor] = []
    at, loose = unit.body, 0
    while (match := TERM.search(text, at, unit.end)) is not None:
        terms, end = read_terms(text, match, unit.end)
        verb = find_verb(text, end, unit.end) if terms else None
        if verb is None or not _defines(text, unit, match, verb, glossary):
            at = max(end, match.start() + 1) if terms else match.start() + 1
            continue
        before = text[max(unit.body, match.start() - 60) : match.start()]
        leading = match.start() - unit.body < 30 and bool(_LEAD.fullmatch(before))
        cuts = leading or bool(_BOUNDARY.search(before))
        loose += not cuts
        if cuts or loose <= _MAX_LOOSE:
            sure = 0.95 if verb["strong"] else 0.85
            anchors.append(Anchor(terms, match.start(), verb.end(), leading, cuts, sure))
        at = verb.end()
    return anchors


def _defines(text: str, unit: Unit, term: re.Match[str], verb: re.Match[str], glossary: bool) -> bool:
    """Whether a term and a verb are a definition, rather than a remark about a title, a quotation or a question."""
    printed = term.group().lstrip("*_")
    quoted = printed[0] in QUOTES
    before = text[max(unit.body, term.start() - 200) : term.start()]
    leading = bool(_LEAD.fullmatch(before))
    if _ASKING.search(before) or text[verb.end() : verb.end() + 1] in ("?", "!"):
        return False
    introduced = leading or bool(_INTRODUCED.search(before))
    opens = introduced or bool(_BOUNDARY.search(before))
    if verb["being"]:
        # `A "large vessel" is any vessel …`: with its article it can hardly be a name.
        one = quoted and bool(_ONE.search(before)) and bool(_BEING_ONE.match(text, verb.end()))
        return (glossary and leading) or one
    if printed[0] == "`":
        # Code: `--flag` means …
        name = all(char.isalnum() or char in " -_." for char in printed.strip("`\"'"))
        return name and (introduced if verb["strong"] else glossary and leading)
    if verb["weak"]:
        return introduced or (opens and (glossary or (quoted and "refer" in verb["weak"])))
    return quoted or opens


# -- phrases of other languages ---------------------------------------------------------------------------------


# What may precede a term; the term may be set off, or extend to a sign or the first word of the explanation.
_BEFORE = re.compile(
    r"\b(?:(?:on entend par|s['’]entend(?:ent)? par|se (?:entiende|entienden|entenderá|entenderán) por|si intende per"
    r"|(?:entende-se|entendem-se) por|wordt verstaan onder|verstaat men onder"
    rf"|(?P<sense>{_SENSE}[^.;„“\"«»]{{0,80}}?\b{_GERMAN_VERB}(?: {_WORD_OF})?))\s*:?\s*"
    r"(?:(?:l['’]|(?:der|die|das|eine?|la|le|les|el|los|las|un|une|una|il|lo|gli|het|de)\s)\s*)?"
    # German phrases with a term in quotation marks: `bedeutet der Ausdruck „X“`, `Unter „X“ versteht man`.
    rf"|(?P<quoted>(?:(?:bedeute[nt]|bezeichne[nt]|umfass(?:t|en)|bezieh(?:t|en)\s+sich)\s+{_WORD_OF}"
    r"|(?<=[,;:.)–]\s)(?:bedeute[nt]|bezeichne[nt]))\s+(?=[„“\"«‹])"
    rf"|(?-i:Unter|Als)\s+(?:(?:dem|den|der)\s+(?:(?:Begriff|Ausdruck)\s+)?)?(?=[„“\"«‹][^„“”\"«»]{{1,120}}[“”\"»›]"
    r"\s+(?:versteht|verstehen|wird|werden|ist|sind|gilt|gelten|bezeichne[nt])\b)))",
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
_MEANT = r"(?:是指|系指|指的是|指(?!定|导|示|派|挥|标|数|引|南|控|责|令|明|出|向|使))"
_DIGITS = r"[一二三四五六七八九十\d]{1,3}"
_CHINESE = re.compile(
    rf"(?:所称的?|所指的?|所谓)[“「]?(?P<called>[^，。；：、“”「」\s]{{1,30}})[”」]?[，,]?\s{{0,2}}(?:{_MEANT}|包括|为)"
    rf"|(?<![^\n；])[ \t　]{{0,8}}(?:[（(]{_DIGITS}[）)]|{_DIGITS}[、.])?\s{{0,4}}"
    rf"(?![^，。；：\n]{{0,24}}所[称指谓])[“「]?(?P<listed>[^，。；：、“”「」（）()\s]{{1,25}})[”」]?[，,：:]?\s{{0,2}}是指"
)
_JAPANESE = re.compile(r"「(?P<called>[^「」\n]{1,40})」(?P<listed>)とは")
_MOST_WORDS = 6
# The term stands inside the idiom: `prin navă se înțelege`, `przez statek rozumie się`, `med fartyg avses`.
_WITHIN = re.compile(
    r"(?<!\w)(?:prin|przez|pod|под|med|ved|ως)\s+(?P<term>[^\n,;:.()]{2,80}?)\s+(?:se\s+(?:înțeleg|înţeleg)\w*|(?:należy\s+)?rozumie\w*(?:\s+się)?"
    r"|se\s+rozumí|rozumí\s+se|понима\w+|avses|menas|menes|forstås|νο(?:είται|ούνται))(?!\w)",
    re.IGNORECASE,
)


def phrase_anchors(text: str, unit: Unit) -> Iterator[Anchor]:
    """Yield definitions that use an idiom of their language, by kind."""
    for match in _BEFORE.finditer(text, unit.body, unit.end):
        term = TERM.match(text, match.end(), unit.end)
        leading = match.start() == unit.body
        if term is not None:
            terms, end = read_terms(text, term, unit.end)
            if terms:
                yield Anchor(terms, term.start(), end, leading=leading)
            continue
        bare = None if match["quoted"] else _BARE.match(text, match.end(), unit.end)
        name = short_name(bare["term"]) if bare else ""
        # German nouns have a capital; `gilt auch eine Leistung` continues differently.
        if bare and name and (name[0].isupper() or not match["sense"]):
            yield Anchor((name,), match.start() if leading else bare.start(), bare.end(), leading, sure=0.85)
    for match in _WITHIN.finditer(text, unit.body, unit.end):
        if name := short_name(match["term"]):
            leading = match.start() == unit.body
            yield Anchor((name,), match.start(), match.end(), leading, sure=0.9)
    for pattern in (_CHINESE, _JAPANESE):
        for found in pattern.finditer(text, unit.start, unit.end):
            if name := clean_term(found["called"] or found["listed"]):
                yield Anchor(
                    (name,),
                    found.start("called" if found["called"] else "listed"),
                    found.end(),
                    True,
                    sure=0.9,
                )


def short_name(words: str) -> str:
    """A term that nothing sets off, if it is short enough to be one."""
    name = clean_term(words)
    return name if name and name.count(" ") < _MOST_WORDS else ""

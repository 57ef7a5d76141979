"""Duties: the verbs that oblige, forbid, permit or recommend, with the bearer and the action."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from loccit.extract.obligations.lexicon import Lexicon, has_any

VERBS = {
    language: re.compile(rf"\b(?:{forms})", re.IGNORECASE)
    for language, forms in (
        ("fr", r"doi(?:t|vent)|(?:est|sont)\s+tenue?s?\s+de|ne\s+peu(?:t|vent)\s+(?:pas|que)"),
        ("es", r"debe(?:n|rá|rán)?|está(?:n)?\s+obligad[oa]s?|no\s+podrá(?:n)?"),
        ("it", r"dev(?:e|ono)|dovr(?:à|anno)|(?:è|sono)\s+tenut[oaie]"),
        ("pt", r"dev(?:e|em|erá|erão)|não\s+pode(?:m|rá|rão)?"),
        ("nl", r"moet(?:en)?|(?:is|zijn)\s+verplicht|mag\s+niet|mogen\s+niet"),
    )
}
"""Verbs of duty in languages without a lexicon."""

# Limits: verbs considered per sentence, text before a verb searched for the bearer, and length of the bearer.
_MOST = 40
_BEFORE = 500
_LONGEST_BEARER = 120
# How far after a verb its agent can be: `shall be approved by the Board`.
_AGENT = 60
LONGEST_ACTION = 400
_LONGEST_EXCEPTION = 300
# `(a)`, `4.2`, `1.`, `- `, before a sentence begins.
_MARKER = re.compile(
    r"^(?:[-–—•*“‘]\s*|o\s+|\(?\s?[\divxlcA-Za-z]{1,5}\s?\)\s*|\d{1,3}[A-Z]?\.\s*(?=—)|\d{1,3}(?:\.\d{1,3}){0,4}\.?\s+|[a-z]\.\s+|§\s?\d+\w?\s+|\[\^\w{1,80}\]\s*)+"
)
_BRACKETS = re.compile(r"\s\([^()]{0,200}\)")
_QUOTED = re.compile(r"[\"“„«‘][^\"”“»’]{0,120}[\"”“»’]")
_AND = re.compile(
    r"(?:\band|\bor|\bbut|\bund|\boder|\bsowie)(?:\s+(?:\w+ly|also|then|\([a-z]\)))?\s*,?\s*$", re.IGNORECASE
)
_LEADING_AND = re.compile(r"^(?:and|or|but|und|oder|sowie)\s+", re.IGNORECASE)
_CONJUNCTION = re.compile(r"\b(?:whether|that|because|so\s+that|ob|dass|daß)\s", re.IGNORECASE)
_SAYS_THAT = re.compile(
    r"[^,]{0,80}\b(?:provides?|states?|agrees?|requires?|ensures?|acknowledges?|determines?|represents?|warrants?|resolved)"
    r",?\s+that\b,?\s*",
    re.IGNORECASE,
)
# After these, a modal is in a clause of its own.
_CLAUSE = re.compile(
    r"[;:]\s|(?<!\d)\.(?:\[\^\w{1,20}\])?\s|\bprovided,?\s+(?:however,?\s+)?that\s", re.IGNORECASE
)
_OPENING = re.compile(
    r"(?:if|when|where|once|unless|after|before|until|while)\b|within\b.*\b(?:after|before|of|from|following)\b",
    re.IGNORECASE,
)
_PRONOUNS = frozenset("it they he she we you one both all neither each".split())
_DETERMINERS = frozenset(
    "the a an each every any all no neither either both such this that these those its their our your his her one "
    "some".split()
)
# What begins a part of a sentence that is about the whole of it: no bearer.
_CONNECTIVES = frozenset(
    "however furthermore moreover therefore thus hence then otherwise nevertheless nonetheless accordingly similarly "
    "likewise instead consequently besides meanwhile again also still here there so but".split()
)
_ADVERBS_BEHIND = frozenset(
    "hereby also each further therefore then only now thus still never thereupon".split()
)
_NOT_ADVERBS = frozenset("family assembly supply monopoly reply july anomaly ally italy butterfly".split())
# `Section 214 of the Act`, `Articles 15 to 20`: provisions bear no duties.
_PROVISION = re.compile(
    r"(?:the\s+)?(?:(?:sub-?)?(?:section|article|paragraph|clause|regulation|rule|part|chapter|schedule|annex|appendix)s?"
    r"|§§?)(?:\s+\(?(?:\d|[ivx]+\b)|\s*$|\s+of\b)",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b(?:1[89]|20|21)\d\d\b|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
# A verb in the main clause of what should be a noun phrase.
_FINITE = re.compile(r"\b(?:is|are|was|were|has|have|had|does|do|did|believes?|agrees?|intends?)\b")
_RELATIVE = re.compile(
    r",?\s+(?:(?:to|of|in|by|for|on|upon|under|with|from|at)\s+)?(?:who|which|that|whose|whom|where|when|if)\b",
    re.IGNORECASE,
)
# `that owned less than 5 %`, but not `that party`
_RELATIVE_CLAUSE = re.compile(
    r"(?:who|which|whose|whom|that\s+(?:\w+ed|is|are|was|were|has|have|had|do(?:es)?))\b", re.IGNORECASE
)
_PREPOSITIONS = frozenset(
    "of by in on at to for from with under between among upon through over against into within without than as and or "
    "is are was were be per via".split()
)
_OTHER_MODAL = re.compile(r"\s+(?:should|would|could|might|can)$")
# `Paragraphs 1, 2 and 3 shall not apply`
_NUMBERS = re.compile(r"[\d\s().,]+(?:(?:and|or|to)[\d\s().,]+)*")
# After these, a noun phrase before a modal is the subject of a clause of its own.
_OPENS_CLAUSE = re.compile(
    r"\b(?:that|which|whom|whether|because|although|as|if|when|whenever|where|unless|until|once|while|before|after|since)\s+",
    re.IGNORECASE,
)
# `premises where equipment has to be installed`
_SIDE_CLAUSE = re.compile(
    r"\s(?:where|when|whenever|if|because|although|until|unless|while)(?:\s+[\w’'-]+){1,2}$", re.IGNORECASE
)
# In these, a modal states nothing: `if a dispute shall arise`, `as the same shall become due`.
_CONDITION = re.compile(
    r"\b(?:(?P<as>as)|if|when|whenever|unless|until|once|in\s+case|in\s+the\s+event(?:\s+that)?)\s+(?:(?:it|they|he|she|we|you|same)"
    r"|(?:the|an?|any|such|no|that|this)(?:\s+(?!the\b|an?\b|any\b|such\b|no\b)[\w’'-]+){1,4}"
    r"|(?-i:[A-Z][\w’'-]+))$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"(?:such\s+as|including|together\s+with|taking|having|being)\b", re.IGNORECASE)
# `Each processor and, where applicable, its agent`, `users who`
_OPEN_ENDED = re.compile(r"\b(?:and|or|of|from|by|to|with|in|as|who|which|that|whom|whose)$", re.IGNORECASE)
_LISTED = re.compile(r"\A(?:and|or)\s+")
_JOINS_CLAUSE = re.compile(r"and\b|or\s+(?:it|they|he|she|we|you)\b")
_JOINT = re.compile(r"\b(?:and|or)\b")
_CONDITION_LENGTH = 90
_BETWEEN = re.compile(r"\b(?:as|which|whom)\s+$")
# What follows `by` in a passive without being who does it.
_NOT_AGENT = re.compile(
    r"\b(?:sum|amount|rate|percentage|per\s*cent|number|means|way|virtue|reason|reference|addition|use|action|notice|order"
    r"|regulations?|law|end|date|times?|hours?|days?|weeks?|months?|years?|acts?|receipts?|certificates?|statements?|documents?|evidence|reports?|letter"
    r"|list|copy|copies|fee|deposit|plan|agreement|contract|provisions?|rules?|reasons?|this|vote|majority|words?)\b|\d",
    re.IGNORECASE,
)
# `Not all members may vote` says of no one in particular what it allows.
_NO_EFFECT = re.compile(
    r"nothing\s+(?:in|contained|herein|under|of)\b|not\s+(?:all|every\w*|each)\b|nicht\s+(?:alle|jede)",
    re.IGNORECASE,
)
_GERMAN_SUBJECT = re.compile(
    r"\s*(?P<who>(?:er|sie|es|man|wer|jeder|jede)\b(?!\s+(?:[A-ZÄÖÜ]|der\s))|(?:der|die|das|ein|eine|jeder|jede|jedes|diese[rs]?|kein\w*|beide)\s+"
    r"(?:[\w-]+[en]r?\s+){0,3}?[A-ZÄÖÜ][\w-]+(?:\s+(?:für|der|des)\s+[A-ZÄÖÜ][\w-]+(?:\s+und\s+[\w-]+\s+[A-ZÄÖÜ][\w-]+)?)?"
    r"(?:\s+[A-ZÄÖÜ][\w-]+){0,3})"
)
# `Das Protokoll hat der Betreiber aufzubewahren`
_AGENT_BEHIND = re.compile(r"\s*(?P<who>der\s+[A-ZÄÖÜ][\w-]*(?:er|ling|or|ant|är|eur)|er)\b(?!\s+[A-ZÄÖÜ])")
# `Wohnräume darf er betreten`: these are never objects.
_NOMINATIVE_BEHIND = re.compile(r"\s*(?P<who>er|man|wir|ich)\b")
_PLURALS = ("müssen", "mussten", "haben", "sind", "sollen", "dürfen", "können", "brauchen")
# `Sinkt die Sicht, so hat der Führer …`: a condition stands before the verb, and who has to behind it.
_SO = re.compile(r"(?:^|,\s)so$", re.IGNORECASE)
_GERMAN_DETERMINER = re.compile(
    r"(?:wer|de[rn]|die|das|eine?|jede[rs]?|diese[rs]?|keine?|alle|beide)\b", re.IGNORECASE
)
_PARTICIPLE_CLAUSE = re.compile(r",\s*(?:der|die|das|welche\w*|who|which|that|whose)\b")


@dataclass(slots=True)
class Duty:
    """A verb with its clause: ``start`` and ``end`` are the verb's, ``stop`` is the end of the clause."""

    kind: str
    start: int
    end: int
    stop: int
    modal: str
    bearer: str = ""
    action: str = ""
    exception: str = ""


def find_duties(sentence: str, lexicon: Lexicon) -> list[Duty]:
    """Return what a sentence obliges, forbids, permits and recommends, in order."""
    folded = sentence.casefold()
    forms = [modal for modal in lexicon.modals if has_any(folded, modal[1])]
    if not forms or sentence.endswith("?"):
        return []
    plain = _QUOTED.sub(lambda match: "\0" * len(match.group()), sentence)
    duties: list[Duty] = []
    negated: list[str] = []
    for kind, start, end, negation in _modals(plain, forms, lexicon):
        duties.append(Duty(kind, start, end, len(sentence), " ".join(sentence[start:end].split())))
        negated.append(negation)
    for number, duty in enumerate(duties):
        following = duties[number + 1].start if number + 1 < len(duties) else len(sentence)
        duty.stop = _clause_stop(sentence, duty.end, following, last=number + 1 == len(duties))
        before = duties[number - 1] if number else None
        subject = _subject(sentence, duty, before)
        bearer = _german_bearer if lexicon.language == "de" else _bearer
        duty.bearer = bearer(sentence, duty, before, subject, lexicon)
        _split(sentence, duty, lexicon)
        if _NO_EFFECT.match(subject) or _is_condition(subject, duty):
            duty.kind = ""
        elif lexicon.forms["none"].match(subject):
            duty.kind = negated[number]
            # No one has the duty, and a passive has no one either.
            duty.bearer = "" if duty.kind == "permission" else duty.bearer
        elif lexicon.language == "de":
            duty.kind = _german_kind(sentence, duty, negated[number], lexicon)
    return [duty for duty in duties if _counts(duty, lexicon)]


def leads(sentence: str, first: Duty) -> bool:
    """Whether the first of several verbs is only in a clause before the subject.

    *Within 60 days after the amount that it should pay is known, the agency shall*: the days belong to what it shall
    do.
    """
    return (
        _OPENING.match(_MARKER.sub("", sentence[: first.start])) is not None
        and "," not in sentence[: first.start]
        and sentence.startswith(", ", first.stop)
    )


def _is_condition(subject: str, duty: Duty) -> bool:
    """Whether a modal says only when something else is the case: *as the same shall become due*.

    *As the Minister may determine* states a power.
    """
    condition = _CONDITION.search(subject, max(0, len(subject) - _CONDITION_LENGTH))
    return condition is not None and not (condition["as"] and duty.kind == "permission")


def _modals(
    sentence: str, forms: Sequence[tuple[str, tuple[str, ...], re.Pattern[str], str]], lexicon: Lexicon
) -> list[tuple[str, int, int, str]]:
    found: list[tuple[str, int, int, str]] = []
    for kind, _, form, negated in forms:
        for match in form.finditer(sentence):
            if _is_name_or_condition(sentence, match, lexicon):
                continue
            if lexicon.forms["not_modal_before"].search(sentence, max(0, match.start() - 20), match.start()):
                continue
            if len(found) < _MOST and not any(
                start < match.end() and match.start() < end for _, start, end, _ in found
            ):
                found.append((kind, match.start(), match.end(), negated))
    return sorted(found, key=lambda item: item[1])


def _is_name_or_condition(sentence: str, match: re.Match[str], lexicon: Lexicon) -> bool:
    """Whether a modal with a capital is none: *Kann er nicht zahlen, …*, *Should the Buyer fail, …*, *8 May*."""
    word = match.group().split(maxsplit=1)[0]
    if not word[0].isupper() or word.isupper():
        return False
    if lexicon.language == "de" or word in ("May", "Will", "Shall"):
        return True
    following = sentence[match.end() :].split(maxsplit=1)[:1]
    return word == "Should" and any(
        name[:1].isupper() or name in _DETERMINERS or name in _PRONOUNS for name in following
    )


# A relative clause within a German clause, and where a subordinate one ends it.
_EMBEDDED = re.compile(
    r",\s(?:(?:in|mit|für|von|auf|zu|an)\s)?(?:die|der|das|dem|den|deren|dessen|denen|welche\w?)\b"
    r"(?:[^,;:]|,(?=\d)){0,200}(?P<close>,(?!\d)|)"
)
_GERMAN_END = re.compile(
    r"[;:]|(?<!\d)\.\s(?!\d)|,\s(?:es\s+sei\s+denn|außer|sondern|um|ohne|(?:auch\s+|nur\s+)?(?:wenn|falls|sofern|soweit|weil|da"
    r"|ob|dass|daß|wie|wo|was|wer|bis|bevor|nachdem))\b"
)
_GERMAN_NOT = re.compile(
    r"\b(?:nicht(?!\s+nur\b|-|\s+\w{3,}[tnd]e[mnrs]?\s+(?-i:[A-ZÄÖÜ]))|kein\w{0,2}|keinesfalls|niemals|nie|weder)\b",
    re.IGNORECASE,
)
_TO_DO = ("hat", "haben", "ist", "sind")
# `nicht weniger als` negates the comparison, not the verb.
_NOT_THAN = re.compile(
    r"\bnicht\s+(?:(?:vor|unter|über|ohne|allein|lediglich|zu)\b|\w+er\s+als\b|mehr\s+als\b|weniger\s+als\b)",
    re.IGNORECASE,
)


def _closed(embedded: re.Match[str]) -> str:
    return " " if embedded["close"] else ";"


def _german_kind(sentence: str, duty: Duty, negated: str, lexicon: Lexicon) -> str:
    """The kind of a German modal, which what follows in its clause can negate; nothing if that is not clear."""
    if " " in duty.modal:
        if "vertreten" in duty.modal:
            return ""
        # `ist nicht verpflichtet`; `zu tragen hat` has it before.
        if sentence[: duty.start].rstrip().endswith((" nicht", " keine", " keinen")):
            return negated
        words = duty.modal
    else:
        rest = sentence[duty.end : duty.stop]
        clause = "" if rest.startswith(",") else _EMBEDDED.sub(_closed, rest)
        end = _GERMAN_END.search(clause)
        words = clause[: end.start()] if end else clause
        to_do = lexicon.forms["infinitive"].search(words) if duty.modal in _TO_DO else None
        words = words[: to_do.end()] if to_do else words
    if duty.kind == "duty" and " " not in duty.modal:
        words = _NOT_THAN.sub("", words)
    negation = _GERMAN_NOT.search(words)
    only = duty.modal.startswith(("darf", "dürfen")) and re.search(r"\bnur\b", words)
    if negation is None and not only:
        return duty.kind
    if negation and duty.modal in ("hat", "haben") and negation.group().startswith("kein"):
        # `hat keine Gebühren zu erheben` and `hat keine Kosten zu tragen` mean different things.
        return ""
    return negated


def _counts(duty: Duty, lexicon: Lexicon) -> bool:
    """Whether a verb states anything; one that may be mere future tense (*will*) needs a party of the contract."""
    if not duty.kind or duty.modal.casefold().split()[0] not in lexicon.named_bearers_only:
        return bool(duty.kind)
    words = duty.bearer.split()
    if not words:
        return False
    named = [word for word in words[1:] if word[:1].isupper()]
    first = words[0][:1].isupper() and words[0].casefold() not in _COMMON
    return bool(named) or first or bool(re.search(r"\b(?:part(?:y|ies)|we)\b", duty.bearer, re.IGNORECASE))


_COMMON = frozenset(
    "the a an this that these those it they he she there here what which who you i people one some many most all each "
    "every any no nothing everything someone his her its their our my your if when and but or so then".split()
)


def _clause_stop(sentence: str, end: int, following: int, *, last: bool) -> int:
    """Where the clause of a verb ends: at the punctuation before the next verb's subject, or with the sentence."""
    if last:
        return len(sentence)
    ends = [match.start() for match in _CLAUSE.finditer(sentence, end, following)]
    if ends:
        return ends[0]
    comma = max(sentence.rfind(", ", end, following), sentence.rfind(" and ", end, following))
    return comma if comma > end else following


def _subject(sentence: str, duty: Duty, before: Duty | None) -> str:
    """The words before a verb that belong to its clause, without list and clause markers."""
    piece = sentence[max(before.stop if before else 0, duty.start - _BEFORE) : duty.start]
    piece = _BRACKETS.sub("", piece)
    cuts = [match.end() for match in _CLAUSE.finditer(piece)]
    piece = piece[cuts[-1] :] if cuts else piece
    piece = piece.rpartition("(")[2] if "(" in piece.replace("(a)", "") and ")" not in piece else piece
    if before:
        piece = _CONJUNCTION.split(piece)[-1]
    return _MARKER.sub("", _LEADING_AND.sub("", piece.strip(" ,;)"))).strip(" ,")


def _bearer(sentence: str, duty: Duty, before: Duty | None, piece: str, lexicon: Lexicon) -> str:
    behind = sentence[duty.end : duty.stop]
    own = re.search(
        r"\b(?:required|obliged|obligated|bound|agree|undertake|entitled|permitted|authori[sz]ed|right|has|have)",
        duty.modal,
    )
    if not own and lexicon.forms["passive"].match(behind):
        agent = lexicon.forms["agent"].search(behind)
        near = agent is not None and agent.start("who") < _AGENT and not _NOT_AGENT.search(agent["who"])
        return agent["who"][:_LONGEST_BEARER] if agent and near else ""
    if not before and _AND.search(sentence[: duty.start]):
        # `An operator is encouraged to ask, but may refuse`
        piece = _FINITE.split(piece, maxsplit=1)[0].strip()
        return _who(piece, lexicon) if "," not in piece else ""
    if before and _AND.search(sentence[before.end : duty.start]):
        # `shall take account of the opinion and shall tell`: the same subject.
        return before.bearer
    if before and not piece and sentence[: duty.start].endswith(", "):
        # `such architect as Tenant may select, shall act`: not the subject of the clause between.
        ahead = sentence[: before.start].rstrip().removesuffix(before.bearer)
        return "" if _BETWEEN.search(ahead) else before.bearer
    return _who(piece, lexicon)


def _who(piece: str, lexicon: Lexicon) -> str:
    """Return the subject that the words before a modal end with, or nothing where that is not plain."""
    subordinate = lexicon.forms["subordinate"]
    # `he or she should have the right to`
    piece = _without_adverbs(_OTHER_MODAL.sub("", piece))
    said = _SAYS_THAT.match(piece)
    piece = piece[said.end() :] if said else piece
    sentence = piece.rpartition(". ")[2]
    parts = [_without_adverbs(part) for part in (sentence if sentence[:1].isupper() else piece).split(", ")]
    opened = [match.end() for match in _OPENS_CLAUSE.finditer(parts[-1])]
    if opened and _is_short_name(parts[-1][opened[-1] :]):
        return parts[-1][opened[-1] :]
    inner = [at for at in opened if parts[-1][:at].count(" ") > 1]
    if inner and (_SIDE_CLAUSE.search(parts[-1]) or _new_subject(parts[-1][inner[-1] :])):
        return ""
    if subordinate.match(parts[-1]):
        name = _last_name(parts[-1])
        if name or len(parts) == 1:
            return name
    if any(map(_OPEN_ENDED.search, parts)):
        return ""
    names: list[str] = []
    for part in reversed(parts):
        listed = any(map(_LISTED.match, names))
        if not part or subordinate.match(part) or _ASIDE.match(part):
            if names:
                break
        elif not (_is_noun_phrase(_LISTED.sub("", part)) or (listed and part.count(" ") < 3)):
            break
        elif names and not listed and not _JOINT.search(names[0]):
            # `a court, the holder shall`: not a list.
            break
        else:
            names.insert(0, part)
    if len(names) == 2 and _JOINS_CLAUSE.match(names[1]):
        # `the rest stands, and the parties shall`, which looks as two names do.
        return ""
    who = _LISTED.sub("", ", ".join(names)).rpartition("—")[2].strip()
    if _RELATIVE_CLAUSE.match(who) or _NUMBERS.fullmatch(who) or who.count("(") != who.count(")"):
        return ""
    return _shortened(who)


def _new_subject(words: str) -> bool:
    """Whether a clause that begins ahead of a modal has a subject of its own and no verb before the modal."""
    first = words.split(maxsplit=1)[0].casefold() if words else ""
    return first in _DETERMINERS and not _FINITE.search(words) and _is_noun_phrase(words)


def _without_adverbs(piece: str) -> str:
    words = piece.split()
    while words and (
        words[-1].casefold() in _ADVERBS_BEHIND
        or (words[-1].endswith("ly") and words[-1].casefold() not in _NOT_ADVERBS)
    ):
        words.pop()
    while words and words[0].casefold().rstrip(",") in _CONNECTIVES:
        words.pop(0)
    return " ".join(words)


def _is_noun_phrase(part: str) -> bool:
    """Whether words can be someone's name or description, as far as their form tells."""
    head = _RELATIVE.split(part, maxsplit=1)[0]
    words = head.split() or [""]
    begins = words[0].casefold() in _DETERMINERS | _PRONOUNS or not words[0][:1].islower()
    # `contracting officers`
    several = next(
        (words[n - 1] for n, word in enumerate(words) if n and word in _PREPOSITIONS), words[-1]
    ).endswith("s")
    return bool(
        words[0]
        and (begins or several)
        and not _PROVISION.match(head)
        and not _DATE.search(head)
        and not _FINITE.search(head)
        and not set('`“”"=|{}<>').intersection(head)
        and head.count("(") == head.count(")")
        and words[-1].casefold() not in _PREPOSITIONS
    )


def _is_short_name(words: str) -> bool:
    """Whether words between the opening of a clause and its modal are its subject and no verb."""
    first, *others = words.split() or [""]
    if first.casefold() in _PRONOUNS or (first.casefold() in _DETERMINERS and len(others) == 1):
        return len(others) < 2
    return len(others) < 5 and all(
        word[:1].isupper() or (word == first and word.casefold() in _DETERMINERS) for word in (first, *others)
    )


def _last_name(piece: str) -> str:
    """Return the subject after an adverbial without a comma: *On 1 May 2024 the Board*."""
    words = piece.split()
    if words[-1].casefold() in _PRONOUNS:
        return words[-1]
    at = next((n for n in range(len(words) - 1, 0, -1) if words[n].casefold() in _DETERMINERS), 0)
    name = " ".join(words[at:])
    plain = at > 0 and len(words) - at < 6 and words[at - 1].casefold() not in _PREPOSITIONS
    return name if plain and _is_noun_phrase(name) else ""


def _shortened(name: str) -> str:
    """Return a name without what describes it, where it is too long."""
    if len(name) <= _LONGEST_BEARER:
        return name
    head = _RELATIVE.split(name, maxsplit=1)[0].partition(",")[0]
    return head if len(head) <= _LONGEST_BEARER else ""


def _german_bearer(sentence: str, duty: Duty, before: Duty | None, piece: str, lexicon: Lexicon) -> str:
    behind = sentence[duty.end : duty.stop]
    verb = duty.modal.casefold().split()[0]
    clause = sentence[duty.start : duty.stop]
    passive = bool(lexicon.forms["passive"].search(behind) or sentence[: duty.start].endswith("werden ")) or (
        (verb in ("ist", "sind") or re.search(r"\b(?:ist|sind)$", duty.modal.casefold()))
        and not re.search(r"verpflichtet|berechtigt|befugt|ermächtigt", duty.modal)
    )
    if passive:
        begin = (
            sentence.rfind(", ", 0, duty.start) + 1 if not verb.startswith(("ist", "sind")) else duty.start
        )
        agent = lexicon.forms["agent"].search(sentence[max(0, begin) : duty.stop])
        return agent["who"][:_LONGEST_BEARER] if agent else ""
    if before and _AND.search(sentence[before.end : duty.start]):
        return before.bearer
    first = piece.split(maxsplit=1)[0].casefold() if piece else ""
    objects = first in ("das", "die", "den")
    agent = (_AGENT_BEHIND if objects else _NOMINATIVE_BEHIND).match(clause[len(verb) :])
    if agent:
        return agent["who"]
    turned_round = _SO.search(piece) or (
        sentence[: duty.start].rstrip().endswith(",")
        and not _PARTICIPLE_CLAUSE.search(piece)
        and not _GERMAN_DETERMINER.match(piece)
    )
    if piece and not lexicon.forms["subordinate"].match(piece) and not turned_round:
        head = _PARTICIPLE_CLAUSE.split(piece)[0].strip(" ,")
        return head if len(head) <= _LONGEST_BEARER else ""
    turned = _GERMAN_SUBJECT.match(clause[len(verb) :])
    if turned is None or (turned["who"] == "es" and verb in _PLURALS):
        # `so müssen es die Behörden zurückweisen`
        return ""
    return turned["who"]


def _split(sentence: str, duty: Duty, lexicon: Lexicon) -> None:
    """Separate the action from its exceptions."""
    form = lexicon.forms["exceptions"]
    rest = sentence[duty.end : duty.stop]
    match = next((found for found in form.finditer(rest) if _outside_brackets(rest, found.start())), None)
    if match is None and duty.stop < len(sentence):
        behind = sentence[duty.stop :].lstrip(" ,;")
        if form.match(behind):
            duty.exception = cut(behind.rstrip(" .;"), _LONGEST_EXCEPTION)
    elif match and rest[: match.start()].strip(" ,"):
        duty.exception = cut(rest[match.start() :].rstrip(" .;,"), _LONGEST_EXCEPTION)
        rest = rest[: match.start()]
    elif match and rest.count(", ", match.start()) == 1:
        # `shall, except on Sundays, keep it open`
        duty.exception, _, rest = rest[match.start() :].partition(", ")
    duty.action = cut(rest.strip(" ,;:."), LONGEST_ACTION)


def _outside_brackets(text: str, at: int) -> bool:
    return text.count("(", 0, at) <= text.count(")", 0, at)


def cut(text: str, longest: int) -> str:
    """Return the beginning of a text, marked where it is cut."""
    return text if len(text) <= longest else f"{text[:longest].rstrip()} …"

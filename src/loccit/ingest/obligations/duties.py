"""Duties: the verbs that oblige, forbid, permit or recommend, with the bearer and the action."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from loccit.ingest.obligations.lexicon import Lexicon, has_any

# Limits: verbs considered per sentence, text before a verb searched for the bearer, and length of the bearer.
_MOST = 40
_BEFORE = 500
_LONGEST_BEARER = 120
# How far after a verb its agent can be: `shall be approved by the Board`.
_AGENT = 60
_LONGEST_ACTION = 400
_LONGEST_EXCEPTION = 300
# `(a)`, `4.2`, `1.`, `- `, before a sentence begins.
_MARKER = re.compile(
    r"^(?:[-–—•*]\s+|\(?[\divxlcA-Za-z]{1,5}\)\s*|\d{1,3}(?:\.\d{1,3}){0,4}\.?\s+|[a-z]\.\s+|§\s?\d+\w?\s+|\[\^\w{1,80}\]\s*)+"
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
_LAST_NAMED = re.compile(
    r"(?:^|\s)(?P<who>(?:the|each|any|such)(?:\s+[\w’'-]+){1,4}|it|they|he|she|we|you)$", re.IGNORECASE
)
# After these, a modal is in a clause of its own.
_CLAUSE = re.compile(
    r"[;:]\s|(?<!\d)\.(?:\[\^\w{1,20}\])?\s|\bprovided,?\s+(?:however,?\s+)?that\s", re.IGNORECASE
)
_OPENING = re.compile(
    r"(?:if|when|where|once|unless|after|before|until|while)\b|within\b.*\b(?:after|before|of|from|following)\b",
    re.IGNORECASE,
)
_DETERMINER = re.compile(
    r"(?:the|an?|each|every|any|all|no|neither|either|both|such|this|that|these|those|its|their|our|your|his|her|it|"
    r"they|he|she|we|you|one)\b|[A-Z]|\d",
)
_GERMAN_SUBJECT = re.compile(
    r"\s*(?P<who>(?:er|sie|es|man|wer|jeder|jede)\b(?!\s+[A-ZÄÖÜ])|(?:der|die|das|ein|eine|jeder|jede|jedes|diese[rs]?|kein\w*|beide)\s+"
    r"(?:[\w-]+[en]r?\s+){0,3}?[A-ZÄÖÜ][\w-]+(?:\s+(?:für|der|des)\s+[A-ZÄÖÜ][\w-]+(?:\s+und\s+[\w-]+\s+[A-ZÄÖÜ][\w-]+)?)?"
    r"(?:\s+[A-ZÄÖÜ][\w-]+){0,3})"
)
# `Das Protokoll hat der Betreiber aufzubewahren`
_AGENT_BEHIND = re.compile(r"\s*(?P<who>der\s+[A-ZÄÖÜ][\w-]*(?:er|ling|or|ant|är|eur)|er)\b(?!\s+[A-ZÄÖÜ])")
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
    forms = [(kind, form) for kind, hints, form in lexicon.modals if has_any(folded, hints)]
    if not forms or sentence.endswith("?"):
        return []
    plain = _QUOTED.sub(lambda match: "\0" * len(match.group()), sentence)
    duties: list[Duty] = []
    for kind, start, end in _modals(plain, forms, lexicon):
        duties.append(Duty(kind, start, end, len(sentence), " ".join(sentence[start:end].split())))
    for number, duty in enumerate(duties):
        following = duties[number + 1].start if number + 1 < len(duties) else len(sentence)
        duty.stop = _clause_stop(sentence, duty.end, following, last=number + 1 == len(duties))
        before = duties[number - 1] if number else None
        duty.bearer = _bearer(sentence, duty, before, lexicon)
        _split(sentence, duty, lexicon)
        if lexicon.forms["none"].match(_subject(sentence, duty, before)) and duty.kind != "prohibition":
            duty.kind = "prohibition"
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


def _modals(
    sentence: str, forms: Sequence[tuple[str, re.Pattern[str]]], lexicon: Lexicon
) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    for kind, form in forms:
        for match in form.finditer(sentence):
            if lexicon.language == "de" and match.group()[0].isupper():
                # `Kann der Patient nicht erreicht werden, …`: a condition.
                continue
            if lexicon.forms["not_modal_before"].search(sentence, max(0, match.start() - 20), match.start()):
                continue
            if len(found) < _MOST and not any(
                start < match.end() and match.start() < end for _, start, end in found
            ):
                found.append((kind, match.start(), match.end()))
    return sorted(found, key=lambda item: item[1])


def _counts(duty: Duty, lexicon: Lexicon) -> bool:
    """Whether a verb that may be mere future tense (*will*) has a party of the contract as its subject."""
    if duty.modal.casefold().split()[0] not in lexicon.named_bearers_only:
        return True
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


def _bearer(sentence: str, duty: Duty, before: Duty | None, lexicon: Lexicon) -> str:
    if lexicon.language == "de":
        return _german_bearer(sentence, duty, before, lexicon)
    behind = sentence[duty.end : duty.stop]
    own = re.search(
        r"\b(?:required|obliged|obligated|bound|agree|undertake|entitled|permitted|authori[sz]ed|right|has|have)",
        duty.modal,
    )
    if not own and lexicon.forms["passive"].match(behind):
        agent = lexicon.forms["agent"].search(behind[:_AGENT])
        return agent["who"][:_LONGEST_BEARER] if agent else ""
    piece = _subject(sentence, duty, before)
    if before and _AND.search(sentence[before.end : duty.start]):
        # `shall take account of the opinion and shall tell`: the same subject.
        return before.bearer
    if "that" in piece.casefold() and not lexicon.forms["subordinate"].match(piece):
        piece = _SAYS_THAT.sub("", piece, count=1)
    piece = _after_leading_clauses(piece, lexicon)
    piece = _PARTICIPLE_CLAUSE.split(piece)[0].strip(" ,")
    if lexicon.forms["relative"].fullmatch(piece.casefold()):
        return ""
    words = piece.split()
    if not words or len(piece) > _LONGEST_BEARER * 2:
        return ""
    while words and words[-1].casefold() in (
        "hereby",
        "also",
        "each",
        "further",
        "therefore",
        "then",
        "only",
    ):
        words.pop()
    return " ".join(words)[:_LONGEST_BEARER]


def _after_leading_clauses(piece: str, lexicon: Lexicon) -> str:
    """Strip *Where …,* and *Within ten days …,* before the subject, which follows their last comma."""
    if lexicon.forms["relative"].match(piece) and not _DETERMINER.match(piece):
        return piece.split(",")[0] if "," not in piece else piece.rpartition(", ")[2]
    if not lexicon.forms["subordinate"].match(piece):
        parts = piece.split(", ")
        # `The Company, in its discretion,`: the first part; `the reference rate, the lender`: the last.
        return parts[0] if len(parts) > 1 and not lexicon.forms["subordinate"].match(parts[0]) else piece
    parts = piece.split(", ")
    while len(parts) > 1:
        parts.pop(0)
        if _DETERMINER.match(parts[0]) and not lexicon.forms["subordinate"].match(parts[0]):
            return ", ".join(parts)
    if not lexicon.forms["subordinate"].match(parts[0]):
        return parts[0]
    last = _LAST_NAMED.search(parts[0])
    return last["who"] if last else ""


def _german_bearer(sentence: str, duty: Duty, before: Duty | None, lexicon: Lexicon) -> str:
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
    piece = _subject(sentence, duty, before)
    first = piece.split(maxsplit=1)[0].casefold() if piece else ""
    agent = _AGENT_BEHIND.match(clause[len(verb) :]) if first in ("das", "die", "den") else None
    if agent:
        return agent["who"]
    if piece and not lexicon.forms["subordinate"].match(piece) and first != "so":
        head = _PARTICIPLE_CLAUSE.split(piece)[0].strip(" ,")
        return head if len(head) <= _LONGEST_BEARER else ""
    turned = _GERMAN_SUBJECT.match(clause[len(verb) :])
    return turned["who"] if turned else ""


def _split(sentence: str, duty: Duty, lexicon: Lexicon) -> None:
    """Separate the action from its exceptions."""
    rest = sentence[duty.end : duty.stop]
    match = lexicon.forms["exceptions"].search(rest)
    if match is None and duty.stop < len(sentence):
        behind = lexicon.forms["exceptions"].match(sentence[duty.stop :].lstrip(" ,;"))
        if behind:
            duty.exception = sentence[duty.stop :].lstrip(" ,;")[:_LONGEST_EXCEPTION].rstrip(" .;")
    if match:
        duty.exception = rest[match.start() :][:_LONGEST_EXCEPTION].rstrip(" .;,")
        rest = rest[: match.start()]
    duty.action = rest.strip(" ,;:.")[:_LONGEST_ACTION]

"""German definitions: the phrases with which acts, treaties and contracts say what a word means."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loccit.extract.definitions.forms import IN_THE_SENSE, Anchor, short_name
from loccit.extract.definitions.terms import clean_term
from loccit.extract.definitions.units import Unit

# Words that begin a sentence about something else.
_NOT_A_TERM = (
    r"(?!(?i:(?:Dies|Es|Sie|Er|Wer|Was|Absatz|Satz|Nummer|Nicht)[a-z]{0,2}|Bei|Beim|I[mn]|Für|Auf|Zu|Nach|Mit|Von|Vom|Aus"
    r"|Gegen|Durch|A[mn]|Über|Hat|Haben|Ist|Sind|Wird|Werden|Wenn|Soweit|Sofern|Falls)\s)"
)
_SENSE = re.compile(
    rf"(?:(?:Der|Die|Das|Eine?|Als)\s+(?=\w)|(?=[A-ZÄÖÜ])){_NOT_A_TERM}(?P<term>[^\s.;:,„“\"()][^.;:,„“\"()]{{1,80}}?)"
    rf",?\s+{IN_THE_SENSE}(?!\s+oder\b)"
)
_DETERMINER = (
    r"(?:d(?:er|ie|as|en|em)|d(?:er|ie|as)jenigen?|eine?[mnrs]?|(?:jede|jegliche|jene|alle|solche)[mnrs]?|wer|was|auch|nur"
    r"|insbesondere)\b"
)
_ADJECTIVES = r"(?:[a-zäöüß-]+e[mnrs]?,?\s+(?:(?:und|oder|sowie|bzw\.)\s+)?){1,4}(?=[A-ZÄÖÜ])"
# `(2) Ausführer ist jede Person …`, `(3) Güter sind Waren …`: numbered, among definitions, it can only be one.
_IS = re.compile(
    rf"(?:(?:[Dd](?:er|ie|as)|[Ee]ine?)\s+)?{_NOT_A_TERM}(?P<term>[^\W\d_][^.;:,„“\"()]{{2,80}}?(?:\s\([^()\n]{{1,40}}\))?)"
    rf"\s+(?:(?:ist|sind)(?:(?=,?\s+(?:{_DETERMINER}|[A-ZÄÖÜ]|\d{{1,2}}\.\s|{_ADJECTIVES}))|(?=:|$))"
    r"|umfass(?:t|en)\b|bedeute[nt]\b|bezeichne[nt]\b|liegt\s+vor(?=,\s+(?:wenn|soweit|sofern)\b))",
)
_COUNTS_AS = re.compile(
    rf"Als\s+(?P<term>[^.;:,„“\"()]{{2,80}}?)\s+(?:gilt|gelten|wird|werden|bezeichnen)\s+(?={_DETERMINER}|[A-ZÄÖÜ])"
)
_ADJECTIVE = r"(?:[a-zäöüß-]+e[rsn]?\s+)"
_NOUN = r"[A-ZÄÖÜ][\w-]+"
_ARTICLES = r"(?:d(?:er|ie|as|en)|eine?n?|jede[rsn]?|alle)\s"
# `3. Geräte die Maschinen …`, below `Im Sinne dieser Verordnung sind`. An article before a noun and another article
# belongs to the term: `Stand der Technik das Niveau`.
_DIRECTLY = re.compile(
    rf"(?![^.;,:]{{0,90}}:\s)(?:[Ee]ine?\s+)?{_NOT_A_TERM}(?P<term>{_ADJECTIVE}{{0,3}}{_NOUN}"
    rf"(?:\s+(?:und|oder|der|des|von|für|zur|zum|mit)\s+{_ADJECTIVE}?{_NOUN}){{0,2}}?)"
    rf"\s+(?={_ARTICLES}\s*(?!{_NOUN}\s+{_ARTICLES}))"
)
_VERBS = re.compile(
    r"\b(?:ist|sind|wird|werden|hat|haben|kann|können|muss|müssen|soll|sollen|darf|dürfen|gilt|gelten|nicht)\b"
)


def german_anchor(text: str, unit: Unit, among: bool = False, announced: bool = False) -> Iterator[Anchor]:
    """Yield the definition that a paragraph begins with, such as *Boote im Sinne dieses Gesetzes sind …*.

    ``among``: it is a numbered one of a definitions section, where fewer words will do; ``announced``: a sentence
    before the list says that it consists of definitions.
    """
    for form in (_IS, _COUNTS_AS, _DIRECTLY)[: 3 if announced else 2] if among else (_SENSE,):
        match = form.match(text, unit.body, unit.end)
        name = short_name(match["term"]) if match and not _VERBS.search(match["term"]) else ""
        if match and name:
            yield Anchor((name,), unit.body, match.end(), True, sure=0.9)
            return


def term_alone(text: str, unit: Unit) -> Anchor | None:
    """Return the term that is all there is in an item, before the paragraph that explains it."""
    words = text[unit.body : unit.end].rstrip()
    term = clean_term(words.rstrip(":"))
    if not term or "\n" in words or words[-1] in ".;," or _VERBS.search(term):
        return None
    return Anchor((term,), unit.body, unit.end, True)

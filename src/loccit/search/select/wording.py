"""Wording: a chunk's own words and the markers of its claims, computed only as far as a comparison needs them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar, overload

import numpy as np

from loccit.grammar.text.folding import fold
from loccit.grammar.text.stopwords import STOPWORDS
from loccit.index.port.records import StoredChunk

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801  # used as a decorator, like `property`
    """Like ``functools.cached_property``, without the lock that up to Python 3.11 all objects of a class share.

    Concurrent searches would wait there for one another, at every text they compare.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> lazy[T]: ...

    @overload
    def __get__(self, owner: object, kind: type) -> T: ...

    def __get__(self, owner: object | None, kind: type) -> lazy[T] | T:
        """Compute the value and store it in the object, which takes precedence from then on."""
        if owner is None:
            return self
        value = owner.__dict__[self._name] = self._compute(owner)
        return value


# -- markers: what distinguishes a text's claim from that of another in nearly the same words ----------------
#
# Numbers, names, and words that reverse a statement. All of it is read from the text alone, without knowing
# its language; the word lists cover English, German, French, Spanish, Italian, Portuguese and Dutch, and the
# commonest negations of a few others.


# White space and the relevant punctuation of all scripts separate words; superscripts, fractions and
# underscores inside a name do not.
_PARTS = (
    r"\s!-/:-@\[-`{-~\u00a0-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u0589\u05be\u060c\u061b\u061f"
    r"\u066a-\u066d\u06d4\u0964\u0965\u2010-\u206f\u3000-\u3004\u3008-\u3020\u3030\u30fb\uff01-\uff0f\uff1a-\uff20"
    r"\uff3b-\uff40\uff5b-\uff65"
)
WORD = re.compile(rf"[^{_PARTS}]+(?:_+[^{_PARTS}]+)*")
# Digits of all scripts with the letters and units after them, fractions, superscripts, and the numerals of Chinese
# and Japanese; and the letters or sign before such a number.
_NUMERALS = r"\d²³¹¼-¾⁰-₉⅐-↉①-⒛〇零一二三四五六七八九十百千万萬億亿兆两兩壱弐参"
_NUMBER = re.compile(rf"[{_NUMERALS}][{_NUMERALS}A-Za-z]*(?:\s?[%‰€$£¥₹°])?")
_BEFORE_NUMBER = re.compile(r"(?:(?<!\w)[-−]|[±<>≤≥$€£¥₹]\s?|[A-Za-z]{1,8})$")
_SPACE = re.compile(r"\s+")

# Words that change what an otherwise identical sentence says, by their effect. A kind in angle brackets
# counts as one: `must` and `shall` are the same duty, while `two` and `three`, or `buyer` and `seller`, are
# facts of their own.
_NEGATION, _DUTY, _LEAVE, _MORE, _LESS, _EARLIER, _LATER, _ITSELF = (
    *("<not>", "<must>", "<may>", "<more>", "<less>", "<before>", "<after>"),
    "",
)
_KINDS = {
    _NEGATION: """
        no not nor never none neither nothing without unless except excepting exclude excludes excluded excluding
        cannot t prohibited forbidden false off disable disabled
        nicht kein keine keinen keinem keiner ohne außer sofern nie niemals ausgenommen
        ne pas sans sauf hormis jamais aucun aucune sin salvo excepto nunca ningún ninguna
        non senza tranne eccetto mai nessun nessuna não sem exceto niet geen zonder tenzij behalve nooit
        не ни без кроме לא ללא لا لم غير नहीं बिना
    """,
    _DUTY: """
        shall must should required mandatory muss müssen soll sollen doit doivent debe deben deve devono moet moeten
        должен должна должны
    """,
    _LEAVE: """
        may might optional permitted allowed only darf dürfen kann können nur peut peuvent puede pueden può possono
        pode podem mag mogen kan kunnen может
    """,
    _MORE: """
        least more greater higher minimum min above over exceed exceeds exceeding increase increased
        mindestens mehr über plus más più mais meer
    """,
    _LESS: """
        most less fewer lower maximum max below under within decrease decreased
        höchstens weniger unter moins menos meno minder
    """,
    _EARLIER: "before until earlier vor bis avant antes prima voor",
    _LATER: "after later nach après después dopo depois na",
    _ITSELF: """
        buyer seller purchaser vendor landlord tenant lessor lessee employer employee licensor licensee lender borrower
        debtor creditor plaintiff defendant claimant respondent supplier customer controller processor sender recipient
        hourly daily weekly monthly quarterly yearly annually true yes enable enabled
        first second third last two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand
        million billion half quarter double twice
        zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig sechzig siebzig
        achtzig neunzig hundert tausend deux trois quatre cinq sept huit neuf dix onze douze quinze vingt trente
        quarante cinquante soixante cent mille dos tres cuatro cinco siete ocho nueve diez doce quince veinte treinta
        cuarenta cincuenta sesenta ciento mil due tre quattro cinque sette otto nove dieci dodici quindici venti trenta
        quaranta cinquanta sessanta cento dois três sete oito dez doze vinte trinta quarenta cinquenta
        twee vijf zes zeven negen tien twaalf dertig veertig vijftig zestig honderd duizend
        janvier février mars avril juin juillet août septembre octobre novembre décembre
        lundi mardi mercredi jeudi vendredi samedi dimanche
        enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
        lunes martes miércoles jueves viernes sábado domingo
        gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
        lunedì martedì mercoledì giovedì venerdì sabato domenica
        janeiro fevereiro março maio junho julho setembro outubro dezembro
        januari februari maart april juni juli augustus september oktober november december
        maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
    """,
}
_TURNING = {word: kind or word for kind, words in _KINDS.items() for word in words.casefold().split()}
# The same for scripts that do not separate words.
_TURNING_CHARACTERS = re.compile(r"[不未无無非勿禁免否没除]|ない|ません|안|못|아니|ไม่")
_FUNCTION_WORDS = frozenset().union(*STOPWORDS.values())
_SENTENCE_END = re.compile(r"[.!?:;•|][^\w]*$")
_LINE_MARKS = " \t*_->+0123456789.()|"


def numbers(text: str) -> tuple[str, ...]:
    """Return the numbers of a text in order, with their signs and units.

    >>> numbers("a fee of $ 30 (at -5 °C), 12 % from 2024-05-01")
    ('$30', '-5°', '12%', '2024', '05', '01')
    """
    found = []
    for match in _NUMBER.finditer(text):
        before = _BEFORE_NUMBER.search(text[max(0, match.start() - 9) : match.start()])
        found.append(_SPACE.sub("", (before[0] if before else "") + match[0]).casefold())
    return tuple(found)


def turning_words(words: Sequence[str], text: str) -> dict[str, int]:
    """Count the words, case folded, that change what an otherwise identical sentence says."""
    found = Counter([word for word in words if word in _TURNING])
    if not text.isascii():
        found.update(_TURNING_CHARACTERS.findall(text))
    return dict(found)


def facts(turns: Mapping[str, int]) -> dict[str, int]:
    """Count what such words say, whatever their wording.

    >>> facts({"must": 2, "not": 1, "two": 1}) == facts({"never": 1, "shall": 1, "two": 1})
    True
    """
    found: Counter[str] = Counter()
    for word, times in turns.items():
        kind = _TURNING.get(word, _NEGATION)
        # A duty can be stated without any of these words: `Credentials have to be renewed`.
        if kind == _NEGATION:
            found[kind] += times
        elif kind != _DUTY:
            found[kind] = 1
    return dict(found)


def names(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words with capitals or underscores in order, without function words that begin sentences.

    >>> names("The keeper of Acme calls getToken and max_age".split())
    ('acme', 'gettoken', 'max_age')
    """
    return tuple(
        folded
        for word in words
        if ((folded := word.casefold()) != word or "_" in word) and not _is_function_word(word)
    )


def capitalised(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the capitalised words inside sentences and those that begin one; words of headings are neither.

    >>> capitalised("The keeper is Anna. Later she left.") == ({"anna"}, {"later"})
    True
    """
    inside: set[str] = set()
    first: set[str] = set()
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            continue
        for match in WORD.finditer(line):
            if match[0][0].isupper() and not _is_function_word(match[0]):
                before = line[: match.start()]
                starts = not before.strip(_LINE_MARKS) or _SENTENCE_END.search(before[-4:])
                (first if starts else inside).add(match[0].casefold())
    return frozenset(inside), frozenset(first)


def is_code(text: str) -> bool:
    """Whether a text has as much code punctuation as only programs have."""
    return 40 * sum(map(text.count, "{}();=<>")) > len(text)


def has_case(text: str) -> bool:
    """Whether most letters have an upper and a lower case."""
    if text[:400].isascii():
        return True
    letters = [char for char in text[:400] if char.isalpha()]
    return 2 * sum(char.lower() != char.upper() for char in letters) >= len(letters)


def _is_function_word(word: str) -> bool:
    # `US` and `IT` are names, whatever `us` and `it` are.
    return fold(word.casefold()) in _FUNCTION_WORDS and not (word.isupper() and len(word) > 1)


# Headings, rules, directives, pictures, comments and links say nothing themselves; words besides them do.
_LITTLE_OR_WORD = re.compile(
    r"^[ \t>]*(?:\#{1,6}\s.*|[=~^*_-]{3,}|\.\.\s.*|\w+::.*|:[\w-]+:.*|\{[%{\#<].*|!?\[\[.*|!?include\b.*)$"
    r"|!?\[[^\]\n]*\]\([^)\n]*\)|https?://\S+|<[^>\n]*>|([^\W_]+)",
    re.MULTILINE,
)


def says_more_than(letters: int, text: str) -> bool:
    """Whether a text has more letters besides headings, links, pictures and directives such as that to include a file.

    >>> says_more_than(0, "# Guide\\n\\n[Tariff](tariff.md)\\ninclude::intro.adoc[]")
    False
    >>> says_more_than(8, "# Rent\\nIn advance.")
    True
    """
    for found in _LITTLE_OR_WORD.finditer(text):
        if word := found[1]:
            # A character of Chinese or Japanese is about half a word.
            letters -= 3 * len(word) if word[0] > "\u2e80" else len(word)
            if letters < 0:
                return True
    return False


# -- wording: a chunk's own words, prepared for comparison ---------------------------------------------------


# Below this many words, word trigrams are too coarse a measure.
_FEW_WORDS = 12
# Mean characters per word beyond which the script has no spaces: the longest mean of any that has is about 9.
_LONG_WORDS = 12
# Minimum length of a long word: two in five are.
_LONG = 7
# What follows the last character: none has this code.
_NO_CHARACTER = 0x110000
# Labels are in the first line; a number further down is content.
_LABEL_WITHIN = 120


class Wording:
    """The text of a chunk, without what is repeated from before it.

    Everything is computed on demand, cheapest first: the first checks tell most chunks apart.
    """

    def __init__(self, chunk: StoredChunk) -> None:
        self.chunk = chunk

    @property
    def id(self) -> int:
        """The chunk's id."""
        return self.chunk.id

    @lazy
    def own(self) -> str:
        """The chunk's own text; rows of a table keep the header, which gives them their meaning."""
        chunk = self.chunk
        own = chunk.content[chunk.prefix :]
        return chunk.content if own.lstrip().startswith("|") else own

    @lazy
    def key(self) -> str:
        """What two exact duplicates share: the text with white space, case and emphasis normalised."""
        return " ".join(self._tokens)

    @lazy
    def _tokens(self) -> list[str]:
        plain = self.own.lstrip("# \n").replace("**", "").replace("__", "").replace("`", "")
        return plain.casefold().split()

    @lazy
    def size(self) -> int:
        """The length of the text."""
        return len(self.key)

    @lazy
    def by_characters(self) -> bool:
        """Whether words are too few, or not separated by spaces, so that characters are the better measure."""
        return len(self._tokens) < _FEW_WORDS or len(self.key) > _LONG_WORDS * len(self._tokens)

    @lazy
    def long_tokens(self) -> frozenset[str]:
        """The longer tokens: few, and seldom shared by texts that say different things."""
        return frozenset([token for token in self._tokens if len(token) >= _LONG])

    @lazy
    def tokens(self) -> frozenset[str]:
        """The tokens between spaces."""
        return frozenset(self._tokens)

    @lazy
    def pairs(self) -> frozenset[int]:
        """About a third of the character bigrams, always the same ones, each as a number."""
        codes = np.frombuffer(self.key.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
        following = np.append(codes[1:], _NO_CHARACTER)
        return frozenset(((codes << 32) + following)[codes % 3 == 0].tolist())

    @lazy
    def said(self) -> str:
        """The text without the number of its section: the same clause may be 4.2 here and 5.1 there."""
        label, own = self.chunk.section_label, self.own
        at = own.find(label, 0, _LABEL_WITHIN) if label and self.chunk.chunk_type != "header" else -1
        if at < 0 or "\n" in own[:at].strip():
            return own
        rest = own[:at] + own[at + len(label) :]
        return rest if WORD.search(rest) else own

    @lazy
    def written(self) -> list[str]:
        """The words as they are written."""
        return WORD.findall(self.said)

    @lazy
    def words(self) -> list[str]:
        """The words, case folded."""
        return [word.casefold() for word in self.written]

    @lazy
    def vocabulary(self) -> frozenset[str]:
        """The different words, case folded."""
        return frozenset(self.words)

    @lazy
    def units(self) -> Counter[str]:
        """How often each word occurs, or each character."""
        return Counter("".join(self.words) if self.by_characters else self.words)

    @lazy
    def word_grams(self) -> frozenset[tuple[str, ...]]:
        """The word trigrams."""
        words = self.words
        return frozenset(zip(words, words[1:], words[2:], strict=False) if len(words) > 2 else [tuple(words)])

    @lazy
    def character_grams(self) -> frozenset[str]:
        """The character trigrams, without punctuation and white space."""
        text = "".join(self.words)
        return frozenset(text[at : at + 3] for at in range(max(1, len(text) - 2)))

    # -- what distinguishes a text's claim from that of another in nearly the same words ------------------------

    @lazy
    def numbers(self) -> tuple[str, ...]:
        """The numbers in order, with signs and units."""
        return numbers(self.said)

    @lazy
    def turns(self) -> dict[str, int]:
        """The words that reverse a statement, with their counts."""
        return turning_words(self.words, self.said)

    @lazy
    def facts(self) -> dict[str, int]:
        """What those words say, and how often it is negated."""
        return facts(self.turns)

    @lazy
    def names(self) -> tuple[str, ...]:
        """The words with capitals or underscores in order, case folded."""
        return names(self.written)

    @lazy
    def capitalised(self) -> tuple[frozenset[str], frozenset[str]]:
        """The capitalised words inside sentences, and those that begin one, case folded."""
        return capitalised(self.said)

    @lazy
    def shows_names(self) -> bool:
        """Whether names can be told from words: not in scripts without capitals, nor in programs."""
        return has_case(self.said) and not is_code(self.said)


# The same chunks answer many queries. One takes some 15 kB.
@lru_cache(maxsize=512)
def wording_of(chunk: StoredChunk) -> Wording:
    """Return the wording of a chunk, with what earlier searches computed."""
    return Wording(chunk)

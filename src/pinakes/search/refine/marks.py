"""Marks: what in a text tells its claim from that of another in nearly the same words.

Numbers, names, and words that turn a sentence round. All of it is read from the text alone, without knowing its
language; the lists of words cover English, German, French, Spanish, Italian, Portuguese and Dutch, and the
commonest negations of a few others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from pinakes.text.folding import fold
from pinakes.text.stopwords import STOPWORDS

# White space and the punctuation of all scripts that matter here part words; superscripts, fractions and the
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

# Negations and exceptions, duty and permission, comparison, the two sides of a bargain, numbers.
_TURNING = frozenset(
    """
    no not nor never none neither nothing without unless except excepting exclude excludes excluded excluding
    cannot t only shall must may might should required optional mandatory permitted prohibited forbidden allowed
    least most more less fewer greater lower higher minimum maximum min max before after until above below over
    under within exceed exceeds exceeding earlier later increase decrease increased decreased
    buyer seller purchaser vendor landlord tenant lessor lessee employer employee licensor licensee lender borrower
    debtor creditor plaintiff defendant claimant respondent supplier customer controller processor sender recipient
    hourly daily weekly monthly quarterly yearly annually true false yes off enable disable enabled disabled
    first second third last two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand
    million billion half quarter double twice
    nicht kein keine keinen keinem keiner ohne außer sofern nie niemals ausgenommen nur darf dürfen muss müssen soll
    sollen kann können mindestens höchstens mehr weniger vor nach bis über unter zwei drei vier fünf sechs sieben
    acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert tausend
    ne pas sans sauf hormis jamais aucun aucune peut peuvent doit doivent moins plus avant après deux trois quatre
    cinq sept huit neuf dix onze douze quinze vingt trente quarante cinquante soixante cent mille
    sin salvo excepto nunca ningún ninguna puede pueden debe deben menos más antes después dos tres cuatro cinco
    siete ocho nueve diez doce quince veinte treinta cuarenta cincuenta sesenta ciento mil
    non senza tranne eccetto mai nessun nessuna può possono deve devono meno più prima dopo due tre quattro cinque
    sette otto nove dieci dodici quindici venti trenta quaranta cinquanta sessanta cento
    não sem exceto pode podem mais depois dois três sete oito dez doze vinte trinta quarenta cinquenta
    niet geen zonder tenzij behalve nooit mag mogen moet moeten kan kunnen minder meer voor na twee vijf zes zeven
    negen tien twaalf dertig veertig vijftig zestig honderd duizend
    не ни без кроме может должен должна должны לא ללא لا لم غير नहीं बिना
    """.casefold().split()
)
# The same for scripts that do not part words.
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
    """Count the words, case folded, by which a sentence that is otherwise the same says something else."""
    found = Counter([word for word in words if word in _TURNING])
    if not text.isascii():
        found.update(_TURNING_CHARACTERS.findall(text))
    return dict(found)


def names(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words with capitals or underscores in order, but for function words with which sentences begin.

    >>> names("The keeper of Acme calls getToken and max_age".split())
    ('acme', 'gettoken', 'max_age')
    """
    return tuple(
        folded
        for word in words
        if ((folded := word.casefold()) != word or "_" in word) and not _is_function_word(word)
    )


def names_inside(text: str) -> frozenset[str]:
    """Return the capitalised words that do not owe it to their place in a heading or at the start of a sentence."""
    found = set()
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            continue
        for match in WORD.finditer(line):
            before = line[: match.start()]
            starts = not before.strip(_LINE_MARKS) or _SENTENCE_END.search(before[-4:])
            if match[0][0].isupper() and not starts and not _is_function_word(match[0]):
                found.add(match[0].casefold())
    return frozenset(found)


def is_code(text: str) -> bool:
    """Whether a text has as many of the marks of programs as only programs have."""
    return 40 * sum(map(text.count, "{}();=<>")) > len(text)


def has_case(text: str) -> bool:
    """Whether most letters have a capital and a small form."""
    if text[:400].isascii():
        return True
    letters = [char for char in text[:400] if char.isalpha()]
    return 2 * sum(char.lower() != char.upper() for char in letters) >= len(letters)


def _is_function_word(word: str) -> bool:
    # `US` and `IT` are names, whatever `us` and `it` are.
    return fold(word.casefold()) in _FUNCTION_WORDS and not (word.isupper() and len(word) > 1)

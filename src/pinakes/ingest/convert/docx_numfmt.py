"""How Word writes a number: ``3`` as ``3``, ``03``, ``c``, ``III``, ``3rd``, ``Three`` and the like."""

from __future__ import annotations

_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
    (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"
_CHICAGO = "*†‡§"
# Formats that begin again after their last letter.
_CYCLES = {
    "aiueo": "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝ",
    "aiueoFullWidth": "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン",
    "iroha": "ｲﾛﾊﾆﾎﾍﾄﾁﾘﾇﾙｦﾜｶﾖﾀﾚｿﾂﾈﾅﾗﾑｳヰﾉｵｸﾔﾏｹﾌｺｴﾃｱｻｷﾕﾒﾐｼヱﾋﾓｾｽﾝ",
    "irohaFullWidth": "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオク"
    "ヤマケフコエテアサキユメミシヱヒモセスン",
    "ganada": "가나다라마바사아자차카타파하",
    "chosung": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
}
# Formats that go on with two letters, as columns of a sheet do.
_COLUMNS = {
    "hebrew2": "אבגדהוזחטיכלמנסעפצקרשת",
    "arabicAlpha": "أبتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "arabicAbjad": "ابجدهوزحطيكلمنسعفصقرشتثخذضظغ",
}
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳㉑㉒㉓㉔㉕㉖㉗㉘㉙㉚㉛㉜㉝㉞㉟㊱㊲㊳㊴㊵㊶㊷㊸㊹㊺㊻㊼㊽㊾㊿"
# Formats that end with their last letter; what is beyond it is written in digits.
_SIGNS = {
    "decimalEnclosedCircle": _CIRCLED,
    "decimalEnclosedCircleChinese": _CIRCLED,
    "ideographEnclosedCircle": _CIRCLED,
    "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
    "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
    "thaiLetters": "กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮ",
}
# Digits from zero on, and the signs of ten, a hundred and a thousand.
_HAN = "零一二三四五六七八九", "十百千"
_SIMPLIFIED = "零壹贰叁肆伍陆柒捌玖", "拾佰仟"
_TRADITIONAL = "零壹貳參肆伍陸柒捌玖", "拾佰仟"
_KOREAN = "영일이삼사오육칠팔구", "십백천"
_COUNTED = {
    **dict.fromkeys(
        (
            *("chineseCounting", "chineseCountingThousand", "taiwaneseCounting", "taiwaneseCountingThousand"),
            *("japaneseCounting", "ideographDigital"),
        ),
        _HAN,
    ),
    "chineseLegalSimplified": _SIMPLIFIED,
    "ideographLegalTraditional": _TRADITIONAL,
}
_KOREAN_ONES = ("", "하나", "둘", "셋", "넷", "다섯", "여섯", "일곱", "여덟", "아홉")
_KOREAN_TENS = ("", "열", "스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔")
_HEBREW = ((400, "ת"), (300, "ש"), (200, "ר"), (100, "ק")), "טיכלמנסעפצ", "אבגדהוזחט"
# Word repeats the letter (z, aa, bb); past this many it would be noise rather than a number.
_MOST_REPEATS = 30


def format_number(value: int, style: str) -> str:
    """A list number in one of Word's number formats; an unknown format gives plain digits."""
    if style in ("none", "bullet"):
        return ""
    written = _written(value, style)
    return str(value) if written is None else written


def _written(value: int, style: str) -> str | None:
    match style:
        case "decimalZero":
            return f"{value:02d}"
        case "lowerLetter" | "upperLetter":
            return _cased(_letters(value, _LATIN), style)
        case "lowerRoman" | "upperRoman":
            return _cased(_roman(value), style)
        case "russianLower":
            return _letters(value, _RUSSIAN)
        case "russianUpper":
            return _letters(value, _RUSSIAN).upper()
        case "ordinal":
            return f"{value}{_suffix(value)}"
        case "cardinalText":
            return _words(value).capitalize()
        case "ordinalText":
            return _ordinal_words(value).capitalize()
        case "numberInDash":
            return f"- {value} -"
        case "chicago":
            return _letters(value, _CHICAGO)
        case "decimalFullWidth" | "decimalFullWidth2":
            return "".join(chr(0xFF10 + int(digit)) for digit in str(value))
        case "koreanCounting":
            return _korean(value)
        case "koreanLegal":
            return _KOREAN_TENS[value // 10] + _KOREAN_ONES[value % 10] if 0 < value < 100 else _korean(value)
        case "koreanDigital" | "koreanDigital2":
            digits = (_KOREAN if style == "koreanDigital" else _HAN)[0]
            return "".join(digits[int(digit)] for digit in str(value))
        case "hebrew1":
            return _hebrew(value)
        case _ if style in _CYCLES and value > 0:
            return _CYCLES[style][(value - 1) % len(_CYCLES[style])]
        case _ if style in _COLUMNS:
            return _columns(value, _COLUMNS[style])
        case _ if style in _SIGNS and 0 < value <= len(_SIGNS[style]):
            return _SIGNS[style][value - 1]
        case _ if style in _COUNTED:
            return _counted(value, *_COUNTED[style])
        case _ if style.startswith("custom:"):
            # "001, 002, 003, ..." shows the width by its first sample.
            return str(value).zfill(len(style[len("custom:") :].split(",")[0].strip()))
    return None


def _cased(text: str, style: str) -> str:
    return text.lower() if style.startswith("lower") else text.upper()


def _letters(value: int, alphabet: str) -> str:
    if value < 1:
        return ""
    repeats, index = divmod(value - 1, len(alphabet))
    return alphabet[index] * (repeats + 1) if repeats < _MOST_REPEATS else str(value)


def _roman(value: int) -> str:
    if not 0 < value < 4000:
        return "" if value <= 0 else str(value)
    out = []
    for worth, letters in _ROMAN:
        count, value = divmod(value, worth)
        out.append(letters * count)
    return "".join(out)


def _suffix(value: int) -> str:
    if value % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")


def _words(value: int) -> str:
    if value < 20:
        return _ONES[max(value, 0)]
    if value < 100:
        tens, ones = divmod(value, 10)
        return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
    if value < 1000:
        hundreds, rest = divmod(value, 100)
        return f"{_ONES[hundreds]} hundred" + (f" {_words(rest)}" if rest else "")
    return str(value)


def _ordinal_words(value: int) -> str:
    words = _words(value)
    head, last = words[: -len(words.split("-")[-1].split(" ")[-1])], words.split("-")[-1].split(" ")[-1]
    if last.isdigit():
        return f"{value}{_suffix(value)}"
    if last in _ORDINALS:
        return head + _ORDINALS[last]
    return head + (last[:-1] + "ieth" if last.endswith("y") else last + "th")


def _columns(value: int, alphabet: str) -> str:
    letters = ""
    while value > 0:
        value, index = divmod(value - 1, len(alphabet))
        letters = alphabet[index] + letters
    return letters


def _counted(value: int, digits: str, units: str) -> str | None:
    """Chinese numerals: 11 is ten one, 110 one hundred one ten, 101 one hundred nought one."""
    if not 0 < value < 10_000:
        return None
    text = str(value)
    out = ""
    for place, digit in zip(range(len(text) - 1, -1, -1), text, strict=True):
        if digit != "0":
            out += digits[int(digit)] + (units[place - 1] if place else "")
        elif not out.endswith(digits[0]):
            out += digits[0]
    out = out.rstrip(digits[0])
    # Everyday numerals drop the one of a leading ten; those of banks do not.
    return out[1:] if units == _HAN[1] and 10 <= value < 20 else out


def _korean(value: int) -> str | None:
    if not 0 < value < 10_000:
        return None
    digits, units = _KOREAN
    text = str(value)
    return "".join(
        ("" if digit == "1" and place else digits[int(digit)]) + (units[place - 1] if place else "")
        for place, digit in zip(range(len(text) - 1, -1, -1), text, strict=True)
        if digit != "0"
    )


def _hebrew(value: int) -> str | None:
    """Letters by their worth; 15 and 16 are written nine and six, nine and seven."""
    if not 0 < value < 1000:
        return None
    hundreds, tens, ones = _HEBREW
    out = ""
    for worth, letter in hundreds:
        count, value = divmod(value, worth)
        out += letter * count
    if value in (15, 16):
        return out + ones[8] + ones[value - 10]
    return out + (tens[value // 10] if value > 9 else "") + (ones[value % 10 - 1] if value % 10 else "")

"""Number formats of Word's lists."""

from __future__ import annotations

import pytest

from loccit.read.docx.numbering import format_number


@pytest.mark.parametrize(
    ("value", "style", "expected"),
    [
        (3, "decimal", "3"),
        (3, "decimalZero", "03"),
        (12, "decimalZero", "12"),
        (27, "lowerLetter", "aa"),
        (28, "upperLetter", "BB"),
        (0, "lowerLetter", ""),
        (4, "lowerRoman", "iv"),
        (1994, "upperRoman", "MCMXCIV"),
        (0, "upperRoman", ""),
        (5000, "upperRoman", "5000"),
        (1, "ordinal", "1st"),
        (12, "ordinal", "12th"),
        (23, "ordinal", "23rd"),
        (21, "cardinalText", "Twenty-one"),
        (342, "cardinalText", "Three hundred forty-two"),
        (1, "ordinalText", "First"),
        (20, "ordinalText", "Twentieth"),
        (35, "ordinalText", "Thirty-fifth"),
        (112, "ordinalText", "One hundred twelfth"),
        (4000, "ordinalText", "4000th"),
        (5, "none", ""),
        (5, "bullet", ""),
        (7, "custom:001, 002, 003, ...", "007"),
        (21, "chineseCounting", "二十一"),
        (10, "japaneseCounting", "十"),
        (3, "russianLower", "в"),
        (27, "russianUpper", "Э"),
        (115, "chineseCountingThousand", "一百一十五"),
        (1001, "taiwaneseCounting", "一千零一"),
        (12, "chineseLegalSimplified", "壹拾贰"),
        (20_000, "chineseCounting", "20000"),
        (115, "koreanCounting", "백십오"),
        (27, "koreanLegal", "스물일곱"),
        (20, "koreanDigital", "이영"),
        (15, "ganada", "가"),
        (47, "aiueoFullWidth", "ア"),
        (3, "irohaFullWidth", "ハ"),
        (21, "decimalEnclosedCircle", "㉑"),
        (51, "decimalEnclosedCircle", "51"),
        (3, "ideographTraditional", "丙"),
        (115, "hebrew1", "קטו"),
        (27, "hebrew2", "אה"),
        (5, "arabicAlpha", "ج"),
        (0, "hebrew2", ""),
        (2, "numberInDash", "- 2 -"),
        (2, "chicago", "†"),
        (5, "aFormatOfTheFuture", "5"),
        (10**6, "lowerLetter", "1000000"),
        (12, "decimalFullWidth", "１２"),
    ],
)
def test_number_formats(value: int, style: str, expected: str) -> None:
    assert format_number(value, style) == expected


@pytest.mark.parametrize(
    "style", ["hebrew1", "koreanLegal", "chineseCounting", "ganada", "arabicAbjad", "chicago"]
)
def test_every_number_can_be_written(style: str) -> None:
    for value in (0, 1, 9, 10, 15, 99, 100, 101, 999, 1000, 9_999, 10_000, 32_767, 10**9):
        assert len(format_number(value, style)) <= 40

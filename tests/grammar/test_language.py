"""Language detection."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.grammar.text.language import LANGUAGE_NAMES, detect_language

SAMPLES = {
    "en": "The controller shall implement appropriate technical and organisational measures.",
    "de": "Der Verantwortliche setzt geeignete technische und organisatorische Maßnahmen um.",
    "fr": "Le responsable du traitement met en œuvre des mesures techniques appropriées.",
    "es": "El responsable del tratamiento aplicará medidas técnicas apropiadas.",
    "it": "Il titolare del trattamento mette in atto misure tecniche adeguate.",
    "pt": "O responsável pelo tratamento aplica as medidas técnicas adequadas.",
    "nl": "De verwerkingsverantwoordelijke neemt passende technische maatregelen.",
    "ru": "Контролёр принимает соответствующие технические и организационные меры.",
    "ar": "يتخذ المتحكم التدابير التقنية والتنظيمية المناسبة لحماية البيانات",
    "zh": "个人信息处理者应当采取必要措施保障个人信息的安全。",
    "ja": "個人情報取扱事業者は、安全管理のために必要な措置を講じなければならない。",
    "ko": "개인정보처리자는 필요한 조치를 하여야 한다.",
    "el": "Ο υπεύθυνος επεξεργασίας εφαρμόζει κατάλληλα μέτρα.",
    "th": "ผู้ควบคุมข้อมูลต้องใช้มาตรการที่เหมาะสม",
}


@pytest.mark.parametrize(("language", "text"), SAMPLES.items())
def test_languages(language: str, text: str) -> None:
    assert detect_language(text) == language
    assert LANGUAGE_NAMES[language]


@pytest.mark.parametrize(
    "text", ["", " \n", "32.706-2", "OK", "x = 1", "!!!", "https://example.com/a/b/c/d/e"]
)
def test_too_little_to_tell(text: str) -> None:
    assert detect_language(text) == ""


def test_a_foreign_title_page_does_not_decide() -> None:
    text = "Allgemeine Bedingungen\n" + SAMPLES["en"] * 400
    assert detect_language(text) == "en"


def test_japanese_with_few_kana_is_not_chinese_and_quoted_japanese_is_not_chinese_text() -> None:
    assert detect_language("東京都庁舎の見学") == "ja"
    assert detect_language(SAMPLES["en"] * 3 + "(東京)") == "en"


def test_threads_agree() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(detect_language, [SAMPLES["de"]] * 64)) == {"de"}


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_any_text_gives_a_code_or_nothing(text: str) -> None:
    assert len(detect_language(text)) in (0, 2)

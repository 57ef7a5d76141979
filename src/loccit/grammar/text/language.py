"""Language detection: which language a text is in, as an ISO 639-1 code."""

from __future__ import annotations

import re
import threading
from typing import Any

from loccit.expressions import expression

_PIECES = 5
_PIECE_LENGTH = 1000
# Numbers of letters, and the confidence required of a text of at least that length: the shorter, the less
# reliable.
_LIMITS = ((200, 0.0), (20, 0.3), (12, 0.5))

_lock = threading.Lock()
_identifier: Any = None

# Scripts that belong to one language, or nearly so. Kana decides before Han, which Japanese also uses.
_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff\uff66-\uff9f]")),
    ("ko", re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7ff]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")),
    ("th", re.compile("[\u0e01-\u0e4e]")),
    ("lo", re.compile("[\u0e81-\u0ecf]")),
    ("my", re.compile("[\u1000-\u109f]")),
    ("km", re.compile("[\u1780-\u17dd]")),
    ("el", re.compile("[\u0370-\u03ff\u1f00-\u1fff]")),
    ("he", re.compile("[\u05d0-\u05ea]")),
    ("hy", re.compile("[\u0531-\u0587]")),
    ("ka", re.compile("[\u10a0-\u10ff]")),
    ("ta", re.compile("[\u0b80-\u0bff]")),
    ("te", re.compile("[\u0c00-\u0c7f]")),
    ("kn", re.compile("[\u0c80-\u0cff]")),
    ("ml", re.compile("[\u0d00-\u0d7f]")),
    ("gu", re.compile("[\u0a80-\u0aff]")),
    ("pa", re.compile("[\u0a00-\u0a7f]")),
    ("si", re.compile("[\u0d80-\u0dff]")),
    ("am", re.compile("[\u1200-\u137f]")),
)
_NOT_PROSE = expression(r"https?://\S+|[\w.+-]+@[\w.-]+|`[^`\n]{1,200}`|[\d_#*|<>=/\\{}\[\]()-]+")

LANGUAGE_NAMES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian",
    "bg": "Bulgarian", "bn": "Bengali", "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh",
    "da": "Danish", "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish",
    "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish",
    "gl": "Galician", "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian",
    "hy": "Armenian", "id": "Indonesian", "is": "Icelandic", "it": "Italian", "ja": "Japanese",
    "ka": "Georgian", "kk": "Kazakh", "km": "Khmer", "kn": "Kannada", "ko": "Korean", "la": "Latin",
    "lo": "Lao", "lt": "Lithuanian", "lv": "Latvian", "mk": "Macedonian", "ml": "Malayalam",
    "mn": "Mongolian", "mr": "Marathi", "ms": "Malay", "mt": "Maltese", "my": "Burmese",
    "nb": "Norwegian Bokmål", "ne": "Nepali", "nl": "Dutch", "nn": "Norwegian Nynorsk", "no": "Norwegian",
    "pa": "Punjabi", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "si": "Sinhala",
    "sk": "Slovak", "sl": "Slovenian", "sq": "Albanian", "sr": "Serbian", "st": "Sesotho", "sv": "Swedish",
    "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "th": "Thai", "tl": "Tagalog", "tr": "Turkish",
    "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "vi": "Vietnamese", "yi": "Yiddish", "zh": "Chinese",
}  # fmt: skip
"""English names by code, for messages."""


def detect_language(text: str) -> str:
    """The language of a text, or "" if it is too short or too mixed to tell.

    >>> detect_language("Die Verarbeitung personenbezogener Daten ist nur unter diesen Bedingungen erlaubt.")
    'de'
    """
    sample = _NOT_PROSE.sub(" ", _sample(text))
    letters = sum(map(str.isalpha, sample))
    if not letters:
        return ""
    if script := _by_script(sample, letters):
        return script
    if letters < _LIMITS[-1][0]:
        return ""
    language, confidence = _load().classify(sample)
    sure = any(letters >= least and confidence >= asked for least, asked in _LIMITS)
    return str(language) if sure and len(language) == 2 else ""


def _sample(text: str) -> str:
    """The text, or pieces spread over it: the beginning of a document is often in another language."""
    if len(text) <= _PIECES * _PIECE_LENGTH:
        return text
    step = (len(text) - _PIECE_LENGTH) // (_PIECES - 1)
    return "\n".join(text[index * step : index * step + _PIECE_LENGTH] for index in range(_PIECES))


def _by_script(sample: str, letters: int) -> str:
    if sample.isascii():
        return ""
    counts = {language: len(script.findall(sample)) for language, script in _SCRIPTS}
    if counts["zh"] + counts["ja"] > letters / 3:  # a character says more than a letter
        # Chinese quotes the odd kana; Japanese prose is a third kana or more.
        return "ja" if counts["ja"] * 10 > counts["zh"] else "zh"
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] > letters / 2 else ""


def _load() -> Any:
    """A separate identifier: the module's shared one may have been restricted by other code."""
    global _identifier
    if _identifier is None:
        with _lock:
            if _identifier is None:
                from py3langid.langid import MODEL_FILE, LanguageIdentifier

                _identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return _identifier

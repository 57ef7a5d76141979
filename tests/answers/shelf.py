"""Ten documents in five scripts and five formats to quote from, and selections in them."""

from __future__ import annotations

import html
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_WORDS = {
    "en": (
        "the carrier shall master vessel harbour notice within days of receipt and or cargo fee rent tenant landlord "
        "authority court may not under this act Article 5 unless “personal data” processing controller consent 24 hours "
        "1,000 euro well-known operator's 3.5 % by writing approval officer damage insurance policy term lease"
    ),
    "de": (
        "der die Vertrag Mieter Vermieter Frist Tage nach Zugang Behörde § 5 Abs. 2 darf nicht Gebühr Hafen Schiff und "
        "oder „Ladung“ Größe über Straße 1.000 Euro 24 Stunden Übergabe schriftlich zuständig Prüfung Kosten"
    ),
    "ru": (
        "договор сторона обязана уведомить в течение 30 дней со дня получения и или «груз» суд орган не может статья 5 "
        "налог размер 1 000 рублей порядок срок капитан порта судно владелец ответственность закон приказ"
    ),
    "el": (
        "η σύμβαση ο μισθωτής οφείλει να ειδοποιήσει εντός 30 ημερών από την παραλαβή και ή το φορτίο αρχή δεν μπορεί "
        "άρθρο 5 τέλος ποσό 1.000 ευρώ λιμένας πλοίο κύριος ευθύνη νόμος διάταξη «δεδομένα»"
    ),
    "zh": (
        "合同 当事人 应当 在 三十日 内 通知 对方 或者 货物 法院 主管机关 不得 依照 本法 第五条 规定 费用 一千元 港口 船舶 所有人 "
        "承担 责任 “个人信息” 处理者 同意 书面 形式"
    ),
    "ar": (
        "يجب على الطرف إخطار الآخر خلال ثلاثين يوما من تاريخ الاستلام أو البضائع المحكمة السلطة لا يجوز وفقا للمادة 5 من "
        "هذا القانون الرسوم 1000 دينار الميناء السفينة المالك المسؤولية «البيانات» كتابة"
    ),
    "he": (
        "הצד חייב להודיע בתוך 30 ימים מיום הקבלה או המטען בית המשפט הרשות לא רשאי לפי סעיף 5 לחוק זה אגרה 1,000 שקלים "
        "הנמל כלי השיט הבעלים אחריות “מידע אישי” בכתב הסכמה"
    ),
}
_ARTICLE = {
    "en": "Article {}",
    "de": "§ {}",
    "ru": "Статья {}",
    "el": "Άρθρο {}",
    "zh": "第{}条",
    "ar": "المادة {}",
    "he": "סעיף {}",
}
_TITLE = {
    "en": "Harbour Regulation",
    "de": "Hafenordnung",
    "ru": "Закон о портах",
    "el": "Νόμος περί λιμένων",
    "zh": "港口法",
    "ar": "قانون الموانئ",
    "he": "חוק הנמלים",
}
_HAN = "一 二 三 四 五 六 七 八 九 十".split()
PAGE = 3000
"""About the characters of a page."""


class Writer:
    """Writes sentences of a language, the same ones for the same seed."""

    def __init__(self, language: str, seed: int) -> None:
        self.language = language
        self.chance = random.Random(f"{language} {seed}")
        self._words = _WORDS[language].split()

    def sentence(self, least: int = 5, most: int = 18) -> str:
        words = self.chance.choices(self._words, k=self.chance.randint(least, most))
        if self.language == "zh":
            return "".join(words) + "。"
        return " ".join(words)[:1].upper() + " ".join(words)[1:] + "."

    def text(self, sentences: int) -> str:
        return ("" if self.language == "zh" else " ").join(self.sentence() for _ in range(sentences))

    def article(self, number: int) -> str:
        return _ARTICLE[self.language].format(_han(number) if self.language == "zh" else number)

    @property
    def title(self) -> str:
        return _TITLE[self.language]


def _han(number: int) -> str:
    tens, ones = divmod(number, 10)
    return ("" if not tens else ("" if tens == 1 else _HAN[tens - 1]) + "十") + (
        _HAN[ones - 1] if ones else ""
    )


def _emphasised(writer: Writer, text: str) -> str:
    """The same text with markup here and there."""
    words = text.split(" ")
    for number, word in enumerate(words):
        way = writer.chance.random()
        if not word.isalpha():
            continue
        if way < 0.03:
            words[number] = f"**{word}**"
        elif way < 0.05:
            words[number] = f"*{word[:2]}*{word[2:]}" if len(word) > 3 else word
        elif way < 0.07:
            words[number] = f"[{word}](other.md 'see there')"
        elif way < 0.08:
            words[number] = f"`{word}`"
        elif way < 0.09:
            words[number] = f"{word}[^1]"
        elif way < 0.1:
            words[number] = f"{word}&nbsp;H<sub>2</sub>O &amp; caf&eacute; \\*"
    return " ".join(words)


def markdown(language: str, articles: int, seed: int) -> str:
    writer = Writer(language, seed)
    parts = [f"# {writer.title} {seed}", writer.text(4)]
    for number in range(1, articles + 1):
        parts.append(f"## {writer.article(number)} {writer.sentence(2, 4).rstrip('.。')}")
        parts.append(_emphasised(writer, writer.text(3)))
        way = number % 5
        if way in (0, 1):
            parts += [
                f"({letter}) {_emphasised(writer, writer.text(2))}"
                for letter in "abcdefg"[: writer.chance.randint(2, 7)]
            ]
            parts.append(writer.text(1))
        elif way == 2:
            parts.append(
                "\n".join(
                    f"{n}. {_emphasised(writer, writer.sentence())}\n   {writer.sentence()}"
                    for n in range(1, 5)
                )
            )
            parts.append("\n".join(f"- {writer.sentence()}" for _ in range(3)))
        elif way == 3:
            rows = [
                f"| {writer.sentence(1, 3)} | {writer.sentence(1, 3)} | {writer.chance.randint(1, 999)} |"
                for _ in range(7)
            ]
            parts.append("\n".join([rows[0], "|---|:-:|--:|", *rows[1:]]))
        else:
            parts.append("> " + "\n> ".join(writer.sentence() for _ in range(3)))
            parts.append(
                f"```python\nprice = {writer.chance.randint(1, 99)}  # {writer.sentence(2, 4)}\n\nprint(price)\n```"
            )
    parts.append(f"[^1]: {writer.text(1)}")
    return "\n\n".join(parts) + "\n"


def page_of_html(language: str, articles: int, seed: int) -> str:
    writer = Writer(language, seed)
    direction = ' dir="rtl"' if language in ("ar", "he") else ""
    parts = [f'<!doctype html><html lang="{language}"{direction}><head><meta charset="utf-8">']
    parts.append(f"<title>{writer.title}</title></head><body><h1>{writer.title}</h1>")
    for number in range(1, articles + 1):
        parts.append(f"<h2>{writer.article(number)}</h2>")
        parts.append(
            f"<p>{html.escape(writer.text(3))} <b>{writer.sentence(1, 3)}</b> <i>{writer.sentence(1, 2)}</i></p>"
        )
        if number % 3 == 0:
            rows = "".join(
                f"<tr><td>{writer.sentence(1, 3)}</td><td>{writer.sentence(1, 2)}</td></tr>" for _ in range(4)
            )
            parts.append(
                f"<table><tr><th>{writer.sentence(1, 1)}</th><th>{writer.sentence(1, 1)}</th></tr>{rows}</table>"
            )
        else:
            parts.append("<ul>" + "".join(f"<li>{writer.sentence()}</li>" for _ in range(3)) + "</ul>")
    return "\n".join([*parts, "</body></html>"])


def _word(path: Path, language: str, articles: int, seed: int) -> None:
    import docx

    writer = Writer(language, seed)
    file = docx.Document()
    file.add_heading(writer.title, 0)
    for number in range(1, articles + 1):
        file.add_heading(writer.article(number), 1)
        paragraph = file.add_paragraph(writer.text(2) + " ")
        paragraph.add_run(writer.sentence(1, 3)).bold = True
        paragraph.add_run(" " + writer.text(1))
        for letter in "abcd"[: number % 5]:
            file.add_paragraph(f"({letter}) {writer.text(1)}")
        if number % 4 == 0:
            table = file.add_table(rows=3, cols=2)
            for row in table.rows:
                for cell in row.cells:
                    cell.text = writer.sentence(1, 3)
    file.save(str(path))


def _pdf(path: Path, articles: int, seed: int) -> None:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

    writer = Writer("en", seed)
    styles = getSampleStyleSheet()
    flow = [Paragraph(writer.title, styles["Title"])]
    for number in range(1, articles + 1):
        flow.append(Paragraph(writer.article(number), styles["Heading1"]))
        flow += [Paragraph(html.escape(writer.text(6)), styles["BodyText"]) for _ in range(3)]
        flow += [
            Paragraph(f"({letter}) {html.escape(writer.text(2))}", styles["BodyText"]) for letter in "abc"
        ]
        if number % 4 == 0:
            flow.append(Table([[writer.sentence(1, 2), writer.sentence(1, 2)] for _ in range(4)]))
    SimpleDocTemplate(str(path)).build(flow)


def write_shelf(folder: Path, *, large: bool = True) -> Path:
    """Write the ten documents; without ``large`` they are short."""
    folder.mkdir(parents=True, exist_ok=True)
    size = 5 if large else 1
    texts = {
        "regulation.md": markdown("en", 60 * size, 1),
        "amended-regulation.md": markdown("en", 12, 2),
        "zakon.md": markdown("ru", 20 * size, 1),
        "fa.md": markdown("zh", 20 * size, 1),
        "qanun.md": markdown("ar", 15 * size, 1),
        "nomos.html": page_of_html("el", 12 * size, 1),
        "hok.html": page_of_html("he", 8 * size, 1),
        "ordnung.txt": "\n\n".join(Writer("de", n).text(5) for n in range(30 * size)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    _word(folder / "lease.docx", "en", 15 * size, 3)
    _pdf(folder / "report.pdf", 30 * size, 4)
    return folder


@dataclass(frozen=True)
class Selection:
    path: str
    start: int
    end: int


def selections(texts: dict[str, str], count: int, seed: int) -> Iterator[Selection]:
    """Yield stretches of documents, from one character to forty pages; as many short ones as long ones."""
    chance = random.Random(seed)
    paths = sorted(texts)
    made = 0
    while made < count:
        path = paths[made % len(paths)]
        text = texts[path]
        length = 1 if made % 10 == 9 else round(math.exp(chance.uniform(0, math.log(40 * PAGE))))
        start = chance.randrange(max(1, len(text) - length))
        stretch = text[start : start + length]
        if any(character.isalnum() for character in stretch):
            made += 1
            yield Selection(path, start, start + length)

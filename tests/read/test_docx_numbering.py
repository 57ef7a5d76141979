"""Word's automatic numbers, end to end: files with real numbering parts, and a simulation to agree with."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml import parse_xml
from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.model.document import Converted
from loccit.read.docx import convert_docx

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def level(index: int, text: str, fmt: str = "decimal", start: int | None = 1, extra: str = "") -> str:
    first = "" if start is None else f'<w:start w:val="{start}"/>'
    return (
        f'<w:lvl w:ilvl="{index}">{first}<w:numFmt w:val="{fmt}"/>{extra}<w:lvlText w:val="{text}"/></w:lvl>'
    )


def abstract(key: int, *levels: str) -> str:
    return f'<w:abstractNum w:abstractNumId="{key}">{"".join(levels)}</w:abstractNum>'


def num(key: int, of: int, overrides: str = "") -> str:
    return f'<w:num w:numId="{key}"><w:abstractNumId w:val="{of}"/>{overrides}</w:num>'


def restart(index: int, at: int = 1) -> str:
    return f'<w:lvlOverride w:ilvl="{index}"><w:startOverride w:val="{at}"/></w:lvlOverride>'


def document(numbering: str) -> Any:
    """A python-docx document whose numbering part is ours."""
    made = docx.Document()
    element = made.part.numbering_part.element
    for child in list(element):
        element.remove(child)
    for child in parse_xml(f'<w:numbering xmlns:w="{W}">{numbering}</w:numbering>'):
        element.append(child)
    return made


def add(made: Any, text: str, num_id: int | None, index: int | None = 0, style: str | None = None) -> Any:
    paragraph = made.add_paragraph(text, style=style)
    if num_id is not None:
        at = "" if index is None else f'<w:ilvl w:val="{index}"/>'
        xml = f'<w:numPr xmlns:w="{W}">{at}<w:numId w:val="{num_id}"/></w:numPr>'
        paragraph._p.get_or_add_pPr().append(parse_xml(xml))
    return paragraph


def style_numbering(made: Any, name: str, num_id: int, index: int | None = None) -> None:
    at = "" if index is None else f'<w:ilvl w:val="{index}"/>'
    xml = f'<w:numPr xmlns:w="{W}">{at}<w:numId w:val="{num_id}"/></w:numPr>'
    made.styles[name].element.get_or_add_pPr().append(parse_xml(xml))


def convert(made: Any, tmp_path: Path) -> Converted:
    path = tmp_path / "made.docx"
    made.save(path)
    return convert_docx(path)


def lines(made: Any, tmp_path: Path) -> list[str]:
    return convert(made, tmp_path).text.strip().split("\n\n")


CLAUSES = abstract(
    1,
    level(0, "%1."),
    level(1, "%1.%2"),
    level(2, "(%3)", "lowerLetter"),
    level(3, "(%4)", "lowerRoman"),
)


def test_a_contract_keeps_its_clause_numbers(tmp_path: Path) -> None:
    made = document(CLAUSES + num(1, 1))
    for text, index in [("Term", 0), ("Start", 1), ("End", 1), ("early", 2), ("by notice", 3), ("late", 2)]:
        add(made, text, 1, index)
    add(made, "Fees", 1, 0)
    add(made, "Rates", 1, 1)
    add(made, "hourly", 1, 2)
    assert lines(made, tmp_path) == [
        "1. Term", "1.1 Start", "1.2 End", "(a) early", "(i) by notice", "(b) late", "2. Fees", "2.1 Rates",
        "(a) hourly",
    ]  # fmt: skip


def test_heading_styles_bring_their_numbers(tmp_path: Path) -> None:
    levels = (
        level(0, "Article %1", extra='<w:pStyle w:val="Heading1"/>'),
        level(1, "%1.%2", extra='<w:pStyle w:val="Heading2"/>'),
        level(2, "§ %3", extra='<w:pStyle w:val="Heading3"/>'),
    )
    made = document(abstract(1, *levels) + num(7, 1))
    for name in ("Heading 1", "Heading 2", "Heading 3"):
        style_numbering(made, name, 7)  # the level comes from the link in the numbering part
    for text, depth in [
        ("Scope", 1),
        ("Payment", 2),
        ("Due date", 3),
        ("Interest", 2),
        ("Term", 1),
        ("Start", 2),
    ]:
        made.add_heading(text, depth)
    assert lines(made, tmp_path) == [
        "# Article 1 Scope", "## 1.1 Payment", "### § 1 Due date", "## 1.2 Interest", "# Article 2 Term",
        "## 2.1 Start",
    ]  # fmt: skip


def test_style_numbering_is_inherited_and_can_be_turned_off(tmp_path: Path) -> None:
    made = document(CLAUSES + num(1, 1))
    style_numbering(made, "Body Text", 1, 1)
    child = made.styles.add_style("Clause", 1)
    child.base_style = made.styles["Body Text"]
    made.add_paragraph("inherited", style="Clause")
    add(made, "direct level", None, style="Clause")._p.get_or_add_pPr().append(
        parse_xml(f'<w:numPr xmlns:w="{W}"><w:ilvl w:val="2"/></w:numPr>')
    )
    add(made, "off", 0, style="Clause")
    made.add_paragraph("on again", style="Clause")
    assert lines(made, tmp_path) == ["1.1 inherited", "(a) direct level", "off", "1.2 on again"]


def test_a_style_may_state_a_level_of_its_own_and_gives_it_to_other_lists(tmp_path: Path) -> None:
    links = (level(0, "%1."), level(1, "%1.%2", extra='<w:pStyle w:val="BodyText"/>'), level(2, "(%3)"))
    other = abstract(2, level(0, "A%1"), level(1, "B%2"))
    made = document(abstract(1, *links) + other + num(1, 1) + num(2, 2))
    style_numbering(made, "Body Text", 1, 1)
    deeper = made.styles.add_style("Deeper", 1)
    deeper.base_style = made.styles["Body Text"]
    deeper.element.get_or_add_pPr().append(parse_xml(f'<w:numPr xmlns:w="{W}"><w:ilvl w:val="2"/></w:numPr>'))
    made.add_paragraph("linked", style="Body Text")
    made.add_paragraph("stated", style="Deeper")
    add(made, "elsewhere", 2, None, style="Body Text")
    assert lines(made, tmp_path) == ["1.1 linked", "(1) stated", "B1 elsewhere"]


def test_lists_of_one_definition_count_together_unless_overridden(tmp_path: Path) -> None:
    made = document(CLAUSES + num(1, 1) + num(2, 1) + num(3, 1, restart(0, 5)))
    for num_id in (1, 1, 2, 3, 3, 1):
        add(made, "x", num_id, 0)
    assert lines(made, tmp_path) == ["1. x", "2. x", "3. x", "5. x", "6. x", "7. x"]


def test_start_override_counts_for_later_restarts_too(tmp_path: Path) -> None:
    made = document(CLAUSES + num(1, 1, restart(1, 4)))
    for index in (0, 1, 1, 0, 1):
        add(made, "x", 1, index)
    assert lines(made, tmp_path) == ["1. x", "1.4 x", "1.5 x", "2. x", "2.4 x"]


def test_a_list_begins_anew_once_with_its_first_paragraph_of_such_a_level(tmp_path: Path) -> None:
    made = document(CLAUSES + num(1, 1) + num(2, 1, restart(0)) + num(3, 1, restart(0) + restart(1)))
    for num_id, index in [(1, 0), (1, 0), (2, 1), (2, 0), (1, 0), (3, 1), (3, 0), (3, 1)]:
        add(made, "x", num_id, index)
    assert lines(made, tmp_path) == ["1. x", "2. x", "2.1 x", "1. x", "2. x", "2.1 x", "3. x", "3.1 x"]


def test_a_skipped_level_has_used_up_its_first_number(tmp_path: Path) -> None:
    made = document(CLAUSES + num(1, 1))
    for index in (1, 1, 0, 2, 1):
        add(made, "x", 1, index)
    assert lines(made, tmp_path) == ["1.1 x", "1.2 x", "2. x", "(a) x", "2.2 x"]


def test_a_level_can_be_replaced_for_one_list(tmp_path: Path) -> None:
    replaced = f'<w:lvlOverride w:ilvl="0">{level(0, "Annex %1", "upperLetter")}</w:lvlOverride>'
    made = document(CLAUSES + num(1, 1) + num(2, 1, replaced + restart(0)))
    for num_id in (1, 2, 2):
        add(made, "x", num_id, 0)
    # The override holds both a start and a level, in two elements as some writers have it.
    assert lines(made, tmp_path) == ["1. x", "Annex A x", "Annex B x"]


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("", ["1", "1.1", "1.1.1", "1.2", "1.2.1", "2", "2.1", "2.1.1"]),
        ('<w:lvlRestart w:val="0"/>', ["1", "1.1", "1.1.1", "1.2", "1.2.2", "2", "2.1", "2.1.3"]),
        ('<w:lvlRestart w:val="1"/>', ["1", "1.1", "1.1.1", "1.2", "1.2.2", "2", "2.1", "2.1.1"]),
    ],
)
def test_level_restart(tmp_path: Path, extra: str, expected: list[str]) -> None:
    levels = (level(0, "%1"), level(1, "%1.%2"), level(2, "%1.%2.%3", extra=extra))
    made = document(abstract(1, *levels) + num(1, 1))
    for index in (0, 1, 2, 1, 2, 0, 1, 2):
        add(made, "x", 1, index)
    assert lines(made, tmp_path) == [f"{number} x" for number in expected]


def test_legal_numbering_writes_every_level_in_digits(tmp_path: Path) -> None:
    levels = (
        level(0, "%1", "upperRoman"),
        level(1, "%1.%2", extra="<w:isLgl/>"),
        level(2, "%1.%2", "upperRoman"),
    )
    made = document(abstract(1, *levels) + num(1, 1))
    for index in (0, 0, 1, 2):
        add(made, "x", 1, index)
    assert lines(made, tmp_path) == ["I x", "II x", "2.1 x", "II.1 x"]


def test_a_level_without_a_number_leaves_no_dot(tmp_path: Path) -> None:
    made = document(abstract(1, level(0, "Recital", "none"), level(1, "%1.%2")) + num(1, 1))
    add(made, "x", 1, 0)
    add(made, "y", 1, 1)
    assert lines(made, tmp_path) == ["Recital x", "1 y"]


def test_numbering_styles_are_followed(tmp_path: Path) -> None:
    linked = '<w:abstractNum w:abstractNumId="2"><w:numStyleLink w:val="Legal"/></w:abstractNum>'
    owner = CLAUSES.replace('"1">', '"1"><w:styleLink w:val="Legal"/>', 1)
    made = document(owner + linked + num(1, 1) + num(2, 2))
    made.styles.element.append(
        parse_xml(
            f'<w:style xmlns:w="{W}" w:type="numbering" w:styleId="Legal"><w:name w:val="Legal"/>'
            '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        )
    )
    add(made, "x", 2, 0)
    add(made, "y", 2, 1)
    assert lines(made, tmp_path) == ["1. x", "1.1 y"]


def test_numbering_style_links_in_a_circle_end(tmp_path: Path) -> None:
    circle = '<w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="Round"/></w:abstractNum>'
    made = document(circle + num(1, 1))
    made.styles.element.append(
        parse_xml(
            f'<w:style xmlns:w="{W}" w:type="numbering" w:styleId="Round"><w:name w:val="Round"/>'
            '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        )
    )
    add(made, "x", 1, 0)
    converted = convert(made, tmp_path)
    assert converted.text == "x\n"
    assert converted.warnings == ("numbering definition missing for 1 paragraph",)


def test_empty_numbered_paragraphs_count_and_hidden_ones_do_not(tmp_path: Path) -> None:
    made = document(CLAUSES + num(1, 1))
    add(made, "one", 1)
    add(made, "", 1)
    add(made, "three", 1)
    hidden = add(made, "", 1)
    hidden._p.get_or_add_pPr().append(parse_xml(f'<w:rPr xmlns:w="{W}"><w:vanish/></w:rPr>'))
    add(made, "four", 1)
    assert lines(made, tmp_path) == ["1. one", "3. three", "4. four"]


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("", ["1. one", "2. two"]),
        ("<w:r><w:t></w:t></w:r>", ["1. one", "2. two"]),
        ("<w:r><w:br w:type='page'/></w:r>", ["1. one", "2. two"]),
        ("<w:bookmarkStart w:id='0' w:name='x'/><w:bookmarkEnd w:id='0'/>", ["1. one", "2. two"]),
        ("<w:r><w:t xml:space='preserve'> </w:t></w:r>", ["1. one", "3. two"]),
        ("<w:r><w:t>end</w:t></w:r>", ["1. one", "2. end", "3. two"]),
        ("<w:r><w:pict/></w:r>", ["1. one", "3. two"]),
    ],
)
def test_an_empty_paragraph_that_ends_a_section_is_not_counted(
    tmp_path: Path, inside: str, expected: list[str]
) -> None:
    made = document(CLAUSES + num(1, 1))
    add(made, "one", 1)
    made.element.body.insert(
        1,
        parse_xml(
            f"<w:p xmlns:w='{W}'><w:pPr><w:numPr><w:ilvl w:val='0'/><w:numId w:val='1'/></w:numPr>"
            f"<w:sectPr/></w:pPr>{inside}</w:p>"
        ),
    )
    add(made, "two", 1)
    assert lines(made, tmp_path) == expected


def test_text_boxes_and_notes_count_for_themselves(tmp_path: Path) -> None:
    made = document(CLAUSES + num(1, 1))
    numbered = "<w:p><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr><w:r><w:t>{}</w:t></w:r></w:p>"
    add(made, "one", 1)
    add(made, "two", 1)._p.append(
        parse_xml(
            f"<w:r xmlns:w='{W}'><w:pict><w:txbxContent>{numbered.format('boxed')}"
            f"{numbered.format('again')}</w:txbxContent></w:pict></w:r>"
        )
    )
    add(made, "three", 1)
    assert lines(made, tmp_path) == ["1. one", "2. two", "1. boxed", "2. again", "3. three"]


def test_a_typed_number_is_not_printed_twice(tmp_path: Path) -> None:
    made = document(CLAUSES + num(1, 1))
    add(made, "1. Scope", 1)
    add(made, "10 days", 1)
    add(made, "(i) nested by hand", 1, 2)
    assert lines(made, tmp_path) == ["1. Scope", "2. 10 days", "(a) (i) nested by hand"]


def test_a_definition_that_states_a_level_twice_makes_up_no_numbers(tmp_path: Path) -> None:
    broken = abstract(1, level(0, "(%1)", "lowerLetter", 0), level(0, "(%2)", "decimal", 0))
    made = document(broken + num(1, 1))
    add(made, "(a) Vision", 1)
    converted = convert(made, tmp_path)
    assert converted.text == "(a) Vision\n"
    assert "damaged" in converted.warnings[0]


def test_missing_definitions_are_reported(tmp_path: Path) -> None:
    made = document("")
    for _ in range(3):
        add(made, "x", 42)
    assert convert(made, tmp_path).warnings == ("numbering definition missing for 3 paragraphs",)


def test_bullets_nest_by_what_is_above_them(tmp_path: Path) -> None:
    bullets = abstract(1, *(level(index, "•", "bullet") for index in range(4)))
    made = document(bullets + num(1, 1))
    for text, index in [("a", 0), ("b", 1), ("c", 3), ("d", 1)]:
        add(made, text, 1, index)
    made.add_paragraph("between")
    add(made, "deep without a parent", 1, 3)
    add(made, "two\nlines", 1, 3)
    assert convert(made, tmp_path).text == (
        "- a\n  - b\n    - c\n  - d\n\nbetween\n\n- deep without a parent\n- two\n  lines\n"
    )


def test_built_in_bullet_styles_nest(tmp_path: Path) -> None:
    made = docx.Document()
    made.add_paragraph("a", style="List Bullet")
    made.add_paragraph("b", style="List Bullet 2")
    made.add_paragraph("c", style="List Number")
    assert convert(made, tmp_path).text == "- a\n  - b\n\n1. c\n"


def test_a_worded_number_is_a_heading_of_its_own_and_an_empty_one_is_not(tmp_path: Path) -> None:
    made = document(
        abstract(1, level(0, "Article %1")) + abstract(2, level(0, "%1.")) + num(1, 1) + num(2, 2)
    )
    add(made, "", 1, style="Heading 1")
    add(made, "", 2, style="Heading 1")
    made.add_paragraph("text")
    assert lines(made, tmp_path) == ["# Article 1", "text"]


def test_hidden_and_empty_numbers_leave_no_trace(tmp_path: Path) -> None:
    hidden = level(0, "%1.", extra="<w:rPr><w:vanish/></w:rPr>")
    made = document(abstract(1, hidden) + abstract(2, level(0, "", "none")) + num(1, 1) + num(2, 2))
    add(made, "a", 1)
    add(made, "b", 2)
    assert lines(made, tmp_path) == ["a", "b"]


# A definition is (start, restart) for each level; a list adds start overrides; a paragraph is (list, level).
LEVELS = st.lists(
    st.tuples(st.integers(0, 4), st.one_of(st.none(), st.integers(0, 4))), min_size=4, max_size=4
)
LISTS = st.lists(st.dictionaries(st.integers(0, 3), st.integers(1, 9), max_size=3), min_size=1, max_size=3)
PARAGRAPHS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=25)


def simulated(
    levels: list[tuple[int, int | None]], lists: list[dict[int, int]], paragraphs: list[tuple[int, int]]
) -> list[str]:
    """The numbers, worked out anew for each paragraph from everything before it."""

    def resets(shown: int, used: int) -> bool:
        until = levels[shown][1]
        return used < (shown if until is None or until > shown else until)

    def start(which: int, shown: int) -> int:
        return lists[which].get(shown, levels[shown][0])

    def begins_anew(position: int) -> bool:
        which, used = paragraphs[position]
        earlier = [level for other, level in paragraphs[:position] if other == which]
        return used in lists[which] and not any(level in lists[which] for level in earlier)

    def number(at: int, shown: int) -> int:
        value: int | None = None
        for position, (which, used) in enumerate(paragraphs[: at + 1]):
            if used < shown:
                value = None if resets(shown, used) else value
            elif value is None or (used == shown and begins_anew(position)):
                value = start(which, shown)
            elif used == shown:
                value += 1
        assert value is not None
        return value

    return [
        ".".join(str(number(at, shown)) for shown in range(used + 1))
        for at, (_, used) in enumerate(paragraphs)
    ]


@settings(max_examples=150, deadline=None)
@given(LEVELS, LISTS, PARAGRAPHS)
def test_numbers_agree_with_a_simulation(
    levels: list[tuple[int, int | None]], lists: list[dict[int, int]], chosen: list[tuple[int, int]]
) -> None:
    paragraphs = [(which % len(lists), index) for which, index in chosen]
    definitions = []
    for index, (start, until) in enumerate(levels):
        text = ".".join(f"%{shown + 1}" for shown in range(index + 1))
        extra = "" if until is None else f'<w:lvlRestart w:val="{until}"/>'
        definitions.append(level(index, text, start=start, extra=extra))
    numbering = abstract(1, *definitions) + "".join(
        num(which + 1, 1, "".join(restart(index, at) for index, at in overrides.items()))
        for which, overrides in enumerate(lists)
    )
    body = "".join(
        f'<w:p><w:pPr><w:numPr><w:ilvl w:val="{index}"/><w:numId w:val="{which + 1}"/></w:numPr></w:pPr>'
        "<w:r><w:t>x</w:t></w:r></w:p>"
        for which, index in paragraphs
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as package:
        package.writestr(
            "word/document.xml", f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
        )
        package.writestr("word/numbering.xml", f'<w:numbering xmlns:w="{W}">{numbering}</w:numbering>')
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.docx"
        path.write_bytes(file.getvalue())
        text = convert_docx(path).text
    expected = [f"{number} x" for number in simulated(levels, lists, paragraphs)]
    assert text.strip().split("\n\n") == expected

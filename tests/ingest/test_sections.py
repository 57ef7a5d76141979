"""Sections: the tree that headings make."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from loccit.model import Converted, PageStart, Place
from loccit.structure import parse
from loccit.structure.places.tree import build_sections


def sections_of(text: str, pages: tuple[PageStart, ...] = ()) -> list[Place]:
    return build_sections(parse(Converted(text, pages=pages)))


def test_tree_of_an_act() -> None:
    text = (
        "# Title I—General\n\n## Chapter 1 Scope\n\n### Article 1 Purpose\n\nText.\n\n"
        "## Chapter 2\n\n### Article 2\n\n# Title II\n"
    )
    root, *rest = sections_of(text)
    assert (root.ordinal, root.parent, root.level, root.path, root.section_id) == (0, None, 0, (), "")
    assert [(s.section_id, s.label, s.title, s.parent) for s in rest] == [
        ("title_1", "Title I", "General", 0),
        ("chapter_1", "Chapter 1", "Scope", 1),
        ("sec_1", "Article 1", "Purpose", 2),
        ("chapter_2", "Chapter 2", "", 1),
        ("sec_2", "Article 2", "", 4),
        ("title_2", "Title II", "", 0),
    ]
    article = rest[2]
    assert article.path == ("Title I—General", "Chapter 1 Scope", "Article 1 Purpose")
    assert text[article.body : article.end].strip() == "Text."
    assert (article.kind, article.number) == ("article", ("1",))
    assert article.lines == (5, 7)


def test_numbers_that_count_from_the_heading_above() -> None:
    text = "# 4.2 Payment\n\n## (a) Fees\n\n### (i) Late\n\n## (b) Costs\n\n# Annex I\n\n## (a) Forms\n"
    assert [(s.section_id, s.label, s.number) for s in sections_of(text)[1:]] == [
        ("sec_4_2", "4.2", ("4", "2")),
        ("sec_4_2_a", "4.2(a)", ("4", "2", "a")),
        ("sec_4_2_a_i", "4.2(a)(i)", ("4", "2", "a", "i")),
        ("sec_4_2_b", "4.2(b)", ("4", "2", "b")),
        ("annex_1", "Annex I", ("1",)),
        ("sec_a", "(a)", ("a",)),
    ]


def test_repeated_headings_have_ids_of_their_own() -> None:
    text = "# A\n\n## Notes\n\n# B\n\n## Notes\n\n## Notes\n\n## B Notes\n\n# —\n\n# —\n"
    assert [s.section_id for s in sections_of(text)[1:]] == [
        "a",
        "notes",
        "b",
        "b_notes",
        "b_notes__2",
        "b_b_notes",
        "section_7",
        "section_8",
    ]


_headings = st.lists(
    st.tuples(
        st.integers(1, 6),
        st.sampled_from(["A", "Article 1", "Notes", "1. Scope", "(a) x", "—", "Notes 2", "Ünï 🎉"]),
    ),
    max_size=25,
)


@settings(deadline=None)
@given(_headings, st.booleans())
def test_tree_matches_a_simple_model(levels: list[tuple[int, str]], blank_first: bool) -> None:
    text = "\n\nlead é\n\n" * blank_first
    starts = []
    for level, words in levels:
        starts.append(len(text))
        text += f"{'#' * level} {words}\n\nbody 🎉\n\n"
    sections = sections_of(text)

    assert [s.ordinal for s in sections] == list(range(len(levels) + 1))
    assert len({s.section_id for s in sections}) == len(sections)
    assert (sections[0].start, sections[0].end) == (0, len(text))
    for index, (level, words) in enumerate(levels):
        section = sections[index + 1]
        smaller = [earlier for earlier in range(index) if levels[earlier][0] < level]
        above = [
            earlier
            for earlier in smaller
            if all(levels[between][0] > levels[earlier][0] for between in range(earlier + 1, index))
        ]
        parent = above[-1] + 1 if above else 0
        after = [later for later in range(index + 1, len(levels)) if levels[later][0] <= level]
        end = starts[after[0]] if after else len(text)
        assert (section.level, section.heading) == (level, words)
        assert (section.parent, section.start, section.end) == (parent, starts[index], end)
        assert section.path == (*sections[parent].path, words)
        assert text[section.body : section.end].lstrip().startswith("body")
        first, last = section.lines
        assert "\n".join(text.split("\n")[first - 1 : last]) == text[section.start : section.end].strip()


def test_pages_of_sections() -> None:
    text = "# A\n\none\n\n## B\n\ntwo\n"
    pages = (PageStart(0, 1), PageStart(text.index("one"), 2), PageStart(text.index("two"), 3))
    assert [s.pages for s in sections_of(text, pages)] == [(1, 3), (1, 3), (2, 3)]


def test_many_equal_headings() -> None:
    sections = sections_of("# Same\n" * 5_000)
    assert len({section.section_id for section in sections}) == 5_001

"""Reading on: several places, the next one, some lines, what is cited; understood whole or refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.ingest.fakes import InlineSandbox, WordEmbedder

from loccit import Library
from loccit.ask.answers import ask_section, section
from loccit.ask.catalog import READ, REFERENCES
from loccit.ask.fit import Limit, Tokens
from loccit.errors import LoccitError, NotFoundError, UsageError

ACT = """# Harbour Act

## Part 1 Pilots

### Section 11. Duty

(a) A pilot guides ships, as Section 21 says.

(b) A pilot keeps a lamp.

### Section 12. Fees, costs and fines

Four coins for each ship.

## Part 2 Storms

### Section 21. Warnings

The master gives warnings under section 11(b) and section 99.

### Section 22. Closure

The harbour closes.

### Section 23. Next steps after a storm

The master opens it again.
"""
MANUAL = "# Manual\n\n## 11 Valves\n\nTurn them.\n\n## 12 Hoses\n\nCoil them.\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    home = tmp_path_factory.mktemp("reading")
    (home / "docs").mkdir()
    (home / "docs" / "act.md").write_text(ACT, encoding="utf-8")
    (home / "docs" / "manual.md").write_text(MANUAL, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)
        with Library(home / "index", embedder=WordEmbedder()) as opened:
            opened.index(home / "docs")
            yield opened


@pytest.mark.parametrize(
    ("reference", "labels"),
    [
        ("Sections 11, 21 and 22", ["Section 11", "Section 21", "Section 22"]),
        ("Section 21; Section 11(b)", ["Section 21", "Section 11(b)"]),
        ("Section 11(a) and (b)", ["Section 11(a)", "Section 11(b)"]),
        ("Sections 12 to 22", ["Section 12", "Section 21", "Section 22"]),
        ("Sections 11 and 12 of the Harbour Act", ["Section 11", "Section 12"]),
        ("Part 2, Section 21", ["Section 21"]),
        ("next section after Section 21", ["Section 22"]),
        ("the section following 11(a) of the Harbour Act", ["Section 11(b)"]),
        ("the next section after Section 12", ["Section 21"]),
        ("previous section before Section 21", ["Section 12"]),
        ("parent of Section 11(b)", ["Section 11"]),
        ("Abschnitt nach Section 21", ["Section 22"]),
        # Headings that only look like a list or a step.
        ("Fees, costs and fines", ["Section 12"]),
        ("Next steps after a storm", ["Section 23"]),
    ],
)
def test_what_one_text_names_is_read(library: Library, reference: str, labels: list[str]) -> None:
    assert [view.section_label for view in library.sections(reference).sections] == labels


@pytest.mark.parametrize(
    "reference",
    [
        "Section 11, Section 12 and bananas",
        "Section 11 and 98",
        "two sections after Section 11",
        "Section 11 and the one before",
        "Section 11 except (b)",
        "the section after Section 97",
        "Sections 22 to 11",
    ],
)
def test_what_is_not_understood_whole_is_refused(library: Library, reference: str) -> None:
    with pytest.raises(LoccitError):
        library.sections(reference)


@pytest.mark.parametrize(
    "reference",
    [
        "Two sections after Section 11",
        "two sections after 11",
        "sections after Section 11",
        "the next 2 sections after Section 11",
        "the section two after Section 11",
        "three sections below Section 11",
        "a few sections past Section 11",
        "zwei Abschnitte nach Section 11",
        "grandparent of Section 11(b)",
        "the next section",
    ],
)
def test_steps_that_are_not_understood_say_which_are(library: Library, reference: str) -> None:
    with pytest.raises(LoccitError, match=r"say 'next section after 4.2'.* one step at a time"):
        library.sections(reference)


def test_words_beside_a_reference_that_are_no_step_do_no_harm(library: Library) -> None:
    for reference in ("Section 11 above", "Section 11 below", "Part 1, Section 11", "Section 11 clauses"):
        assert library.section(reference).section_label == "Section 11"
    with pytest.raises(NotFoundError) as error:
        library.section("Notice before sailing")
    assert "next section" not in str(error.value)


def test_steps_lead_on_and_end_in_words(library: Library) -> None:
    assert library.section("Section 12", step="next").section_label == "Section 21"
    assert library.section("Section 21", step="previous").section_label == "Section 12"
    assert library.section("Section 11", step="parent").section_label == "Part 1"
    with pytest.raises(NotFoundError, match="is the last place of"):
        library.section("Section 23", step="next")
    with pytest.raises(UsageError, match="use next, previous or parent"):
        library.section("Section 11", step="sideways")
    labels, view = [], library.section("Section 11")
    while view.section_label != "Section 23":
        view = library.section(view.place_id, step="next")
        labels.append(view.section_label)
    assert labels == ["Section 12", "Section 21", "Section 22", "Section 23"]


def test_lists_of_ids_say_what_is_missing_and_have_a_limit(library: Library) -> None:
    ids = [library.section(name).place_id for name in ("Section 11", "Section 22")]
    for given in (ids, " ".join(ids), f"[{ids[0]}], [{ids[1]}]"):
        assert [view.place_id for view in library.sections(given).sections] == ids
    found = library.sections([*ids, "Section 97"])
    assert [view.place_id for view in found.sections] == ids
    assert [item.reference for item in found.missing] == ["Section 97"]
    for many in (["Section 11"] * 3000, ", ".join(f"Section {number}" for number in range(60))):
        with pytest.raises(UsageError, match="At most 50 places"):
            library.sections(many)
    with pytest.raises(UsageError, match="names 2 places"):
        library.section("Sections 11 and 12")


def test_lines_of_a_place_say_of_how_many(library: Library) -> None:
    view = library.section("Section 11", lines="7-9")
    assert (view.lines, view.whole_lines) == ((7, 9), (5, 9))
    assert view.text.splitlines()[0].startswith("(a) A pilot")
    assert view.text == "\n".join(ACT.splitlines()[6:9])
    whole = library.sections("", document="act.md", lines=(1, 3)).sections[0]
    assert whole.text == "# Harbour Act\n\n## Part 1 Pilots"
    with pytest.raises(NotFoundError, match="has lines 5–9, not 40–50"):
        library.section("Section 11", lines="40-50")
    for wrong in ("x", "9-7", "0", "9" * 50):
        with pytest.raises(UsageError, match="not a range of lines"):
            library.section("Section 11", lines=wrong)


def test_what_a_place_cites_comes_with_it_once(library: Library) -> None:
    found = library.sections("Section 21", with_references=True)
    assert [(item.text, item.section and item.section.section_label) for item in found.cited] == [
        ("section 11(b)", "Section 11(b)"),
        ("section 99", None),
    ]
    both = library.sections("Sections 11 and 21", with_references=True)
    assert [item.section for item in both.cited] == [None]


def answer(library: Library, budget: int, **given: Any) -> tuple[str, dict[str, Any], int]:
    tokens = Tokens(library.tokenizer)
    read = READ.read(given)
    written = section(ask_section(library, read), "", read, Limit(budget, tokens))
    return written.text, written.data, tokens.count(written.text)


@pytest.mark.parametrize("budget", [60, 100, 150, 200, 2000])
def test_several_sections_share_the_budget_and_say_what_is_not_shown(library: Library, budget: int) -> None:
    text, data, cost = answer(
        library, budget, reference=["Section 11", "Section 21", "Section 97"], with_references=True
    )
    assert cost <= budget
    if budget == 2000:
        assert not data["truncated"] and len(data["sections"]) == 2 and data["missing"]
        assert "Not found: Section 97" in text and "A pilot keeps a lamp" in text
    else:
        assert data["truncated"] or "do not fit" in text


@pytest.fixture(scope="module")
def citing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A section that cites twelve others, which are long."""
    home = tmp_path_factory.mktemp("citing")
    (home / "docs").mkdir()
    body = "The keeper of the lamp writes down each ship that passes by night. " * 12
    parts = [
        "# Lamp Act",
        f"## Section 1. Lamps\n\nSee {', '.join(f'section {n}' for n in range(2, 14))}. {body}",
    ]
    parts += [f"## Section {number}. Lamp number {number}\n\n{body}" for number in range(2, 14)]
    (home / "docs" / "lamps.md").write_text("\n\n".join(parts), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("loccit.ingest.pipeline.Sandbox", InlineSandbox)
        with Library(home / "index", embedder=WordEmbedder()) as opened:
            opened.index(home / "docs")
            yield opened


@pytest.mark.parametrize("budget", [500, 900, 1500, 3000, 8000])
def test_what_is_cited_and_not_shown_is_named_with_its_id(citing: Library, budget: int) -> None:
    text, data, cost = answer(citing, budget, reference="Section 1", with_references=True)
    assert cost <= budget and Limit(budget, Tokens(citing.tokenizer)).allows(data)
    ids = {citing.section(f"Section {number}").place_id for number in range(2, 14)}
    # Values take more room than text: each of the two is complete by itself.
    shown_in_text, _, named_in_text = text.partition("Cited, but not shown: ")
    left_out = data.get("not_shown", [])
    for shown, named in (
        (shown_in_text, named_in_text),
        (" ".join(f"[{item['place_id']}]" for item in data.get("cited", [])), " ".join(left_out)),
    ):
        first, then = (ids & set(re.findall(r"\[(\w{8})\]", part)) for part in (shown, named))
        assert first | then == ids and not first & then
        assert bool(then) == (budget < 8000)
    assert data["truncated"] == bool(left_out) and "more" not in text


def test_what_is_cited_takes_no_more_room_than_it_needs(library: Library) -> None:
    """A reference that leads nowhere costs a line, not a quarter of the budget."""
    whole, data, cost = answer(library, 2000, reference="Sections 11 and 21", with_references=True)
    assert not data["truncated"] and "Cited as 'section 99'" in whole
    cost = max(cost, Limit(2000, Tokens(library.tokenizer)).size(data))
    # The frame is estimated, a little above what it takes.
    assert not answer(library, cost + 60, reference="Sections 11 and 21", with_references=True)[1][
        "truncated"
    ]


def test_lines_that_are_shown_are_named_when_a_section_is_cut(library: Library) -> None:
    text, data, _ = answer(library, 160, document="act.md")
    assert data["truncated"] and re.search(r"lines 1–\d+ of 1–\d+ shown: read on with offset=\d+", text), text
    text, data, _ = answer(library, 500, section_id="Section 11", line_range="7-9")
    assert "Shown: lines 7–9 of 5–9" in text and list(data["whole_lines"]) == [5, 9]
    with pytest.raises(UsageError, match="reference is missing"):
        answer(library, 500)


def test_a_scoped_library_reads_only_its_own(library: Library) -> None:
    part = library.scoped({"path": "*manual.md"})
    assert [view.heading for view in part.sections("11 and 12").sections] == ["11 Valves", "12 Hoses"]
    with pytest.raises(NotFoundError, match="No document of this tool"):
        part.section(library.section("Section 21").place_id)


# -- references of several places --------------------------------------------------------------------------------


def test_references_of_several_places_are_those_of_each(library: Library) -> None:
    alone = [library.references(name) for name in ("Section 11", "Section 12", "Section 21")]
    ids = [one.section.place_id for one in alone]
    for given in ("Sections 11, 12 and 21", "Sections 11 to 21", ids, " ".join(ids)):
        found = library.references(given)
        assert [one.to_dict() for one in (replace(found, also=[]), *found.also)] == [
            one.to_dict() for one in alone
        ]
    assert set(alone[0].to_dict()).isdisjoint({"also", "missing"})
    found = library.references(["Section 21", "Section 97"])
    assert [item.reference for item in found.missing] == ["Section 97"] and not found.also
    for wrong in ("Section 11 and 98", "two sections after Section 11", ["Section 97"]):
        with pytest.raises(LoccitError):
            library.references(wrong)
    with pytest.raises(UsageError, match="At most 50 places"):
        library.references(["Section 11"] * 51)


def test_a_scoped_library_follows_several_references(library: Library) -> None:
    part = library.scoped({"path": "*act.md"})
    found = part.references(["Section 11", "Section 21", "12 Hoses"])
    assert [one.section.section_label for one in (found, *found.also)] == ["Section 11", "Section 21"]
    assert [item.reference for item in found.missing] == ["12 Hoses"]
    assert [item.section_label for item in found.cited_by] == ["Section 21"]


@pytest.mark.parametrize("budget", [250, 400, 2000])
def test_references_of_several_places_share_the_budget(citing: Library, budget: int) -> None:
    tokens = Tokens(citing.tokenizer)
    given = REFERENCES.read({"reference": "Sections 1 and 2"})
    found = REFERENCES.find(citing, given)
    written = REFERENCES.answer([("", found)], given, Limit(budget, tokens))
    assert tokens.count(written.text) <= budget
    for view in (found.section, found.also[0].section):
        assert f"[{view.place_id}]" in written.text
    cut = f"more lines of [{found.section.place_id}]: ask for it alone." in written.text
    assert cut == (budget < 2000)
    data = written.data
    assert [data["section"]["place_id"], data["also"][0]["section"]["place_id"]] == [
        found.section.place_id,
        found.also[0].section.place_id,
    ]

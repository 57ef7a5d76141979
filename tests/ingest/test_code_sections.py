"""Functions and classes of source code are places that can be listed and read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loccit import Library
from loccit.config import IndexSettings
from loccit.ingest.prepare import prepare_text
from loccit.model import Converted, Lines, Place

PYTHON = '''\
"""Pumps."""
import os


@register
class Pump(Base):
    """Moves water."""

    def start(self, speed=(1,
                           2)):
        def inner():
            return 1
        return inner

    @property
    async def speed(self): return 2


if os.name:
    def load(id):
        return "def no(): pass"

print("end")
'''
C = """\
#include <stdio.h>

struct node {
    int x;
};

static int
add(int a, int b)
{
#ifdef X
    return a;
#endif
out:
    return a + b;
}

int x = 3;

int main(void) {
    return add(1, 2);
}
"""
JS = """\
export class Pump {
  constructor(a) {
    this.a = a;
  }

  start(speed) {
    if (speed) {
      return 1;
    }
  }
}

export const load = async (id) => {
  return id;
};

run();
"""


def sections(name: str, text: str) -> list[Place]:
    parsed = prepare_text(f"/x/{name}", ".txt", Converted(text, markdown=False), IndexSettings(), 256)
    return list(parsed.places[1:])


def named(found: list[Place]) -> list[tuple[str, int, Lines]]:
    return [(section.section_id, section.level, section.lines) for section in found]


def test_python_is_parsed() -> None:
    assert named(sections("a.py", PYTHON)) == [
        ("Pump", 1, Lines(5, 16)),
        ("Pump.start", 2, Lines(9, 13)),
        ("Pump.start.inner", 3, Lines(11, 12)),
        ("Pump.speed", 2, Lines(15, 16)),
        ("load", 1, Lines(20, 21)),
    ]
    # What Python cannot read is read like any other language.
    old = "class Pump:\n    def start(self):\n        print 'x'\n\nprint 'end'\n"
    assert named(sections("a.py", old)) == [("Pump", 1, Lines(1, 3)), ("Pump.start", 2, Lines(2, 3))]


def test_other_languages_end_where_the_indentation_does() -> None:
    found = {section.section_id: section.lines for section in sections("a.c", C)}
    assert found["add"] == Lines(8, 15) and found["main"] == Lines(19, 21) and found["node"] == Lines(3, 5)
    found = {section.section_id: section.lines for section in sections("a.js", JS)}
    assert found["Pump"] == Lines(1, 11) and found["Pump.start"] == Lines(6, 10)
    assert found["load"] == Lines(13, 15)


def test_outline_and_section_of_code(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "pump.py").write_text(PYTHON)
    (folder / "notes.md").write_text("# Notes\n\n1. start the pump\n")
    with Library(tmp_path / "index") as library:
        library.index([folder], embed=False)
        (outline,) = library.outline("pump.py")
        assert [node.heading for node in outline.nodes] == ["Pump", "load"]
        assert [node.heading for node in outline.nodes[0].children] == ["start", "speed"]
        view = library.section("start", document="pump.py")
        assert view.text.startswith("def start(") and view.text.endswith("return inner")
        assert view.lines == Lines(9, 13) and view.parent_chain == ["Pump", "start"]
        assert library.section("Pump.start").lines == Lines(9, 13)
        assert library.section("load", document="pump.py").text.startswith("def load(id):")


WORDS = st.sampled_from(
    [
        "def a():",
        "class B:",
        "    x = 1",
        "}",
        "{",
        "int f(int a) {",
        "  return;",
        "end",
        "",
        "    def c(self):",
        "\t#",
        ")",
    ]
)


@pytest.mark.parametrize("name", ["a.py", "a.c", "a.rb", "a.js"])
@given(lines=st.lists(WORDS, max_size=30))
def test_sections_nest(name: str, lines: list[str]) -> None:
    text = "\n".join(lines) + "\nx"
    parsed = prepare_text(f"/x/{name}", ".txt", Converted(text, markdown=False), IndexSettings(), 256)
    by_ordinal = {section.ordinal: section for section in parsed.places}
    assert len({section.section_id for section in parsed.places}) == len(parsed.places)
    for section in parsed.places[1:]:
        parent = by_ordinal[section.parent or 0]
        assert parent.start <= section.start < section.end <= parent.end
        assert section.start <= section.body <= section.end
